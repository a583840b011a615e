"""Two partitions of one RM: what names one of them has no effect in the other.

The fields of messages name the partition that something belongs to; that another one is unknown is
tested with the messages themselves. Ids and keys are different: no text states that they may be
equal in two partitions. A release may name its allocation by the identity alone.
"""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.matchers import PartitionNamed
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    AskRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.rm.steps.partitions import PARTITIONS
from siconform.rm.unregistered_rm import UnregisteredRM

BOTH = pytest.mark.parametrize("which", [0, 1], ids=["default", "another"])


@BOTH
@requirement("SI-NODE-009")
def test_a_node_serves_the_applications_of_its_partition_only(
    unregistered_rm: UnregisteredRM, which: int
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)
    members = rm.has_two_partitions(memory=10)
    here, there = members[which], members[1 - which]

    rm.expect(
        Allocated(rm.asks(here.application, partition=here.partition, memory=6), node=here.node)
    )
    beyond = rm.asks(here.application, partition=here.partition, memory=6)

    rm.expect_none(Allocated(beyond))
    with rm.control("an equal ask of the other partition is allocated"):
        ask = rm.asks(there.application, partition=there.partition, memory=6)
        rm.expect(Allocated(ask, node=there.node))


@BOTH
@requirement("SI-ASK-009")
def test_an_ask_that_names_the_partition_of_another_application_is_rejected(
    unregistered_rm: UnregisteredRM, which: int
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)
    members = rm.has_two_partitions()
    here, there = members[which], members[1 - which]

    stray = rm.asks(here.application, partition=there.partition)

    rm.expect(AskRejected(stray))
    rm.expect_none(Allocated(stray))


@BOTH
@requirement("SI-APP-019")
def test_removing_an_application_of_another_partition_is_harmless(
    unregistered_rm: UnregisteredRM, which: int
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)
    allocation = rm.has_both_partitions_used()[which]

    rm.removes_application(allocation.application, partition=PARTITIONS[1 - which])

    rm.expect_none(
        Released(identity=allocation.identity),
        Released(application=allocation.application),
        StreamEnded(UpdateKind.APPLICATIONS),
    )
    rm.releases(allocation, partition=PARTITIONS[which])
    rm.expect(Released(identity=allocation.identity))


@requirement("SI-ALLOC-003")
def test_an_allocation_names_the_partition_of_its_ask(unregistered_rm: UnregisteredRM) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)

    both = rm.has_both_partitions_used(memory=4, node_memory=10)

    for used, partition in zip(both, PARTITIONS, strict=True):
        ask = rm.asks(used.application, partition=partition)
        rm.expect(Allocated(ask, partition=PartitionNamed(partition)))


@requirement("SI-REL-002")
def test_the_confirmation_of_a_release_names_the_partition_of_the_allocation(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)

    for allocation, partition in zip(rm.has_both_partitions_used(), PARTITIONS, strict=True):
        rm.releases(allocation, partition=partition)
        rm.expect(Released(identity=allocation.identity, partition=PartitionNamed(partition)))


@BOTH
@requirement("SI-REC-008")
def test_an_existing_allocation_on_a_node_of_another_partition_is_rejected(
    unregistered_rm: UnregisteredRM, which: int
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUEUES)
    both = rm.has_both_partitions_used(memory=4, node_memory=10)
    here, there = both[which], both[1 - which]
    with rm.control("an existing allocation on a node of its partition is taken over"):
        own = rm.remembers_allocation(here.application, here.node, partition=PARTITIONS[which])
        rm.adds_existing(own)
        rm.releases(own, partition=PARTITIONS[which])
        rm.expect(Released(identity=own.identity))

    stray = rm.remembers_allocation(
        here.application, there.node, memory=6, partition=PARTITIONS[which]
    )
    rm.adds_existing(stray)

    rm.expect(AllocationRejected(stray.key, application=here.application))
    ask = rm.asks(there.application, partition=PARTITIONS[1 - which], memory=6)
    rm.expect(Allocated(ask, node=there.node))
