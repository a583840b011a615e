"""Replacement: a real ask takes the place of a placeholder of its group (SI-GANG)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import Allocated, PreemptionPolicy, Released, Termination
from siconform.protocol.snapshot_facts import AllocationSeen, ApplicationSeen, QueueSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import (
    ANOTHER_GROUP,
    QUOTA_QUEUE,
    TASK_GROUP,
    otherwise_released,
    replaced,
)


@requirement("SI-GANG-011")
def test_a_gang_may_get_more_than_its_placeholder_ask(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=2, memory=2)
    placeholders = rm.has_placeholders(gang)
    _, gone = rm.has_replaced(gang, placeholders)
    rm.has_replaced(gang, [p for p in placeholders if p != gone])

    more = [rm.asks_member(gang), rm.asks_member(gang)]

    for ask in more:
        rm.expect(Allocated(ask))


@requirement("SI-GANG-017")
def test_placeholders_are_matched_by_their_group(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=5)
    _, another, *ones, middle = rm.has_placeholders(
        gang, TASK_GROUP.upper(), ANOTHER_GROUP, TASK_GROUP, TASK_GROUP, "middle"
    )

    replaced_one = rm.expect_replacement(rm.asks_member(gang), ones).placeholder
    rm.expect_replacement(rm.asks_member(gang, group="middle"), [middle])
    rm.expect_replacement(rm.asks_member(gang, group=ANOTHER_GROUP), [another])

    rm.expect_none(*(Released(identity=p.identity) for p in ones if p != replaced_one))


@requirement("SI-GANG-017")
def test_a_placeholder_of_another_application_is_not_taken(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang, other_gang = rm.has_gang(members=1), rm.has_gang(members=1)
    own, others = rm.has_placeholder(gang), rm.has_placeholder(other_gang)
    rm.has_replaced(gang, [own])

    one_more = rm.asks_member(gang)

    rm.expect(Allocated(one_more, placeholder=False))
    rm.expect_none(replaced(others))


@requirement("SI-GANG-017")
def test_a_placeholder_of_another_application_of_the_queue_is_not_taken(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    older, gang, younger = (rm.has_gang(queue=QUOTA_QUEUE) for _ in range(3))
    others_own: list[Allocated] = []
    for one in (older, gang, younger):
        pattern = Allocated(rm.asks_placeholder(one), placeholder=True)
        placed = rm.receive_if_any(pattern, window=rm.deadlines.place)
        rm.needs_some([placed] if placed else [], of="to serve gangs of one queue side by side")
        others_own += rm.observe(pattern)
    own = others_own.pop(1)

    real = rm.asks_member(gang)

    rm.expect_replacement(real, [own])
    one_more = rm.asks_member(gang)
    rm.expect(Allocated(one_more, placeholder=False))
    rm.expect_none(*map(replaced, others_own))


@requirement("SI-GANG-019")
def test_a_real_ask_has_one_placeholder_released(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=3)
    placeholders = rm.has_placeholders(gang)

    real = rm.asks_member(gang)

    rm.expect_replacement(real, placeholders)
    rm.expect_none(*(Released(identity=p.identity) for p in placeholders))


@requirement("SI-GANG-020")
def test_nothing_is_allocated_before_the_rm_has_confirmed(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    app = rm.has_application()

    open_one = rm.has_open_replacement(gang, placeholders)
    late = rm.asks(app, memory=4)

    rm.expect_none(Allocated(open_one.real), Allocated(late))
    with rm.control("after the confirmation the real allocation comes"):
        rm.confirms(open_one.release)
        rm.expect(Allocated(open_one.real))


@requirement("SI-GANG-021")
def test_the_real_allocation_takes_the_place_of_the_placeholder(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    rm.has_node(memory=20)  # capacity elsewhere, before the real ask
    open_one = rm.has_open_replacement(gang, placeholders)
    gone = open_one.placeholder
    rm.has_node(memory=30)  # and after it

    rm.confirms(open_one.release)

    real = rm.expect(
        Allocated(open_one.real, node=gone.node, placeholder=False, task_group=TASK_GROUP)
    )
    rm.have_different_identities([*placeholders, real])
    rm.expect_none(Released(identity=gone.identity))


@requirement("SI-GANG-021")
def test_each_real_allocation_takes_the_place_of_its_placeholder(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=3)
    rm.has_node(memory=20)  # capacity elsewhere

    while placeholders:
        open_one = rm.has_open_replacement(gang, placeholders)
        gone = open_one.placeholder
        rm.confirms(open_one.release)
        rm.expect(Allocated(open_one.real, node=gone.node, placeholder=False))
        placeholders.remove(gone)


@requirement("SI-GANG-021")
def test_the_capacity_of_the_placeholder_is_for_its_real_ask(rm: ResourceManager) -> None:
    older = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_node(memory=4)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    placeholders = rm.has_placeholders(gang)
    open_one = rm.has_open_replacement(gang, placeholders)
    waiting = rm.has_waiting_ask(older, memory=4, priority=10)

    rm.confirms(open_one.release)

    rm.expect(Allocated(open_one.real, node=open_one.placeholder.node))
    rm.expect_none(Allocated(waiting))


@requirement("SI-GANG-021")
def test_placeholder_capacity_is_not_given_to_older_asks(
    rm: ResourceManager,
) -> None:
    older = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_node(memory=4)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    placeholder = rm.has_placeholder(gang)
    waiting = rm.has_waiting_ask(older, memory=4, priority=10)
    with rm.confirming_nothing():
        real = rm.asks_member(gang)
        release = rm.overtaking_replacement([placeholder])

    rm.confirms(release)

    rm.expect(Allocated(real, node=placeholder.node))
    rm.expect_none(Allocated(waiting))


@requirement("SI-GANG-021")
def test_a_confirmation_is_enough_for_its_own_placeholder(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    with rm.precondition("a real ask replaces a placeholder"), rm.confirming_nothing():
        first = rm.expect_replacement(rm.asks_member(gang), placeholders)
        others = [p for p in placeholders if p != first.placeholder]
        rm.asks_member(gang)
        second = rm.receive_replacement_if_any(others)
    last = first.release if second is None else second  # one by one is fine, too
    [node] = [p.node for p in placeholders if p.identity == last.identity]

    rm.confirms(last)

    rm.expect(Allocated(application=gang, node=node, placeholder=False))


@requirement("SI-GANG-021")
def test_confirmations_in_one_message_are_each_enough_for_their_placeholder(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    with rm.confirming_nothing():
        real = [rm.asks_member(gang) for _ in placeholders]
        released = rm.collects(
            Released(application=gang, termination=Termination.PLACEHOLDER_REPLACED), most=2
        )
        rm.needs_some(released[1:], of="to replace two placeholders at once")

        with rm.one_message():
            for release in released:
                rm.confirms(release)

    for ask in real:
        rm.expect(Allocated(ask, placeholder=False))


@requirement("SI-GANG-020", "SI-GANG-021")
def test_a_confirmation_is_for_one_of_the_placeholders_that_came_from_one_ask(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    for _ in range(2):
        rm.has_node(memory=4)
    gang = rm.has_gang(members=2, memory=4)
    placeholders = rm.has_some_placeholders(gang, [rm.asks_placeholder(gang, times=2)], 2)
    with rm.confirming_nothing():
        real = rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, times=2)
        released = rm.collects(
            Released(application=gang, termination=Termination.PLACEHOLDER_REPLACED), most=2
        )
        rm.needs_some(released[1:], of="to replace two placeholders at once")
    first, second = released
    [node] = [p.node for p in placeholders if p.identity == first.identity]

    rm.confirms(first)

    rm.expect(Allocated(real, node=node, placeholder=False))
    rm.expect_nothing_allocated(Allocated(application=gang))
    rm.confirms(second)
    rm.expect(Allocated(real, placeholder=False))


@requirement("SI-ALLOC-003")
def test_what_replaces_a_placeholder_repeats_the_tags_of_its_ask(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    tags = {"t": "v"}
    rm.has_node()
    plain = rm.has_allocation(rm.has_application(), tags=tags)
    rm.needs_some([plain] if tags.items() <= plain.tags.items() else [], of="to report tags")
    gang, placeholders = rm.has_complete_gang()

    real = rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, tags=tags)

    rm.expect_replacement(real, placeholders)
    rm.repeats_tags(rm.expect(Allocated(real)), tags)


@requirement("SI-ALLOC-003")
def test_what_replaces_a_placeholder_repeats_the_priority_of_its_ask(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    plain = rm.has_allocation(rm.has_application(), priority=7)
    rm.needs_some([plain] if plain.priority == 7 else [], of="to report priorities")
    gang, placeholders = rm.has_complete_gang()

    real = rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, priority=7)

    rm.expect_replacement(real, placeholders)
    rm.agrees(rm.expect(Allocated(real)), Allocated(priority=7))


@requirement("SI-ALLOC-003")
def test_what_replaces_a_placeholder_names_the_partition_that_this_did(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang()

    real = rm.asks_member(gang)

    placeholder = rm.expect_replacement(real, placeholders).placeholder
    rm.agrees(rm.expect(Allocated(real)), Allocated(partition=placeholder.partition))


@requirement("SI-ALLOC-007")
def test_what_replaces_a_placeholder_repeats_originator_and_policy_of_its_ask(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(members=2)
    takes = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True)

    real, flagged = (
        rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, originator=one, policy=takes)
        for one in (False, True)
    )

    rm.expect_replacement(real, placeholders)
    rm.expect(Allocated(real, originator=False, preemption_policy=takes))
    rm.expect_of_originator(Allocated(flagged, originator=True, preemption_policy=takes))


@requirement("SI-ALLOC-007")
def test_a_placeholder_repeats_originator_and_policy_of_its_ask(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    gang = rm.has_gang()
    takes = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True)

    ask = rm.asks(
        gang,
        resources=gang.member,
        task_group=TASK_GROUP,
        placeholder=True,
        originator=True,
        policy=takes,
    )

    rm.expect_of_originator(
        Allocated(ask, placeholder=True, originator=True, preemption_policy=takes)
    )


@requirement("SI-ASK-012")
def test_the_real_ask_with_the_higher_priority_replaces_the_only_placeholder(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=2)
    placeholder_ask = rm.asks_placeholder(gang)
    rm.is_pending(placeholder_ask)
    low, high = (
        rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, priority=priority)
        for priority in (1, 10)
    )
    rm.synchronise_all()

    rm.has_node(memory=2)
    with rm.precondition("the placeholder is allocated"):
        placeholder = rm.is_allocated_in_time(gang, Allocated(placeholder_ask))
    release = rm.receive_replacement_if_any([placeholder])
    rm.needs_some([release] if release else [], of="to keep real asks for the last placeholder")

    rm.expect(Allocated(high))
    rm.expect_none(Allocated(low))


@requirement("SI-GANG-022")
def test_a_real_ask_without_placeholder_is_placed_normally(rm: ResourceManager) -> None:
    rm.has_node(memory=20)
    gang = rm.has_gang(members=2)
    placeholder, used = rm.has_placeholders(gang, TASK_GROUP, ANOTHER_GROUP)
    rm.has_replaced(gang, [used], group=ANOTHER_GROUP)

    for group in ("", ANOTHER_GROUP, "unknown-group"):
        rm.expect(Allocated(rm.asks_member(gang, group=group), placeholder=False))

    rm.expect_none(Released(identity=placeholder.identity))
    with rm.control("a real ask of its group does have the placeholder released"):
        rm.expect_replacement(rm.asks_member(gang), [placeholder])


@requirement("SI-GANG-023")
def test_a_placeholder_is_released_for_one_real_ask_only(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=3)
    placeholders = rm.has_placeholders(gang)

    with rm.confirming_nothing():
        first = rm.expect_replacement(rm.asks_member(gang), placeholders)
        others = [placeholder for placeholder in placeholders if placeholder != first.placeholder]
        second = rm.asks_member(gang)

        if rm.receive_replacement_if_any(others) is None:
            rm.expect_none(Released(identity=first.placeholder.identity))
            rm.confirms(first.release)  # one after the other is fine, too
            rm.expect(Allocated(first.real))
            rm.expect_replacement(second, others)
        rm.expect_none(*(Released(identity=p.identity) for p in placeholders))


@requirement("SI-GANG-024")
def test_scheduling_goes_on_while_a_replacement_is_open(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    rm.has_open_replacement(gang, placeholders)
    rm.has_node()

    asks = [rm.asks(rm.has_application()), rm.asks(gang)]

    for ask in asks:
        rm.expect(Allocated(ask))


@requirement("SI-GANG-025")
def test_a_real_ask_goes_elsewhere_if_the_node_has_shrunk(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=2)
    open_one = rm.has_open_replacement(gang, placeholders)
    shrunk, other = open_one.placeholder.node, rm.has_node(memory=2)
    rm.updates_node(shrunk, memory=1)

    rm.confirms(open_one.release)

    rm.expect(Allocated(open_one.real, node=other))
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=1), node=shrunk))
    rm.expect_none(Released(identity=open_one.placeholder.identity))


@requirement("SI-GANG-025")
def test_a_real_ask_is_allocated_if_the_node_of_its_placeholder_is_draining(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(memory=2)
    open_one = rm.has_open_replacement(gang, placeholders)
    rm.has_node(memory=2)
    rm.drains(open_one.placeholder.node)
    rm.settles()

    rm.confirms(open_one.release)

    rm.expect(Allocated(open_one.real))


@requirement("SI-GANG-025")
def test_a_real_ask_waits_for_capacity_if_its_node_has_shrunk(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=2)
    open_one = rm.has_open_replacement(gang, placeholders)
    shrunk = open_one.placeholder.node
    rm.has_full_node(memory=2)
    rm.updates_node(shrunk, memory=1)

    rm.confirms(open_one.release)
    rm.expect_none(Allocated(open_one.real))
    other = rm.registers_node(memory=2)

    rm.is_served(open_one.real, node=other)
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=1), node=shrunk))
    rm.expect_none(Released(identity=open_one.placeholder.identity))


def _gang_that_fills_its_queue(rm: ResourceManager, capacity: int) -> tuple[Gang, list[Allocated]]:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=capacity)
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=5, memory=2)
    return gang, rm.has_placeholders(gang)


_QUEUE_AND_NODE = pytest.mark.parametrize(
    "capacity", [20, 10], ids=["queue-alone", "queue-and-node"]
)


@requirement("SI-GANG-026")
@_QUEUE_AND_NODE
def test_a_gang_that_fills_its_queue_and_node_is_replaced_member_by_member(
    rm: ResourceManager, capacity: int
) -> None:
    gang, placeholders = _gang_that_fills_its_queue(rm, capacity)

    for _ in range(5):
        real = rm.asks_member(gang)
        gone = rm.expect_replacement(real, placeholders).placeholder
        allocation = rm.expect(Allocated(real))
        placeholders.remove(gone)

    other = rm.asks(rm.has_application(queue=QUOTA_QUEUE), memory=2)
    rm.expect_none(Allocated(other))
    with rm.control("with one real allocation gone another application is served"):
        rm.withdraws(other)
        rm.expect_none(Allocated(other))  # else the release might overtake it
        rm.releases(allocation)
        rm.is_served(rm.asks(rm.has_application(queue=QUOTA_QUEUE), memory=2))


@requirement("SI-GANG-026")
@_QUEUE_AND_NODE
def test_a_replacement_leaves_no_capacity_for_an_ask_that_waits(
    rm: ResourceManager, capacity: int
) -> None:
    gang, placeholders = _gang_that_fills_its_queue(rm, capacity)
    waiting = rm.has_waiting_ask(rm.has_application(queue=QUOTA_QUEUE), memory=2)

    for _ in range(5):
        real = rm.asks_member(gang)
        gone = rm.overtaking_replacement(placeholders)
        placeholders = [one for one in placeholders if one.identity != gone.identity]
        rm.expect(Allocated(real))

    rm.expect_none(Allocated(waiting))


@requirement("SI-GANG-054")
def test_a_smaller_real_ask_frees_what_it_leaves_over(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)

    with rm.confirming_nothing():
        open_one = rm.expect_replacement(rm.asks_member(gang, memory=3), placeholders)
    waiting = rm.asks(rm.has_application(), memory=1)
    rm.expect_none(Allocated(open_one.real), Allocated(waiting))
    rm.confirms(open_one.release)

    node = open_one.placeholder.node
    rm.gives(rm.expect(Allocated(open_one.real, node=node)), {"memory": 3, "vcore": 1})
    rm.is_served(waiting, node=node)


@requirement("SI-GANG-055")
def test_a_larger_real_ask_waits_for_capacity_of_its_size(rm: ResourceManager) -> None:
    gang, _ = rm.has_complete_gang(memory=2)
    rm.has_full_node(memory=3)

    real = rm.asks_member(gang, memory=3)
    rm.expect_none(Allocated(real))
    other = rm.registers_node(memory=3)

    rm.gives(rm.is_served(real, node=other), {"memory": 3, "vcore": 1})
    rm.expect_none(Allocated(real))


@requirement("SI-GANG-055")
def test_a_larger_real_ask_waits_for_capacity_of_its_queue(rm: ResourceManager) -> None:
    rm.has_node(memory=20)
    app = rm.has_application(queue=QUOTA_QUEUE)
    held = rm.has_allocation(app, memory=6)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    placeholder = rm.has_placeholder(gang)
    real = rm.asks_member(gang, memory=6)
    rm.ends_for_a_real_ask(placeholder)

    rm.has_released(held)

    rm.is_served(real)


@requirement("SI-RES-001")
def test_a_real_ask_is_not_placed_where_its_placeholder_had_no_such_resource(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, [placeholder] = rm.has_complete_gang(memory=2)
    other = rm.has_node(resources={"memory": 2, "vcore": 1, "gpu": 2})

    real = rm.asks(gang, resources={**gang.member, "gpu": 2}, task_group=TASK_GROUP)

    rm.expect_none(Allocated(real, node=placeholder.node))
    placed = rm.observe(Allocated(real, node=other))
    rm.needs_some(placed, of="to place a real ask without its placeholder")


@requirement("SI-GANG-056")
def test_a_real_ask_does_not_wait_for_placeholders_in_replacement(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=1)
    open_one = rm.has_open_replacement(gang, placeholders)
    rm.has_node()

    another = rm.asks_member(gang)

    rm.expect(Allocated(another))
    rm.expect_none(Released(identity=open_one.placeholder.identity))
    rm.confirms(open_one.release)
    rm.expect(Allocated(open_one.real))


@requirement("SI-GANG-057")
def test_a_second_confirmation_changes_nothing(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    app = rm.has_application()
    open_one = rm.has_open_replacement(gang, placeholders)
    waiting = rm.asks(app, memory=4)

    rm.confirms(open_one.release)
    rm.confirms(open_one.release)

    with rm.control("the first confirmation brings the real allocation"):
        rm.expect(Allocated(open_one.real))
    late = rm.asks(app, memory=4)
    rm.expect_none(
        Allocated(open_one.real),
        Allocated(waiting),
        Allocated(late),
        Released(identity=open_one.placeholder.identity),
    )


@requirement("SI-GANG-058")
def test_a_stop_of_the_placeholder_does_not_lose_the_real_ask(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    open_one = rm.has_open_replacement(gang, placeholders)
    placeholder = open_one.placeholder

    rm.releases(placeholder)
    rm.expect(Released(identity=placeholder.identity, termination=Termination.STOPPED_BY_RM))
    rm.confirms(open_one.release)

    rm.expect(Allocated(open_one.real))
    other = rm.asks(rm.has_application(), memory=4)
    rm.expect_none(
        Allocated(open_one.real), Allocated(other), Released(identity=placeholder.identity)
    )


@requirement("SI-GANG-059")
def test_a_real_ask_withdrawn_in_time_is_not_allocated(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    open_one = rm.has_open_replacement(gang, placeholders)
    waiting = rm.asks(rm.has_application(), memory=4)

    rm.withdraws(open_one.real)
    rm.synchronise_all()
    rm.confirms(open_one.release)

    rm.expect_none(Allocated(open_one.real))
    rm.is_served(waiting)


@requirement("SI-GANG-059")
def test_nothing_more_is_allocated_of_an_ask_for_several_that_was_withdrawn_in_time(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    gang, _ = rm.has_complete_gang(memory=4)
    with rm.confirming_nothing():
        real = rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, times=2)
        released = rm.collects(
            Released(application=gang, termination=Termination.PLACEHOLDER_REPLACED), most=1
        )
        rm.needs_some(released, of="to replace a placeholder for an ask in part")
    waiting = rm.asks(rm.has_application(), memory=4)

    rm.withdraws(real)
    rm.synchronise_all()
    rm.confirms(released[0])

    rm.expect_none(Allocated(real))
    rm.is_served(waiting)


@requirement("SI-GANG-060")
def test_placeholders_of_a_decommissioned_node_are_not_replaced(rm: ResourceManager) -> None:
    gang, (ended, left) = rm.has_complete_gang(members=2)
    rm.updates_node(left.node, memory=4)

    rm.decommissions(ended.node)
    rm.expect_one_of(*otherwise_released(ended))
    real = [rm.asks_member(gang), rm.asks_member(gang)]

    rm.expect(replaced(left))
    for ask in real:
        rm.expect(Allocated(ask, node=left.node))
    rm.expect_none(Released(identity=ended.identity), Released(identity=left.identity))


@disruptive  # some versions of yunikorn-core mishandle a late confirmation
@requirement("SI-GANG-061")
def test_a_real_ask_outlives_the_node_of_its_placeholder(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    open_one = rm.has_open_replacement(gang, placeholders)
    placeholder, other = open_one.placeholder, rm.has_node(memory=4)

    rm.decommissions(placeholder.node)
    rm.receive_if_any(*otherwise_released(placeholder))
    rm.settles()
    rm.confirms(open_one.release)

    rm.expect(Allocated(open_one.real, node=other))
    late = rm.asks(rm.has_application(), memory=4)
    rm.expect_none(
        Allocated(open_one.real), Allocated(late), Released(identity=placeholder.identity)
    )


@requirement("SI-GANG-062")
def test_removing_the_application_ends_its_open_replacements(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2, memory=4)
    open_one = rm.has_open_replacement(gang, placeholders)

    rm.removes_application(gang)
    rm.settles()
    rm.confirms(open_one.release)

    app = rm.has_application()
    capacity = [rm.asks(app, memory=4), rm.asks(app, memory=4)]
    for ask in capacity:
        rm.expect(Allocated(ask))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more), Allocated(application=gang))


@requirement("SI-GANG-048")
def test_the_state_of_an_application_shows_placeholders_apart(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    real, gone = rm.has_replaced(gang, placeholders)
    (left,) = [placeholder for placeholder in placeholders if placeholder != gone]

    rm.sees(
        ApplicationSeen(gang, allocated_real=real.resource, allocated_placeholder=left.resource)
    )
    rm.sees(AllocationSeen(gang, identity=real.identity, placeholder=False, task_group=TASK_GROUP))
    rm.sees(AllocationSeen(gang, identity=left.identity, placeholder=True, task_group=TASK_GROUP))


@requirement("SI-GANG-048")
def test_the_state_of_a_queue_shows_placeholders_and_real_allocations(rm: ResourceManager) -> None:
    rm.needs(Feature.QUEUES)
    gang, placeholders = rm.has_complete_gang(members=2)
    real, gone = rm.has_replaced(gang, placeholders)
    (left,) = [placeholder for placeholder in placeholders if placeholder != gone]
    both = {name: amount + left.resource[name] for name, amount in real.resource.items()}

    rm.sees_where_shown(QueueSeen(gang.queue, allocated=both), like=QueueSeen(gang.queue))
