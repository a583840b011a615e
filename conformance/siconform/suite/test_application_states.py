"""Application states: their reports and transitions (SI-APP)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import (
    disruptive,
    real_clock,
    registering_again_is_a_race,
    requirement,
    waits,
)
from siconform.outcomes import NotOffered
from siconform.protocol.application_states import (
    ACCEPTED,
    COMPLETED,
    FAILED,
    FAILURE,
    RUNNING,
    WAITING,
)
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import HARD, replaced
from siconform.rm.steps.preemption import ENTITLED_QUEUE, TAKING_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-APP-021")
def test_a_state_change_is_reported_in_full(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))

    rm.expect_none(
        ApplicationUpdated(""), ApplicationUpdated(state=""), ApplicationUpdated(timestamp=0)
    )
    rm.presupposes_reports(1, rm.observe(ApplicationUpdated(app)))


@requirement("SI-APP-022")
def test_the_timestamps_of_an_application_never_go_back(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))

    updates = rm.collects(ApplicationUpdated(app), most=3)

    rm.presupposes_reports(2, updates)
    rm.come_in_order_of_time(updates)


@requirement("SI-APP-024")
def test_the_first_ask_takes_an_application_from_new_to_accepted(rm: ResourceManager) -> None:
    app = rm.has_application()

    ask = rm.has_waiting_ask(app)

    rm.expect_none(*(ApplicationUpdated(app, state=s) for s in (RUNNING, FAILED)))
    if rm.rejected(ask):  # on arrival, it may have had no effect
        rm.needs_some(rm.observe(ApplicationUpdated(app, state=ACCEPTED)), of="to queue that ask")
    rm.has_reached(app, ACCEPTED)


@requirement("SI-APP-025")
def test_the_first_allocation_takes_an_application_out_of_accepted(rm: ResourceManager) -> None:
    since = rm.now()
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)
    rm.expect_none(ApplicationUpdated(app, state=RUNNING))

    rm.has_node()

    with rm.in_its_waiting_time(since=since):
        rm.is_served(waiting)
    rm.has_reached(app, rm.running())
    rm.passes_over(ApplicationUpdated(app))
    rm.stays_quiet(ApplicationUpdated(app, state=ACCEPTED), window=rm.deadlines.afterwards)


@requirement("SI-APP-026")
def test_an_application_with_nothing_left_goes_to_waiting(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.releases(allocation)

    rm.comes_to_wait(app)


@requirement("SI-APP-026")
def test_an_application_whose_only_ask_was_withdrawn_goes_to_waiting(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app)

    rm.withdraws(ask)

    rm.comes_to_wait(app)


@requirement("SI-APP-026")
def test_an_application_whose_only_allocation_ended_with_its_node_goes_to_waiting(
    rm: ResourceManager,
) -> None:
    node = rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.decommissions(node)

    with rm.precondition("an allocation ends with its node"):
        rm.expect_end_of(allocation)
    rm.comes_to_wait(app)


@requirement("SI-APP-026")
def test_a_gang_whose_only_placeholder_ended_with_its_node_goes_to_waiting(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, [placeholder] = rm.has_complete_gang()

    rm.decommissions(placeholder.node)

    with rm.precondition("a placeholder ends with its node"):
        rm.expect_end_of(placeholder)
    rm.comes_to_wait(gang)


@requirement("SI-APP-026")
def test_an_application_whose_only_allocation_ended_on_a_draining_node_goes_to_waiting(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)
    rm.drains(allocation.node)
    rm.settles()

    rm.releases(allocation)

    rm.comes_to_wait(app)


@requirement("SI-APP-026")
def test_an_application_whose_only_allocation_was_preempted_goes_to_waiting(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    allocations = [rm.has_allocation(rm.has_application(queue=TAKING_QUEUE)) for _ in range(10)]
    ask = rm.claims(rm.has_application(queue=ENTITLED_QUEUE))

    release = rm.sees_preemption_of(*allocations, by=ask)

    rm.comes_to_wait(release.application)


@requirement("SI-APP-027")
def test_a_live_allocation_keeps_an_application_from_waiting(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    first, second = rm.has_allocation(app), rm.has_allocation(app)

    rm.releases(first)

    rm.is_not_seen_waiting(app)
    with rm.control("with its last allocation gone it is waiting"):
        rm.releases(second)
        rm.comes_to_wait(app)


@pytest.mark.parametrize("seconds", [0.0, 2.0], ids=["just asked", "asked long ago"])
@requirement("SI-APP-027")
def test_a_pending_ask_keeps_an_application_from_waiting(
    rm: ResourceManager, seconds: float
) -> None:
    rm.has_node(memory=10)
    rm.has_allocation(rm.has_application(), memory=9)
    app = rm.has_application()
    only = rm.has_allocation(app)
    pending = rm.has_pending_ask(app, memory=5)
    rm.stays_quiet(Allocated(pending), window=seconds)

    rm.releases(only)

    rm.is_not_seen_waiting(app)
    with rm.control("with its ask withdrawn it is waiting"):
        rm.withdraws(pending)
        rm.comes_to_wait(app)


@requirement("SI-APP-027")
def test_an_ask_that_waits_for_a_placeholder_keeps_it_from_waiting(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=2)
    placeholders = rm.has_placeholders(gang)
    real, gone = rm.has_replaced(gang, placeholders)
    [left] = (placeholder for placeholder in placeholders if placeholder != gone)

    with rm.confirming_nothing():
        parked = rm.asks_member(gang)
        release = rm.expect(replaced(left))
        rm.has_observed(ApplicationUpdated(gang, state=WAITING))  # allowed, with its placeholders
        rm.still_holds(real)
        rm.is_not_seen_waiting(gang)
        rm.confirms(release)

    rm.expect(Allocated(parked, placeholder=False))


@requirement("SI-APP-028")
def test_a_new_ask_takes_a_waiting_application_back_to_running(rm: ResourceManager) -> None:
    rm.has_node()
    since = rm.now()
    app = rm.has_waiting_application()

    with rm.in_its_waiting_time(since=since):
        rm.expect(Allocated(rm.asks(app)))

    rm.is_shown_in_if_reported(app, RUNNING)
    rm.expect_none(ApplicationUpdated(app, state=COMPLETED))
    back = rm.observe(ApplicationUpdated(app, state=RUNNING))
    rm.records("an application back from waiting", *back[-1:], otherwise="not reported")


@waits
@requirement("SI-APP-028")
def test_an_ask_that_does_not_fit_keeps_a_waiting_application_from_completing(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.WAITING_TIMEOUT)
    rm.has_node(memory=10)
    held = rm.has_allocation(rm.has_application(), memory=9)
    since = rm.now()
    app = rm.has_waiting_application()

    with rm.in_its_waiting_time(since=since):
        pending = rm.asks(app, memory=10)
        rm.is_pending(pending)

    rm.outlasts_waiting()
    rm.needs_some([] if rm.rejected(pending) else [held], of="to keep an ask pending")
    rm.expect_none(ApplicationUpdated(app, state=COMPLETED))
    rm.submits_application(app)
    rm.expect(ApplicationRejected(app))  # the id of a completed one would be free
    rm.releases(held)
    rm.expect(Allocated(pending))


@real_clock
@waits
@requirement("SI-APP-029", "SI-APP-028")
def test_an_application_is_completed_once_it_waited_without_a_break(rm: ResourceManager) -> None:
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    asking = rm.has_waiting_application()
    rm.has_allocation(asking)
    began = rm.now()
    returning = rm.has_waiting_application()
    rm.waits_a_while(ApplicationUpdated(returning, state=COMPLETED), since=began)
    allocation = rm.has_allocation(returning)
    since = rm.now()

    rm.releases(allocation)

    rm.is_completed_when_due(returning, seconds=time_to_wait, since=since)
    rm.expect_none(ApplicationUpdated(asking, state=COMPLETED))


@waits
@requirement("SI-APP-003")
def test_a_rejected_duplicate_does_not_prolong_the_wait_of_the_application(
    rm: ResourceManager,
) -> None:
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    allocation = rm.has_allocation(rm.has_application())
    app = allocation.application
    began = rm.now()
    rm.releases(allocation)
    completed = ApplicationUpdated(app, state=COMPLETED)

    while not rm.observe(completed) and rm.now() < began + time_to_wait + rm.deadlines.timer:
        rm.submits_application(app)
        verdict = rm.expect_one_of(ApplicationRejected(app), ApplicationAccepted(app))
        if isinstance(verdict, ApplicationAccepted) and rm.now() >= began + time_to_wait:
            return  # it is completed, whether that is reported or not
        with rm.precondition("the duplicate is rejected"):
            rm.agrees(verdict, ApplicationRejected(app))
        rm.receive_if_any(completed, window=max(time_to_wait / 2, rm.quiet_window()))

    if not rm.observe(completed):
        rm.submits_application(app)
        rm.expect(ApplicationAccepted(app))


@waits
@requirement("SI-APP-029")
def test_applications_that_wait_at_the_same_time_are_completed(rm: ResourceManager) -> None:
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    allocations = [rm.has_allocation(rm.has_application()) for _ in range(2)]
    since = rm.now()

    for allocation in allocations:
        rm.releases(allocation)

    for allocation in allocations:
        rm.is_completed_when_due(allocation.application, seconds=time_to_wait, since=since)


@waits
@requirement("SI-APP-029")
@registering_again_is_a_race
def test_the_waiting_time_of_an_earlier_registration_does_not_complete_the_next_of_its_id(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node()
    forgotten = rm.has_waiting_application()

    rm.has_registered_again()
    rm.registers_node(node)
    rm.expect(NodeAccepted(node))
    rm.passes_over(ApplicationUpdated(forgotten))  # it may be completed by then
    app = rm.has_application(forgotten)
    allocation = rm.has_allocation(app)

    rm.outlasts_waiting(ApplicationUpdated(app, state=COMPLETED))

    rm.expect(Allocated(rm.asks(app)))
    rm.still_holds(allocation)


@waits
@requirement("SI-APP-029")
def test_the_waiting_time_of_a_removed_application_does_not_complete_the_next_of_its_id(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    removed = rm.has_waiting_application()
    rm.has_removed(removed)
    rm.passes_over(ApplicationUpdated(removed))  # it may be completed by then
    app = rm.has_application(removed)
    allocation = rm.has_allocation(app)

    rm.outlasts_waiting(ApplicationUpdated(app, state=COMPLETED))

    rm.expect(Allocated(rm.asks(app)))
    rm.still_holds(allocation)


@waits
@requirement("SI-APP-029")
def test_the_waiting_time_of_a_removed_application_does_not_shorten_that_of_the_next_of_its_id(
    rm: ResourceManager,
) -> None:
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    began = rm.now()
    removed = rm.has_waiting_application()
    rm.waits_a_while(since=began)
    rm.has_removed(removed)
    rm.passes_over(ApplicationUpdated(removed))
    allocation = rm.has_allocation(rm.has_application(removed))
    since = rm.now()

    rm.releases(allocation)

    rm.is_completed_when_due(removed, seconds=time_to_wait, since=since)


@waits
@requirement("SI-APP-030")
def test_a_completed_application_leaves_its_queue_by_itself(rm: ResourceManager) -> None:
    rm.needs(Feature.APPLICATION_LIMIT)
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    allocation = rm.has_allocation(rm.has_application(queue="root.single"))
    second = rm.has_application_held_back(queue="root.single")

    rm.releases(allocation)

    rm.is_let_in(second, after=time_to_wait)


@waits
@requirement("SI-APP-030")
def test_a_completed_gang_leaves_its_queue_by_itself(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.needs(Feature.APPLICATION_LIMIT)
    time_to_wait = rm.waiting_timeout()
    rm.has_node()
    gang = rm.has_gang(queue="root.single", members=2)
    real, _ = rm.has_replaced(gang, rm.has_placeholders(gang))
    second = rm.has_application_held_back(queue="root.single")

    rm.releases(real)

    rm.is_let_in(second, after=time_to_wait)


@waits
@requirement("SI-APP-031")
def test_the_id_of_a_completed_application_is_free_again(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)
    with rm.control("while it is active its id is taken"):
        rm.submits_application(app)
        rm.expect(ApplicationRejected(app))

    rm.releases(allocation)
    rm.outlasts_waiting()

    rm.submits_application(app)
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app)))


@waits
@requirement("SI-APP-031")
def test_the_id_is_free_as_soon_as_completed_is_reported(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))
    completed = ApplicationUpdated(app, state=COMPLETED)
    rm.receive_if_any(completed, window=rm.waiting_timeout() + rm.deadlines.timer)
    rm.needs_some(rm.observe(completed), of="to report that an application is completed")

    rm.submits_application(app)

    rm.expect(ApplicationAccepted(app))


@waits
@requirement("SI-ASK-008")
def test_an_ask_of_a_completed_application_is_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.has_released(rm.has_allocation(app))
    rm.outlasts_waiting()

    ask = rm.asks(app)

    rejected = AskRejected(ask, application=app)
    received = rm.expect_one_of(rejected, Allocated(ask))
    with rm.precondition("the application is completed by then"):
        rm.agrees(received, rejected)


@requirement("SI-APP-032")
def test_the_id_of_a_waiting_application_is_taken(rm: ResourceManager) -> None:
    rm.has_node()
    since = rm.now()
    app = rm.has_waiting_application()

    with rm.in_its_waiting_time(since=since):
        rm.submits_application(app)
        rm.expect(ApplicationRejected(app))


@requirement("SI-APP-037")
def test_the_id_of_a_failed_application_is_free_again(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    gang = partial.gang
    with rm.control("while it is active its id is taken"):
        rm.submits_application(gang)
        rm.expect(ApplicationRejected(gang))
    rm.has_expired(partial)

    is_free_again(rm, gang)


def is_free_again(rm: ResourceManager, gang: Gang) -> None:
    """Then: once the failure of the gang is reported, another application can have its id."""
    with rm.precondition("its failure is reported"):
        rm.expect_failure(gang)

    is_free_once_failed(rm, gang)


def is_free_once_failed(rm: ResourceManager, gang: Gang) -> None:
    """Then: another application can have the id of the gang, whose failure has been reported."""
    rm.passes_over(ApplicationUpdated(gang))  # the id need not be free at once

    rm.submits_application(gang)

    rm.expect(ApplicationAccepted(gang))
    rm.expect(Allocated(rm.asks(gang)))


@disruptive  # some versions of yunikorn-core mishandle a late confirmation
@requirement("SI-APP-037")
def test_the_id_of_a_failed_application_is_free_again_even_if_it_lost_a_node(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        second, left = rm.has_last_release(partial)
        rm.decommissions(left.node)
        rm.settles()
    rm.confirms(second)

    is_free_again(rm, partial.gang)


@requirement("SI-APP-037")
def test_the_id_of_a_failed_application_is_free_again_even_if_its_last_placeholder_was_stopped(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        second, left = rm.has_last_release(partial)
        rm.releases(left)
        with rm.precondition("a stop by the RM is confirmed"):
            rm.expect(Released(identity=left.identity, termination=Termination.STOPPED_BY_RM))
    rm.confirms(second)

    is_free_again(rm, partial.gang)


@requirement("SI-APP-037")
def test_the_id_of_a_gang_that_failed_during_a_replacement_is_free_again(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit(3.0)  # long enough for a replacement
    gang = rm.has_gang(members=2, style=HARD, limit=limit)
    rm.has_node(memory=2)
    [placeholder] = rm.has_some_placeholders(gang, [rm.asks_placeholder(gang)], 1)
    with rm.confirming_nothing():
        rm.asks_member(gang)
        release = rm.receive_replacement_if_any([placeholder])
        if release is None:
            raise NotOffered("the target replaces no placeholder while others may still come")
        rm.is_pending(rm.asks_placeholder(gang))
        failure = ApplicationUpdated(gang, state=FAILURE)
        rm.receive_if_any(failure, window=limit.seconds + rm.deadlines.timer)
        rm.needs_some(rm.observe(failure), of="to fail during a replacement")
        rm.settles()

    rm.confirms(release)
    rm.has_node()
    failed = ApplicationUpdated(gang, state=FAILED)
    if not rm.observe(failed):  # with the last release, if not before
        rm.receive_if_any(failed, window=3 * rm.deadlines.place)

    is_free_once_failed(rm, gang)
