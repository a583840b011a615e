"""Connections: the lifecycle of an RM, its streams and their messages (SI-CONN)."""

from collections.abc import Callable

import pytest

from siconform.marks import order_is_a_race, real_clock, requirement, waits
from siconform.outcomes import NotOffered
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.queue_configurations import queues_with_quotas
from siconform.protocol.snapshot_facts import (
    AllocationSeen,
    ApplicationSeen,
    NodeSeen,
    Phase,
    PhaseSeen,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM

GONE = (Phase.STOPPED, Phase.UNKNOWN)  # a stopped RM may be forgotten


@requirement("SI-CONN-001")
def test_a_registered_rm_is_served_on_every_stream(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()

    unregistered_rm.is_served_on_every_stream()


@requirement("SI-CONN-002")
def test_an_rm_that_is_not_registered_changes_nothing(unregistered_rm: UnregisteredRM) -> None:
    nameless = unregistered_rm.under_name("")

    node = unregistered_rm.registers_node()
    unregistered_rm.stays_quiet(NodeAccepted(node))
    with unregistered_rm.unordered():  # a barrier on the node stream would not be answered
        app = unregistered_rm.submits_application()
    unregistered_rm.stays_quiet(ApplicationAccepted(app))
    nameless.registers_node(node)
    nameless.stays_quiet(NodeAccepted(node))
    with nameless.unordered():
        nameless.submits_application(app)
    nameless.stays_quiet(ApplicationAccepted(app))

    with unregistered_rm.control(
        "once registered the RM has the node and the application accepted"
    ):
        unregistered_rm.drops_its_streams()
        unregistered_rm.is_registered()
        unregistered_rm.registers_node(node)
        unregistered_rm.expect(NodeAccepted(node))
        unregistered_rm.submits_application(app)
        unregistered_rm.expect(ApplicationAccepted(app))


def has_joined(second_rm: UnregisteredRM) -> None:
    """Given: another RM is served beside the first."""
    second_rm.joins()
    with second_rm.precondition("the other RM is served"):
        second_rm.is_served_on_every_stream()


@requirement("SI-CONN-003")
def test_an_rm_cannot_touch_what_belongs_to_another(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(memory=11), rm.has_application()
    allocation = rm.has_allocation(app, node=node, memory=10)
    has_joined(second_rm)

    beyond = second_rm.asks(app, memory=1)
    second_rm.releases(allocation)
    second_rm.releases_all(app)
    second_rm.removes_application(app)
    second_rm.decommissions(node)
    second_rm.synchronise_all()

    rm.expect_none(Released(identity=allocation.identity), Allocated(beyond))
    second_rm.expect_none(Allocated(beyond))
    rm.expect(Allocated(rm.asks(app, memory=1), node=node))
    rm.registers_node(node)
    rm.expect(NodeRejected(node))
    rm.submits_application(app)
    rm.expect(ApplicationRejected(app))
    rm.still_holds(allocation)
    with rm.control("the same requests by their owner take effect"):
        rm.removes_application(app)
        rm.is_served(rm.asks(rm.has_application(), memory=10))
        rm.decommissions(node)
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))


@requirement("SI-CONN-003")
def test_an_rm_neither_changes_a_node_nor_withdraws_an_ask_of_another(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(memory=10), rm.has_application()
    allocation = rm.has_allocation(app, node=node, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)
    has_joined(second_rm)

    second_rm.withdraws(waiting)
    second_rm.updates_node(node, memory=5)
    second_rm.drains(node)
    second_rm.synchronise_all()

    rm.releases(allocation)
    rm.is_served(waiting, node=node)


@requirement("SI-CONN-003")
def test_equal_keys_of_two_rms_are_two_foreign_allocations(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=6)
    second_rm.joins()

    second_rm.has_foreign(second_rm.has_node(memory=10), key=foreign, memory=6)
    second_rm.releases_foreign(foreign)
    second_rm.barriers(UpdateKind.ALLOCATIONS)

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


def reported(rm: UnregisteredRM, allocation: Allocated) -> None:
    rm.has_foreign_allocations()
    rm.reports_foreign(allocation.node, memory=1)
    rm.adds_existing(rm.remembers_allocation(allocation.application, allocation.node, memory=1))


def updated(rm: UnregisteredRM, allocation: Allocated) -> None:
    rm.has_updates_of_allocations()
    rm.updates_allocation(allocation, memory=1)


@pytest.mark.parametrize("changes", [reported, updated])
@requirement("SI-CONN-003")
def test_an_rm_reports_and_changes_no_allocation_on_a_node_of_another(
    rm: ResourceManager,
    second_rm: UnregisteredRM,
    changes: Callable[[UnregisteredRM, Allocated], None],
) -> None:
    node, app = rm.has_node(memory=10), rm.has_application()
    allocation = rm.has_allocation(app, node=node, memory=4)
    has_joined(second_rm)

    changes(second_rm, allocation)
    second_rm.barriers(UpdateKind.ALLOCATIONS)

    rm.expect(Allocated(rm.asks(app, memory=6), node=node))
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond))


@requirement("SI-CONN-003")
def test_equal_names_of_two_rms_are_different_allocations(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    second_rm.joins()
    second_rm.has_node(memory=10)
    with second_rm.precondition("another RM may use the same names"):
        second_rm.submits_application(app)
        second_rm.expect(ApplicationAccepted(app))
        other = second_rm.expect(Allocated(second_rm.asks(app, key=allocation.key, memory=10)))

    second_rm.has_released(other)
    second_rm.removes_application(app)
    second_rm.synchronise_all()

    beyond = rm.asks(app, memory=1)
    rm.expect_none(Released(identity=allocation.identity), Allocated(beyond))
    rm.still_holds(allocation)


@requirement("SI-CONN-003")
def test_equal_nodes_of_two_rms_are_different_nodes(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(memory=10), rm.has_application()
    allocation = rm.has_allocation(app, node=node, memory=10)
    second_rm.joins()
    second_rm.registers_node(node)
    answer = second_rm.expect_one_of(NodeAccepted(node), NodeRejected(node))
    second_rm.records("a node with the id of another RM's", answer)  # not specified

    second_rm.decommissions(node)
    second_rm.synchronise_all()

    beyond = rm.asks(app, memory=1)
    rm.expect_none(Released(identity=allocation.identity), Allocated(beyond))
    rm.registers_node(node)
    rm.expect(NodeRejected(node))
    rm.still_holds(allocation)


@requirement("SI-CONN-004")
def test_what_concerns_an_rm_is_reported_to_no_one_else(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    has_joined(second_rm)

    with rm.control("the RM itself gets its verdicts, its allocation and its confirmation"):
        node, app = rm.has_node(), rm.has_application()
        allocation = rm.has_allocation(app)
        rm.registers_node(node)
        rm.expect(NodeRejected(node))
        rm.submits_application(app)
        rm.expect(ApplicationRejected(app))
        rm.still_holds(allocation)
    withdrawn = rm.has_waiting_ask(app, memory=50)
    rm.withdraws(withdrawn)
    unknown = rm.new_name("unknown")
    rm.asks(unknown)
    rm.synchronise_all()

    second_rm.expect_none(
        NodeAccepted(node),
        NodeRejected(node),
        ApplicationAccepted(app),
        ApplicationRejected(app),
        ApplicationUpdated(app),
        Allocated(application=app),
        Released(application=app),
        AskReleased(application=app),
        AskRejected(application=app),
        AskRejected(application=unknown),
    )


@requirement("SI-CONN-005")
def test_several_rms_are_served_at_the_same_time(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node = rm.has_node()

    second_rm.is_registered()

    second_rm.is_served_on_every_stream()
    app = rm.submits_application()
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-CONN-005")
def test_an_rm_is_still_served_when_another_shuts_down(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(), rm.has_application()
    allocation = rm.has_allocation(app)
    has_joined(second_rm)

    second_rm.shuts_down()

    rm.expect(Allocated(rm.asks(app), node=node))
    rm.still_holds(allocation)


@real_clock
@requirement("SI-CONN-006")
def test_a_lost_connection_pauses_the_rm(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    node, app = unregistered_rm.has_node(), unregistered_rm.has_application()
    unregistered_rm.has_allocation(app)
    with unregistered_rm.precondition("a registered RM is running"):
        unregistered_rm.sees(PhaseSeen(Phase.RUNNING))

    unregistered_rm.loses_its_connection()

    unregistered_rm.comes_to(Phase.PAUSED, never=GONE)
    kept = unregistered_rm.shows(NodeSeen(node), ApplicationSeen(app), AllocationSeen(app))
    unregistered_rm.records(f"nodes, applications and allocations of a paused RM are kept: {kept}")


@real_clock
@requirement("SI-CONN-007")
def test_a_paused_rm_is_stopped_when_its_timeout_passes(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node()
    lost = unregistered_rm.now()
    unregistered_rm.loses_its_connection()
    with unregistered_rm.precondition("an RM without connection is paused"):
        unregistered_rm.sees(PhaseSeen(Phase.PAUSED))

    too_early = lost + unregistered_rm.connection_loss_timeout() / 2
    unregistered_rm.does_not_see(*(PhaseSeen(phase) for phase in GONE), until=too_early)
    limit = unregistered_rm.connection_loss_timeout() + unregistered_rm.deadlines.timer
    unregistered_rm.sees_one_of(*(PhaseSeen(phase) for phase in GONE), timeout=limit)


@requirement("SI-CONN-008")
def test_a_voluntary_shutdown_stops_the_rm_without_a_pause(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node()
    with unregistered_rm.precondition("a registered RM is running"):
        unregistered_rm.sees(PhaseSeen(Phase.RUNNING))

    unregistered_rm.shuts_down()

    unregistered_rm.comes_to(*GONE, never=[Phase.PAUSED])


@requirement("SI-CONN-009")
def test_nothing_is_allocated_for_an_rm_without_connection(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=1))
    unregistered_rm.has_node()
    app = unregistered_rm.has_application(queue="root.first")
    unregistered_rm.has_allocation(app)
    with unregistered_rm.control("while the RM is running a raised quota serves a pending ask"):
        served = unregistered_rm.has_pending_ask(app)
        unregistered_rm.is_reconfigured(queues_with_quotas(first=2))
        unregistered_rm.expect(Allocated(served))
    waiting = unregistered_rm.has_pending_ask(app)
    unregistered_rm.loses_its_connection()
    with unregistered_rm.precondition("an RM without connection is paused"):
        unregistered_rm.sees(PhaseSeen(Phase.PAUSED))

    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=3))

    unregistered_rm.does_not_see(AllocationSeen(app, key=waiting))


@requirement("SI-CONN-010")
def test_an_rm_that_shut_down_is_served_again_only_once_it_registers(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node()
    unregistered_rm.shuts_down()

    unregistered_rm.registers_node(node)
    unregistered_rm.is_turned_away(UpdateKind.NODES)

    unregistered_rm.is_registered_again()
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeAccepted(node))
    unregistered_rm.has_application()  # without any objects the RM may be dropped
    unregistered_rm.decommissions(node)
    unregistered_rm.is_served_on_every_stream()


@waits
@requirement("SI-CONN-010")
def test_a_lost_rm_that_registered_again_is_not_stopped_when_its_timeout_passes(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    if rm.timers.connection_loss is None:
        raise NotOffered("the target does not offer a known time until a lost RM is stopped")
    limit = rm.connection_loss_timeout()
    rm.has_registered()
    rm.has_node()
    rm.drops_its_streams()
    rm.stays_quiet(window=limit / 4)

    rm.is_registered_again()
    node = rm.has_node()
    rm.stays_quiet(window=limit + rm.deadlines.timer)

    app = rm.submits_application()
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-CONN-014")
def test_releases_caused_by_a_node_come_on_the_allocation_stream(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.drains(node)
    rm.decommissions(node)

    rm.expect_end_of(allocation)


@requirement("SI-CONN-014")
def test_nothing_but_applications_is_reported_on_the_application_stream(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    removed, app = rm.has_application(), rm.has_application()
    rm.has_allocation(removed, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.removes_application(removed)

    with rm.control("the removal ends the allocation"):
        rm.is_served(waiting)
    # A release sent there would be read as a verdict on an application.
    rm.expect_none(
        ApplicationAccepted(), ApplicationRejected(), StreamEnded(UpdateKind.APPLICATIONS)
    )
    reported = len(rm.observe(Released(application=removed)))
    rm.records(f"removing an application with one allocation: {reported} releases reported")


@requirement("SI-CONN-014")
def test_nothing_but_allocations_is_reported_on_the_allocation_stream(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app)

    with rm.control("the ask is allocated, so the state of its application may have changed"):
        rm.expect(Allocated(ask))
    # A state sent there would be read as an ask release with the application as partition.
    rm.expect_none(
        AskReleased(partition=app),
        Unreadable(UpdateKind.ALLOCATIONS),
        StreamEnded(UpdateKind.ALLOCATIONS),
    )
    reported = len(rm.observe(ApplicationUpdated(app)))
    rm.records(f"an application got its first allocation: {reported} states reported")


@requirement("SI-CONN-015")
@order_is_a_race
def test_requests_on_the_allocation_stream_are_processed_in_order(rm: ResourceManager) -> None:
    app = rm.has_application()

    withdrawn = []
    for _ in range(20):
        ask = rm.asks(app)
        rm.withdraws(ask)
        withdrawn.append(ask)
    kept = rm.has_waiting_ask(app)
    rm.has_node(memory=100)

    with rm.control("an ask that is not withdrawn is allocated"):
        rm.is_served(kept)
    rm.expect_none(*(Allocated(ask) for ask in withdrawn))


@requirement("SI-CONN-015")
@order_is_a_race
def test_requests_on_the_application_stream_are_processed_in_order(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(other_app, memory=10)
    rm.removes_application(app)
    with rm.precondition("the id of an application is free again once its removal was seen"):
        rm.is_served(waiting)
        rm.submits_application(app)
        rm.expect(ApplicationAccepted(app))

    for _ in range(10):
        rm.removes_application(app)
        rm.submits_application(app)

    for _ in range(10):
        rm.expect(ApplicationAccepted(app))
    rm.expect_none(ApplicationRejected(app))


@requirement("SI-CONN-016")
def test_one_request_may_bring_a_node_an_application_and_its_ask(rm: ResourceManager) -> None:
    with rm.one_message():
        node = rm.registers_node()
        app = rm.submits_application()
        ask = rm.asks(app)

    rm.expect(NodeAccepted(node))
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(ask, node=node))
    rm.expect_none(AskRejected(ask))


@requirement("SI-CONN-017")
def test_one_bad_element_does_not_spoil_its_request(rm: ResourceManager) -> None:
    known_node, known_app = rm.has_node(memory=100), rm.has_application()

    with rm.one_message():
        before = rm.registers_node()
        rm.registers_node(known_node)
        after = rm.registers_node()
    rm.expect(NodeRejected(known_node))
    rm.expect(NodeAccepted(before))
    rm.expect(NodeAccepted(after))
    with rm.one_message():
        first = rm.submits_application()
        rm.submits_application(known_app)
        last = rm.submits_application()
    rm.expect(ApplicationRejected(known_app))
    rm.expect(ApplicationAccepted(first))
    rm.expect(ApplicationAccepted(last))

    with rm.one_message():
        early = rm.asks(first)
        rm.asks(rm.new_name("unknown"))
        late = rm.asks(last)
    rm.expect(Allocated(early))
    rm.expect(Allocated(late))
    rm.expect_none(*(StreamEnded(kind) for kind in UpdateKind))


@requirement("SI-CONN-017")
def test_what_names_nothing_does_not_spoil_its_request(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    unknown = rm.new_name("unknown")
    app, removed = rm.has_application(), rm.has_application()
    stopped = rm.has_allocation(app, memory=1)
    rm.has_allocation(removed, memory=5)
    waiting = rm.has_waiting_ask(app, memory=6)

    with rm.one_message():
        rm.releases(stopped, identity=unknown)
        rm.releases(stopped)
    rm.expect(Released(identity=stopped.identity))
    with rm.one_message():
        rm.removes_application(unknown)
        rm.removes_application(removed)

    rm.is_served(waiting)
    rm.expect_none(*(StreamEnded(kind) for kind in UpdateKind))


@requirement("SI-CONN-017")
def test_bad_elements_do_not_spoil_the_other_lists_of_their_request(rm: ResourceManager) -> None:
    known = rm.has_node(memory=10)
    grown = rm.has_node(memory=2, vcore=2)
    unknown = rm.new_name("unknown")
    app, removed = rm.has_application(), rm.has_application()
    stopped = rm.has_allocation(app, memory=3, node=known)
    rm.has_allocation(removed, memory=6, node=known)
    for_removed = rm.has_waiting_ask(app, memory=7)
    for_growth = rm.has_waiting_ask(app, memory=1, vcore=20)

    with rm.one_message():
        rm.registers_node(known)
        created = rm.registers_node(memory=1)
        rm.updates_node(grown, memory=2, vcore=30)
        rm.submits_application(app)
        added = rm.submits_application()
        rm.removes_application(unknown)
        rm.removes_application(removed)
        rm.asks(unknown)
        ask = rm.asks(app, memory=1)
        rm.releases(stopped, identity=unknown)
        rm.releases(stopped)

    rm.expect(NodeRejected(known))
    rm.expect(NodeAccepted(created))
    rm.expect(ApplicationRejected(app))
    rm.expect(ApplicationAccepted(added))
    rm.expect(Allocated(ask))
    rm.expect(Released(identity=stopped.identity))
    rm.is_served(for_removed, node=known)
    rm.is_served(for_growth, node=grown)


@waits
@requirement("SI-CONN-018")
def test_a_restarted_scheduler_knows_all_that_the_rm_replays(
    unregistered_rm: UnregisteredRM, restart_scheduler: Callable[[UnregisteredRM], None]
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node(memory=10)
    app = unregistered_rm.has_application()
    allocation = unregistered_rm.has_allocation(app, memory=6)
    waiting = unregistered_rm.has_waiting_ask(app, memory=6)

    restart_scheduler(unregistered_rm)
    unregistered_rm.is_registered()
    unregistered_rm.submits_application(app)
    unregistered_rm.expect(ApplicationAccepted(app))
    unregistered_rm.registers_node(node, existing=(allocation,))
    unregistered_rm.expect(NodeAccepted(node))
    unregistered_rm.asks_again(waiting)

    unregistered_rm.expect_none(Allocated(waiting))
    unregistered_rm.still_holds(allocation)
    unregistered_rm.is_served(waiting, node=node)


@requirement("SI-CONN-019")
def test_ids_need_no_syntax_and_nothing_needs_tags(rm: ResourceManager) -> None:
    node = rm.registers_node(f"Node/1 (ä) {rm.new_name('')}")
    app = rm.submits_application(f"App #1; ß={rm.new_name('')}")
    rm.expect(NodeAccepted(node))
    rm.expect(ApplicationAccepted(app))

    ask = rm.asks(app, key=f"Äsk\\1 'x' {rm.new_name('')}")

    rm.expect(Allocated(ask, application=app, node=node))


@requirement("SI-CONN-021")
def test_every_list_of_a_request_takes_effect(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app, removed = rm.has_application(), rm.has_application()
    stopped = rm.has_allocation(app, memory=1)
    rm.has_allocation(removed, memory=5)
    waiting = rm.has_waiting_ask(app, memory=6)

    with rm.one_message():
        ask = rm.asks(app, memory=1)
        rm.releases(stopped)
    with rm.one_message():
        added = rm.submits_application()
        rm.removes_application(removed)

    rm.expect(Allocated(ask))
    rm.expect(Released(identity=stopped.identity))
    rm.expect(ApplicationAccepted(added))
    rm.is_served(waiting)


@requirement("SI-REC-007")
def test_existing_allocations_take_effect_alongside_the_other_lists(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    stopped = rm.has_allocation(app, memory=1)
    existing = rm.remembers_allocation(app, node, memory=5)

    with rm.one_message():
        ask = rm.asks(app, memory=1)
        rm.releases(stopped)
        rm.adds_existing(existing)

    rm.expect(Allocated(ask))
    rm.expect(Released(identity=stopped.identity))
    too_large = rm.asks(app, memory=5)  # only 4 are left
    rm.expect_none(Allocated(too_large))
    rm.still_holds(existing)
    rm.is_served(too_large)
