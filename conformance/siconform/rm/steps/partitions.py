"""Steps with two partitions, whose nodes and applications have nothing to do with each other."""

from dataclasses import dataclass
from typing import Final

from siconform.outcomes import NotOffered
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    NodeAccepted,
    NodeRejected,
)
from siconform.protocol.queue_configurations import queues
from siconform.rm.sender import DEFAULT_PARTITION
from siconform.rm.steps.basic import BasicSteps
from siconform.rm.steps.registration import RegistrationSteps

ANOTHER_PARTITION: Final = "another"  # of the configuration "two-partitions"
PARTITIONS: Final = (DEFAULT_PARTITION, ANOTHER_PARTITION)
_ATTRIBUTE: Final = "si/node-partition"
_NOT_OFFERED: Final = "the target does not offer a second partition"


@dataclass(frozen=True, slots=True)
class Member:
    """What a test has in one partition: a node, and an application without asks."""

    partition: str
    node: Node
    application: Application


class PartitionSteps(BasicSteps, RegistrationSteps):
    """Two partitions of one RM. Ids are unique in the RM: no text states a smaller scope."""

    def has_two_partitions(self, *, memory: int = 10) -> tuple[Member, Member]:
        """Given: a node of this size and an application in the default partition and in another.

        NotOffered if the scheduler refuses a configuration with two partitions, or what names the
        second one.
        """
        if self.registers(config=queues("two-partitions")).status != "OK":
            raise NotOffered(_NOT_OFFERED)
        self.connection.opens_all()
        node = self.has_node(memory=memory)
        application = self.has_application()
        here = Member(DEFAULT_PARTITION, node, application)
        there = self.registers_node(memory=memory, attributes={_ATTRIBUTE: ANOTHER_PARTITION})
        if self.expect_one_of(NodeAccepted(there), NodeRejected(there)) != NodeAccepted(there):
            raise NotOffered(_NOT_OFFERED)
        other = self.submits_application(partition=ANOTHER_PARTITION)
        accepted = ApplicationAccepted(other)
        if not accepted.matches(self.expect_one_of(accepted, ApplicationRejected(other))):
            raise NotOffered(_NOT_OFFERED)
        return here, Member(ANOTHER_PARTITION, there, other)

    def has_both_partitions_used(
        self, *, memory: int = 4, node_memory: int = 4
    ) -> tuple[Allocated, Allocated]:
        """Given: an allocation of this memory in each of ``PARTITIONS``.

        NotOffered if the node of the second partition does not serve its application: that the
        attribute assigns it is a SHOULD (SI-NODE-009).
        """
        here, there = self.has_two_partitions(memory=node_memory)
        allocation = self.has_allocation(here.application, memory=memory)
        ask = self.asks(there.application, partition=there.partition, memory=memory)
        other = self.receive_if_any(Allocated(ask), window=self.deadlines.place)
        if not isinstance(other, Allocated):
            raise NotOffered(_NOT_OFFERED)
        return allocation, other
