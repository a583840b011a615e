"""Updates of the amount of live allocations (SI-ALLOC, from 2024-10 on).

A scheduler may reject an update (C-45), which then changes nothing (``test_keys.py``). These tests
are about accepted updates.
"""

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.handles import Application, Gang
from siconform.protocol.matchers import AnotherThan
from siconform.protocol.notifications import Allocated, AllocationRejected, Released
from siconform.protocol.queue_configurations import queue_with_limits, queues_with_shared_quota
from siconform.protocol.snapshot_facts import ApplicationSeen, NodeSeen, QueueSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gang_timeouts import expiry_of
from siconform.rm.steps.gangs import HARD, QUOTA_QUEUE, replaced
from siconform.rm.unregistered_rm import UnregisteredRM

Ends = Callable[[ResourceManager, Allocated], None]
"""An action of the RM that ends an allocation."""

LARGEST: Final = 2**63 - 1
LEAVES_OF_ONE_PARENT: Final = ("root.parent.left", "root.parent.right")  # it has a quota of 10


def its_queue_has(rm: ResourceManager, gang: Gang, amounts: Mapping[str, int]) -> None:
    """Check the queue in a snapshot that shows queues, if the gang is in the intended one."""
    if rm.shows(ApplicationSeen(gang, queue=gang.queue)):
        rm.sees_where_shown(QueueSeen(gang.queue, allocated=amounts), like=QueueSeen(gang.queue))


def counts_until_it_is_smaller(
    rm: ResourceManager, app: Application, allocation: Allocated
) -> None:
    """Check that an allocation of 8 leaves less than 4, and more once it is updated to 1."""
    waiting = rm.asks(app, memory=4)
    rm.expect_none(Allocated(waiting))
    rm.has_updated(allocation, memory=1)
    rm.is_served(waiting, node=allocation.node)


@requirement("SI-ALLOC-012")
def test_an_updated_allocation_holds_the_amount_it_was_reported_with_last(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)

    rm.has_updated(allocation, memory=8)

    waiting = rm.asks(app, memory=4)
    rm.expect_none(Allocated(waiting))
    smaller = rm.has_updated(allocation, memory=1)
    rm.is_served(waiting, node=node)
    rm.expect(Allocated(rm.asks(app, memory=5), node=node))
    last = rm.asks(app, memory=1)
    rm.expect_none(Allocated(last))
    rm.releases(smaller)
    rm.is_served(last, node=node)


@requirement("SI-ALLOC-012")
def test_of_two_updates_in_one_message_the_last_one_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)

    with rm.one_message():
        for memory in (9, 3):
            rm.updates_allocation(allocation, memory=memory)
    taken = [] if rm.is_refused(allocation.key) else [allocation]
    rm.needs_some(taken, of="to update what is allocated")

    too_large = rm.asks(app, memory=8)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=7), node=node))


@requirement("SI-ALLOC-012")
def test_each_allocation_updated_in_one_message_holds_its_new_amount(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    both = [rm.has_allocation(app, memory=1) for _ in range(2)]

    with rm.one_message():
        for allocation in both:
            rm.updates_allocation(allocation, memory=3)
    is_taken = not any(rm.is_refused(allocation.key) for allocation in both)
    rm.needs_some(both if is_taken else [], of="to update what is allocated")

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-ALLOC-012")
def test_an_updated_allocation_counts_as_much_in_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    allocation = rm.has_allocation(app, memory=2)

    rm.has_updated(allocation, memory=8)

    counts_until_it_is_smaller(rm, app, allocation)


@requirement("SI-ALLOC-012")
def test_an_update_beyond_the_maximum_of_its_queue_counts_in_full(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    allocation, other = rm.has_allocation(app, memory=2), rm.has_allocation(app, memory=6)
    rm.has_updated(allocation, memory=8)
    rm.settles()  # one of them may be preempted
    are_kept = not (rm.was_released(allocation) or rm.was_released(other))
    rm.needs_some([other] if are_kept else [], of="to keep what exceeds the maximum of its queue")

    rm.has_released(other)

    beyond = rm.asks(app, memory=4)
    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=2)))


@pytest.mark.parametrize("leaf", ["first", "second"], ids=["its queue", "the queue above"])
@requirement("SI-ALLOC-012")
def test_a_smaller_amount_of_another_resource_counts_as_much_in_its_queues(
    unregistered_rm: UnregisteredRM, leaf: str
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUOTAS)
    leaves, less = ("first", "second"), {"memory": 1, "vcore": 1, "gpu": 2}
    rm.has_registered(config=queues_with_shared_quota("devices", *leaves, most={"gpu": 4}))
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 10})
    app, other = (rm.has_application(queue=f"root.devices.{one}") for one in ("first", leaf))
    allocation = rm.has_allocation(app, resources={**less, "gpu": 4})
    waiting = rm.has_ask_left_alone(other, "quotas of every resource", resources=less)

    rm.has_updated(allocation, resources=less)

    rm.is_served(waiting)


@requirement("SI-ALLOC-012")
def test_an_updated_placeholder_counts_as_much_in_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.does_gang_scheduling()
    rm.has_node(memory=100)
    gang, app = rm.has_gang(memory=2, queue=QUOTA_QUEUE), rm.has_application(queue=QUOTA_QUEUE)
    placeholder = rm.has_placeholder(gang)

    rm.has_updated(placeholder, memory=8)

    counts_until_it_is_smaller(rm, app, placeholder)


@requirement("SI-ALLOC-012")
def test_an_update_below_zero_frees_nothing_beyond_its_node(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)

    rm.updates_allocation(allocation, resources={"memory": -8, "vcore": 1})

    too_large = rm.asks(app, memory=11)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=8), node=node))


@requirement("SI-ALLOC-012")
def test_an_update_counts_on_a_draining_node_as_well(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)
    rm.drains(node)

    rm.has_updated(allocation, memory=8)

    with rm.precondition("the node can be undrained"):
        rm.undrains(node)
        rm.expect(Allocated(rm.asks(app, memory=1), node=node))
    counts_until_it_is_smaller(rm, app, allocation)


@requirement("SI-ALLOC-012")
def test_an_update_counts_while_the_allocation_is_being_replaced(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    rm.does_gang_scheduling()
    node = rm.has_node(memory=10)
    gang, app = rm.has_gang(memory=2), rm.has_application()
    placeholder = rm.has_placeholder(gang)
    open_one = rm.has_open_replacement(gang, [placeholder])

    with rm.confirming_nothing():
        rm.has_updated(placeholder, memory=8)

        too_large = rm.asks(app, memory=4)
        rm.expect_none(Allocated(too_large))
        rm.withdraws(too_large)
    rm.confirms(open_one.release)
    rm.expect(Allocated(open_one.real, node=node))


@requirement("SI-ALLOC-012")
def test_a_type_left_out_of_an_update_is_free_again(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()
    allocation = rm.has_allocation(app, resources={"memory": 2, "vcore": 1, "gpu": 2})
    waiting = rm.has_waiting_ask(app, resources={"memory": 1, "vcore": 1, "gpu": 2})

    rm.has_updated(allocation, resources={"memory": 2, "vcore": 1})

    rm.is_served(waiting, node=node)


@requirement("SI-ALLOC-012")
def test_a_type_that_only_an_update_names_is_held_as_well(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()
    allocation = rm.has_allocation(app, resources={"memory": 2, "vcore": 1})

    updated = rm.has_updated(allocation, resources={"memory": 2, "vcore": 1, "gpu": 2})

    waiting = rm.asks(app, resources={"memory": 1, "vcore": 1, "gpu": 1})
    rm.expect_none(Allocated(waiting))
    rm.releases(updated)
    rm.is_served(waiting, node=node)


@requirement("SI-ALLOC-012")
def test_each_amount_of_an_update_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2, vcore=2)

    rm.has_updated(allocation, resources={"memory": 3, "vcore": 8})

    waiting = rm.asks(app, memory=1, vcore=4)
    rm.expect_none(Allocated(waiting))
    rm.has_updated(allocation, resources={"memory": 3, "vcore": 6})
    rm.is_served(waiting, node=node)


@requirement("SI-ALLOC-012")
def test_an_update_of_a_recovered_allocation_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=2)
    rm.adds_existing(existing)

    rm.has_updated(existing, memory=8)

    counts_until_it_is_smaller(rm, app, existing)


@requirement("SI-ALLOC-012")
def test_an_update_of_what_replaced_a_placeholder_counts(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    gang, app = rm.has_gang(memory=2), rm.has_application()
    real, _ = rm.has_replaced(gang, [rm.has_placeholder(gang)])

    rm.has_updated(real, memory=8)

    counts_until_it_is_smaller(rm, app, real)


@requirement("SI-ALLOC-012")
def test_an_allocation_beyond_its_node_holds_what_a_smaller_update_leaves(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_updated(rm.has_allocation(app, memory=2), memory=25)
    rm.has_kept(allocation)

    rm.has_updated(allocation, memory=20)

    waiting = rm.asks(app, memory=4)
    rm.expect_none(Allocated(waiting))
    rm.has_updated(allocation, memory=6)
    rm.is_served(waiting, node=node)


def its_node_goes(rm: ResourceManager, allocation: Allocated) -> None:
    """Decommission the node of the allocation."""
    rm.decommissions(allocation.node)


def its_application_goes(rm: ResourceManager, allocation: Allocated) -> None:
    """Remove the application of the allocation."""
    rm.removes_application(allocation.application)


def it_is_released(rm: ResourceManager, allocation: Allocated) -> None:
    """Release the allocation by its key."""
    rm.releases(allocation)


def all_is_released(rm: ResourceManager, allocation: Allocated) -> None:
    """Release everything the application has."""
    rm.releases_all(allocation.application)


END_WITH_THE_NODE_THERE = (its_application_goes, it_is_released, all_is_released)
by_how_it_ends = pytest.mark.parametrize("ends", [its_node_goes, *END_WITH_THE_NODE_THERE])
by_its_amounts = pytest.mark.parametrize(
    ("memory", "later"), [(2, 8), (8, 2)], ids=["larger", "smaller"]
)


def is_limited(rm: ResourceManager, held: Allocated, other: Application, of: str) -> None:
    """Given: what this allocation holds leaves less than 10 for the other; else NotOffered."""
    beyond = rm.asks(other, memory=11 - held.resource["memory"])
    is_served = rm.receive_if_any(Allocated(beyond)) is not None
    rm.needs_some([] if is_served else [held], of)
    rm.withdraws(beyond)


def leaves_the_rest(rm: ResourceManager, held: Allocated, other: Application) -> None:
    """Then: what this allocation holds leaves less than 10 for the other."""
    beyond = rm.asks(other, memory=11 - held.resource["memory"])
    rm.expect_none(Allocated(beyond))
    rm.withdraws(beyond)


def gets_all_back(rm: ResourceManager, other: Application) -> None:
    """Then: the other application may have 10, and no more."""
    rm.is_served(rm.asks(other, memory=10))
    beyond = rm.asks(other, memory=1)
    rm.expect_none(Allocated(beyond))


@by_how_it_ends
@by_its_amounts
@requirement("SI-ALLOC-012")
def test_its_queue_gets_back_what_an_updated_allocation_held_last(
    rm: ResourceManager, ends: Ends, memory: int, later: int
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=10)
    app, other = (rm.has_application(queue=QUOTA_QUEUE) for _ in range(2))
    allocation = rm.has_updated(rm.has_allocation(app, memory=memory), memory=later)
    rm.has_node(memory=100)

    ends(rm, allocation)

    gets_all_back(rm, other)


@by_how_it_ends
@by_its_amounts
@requirement("SI-ALLOC-012")
def test_its_parent_queue_gets_back_what_an_updated_allocation_held_last(
    rm: ResourceManager, ends: Ends, memory: int, later: int
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=10)
    app, other = (rm.has_application(queue=leaf) for leaf in LEAVES_OF_ONE_PARENT)
    held = rm.has_allocation(app, memory=memory)
    rm.has_node(memory=100)
    is_limited(rm, held, other, "quotas of parent queues")
    allocation = rm.has_updated(held, memory=later)
    leaves_the_rest(rm, allocation, other)

    ends(rm, allocation)

    gets_all_back(rm, other)


@by_how_it_ends
@by_its_amounts
@requirement("SI-ALLOC-012")
def test_its_user_gets_back_what_an_updated_allocation_held_last(
    unregistered_rm: UnregisteredRM, ends: Ends, memory: int, later: int
) -> None:
    rm = unregistered_rm
    user = rm.new_name("user")
    limit = {"users": [user], "maxresources": {"memory": 10}}
    rm.has_registered_with_limits(queue_with_limits("shared", limit))
    rm.has_node(memory=10)
    app, other = (rm.has_application(queue="root.shared", user=user) for _ in range(2))
    held = rm.has_allocation(app, memory=memory)
    rm.has_node(memory=100)
    is_limited(rm, held, other, "limits of users")
    allocation = rm.has_updated(held, memory=later)
    leaves_the_rest(rm, allocation, other)

    ends(rm, allocation)

    gets_all_back(rm, other)


@pytest.mark.parametrize("ends", END_WITH_THE_NODE_THERE)
@by_its_amounts
@requirement("SI-ALLOC-012")
def test_its_node_gets_back_what_an_updated_allocation_held_last(
    rm: ResourceManager, ends: Ends, memory: int, later: int
) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app, other = rm.has_application(), rm.has_application()
    held = rm.has_allocation(app, memory=memory, vcore=later)
    allocation = rm.has_updated(held, resources={"memory": later, "vcore": memory})

    ends(rm, allocation)

    rm.is_served(rm.asks(other, memory=10, vcore=10), node=node)
    for one_more in ({"memory": 1, "vcore": 0}, {"memory": 0, "vcore": 1}):
        rm.expect_none(Allocated(rm.asks(other, resources=one_more)))


@requirement("SI-ALLOC-013")
def test_an_update_is_reported_as_no_end_and_as_no_other_allocation(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)
    rm.has_node(memory=10)

    rm.has_updated(allocation, memory=3)

    rm.expect_none(
        Released(identity=allocation.identity),
        Released(application=app, identity=""),
        Allocated(allocation.key, node=AnotherThan(node)),
        Allocated(application=app, identity=AnotherThan(allocation.identity)),
    )
    rm.still_holds(allocation)


@requirement("SI-ALLOC-014")
def test_an_update_is_taken_beyond_the_capacity_of_its_node(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_updated(rm.has_allocation(app, memory=2), memory=3)

    rm.updates_allocation(allocation, memory=25)

    waiting = rm.asks(app, memory=1)
    rm.expect_none(Allocated(waiting), AllocationRejected(allocation.key))
    rm.updates_allocation(allocation, memory=2)
    rm.is_served(waiting, node=node)
    rm.still_holds(allocation)


@requirement("SI-ALLOC-014")
def test_updates_to_the_largest_amount_leave_nothing_of_their_node(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # a scheduler may lose count beyond 2^63-1
    rm.has_registered()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocations = [rm.has_allocation(app, memory=1, node=node) for _ in range(2)]

    for allocation in allocations:
        rm.has_updated(allocation, memory=LARGEST)

    rm.expect_none(Allocated(rm.asks(app, memory=1)))


@requirement("SI-ALLOC-014")
def test_an_update_is_taken_beyond_the_maximum_of_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    allocation = rm.has_updated(rm.has_allocation(app, memory=2), memory=3)

    rm.updates_allocation(allocation, memory=25)

    waiting = rm.asks(app, memory=1)
    rm.expect_none(Allocated(waiting), AllocationRejected(allocation.key))
    rm.updates_allocation(allocation, memory=2)
    rm.is_served(waiting)
    rm.still_holds(allocation)


@requirement("SI-ALLOC-015")
def test_an_update_with_another_node_leaves_one_of_them_free(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10, node=node)
    other_node = rm.has_node(memory=10)

    rm.updates_allocation(allocation, node=other_node)

    first = rm.expect(Allocated(rm.asks(app, memory=10)))
    second = rm.asks(app, memory=10)
    rm.expect_none(Allocated(second))
    rm.still_holds(allocation)
    rm.is_served(second, node=AnotherThan(first.node))


@requirement("SI-ALLOC-016")
def test_the_accounting_agrees_on_a_placeholder_that_was_updated(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    gang = rm.has_gang(memory=2)
    placeholder = rm.has_placeholder(gang)
    two, three = ({"memory": memory, "vcore": 1} for memory in (2, 3))
    with rm.control("the accounting of a placeholder is right before its update"):
        rm.sees(NodeSeen(node, allocated=two))
        rm.sees(ApplicationSeen(gang, allocated_real={}, allocated_placeholder=two))

    rm.has_updated(placeholder, memory=3)

    rm.sees(NodeSeen(node, allocated=three))
    rm.sees(ApplicationSeen(gang, allocated_real={}, allocated_placeholder=three))
    its_queue_has(rm, gang, three)


@requirement("SI-ALLOC-016")
def test_the_accounting_agrees_on_what_replaces_an_updated_placeholder(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    node = rm.has_node(memory=10)
    gang = rm.has_gang(memory=2)
    placeholder = rm.has_updated(rm.has_placeholder(gang), memory=3)

    with rm.confirming_nothing():
        parked = rm.asks_member(gang)
        release = rm.expect(replaced(placeholder))
        rm.has_asked_again(parked, memory=5)
        rm.confirms(release)
    real = rm.expect(Allocated(parked, node=node))

    rm.sees(NodeSeen(node, allocated=real.resource))
    rm.sees(ApplicationSeen(gang, allocated_real=real.resource, allocated_placeholder={}))
    its_queue_has(rm, gang, real.resource)
    rm.still_holds(real)
    rm.sees(NodeSeen(node, allocated={}))
    its_queue_has(rm, gang, {})


@requirement("SI-ALLOC-016")
def test_what_replaces_an_updated_placeholder_holds_its_own_amount(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    node = rm.has_node(memory=10)
    gang, app = rm.has_gang(memory=2), rm.has_application()
    placeholder = rm.has_updated(rm.has_placeholder(gang), memory=3)

    with rm.confirming_nothing():
        parked = rm.asks_member(gang)
        release = rm.expect(replaced(placeholder))
        rm.has_asked_again(parked, memory=5)
        rm.confirms(release)
    real = rm.expect(Allocated(parked, node=node))

    free = 10 - real.resource["memory"]
    rm.expect(Allocated(rm.asks(app, memory=free), node=node))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))
    rm.withdraws(one_more)
    rm.still_holds(real)
    rm.expect(Allocated(rm.asks(app, memory=10 - free), node=node))


@requirement("SI-GANG-031")
def test_the_update_of_a_placeholder_does_not_restart_the_timeout(rm: ResourceManager) -> None:
    rm.has_updates_of_allocations()
    limit = rm.short_limit(6.0)  # half of it exceeds the resolution of a timer
    partial = rm.has_partial_gang(style=HARD, limit=limit)
    rm.stays_quiet(window=min(limit.seconds / 2, 5.0))

    before_the_update = rm.now()
    rm.has_updated(partial.placeholders[0], memory=1)

    rm.expect_between(
        *expiry_of(partial.gang),
        earliest=partial.since + limit.seconds,
        latest=before_the_update + limit.seconds,
    )
