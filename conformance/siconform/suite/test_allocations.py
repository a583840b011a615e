"""Allocations: their node, values, identity and end (SI-ALLOC)."""

from collections.abc import Callable

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.outcomes import NotOffered
from siconform.protocol.matchers import AnotherThan, PartitionNamed, QueueNamed
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    NodeAccepted,
    PreemptionPolicy,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import queues_with_shared_quota
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


def released(rm: ResourceManager, allocation: Allocated) -> None:
    """Release it by name."""
    rm.releases(allocation)


def released_with_all(rm: ResourceManager, allocation: Allocated) -> None:
    """Release all allocations of its application."""
    rm.releases_all(allocation.application)


def gone_with_its_application(rm: ResourceManager, allocation: Allocated) -> None:
    """Remove its application."""
    rm.removes_application(allocation.application)


def gone_with_its_node(rm: ResourceManager, allocation: Allocated) -> None:
    """Drain and decommission its node, as the specification describes, until its end is reported.

    If the decommission fails, the next action on a node would be the first to show that.
    """
    rm.drains(allocation.node)
    rm.decommissions(allocation.node)
    rm.expect_end_of(allocation)


@requirement("SI-ALLOC-001")
def test_allocations_are_on_schedulable_nodes(rm: ResourceManager) -> None:
    schedulable, draining, removed = rm.has_node(), rm.has_node(), rm.has_node()
    rm.drains(draining)
    rm.drains(removed)
    rm.decommissions(removed)
    app = rm.has_application()

    asks = [rm.asks(app) for _ in range(11)]

    for _ in range(10):
        rm.expect(Allocated(application=app, node=schedulable))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-ALLOC-001")
def test_allocations_are_on_nodes_of_their_rm(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    second_rm.joins()
    own = rm.has_node(memory=1)
    second_rm.has_node(memory=10)
    app = rm.has_application()

    asks = [rm.asks(app) for _ in range(2)]

    rm.expect(Allocated(application=app, node=own))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-ALLOC-002")
def test_an_allocation_has_application_and_resource_of_its_ask(rm: ResourceManager) -> None:
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app, other = rm.has_application(), rm.has_application()

    large = rm.asks(app, resources={"memory": 2, "gpu": 1})
    small = rm.asks(other, resources={"memory": 1})

    rm.gives(rm.expect(Allocated(large, app)), {"memory": 2, "gpu": 1}, below={"memory": 4})
    rm.gives(rm.expect(Allocated(small, other)), {"memory": 1})
    rm.expect_none(Allocated(large), Allocated(small))


@requirement("SI-ALLOC-002")
def test_each_allocation_of_an_ask_has_its_resource(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()

    twice = rm.asks(app, resources={"memory": 2, "gpu": 1}, times=2)

    two = rm.expect(Allocated(twice, app)), *rm.collects(Allocated(twice, app), most=1)
    for allocation in two:
        rm.gives(allocation, {"memory": 2, "gpu": 1}, below={"memory": 4})  # for both
    rm.expect_none(Allocated(twice))


@requirement("SI-ASK-001", "SI-ALLOC-002")
def test_a_key_used_again_after_a_withdrawal_has_the_amount_of_its_last_ask(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=10)
    ask = rm.has_pending_ask(app, memory=8)

    rm.withdraws(ask)
    again = rm.asks_again(ask, memory=2)
    rm.has_node(memory=10)

    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    served = [received] if isinstance(received, Allocated) else []
    rm.needs_some(served, of="to serve a key for a second time")
    rm.gives(served[0], {"memory": 2}, below={"memory": 8})
    rm.expect_none(Allocated(again))


@requirement("SI-ASK-005", "SI-ASK-027")
def test_an_ask_is_allocated_once_if_its_queue_and_the_nodes_get_capacity(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=10)
    app = rm.has_application(queue=QUOTA_QUEUE)
    held = rm.has_allocation(app, memory=10)
    ask = rm.has_pending_ask(app, memory=6)

    with rm.unordered():
        node = rm.registers_node(memory=10)
        rm.releases(held)

    rm.expect(NodeAccepted(node))
    rm.expect(Allocated(ask))
    rm.expect_none(Allocated(ask))


@pytest.mark.parametrize("priority", [7, -7, 2**31 - 1, -(2**31)])
@requirement("SI-ALLOC-003")
def test_an_allocation_repeats_tags_priority_and_partition_of_its_ask(
    rm: ResourceManager, priority: int
) -> None:
    rm.has_node()
    app = rm.has_application()
    tags = {f"t{number}": f"v{number}" for number in range(40)}  # more than a fixed table may hold

    ask = rm.asks(app, tags=tags, priority=priority)

    repeated = Allocated(ask, priority=priority, partition=PartitionNamed("default"))
    rm.repeats_tags(rm.expect(repeated), tags)


@requirement("SI-ALLOC-003")
def test_an_allocation_repeats_a_tag_without_value(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app, tags={"t": "v", "empty": ""})

    rm.repeats_tags(rm.expect(Allocated(ask)), {"t": "v", "empty": ""})


@requirement("SI-ALLOC-003")
def test_an_ask_that_comes_again_keeps_its_tags_and_priority(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app, memory=2, tags={"t": "v"}, priority=7)

    rm.has_asked_again(ask, memory=1)
    rm.has_node()

    rm.repeats_tags(rm.expect(Allocated(ask, priority=7)), {"t": "v"})


@requirement("SI-ALLOC-003")
def test_no_ask_of_a_message_has_tags_or_priority_of_another(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    with rm.one_message():
        asks = [rm.asks(app, tags={"t": f"v{number}"}, priority=number) for number in (7, 3, 5)]

    # Whether an allocation repeats them at all is tested above.
    for ask in asks:
        others = [other.sent for other in asks if other != ask]
        rm.expect_none_of(
            rm.expect(Allocated(ask)),
            *(Allocated(priority=other.priority) for other in others),
            *(Allocated(tags=other.tags) for other in others),
        )


@requirement("SI-ALLOC-003")
def test_later_allocations_of_an_ask_repeat_the_tags_that_the_first_does(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.has_node(memory=10)
    app = rm.has_application()

    ask = rm.asks(app, tags={"t": "v"}, times=3)

    # Whether an allocation repeats them at all is tested above.
    repeated = dict(rm.expect(Allocated(ask)).tags.items() & ask.sent.tags.items())
    for later in rm.collects(Allocated(ask), most=2):
        rm.repeats_tags(later, repeated)


@requirement("SI-ALLOC-003")
def test_the_allocations_of_an_ask_for_several_repeat_what_that_of_one_does(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.has_node(memory=10)
    app = rm.has_application()
    one = rm.expect(Allocated(rm.asks(app, tags={"t": "v"}, priority=7)))

    ask = rm.asks(app, tags={"t": "v"}, priority=7, times=3)

    # Whether an allocation repeats them at all is tested above.
    repeated = dict(one.tags.items() & ask.sent.tags.items())
    for allocation in rm.collects(Allocated(ask), most=3):
        rm.repeats_tags(allocation, repeated)
        rm.agrees(allocation, Allocated(ask, priority=one.priority, partition=one.partition))


@requirement("SI-ALLOC-004", "SI-ALLOC-005")
def test_every_allocation_has_an_identity_of_its_own(rm: ResourceManager) -> None:
    rm.has_node(memory=50, vcore=50)
    app = rm.has_application()
    allocations = []

    for _ in range(2):
        with rm.one_message():
            asks = [rm.asks(app) for _ in range(50)]
        latest = rm.expect_each(*(Allocated(ask) for ask in asks))
        allocations += latest
        rm.have_different_identities(allocations)
        with rm.one_message():
            for allocation in latest:
                rm.releases(allocation)
        for allocation in latest:
            rm.expect(Released(identity=allocation.identity))


@requirement("SI-ALLOC-004", "SI-ALLOC-005")
def test_a_key_that_is_asked_for_again_gets_another_identity(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    ask = rm.asks(app)
    former = rm.expect(Allocated(ask))
    rm.has_released(former)

    rm.asks_again(ask)

    later = rm.collects(Allocated(ask), most=1)  # serving a key again is optional (C-43)
    rm.have_different_identities([former, *later])
    rm.records(f"the key of an ask that is over can be asked for again: {bool(later)}")


@requirement("SI-ALLOC-004", "SI-ALLOC-005")
def test_an_identity_does_not_come_again_with_the_application(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    former = [rm.has_allocation(app) for _ in range(3)]

    rm.removes_application(app)
    rm.synchronise_all()
    rm.submits_application(app)
    received = rm.expect_one_of(ApplicationAccepted(app), ApplicationRejected(app))
    if isinstance(received, ApplicationRejected):
        raise NotOffered("the target does not offer to use the id of a removed application again")

    rm.have_different_identities([*former, *(rm.has_allocation(app) for _ in range(3))])


@requirement("SI-ALLOC-006")
def test_an_allocation_names_its_queue(rm: ResourceManager) -> None:
    rm.has_node()

    for queue in ("root.other", "root.parent.left"):
        ask = rm.asks(rm.has_application(queue=queue))
        rm.expect(Allocated(ask, queue=QueueNamed(queue)))


@requirement("SI-ALLOC-006")
def test_an_allocation_names_the_queue_that_policy_chose(rm: ResourceManager) -> None:
    rm.has_node()

    app = rm.has_application_without_queue(tags={"namespace": rm.new_name("space")})

    # Which one policy chooses is not tested here.
    rm.expect(Allocated(rm.asks(app), queue=AnotherThan("")))


@requirement("SI-ALLOC-007")
def test_an_allocation_repeats_originator_and_preemption_policy(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    yields = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
    takes = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True)

    first = rm.asks(app, originator=False, policy=takes)
    second = rm.asks(app, originator=False, policy=yields)

    rm.expect(Allocated(first, originator=False, preemption_policy=takes))
    rm.expect(Allocated(second, originator=False, preemption_policy=yields))

    third = rm.asks(app, originator=True, policy=takes)
    rm.expect_of_originator(Allocated(third, originator=True, preemption_policy=takes))


@requirement("SI-ALLOC-007")
def test_later_allocations_of_an_ask_repeat_its_originator_and_preemption_policy(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.has_node()
    app = rm.has_application()
    takes = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True)

    ask = rm.asks(app, originator=True, policy=takes, times=3)

    repeated = Allocated(ask, originator=True, preemption_policy=takes)
    rm.expect_of_originator(repeated)
    for later in rm.collects(Allocated(ask), most=2):
        rm.agrees(later, repeated)


@requirement("SI-ALLOC-007")
def test_an_allocation_repeats_them_however_long_its_ask_waited(rm: ResourceManager) -> None:
    rm.has_full_node()
    policy = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)
    ask = rm.asks(rm.has_application(), originator=True, policy=policy)
    rm.is_pending(ask)

    rm.has_node()

    rm.expect_of_originator(Allocated(ask, originator=True, preemption_policy=policy))


@requirement("SI-ASK-029")
def test_an_allocation_repeats_the_preemption_policy_its_ask_had_last(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    yields = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
    keeps = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)
    ask = rm.has_pending_ask(app, policy=yields)

    rm.has_asked_again(ask, policy=keeps)
    rm.has_node()

    rm.expect(Allocated(ask, preemption_policy=keeps))


@requirement("SI-ALLOC-008")
def test_an_allocation_is_announced_once(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    allocations = [rm.has_allocation(app) for _ in range(3)]

    rm.registers_node(node)
    rm.drains(node)
    rm.undrains(node)
    rm.updates_node(node, memory=20)
    rm.submits_application(app)
    rm.releases(rm.has_allocation(app))

    rm.expect_none(*(Allocated(identity=one.identity) for one in allocations))


@requirement("SI-ALLOC-008")
def test_an_allocation_is_not_announced_again_on_another_stream(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.replaces_its_stream(UpdateKind.ALLOCATIONS)

    rm.expect_none(Allocated(identity=allocation.identity))
    with rm.control("what comes next is announced there"):
        rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-ALLOC-009")
def test_nothing_is_sent_of_an_allocation_that_has_ended(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    stopped, orphaned = rm.has_allocation(app), rm.has_allocation(app)
    with rm.precondition("the release by the RM is confirmed"):
        rm.releases(stopped)
        rm.expect(Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM))

    rm.drains(node)
    rm.decommissions(node)
    with rm.precondition("the end with the node is reported"):
        rm.expect_end_of(orphaned)
    rm.removes_application(app)

    ended = (stopped.identity, orphaned.identity)
    rm.expect_none(*(Released(identity=i) for i in ended), *(Allocated(identity=i) for i in ended))


@requirement("SI-ALLOC-010")
def test_the_capacity_of_an_ended_allocation_is_free_again(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation)

    rm.expect(Released(identity=allocation.identity))
    rm.is_served(waiting, node=node)


@pytest.mark.parametrize("ends", [released, released_with_all, gone_with_its_application])
@requirement("SI-ALLOC-010")
def test_an_ended_allocation_frees_what_it_held_of_each_resource_type(
    rm: ResourceManager, ends: Callable[[ResourceManager, Allocated], None]
) -> None:
    each = {"memory": 4, "vcore": 3, "gpu": 2, "x.y/z": 2}
    node = rm.has_node(resources=each)
    app, other_app = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, resources=each)

    ends(rm, allocation)

    rm.is_served(rm.asks(other_app, resources=each), node=node)


@pytest.mark.parametrize("ends", [released, released_with_all, gone_with_its_application])
@requirement("SI-ALLOC-010")
def test_what_ended_on_a_draining_node_is_free_once_that_is_undrained(
    rm: ResourceManager, ends: Callable[[ResourceManager, Allocated], None]
) -> None:
    node = rm.has_node(memory=11)
    app, other_app = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    rm.drains(node)

    ends(rm, allocation)
    rm.synchronise_all()
    rm.undrains(node)
    with rm.precondition("an undrained node takes work"):
        rm.is_served(rm.asks(other_app, memory=1), node=node)

    rm.is_served(rm.asks(other_app, memory=10), node=node)


@pytest.mark.parametrize(
    "ends", [released, released_with_all, gone_with_its_application, gone_with_its_node]
)
@requirement("SI-ALLOC-010")
def test_an_ended_allocation_frees_its_share_of_another_resource_type(
    unregistered_rm: UnregisteredRM, ends: Callable[[ResourceManager, Allocated], None]
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUOTAS)
    rm.has_registered(config=queues_with_shared_quota("devices", "first", most={"gpu": 2}))
    amounts = {"memory": 1, "vcore": 1, "gpu": 2}
    rm.has_node(resources=amounts)
    app, other_app = (rm.has_application(queue="root.devices.first") for _ in range(2))
    allocation = rm.has_allocation(app, resources=amounts)
    rm.has_node(resources=amounts)
    rm.withdraws(rm.has_ask_left_alone(other_app, "quotas of every resource", resources=amounts))

    ends(rm, allocation)

    rm.is_served(rm.asks(other_app, resources=amounts))


@requirement("SI-ALLOC-010")
def test_a_decommissioned_node_frees_the_share_for_an_ask_that_waits(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    full = rm.has_node(memory=10)
    app, other_app = rm.has_application(queue=QUOTA_QUEUE), rm.has_application(queue=QUOTA_QUEUE)
    allocation = rm.has_allocation(app, memory=10, node=full)
    free = rm.has_node(memory=20)
    waiting = rm.has_waiting_ask(other_app, memory=5)

    rm.decommissions(full)

    rm.expect_end_of(allocation)
    rm.is_served(waiting, node=free)


@requirement("SI-ALLOC-010")
def test_what_timed_out_frees_its_share_of_node_and_queue(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.QUOTAS)
    rm.needs(Feature.EXECUTION_TIMEOUT)
    rm.has_node(memory=10, vcore=10)
    app, other_app = rm.has_application(queue=QUOTA_QUEUE), rm.has_application(queue=QUOTA_QUEUE)
    everything = {"memory": 10, "vcore": 10}
    with rm.precondition("the ask is allocated"):
        ask = rm.asks(app, resources=everything, timeout_ms=500)
        allocation = rm.expect(Allocated(ask))
    rm.stays_quiet(window=0.5 + rm.deadlines.timer)
    over = Released(identity=allocation.identity, termination=Termination.TIMEOUT)
    rm.needs_some(rm.observe(over), of="to end allocations by a timeout")

    rm.is_served(rm.asks(other_app, resources=everything))


@pytest.mark.parametrize(
    "ends", [released, released_with_all, gone_with_its_application, gone_with_its_node]
)
@pytest.mark.parametrize(
    ("queue", "another"),
    [("root.quota", "root.quota"), ("root.parent.left", "root.parent.right")],
    ids=["its queue", "the queue above"],
)
@requirement("SI-ALLOC-010")
def test_the_share_of_an_ended_allocation_is_free_again(
    rm: ResourceManager,
    ends: Callable[[ResourceManager, Allocated], None],
    queue: str,
    another: str,
) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(queue=queue), rm.has_application(queue=another)
    allocation = rm.has_allocation(app, memory=10)

    ends(rm, allocation)
    rm.has_node(memory=100)

    rm.is_served(rm.asks(other_app, memory=10))
