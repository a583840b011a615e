"""Keys: the identity of an ask and of its allocation, from 2024-10 on (SI-ASK, SI-ALLOC, SI-REL).

A message about a pending key updates it; a key whose allocation ended may be used again with a new
lifecycle (C-51), or be rejected. Updates of live allocations are in ``test_updates.py``.
"""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.matchers import AnotherThan
from siconform.protocol.notifications import (
    Allocated,
    AskRejected,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.protocol.requests import REQUIRED_NODE
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import MAY_PREEMPT
from siconform.rm.steps.gangs import QUOTA_QUEUE, TASK_GROUP, replaced
from siconform.rm.steps.preemption import (
    MAY_NOT_PREEMPT,
)

STOPPED_BY_RM = Termination.STOPPED_BY_RM


@requirement("SI-ASK-027")
def test_one_key_has_one_allocation_however_often_it_is_asked_for(rm: ResourceManager) -> None:
    for _ in range(2):
        rm.has_node(memory=10)
    app = rm.has_application()

    with rm.one_message():
        ask = rm.asks(app, memory=10)
        rm.asks_again(ask)
        rm.asks_again(ask)
    rm.needs_updates_of(ask)
    held = rm.expect(Allocated(ask))
    rm.asks_again(ask)
    rm.asks_again(ask)

    another_node = AnotherThan(held.node)
    rm.expect_none(Allocated(ask, node=another_node))  # on its own node it is an echo
    rm.expect(Allocated(rm.asks(app, memory=10), node=another_node))
    with rm.control("asks with different keys get an allocation each"):
        rm.has_node(memory=30)
        for other in [rm.asks(app, memory=10) for _ in range(3)]:
            rm.expect(Allocated(other))


@requirement("SI-ASK-028")
def test_the_key_of_an_ended_allocation_serves_again_or_is_rejected(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    ended = rm.has_released(rm.has_allocation(app, memory=10))

    again = rm.asks(app, key=ended.key, memory=10)

    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    rm.records("an ask with the key of an ended allocation", received)
    if isinstance(received, Allocated):
        rm.still_holds(received)
    rm.expect(Allocated(rm.asks(app, memory=10)))


@requirement("SI-ASK-001", "SI-ASK-028")
def test_the_key_of_an_allocation_that_ended_with_its_application_serves_again_or_is_rejected(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    removed = rm.has_application()
    ended = rm.has_allocation(removed, memory=10)
    rm.has_removed(removed)
    app = rm.has_application()

    again = rm.asks(app, key=ended.key, memory=10)

    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    rm.records("an ask with the key of an allocation of a removed application", received)


@requirement("SI-ASK-001")
def test_the_key_of_an_ask_that_ended_with_its_application_serves_again_or_is_rejected(
    rm: ResourceManager,
) -> None:
    held = rm.has_full_node()
    removed = rm.has_application()
    pending = rm.has_pending_ask(removed, memory=10)
    rm.has_removed(removed)
    rm.releases(held)
    app = rm.has_application(removed)

    again = rm.asks(app, key=pending, memory=10)

    rm.expect_one_of(Allocated(again), AskRejected(again))


@requirement("SI-ALLOC-008")
def test_key_used_again_is_announced_once_in_each_lifecycle(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    live = rm.has_allocation(app, memory=4)

    for _ in range(2):
        rm.has_released(live)
        again = rm.asks(app, key=live.key, memory=4)
        received = rm.expect_one_of(Allocated(again), AskRejected(again))
        served = [received] if isinstance(received, Allocated) else []
        rm.needs_some(served, of="to serve a key for a second time")
        [live] = served
        rm.expect_none(Allocated(again))

    rm.still_holds(live)
    rm.expect_none(Allocated(live.key))


@requirement("SI-REL-001")
def test_key_used_again_can_be_released_again(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    ended = rm.has_released(rm.has_allocation(app, memory=10))
    again = rm.asks(app, key=ended.key, memory=10)
    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    served = [received] if isinstance(received, Allocated) else []
    rm.needs_some(served, of="to serve a key for a second time")
    [live] = served

    rm.releases(live)

    rm.expect(Released(identity=live.identity, application=app, termination=STOPPED_BY_RM))
    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-ALLOC-002")
def test_key_used_again_has_the_amount_it_was_asked_for_with_then(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    ended = rm.has_released(rm.has_allocation(app, memory=8))

    again = rm.asks(app, key=ended.key, memory=2)

    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    served = [received] if isinstance(received, Allocated) else []
    rm.needs_some(served, of="to serve a key for a second time")
    rm.gives(served[0], {"memory": 2}, below={"memory": 8})


@requirement("SI-ALLOC-003")
def test_key_used_again_has_the_priority_it_was_asked_for_with_then(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    first = rm.has_allocation(app, priority=7)
    rm.needs_some([first] if first.priority == 7 else [], of="to report the priority of its ask")
    ended = rm.has_released(first)

    again = rm.asks(app, key=ended.key, priority=3)

    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    served = [received] if isinstance(received, Allocated) else []
    rm.needs_some(served, of="to serve a key for a second time")
    rm.agrees(served[0], Allocated(priority=3))


@requirement("SI-ASK-029")
def test_a_pending_ask_has_its_turn_by_the_priority_it_was_reported_with_last(
    rm: ResourceManager,
) -> None:
    rm.serves_higher_priority_first()
    rm.has_full_node()
    app = rm.has_application()
    raised, other = rm.has_pending_ask(app, priority=1), rm.has_pending_ask(app, priority=5)

    rm.has_asked_again(raised, priority=9)
    rm.has_node(memory=1)

    rm.expect(Allocated(raised))
    rm.expect_none(Allocated(other))


@requirement("SI-ASK-004", "SI-ASK-029")
def test_a_pending_ask_that_no_longer_names_a_node_may_go_to_any(rm: ResourceManager) -> None:
    full = rm.has_full_node()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    bound = rm.has_ask_left_alone(app, "required nodes", memory=5, tags={REQUIRED_NODE: full.node})
    rm.is_pending(bound)

    rm.has_asked_again(bound, tags={})

    rm.expect(Allocated(bound, node=node))


@requirement("SI-ASK-004", "SI-ASK-029")
def test_a_pending_ask_that_is_reported_to_preempt_does_so(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()
    allowed = rm.claims(taken.entitled)
    release = rm.sees_preemption_of(*taken.allocations, by=allowed)
    rm.expect(Allocated(allowed))
    left = rm.spares_others(release, taken.allocations)
    ask = rm.claims(taken.entitled, policy=MAY_NOT_PREEMPT)
    rm.sees_no_preemption_of(*left)
    rm.is_pending(ask)

    rm.has_asked_again(ask, policy=MAY_PREEMPT)

    rm.expect(Allocated(ask), timeout=rm.deadlines.place)


@requirement("SI-ASK-004", "SI-ASK-029")
def test_a_pending_ask_that_becomes_a_placeholder_is_allocated_as_one(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    full = rm.has_full_node()
    gang = rm.has_gang(memory=5)
    ask = rm.has_waiting_ask(gang, resources=gang.member)
    rm.needs_some([] if rm.rejected(ask) else [full], of="to keep a real ask before placeholders")
    rm.is_pending(ask)

    rm.has_asked_again(ask, task_group=TASK_GROUP, placeholder=True)
    node = rm.has_node(memory=5)

    placeholder = rm.expect(Allocated(ask, node=node))
    rm.agrees(placeholder, Allocated(task_group=TASK_GROUP, placeholder=True))
    real = rm.asks_member(gang)
    rm.expect(replaced(placeholder))
    rm.expect(Allocated(real, node=node))


@requirement("SI-ASK-029")
def test_a_pending_ask_that_becomes_a_real_one_is_not_allocated_as_placeholder(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    full = rm.has_full_node()
    kept = [] if rm.ignores_early_asks() else [full]
    rm.needs_some(kept, of="to keep a real ask before placeholders")
    gang = rm.has_gang(members=2)
    ask = rm.asks_placeholder(gang)
    rm.is_pending(ask)

    rm.has_asked_again(ask, placeholder=False)
    rm.has_node()

    with rm.control("an equal ask for a placeholder is allocated"):
        rm.expect(Allocated(rm.asks_placeholder(gang), placeholder=True))
    rm.expect_none(Allocated(ask, placeholder=True))


@requirement("SI-ASK-029")
def test_a_real_ask_that_comes_again_during_its_replacement_has_its_last_tags(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=2)
    rm.has_node(memory=2)
    placeholders = rm.has_placeholders(gang)
    with rm.confirming_nothing():
        real = rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, tags={"said": "first"})
        with rm.precondition("a real ask replaces a placeholder"):
            replacement = rm.expect_replacement(real, placeholders)

        rm.has_asked_again(real, tags={"said": "last"})
    rm.confirms(replacement.release)

    # Whether an allocation repeats them at all is tested elsewhere (SI-ALLOC-003).
    rm.expect_none_of(rm.expect(Allocated(real)), Allocated(tags={"said": "first"}))


@requirement("SI-ASK-030")
@pytest.mark.parametrize("amount", [0, -1], ids=["zero", "negative"])
def test_a_pending_ask_stays_as_it_was_when_another_amount_is_refused(
    rm: ResourceManager, amount: int
) -> None:
    full = rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app, memory=8)

    rm.asks_again(ask, resources={"memory": amount, "vcore": amount})
    rm.has_refused(ask)

    rm.releases(full)
    rm.gives(rm.expect(Allocated(ask)), {"memory": 8}, below={"memory": 9})
    rm.expect(Allocated(rm.asks(app, memory=2)))
    with rm.control("an amount that an ask may have is not refused"):
        valid = rm.has_pending_ask(app, memory=8)
        rm.has_asked_again(valid, memory=7)


@requirement("SI-ASK-030")
def test_a_pending_ask_keeps_its_priority_when_its_update_is_refused(rm: ResourceManager) -> None:
    rm.serves_higher_priority_first()
    rm.has_full_node()
    app = rm.has_application()
    refused, other = rm.has_pending_ask(app, priority=1), rm.has_pending_ask(app, priority=5)

    rm.asks_again(refused, priority=9, resources={"memory": -1, "vcore": -1})
    rm.has_refused(refused)
    rm.has_node(memory=1)

    rm.expect(Allocated(other))
    rm.expect_none(Allocated(refused))


@requirement("SI-ASK-030")
def test_a_pending_ask_stays_as_it_was_when_a_node_for_it_is_refused(rm: ResourceManager) -> None:
    full = rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app, memory=8)

    rm.places(ask, rm.new_name("unknown"), memory=3)
    rm.has_refused(ask)

    rm.releases(full)
    rm.gives(rm.expect(Allocated(ask, node=full.node)), {"memory": 8}, below={"memory": 9})
    rm.expect(Allocated(rm.asks(app, memory=2)))


@requirement("SI-ASK-030")
@pytest.mark.parametrize("amount", [0, -1], ids=["zero", "negative"])
def test_a_live_allocation_stays_as_it_was_when_another_amount_is_refused(
    rm: ResourceManager, amount: int
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)

    rm.updates_allocation(allocation, resources={"memory": amount, "vcore": amount})
    rm.has_refused(allocation.key)

    waiting = rm.asks(app, memory=9)
    rm.expect_none(Allocated(waiting), Released(identity=allocation.identity))
    rm.withdraws(waiting)
    rm.expect(Allocated(rm.asks(app, memory=8), node=node))
    rm.still_holds(allocation)


@requirement("SI-ASK-030")
def test_a_live_allocation_stays_as_it_was_when_a_node_for_it_is_refused(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)

    rm.updates_allocation(allocation, node=rm.new_name("unknown"), memory=1)
    rm.has_refused(allocation.key)

    waiting = rm.asks(app, memory=9)
    rm.expect_none(Allocated(waiting), Released(identity=allocation.identity))
    rm.withdraws(waiting)
    rm.expect(Allocated(rm.asks(app, memory=8), node=node))
    rm.still_holds(allocation)


@requirement("SI-ASK-031")
def test_a_pending_ask_that_comes_again_with_a_node_is_placed_there(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.has_pending_ask(app, memory=20)

    placed = rm.places(ask, node, memory=10)

    all_of_it = rm.asks(app, memory=10)
    elsewhere = Allocated(ask, node=AnotherThan(node))
    rm.expect_none(Allocated(all_of_it), elsewhere)
    rm.has_node(memory=20)
    rm.expect_none(elsewhere)
    rm.expect_at_most(1, Allocated(ask))
    rm.still_holds(placed)


@pytest.mark.parametrize("fuller", [True, False], ids=["the fuller node", "the emptier node"])
@requirement("SI-ASK-031")
def test_a_pending_ask_that_comes_again_with_a_node_goes_to_no_other(
    rm: ResourceManager, *, fuller: bool
) -> None:
    used = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=4, node=used)
    empty = rm.has_node(memory=10)
    ask = rm.has_pending_ask(app, memory=20)

    node, left = (used, 10) if fuller else (empty, 6)
    rm.places(ask, node, memory=4)

    beyond = rm.asks(app, memory=left + 1)
    rm.expect_none(Allocated(ask, node=AnotherThan(node)), Allocated(beyond))
    rm.withdraws(beyond)
    rm.expect(Allocated(rm.asks(app, memory=left)))


@requirement("SI-ASK-031")
def test_a_pending_ask_that_comes_again_with_a_node_holds_the_amount_it_comes_with(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.has_pending_ask(app, memory=20)

    rm.places(ask, node, memory=4)

    beyond = rm.asks(app, memory=7)
    rm.expect_none(Allocated(beyond))
    rm.withdraws(beyond)
    rm.expect(Allocated(rm.asks(app, memory=6), node=node))


@requirement("SI-ASK-031")
def test_a_pending_placeholder_that_comes_again_with_a_node_is_a_placeholder(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    node = rm.has_node(memory=2, draining=True)
    gang = rm.has_gang(memory=2)
    ask = rm.asks_placeholder(gang)
    rm.is_pending(ask)

    placeholder = rm.places(ask, node, memory=2)
    rm.undrains(node)

    real = rm.asks_member(gang)
    rm.expect(replaced(placeholder))
    rm.expect(Allocated(real, node=node))


@requirement("SI-ASK-031")
def test_a_real_ask_that_the_rm_placed_during_its_replacement_goes_to_no_other_node(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=2)
    node = rm.has_node(memory=2)
    replacement = rm.has_open_replacement(gang, rm.has_placeholders(gang))
    other = rm.has_node(memory=2)

    placed = rm.places(replacement.real, other, memory=2)
    rm.confirms(replacement.release)

    rm.expect_none(Allocated(replacement.real, node=AnotherThan(other)))
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=2), node=node))
    rm.still_holds(placed)


@requirement("SI-ASK-011")
def test_a_pending_ask_that_was_updated_waits_for_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    held = rm.has_allocation(app, memory=8)
    ask = rm.has_pending_ask(app, memory=6)

    again = rm.has_asked_again(ask, memory=4)

    rm.expect_none(Allocated(again))
    rm.releases(held)
    rm.is_served(again)


@requirement("SI-ALLOC-011")
def test_each_of_many_asks_is_allocated_under_its_own_key(rm: ResourceManager) -> None:
    rm.has_node(memory=100, vcore=100)
    app = rm.has_application()

    with rm.one_message():
        asks = [rm.asks(app) for _ in range(100)]

    allocations = rm.expect_each(*(Allocated(ask) for ask in asks))
    rm.have_different_identities(allocations)
    rm.expect_none(Allocated(application=app))
    rm.still_holds(allocations[-1])


@requirement("SI-REL-027")
def test_a_release_with_application_and_key_ends_that_allocation_alone(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    first, second = rm.has_allocation(app, memory=4), rm.has_allocation(app, memory=6)
    waiting = rm.has_waiting_ask(app, memory=4)

    rm.releases(first)

    rm.expect(Released(identity=first.identity, application=app, termination=STOPPED_BY_RM))
    rm.is_served(waiting, node=node)
    larger = rm.asks(app, memory=6)
    rm.expect_none(
        Released(identity=second.identity),
        Released(application=app, identity=""),
        Allocated(larger),
    )
    rm.releases(second)
    rm.expect(Released(identity=second.identity, application=app, termination=STOPPED_BY_RM))


@requirement("SI-REL-027")
def test_a_release_with_application_and_key_ends_nothing_whose_key_begins_alike(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    released = rm.has_allocation(app, memory=4)
    with rm.precondition("asks whose keys begin alike are allocated"):
        longer = [rm.asks(app, key=f"{released.key}{end}", memory=3) for end in ("0", "-x")]
        others = [rm.expect(Allocated(ask)) for ask in longer]
    waiting = rm.asks(app, key=f"{released.key}1", memory=4)

    rm.releases(released)

    rm.expect(Released(identity=released.identity, application=app, termination=STOPPED_BY_RM))
    rm.is_served(waiting, node=node)
    rm.expect_none(*(Released(identity=other.identity) for other in others))
    for other in others:
        rm.still_holds(other)


@requirement("SI-REL-028")
def test_a_key_under_another_application_or_none_ends_nothing(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, memory=6)
    other = rm.has_allocation(other_app, memory=4)
    waiting = rm.has_waiting_ask(other_app, memory=4)

    for misnamed in ("", other_app, rm.new_name("app")):
        rm.releases(allocation, application=misnamed)

    # An answer that echoes the request does not report the end of the allocation.
    its_end = Released(identity=allocation.identity, application=app)
    rm.expect_none(
        its_end, Released(identity=other.identity), Released(application=other_app, identity="")
    )
    rm.is_not_served(waiting)
    rm.releases(allocation)
    rm.expect(its_end)
    rm.expect_none(its_end)
    rm.still_holds(other)


@requirement("SI-REL-028")
def test_a_release_with_neither_application_nor_key_ends_nothing(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=6)
    waiting = rm.has_waiting_ask(app, memory=6)

    rm.releases_all("")

    rm.expect_none(Released(identity=allocation.identity), Released(application=app, identity=""))
    rm.is_not_served(waiting)
    rm.still_holds(allocation)


@requirement("SI-REC-025")
def test_an_existing_allocation_that_is_reported_twice_counts_once(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=6)

    rm.adds_existing(existing)
    rm.adds_existing(existing)

    with rm.control("an ask that does not fit as well is not allocated"):
        too_large = rm.asks(app, memory=5)
        rm.expect_none(Allocated(too_large))
        rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    rm.still_holds(existing)
    rm.expect(Allocated(rm.asks(app, memory=6), node=node))
    rm.expect_none(Released(identity=existing.identity))


@requirement("SI-REC-026")
def test_what_ended_with_its_node_is_taken_over_again_or_rejected(rm: ResourceManager) -> None:
    rm.has_node(memory=1)
    app = rm.has_application()
    rm.has_allocation(app)  # keeps the application active
    node = rm.has_node(memory=10)
    existing = rm.remembers_allocation(app, node, memory=6)
    rm.adds_existing(existing)
    with rm.precondition("allocations end with their node, and the node is accepted again"):
        rm.decommissions(node)
        rm.expect(Released(identity=existing.identity))
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))

    rm.adds_existing(existing)

    is_rejected = rm.is_refused(existing.key)
    rm.records(f"an allocation ended with its node is rejected when repeated: {is_rejected}")
    all_of_it = rm.asks(app, memory=10)
    if not is_rejected:
        rm.expect_none(Allocated(all_of_it))
        rm.still_holds(existing)
    rm.is_served(all_of_it, node=node)
