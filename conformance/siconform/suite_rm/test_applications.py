"""SI-APP: an RM adds an application once, before it asks, and asks no more when it is over."""

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, PreconditionFailed
from siconform.protocol.notifications import ApplicationAccepted, ApplicationRejected, Termination
from siconform.protocol.requests import ApplicationRequest, AskRequest
from siconform.scheduler.actions import PLACEHOLDERS_TIMED_OUT
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.suite_rm.application_ids import added_under_a_taken_id
from siconform.suite_rm.orders import was_sent_before


@requirement("SI-APP-016")
def test_an_application_is_added_before_its_first_ask(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()

    with scheduler.delaying_verdicts(ApplicationAccepted):
        app = rm.submits()
        added, asked = Sent(ApplicationRequest, application=app), Sent(AskRequest, application=app)
        with precondition("the RM sends the application, or a request for it"):
            scheduler.expects(added, asked)
        is_added = scheduler.comes(added, within=scheduler.deadlines.ack)
        asks_before = scheduler.comes(asked, within=scheduler.deadlines.quiet)
    scheduler.records(
        f"requests {'do not ' if asks_before else ''}wait for the verdict on their application"
    )

    if not scheduler.comes(asked, within=scheduler.deadlines.ack):
        raise PreconditionFailed(f"the RM requests nothing for {app}, which was accepted")
    first = scheduler.entries(asked)[0]
    if not is_added or was_sent_before(scheduler, first, scheduler.entries(added)[0]):
        raise ConformanceFailure(
            f"{first.content}, before {app} was added", expected=f"application {app} first"
        )


@requirement("SI-APP-016")
def test_applications_submitted_at_once_are_each_added_before_their_first_ask(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()

    apps = [rm.submits(Group(members=2)) for _ in range(3)]

    for app in apps:
        added, asked = Sent(ApplicationRequest, application=app), Sent(AskRequest, application=app)
        with precondition("the RM requests the containers of the applications"):
            scheduler.expects_members(app, 1)
        first = scheduler.entries(asked)[0]
        is_added = scheduler.comes(added, within=scheduler.deadlines.ack)
        if not is_added or was_sent_before(scheduler, first, scheduler.entries(added)[0]):
            raise ConformanceFailure(
                f"{first.content}, before {app} was added", expected=f"application {app} first"
            )


@requirement("SI-APP-033")
def test_verdicts_and_states_of_unknown_applications_are_tolerated(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    unknown = rm.new_name("unknown")

    scheduler.sends(ApplicationAccepted(unknown))
    scheduler.sends(ApplicationRejected(unknown, "unknown to the RM"))
    for state in ("Running", "Failed"):
        scheduler.changes_state(unknown, state)

    app = rm.submits()
    scheduler.expects(Sent(AskRequest, application=app))
    rm.expects(lambda view: bool(view.started(app)), f"the container of {app} starts")
    scheduler.stays_connected()


@requirement("SI-APP-033")
def test_nothing_is_requested_for_a_rejected_application(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.delaying_verdicts(ApplicationAccepted):
        app = rm.submits(Group(members=2))
        with precondition("the RM sends the application"):
            scheduler.expects(Sent(ApplicationRequest, application=app))
        scheduler.waits()  # an RM that does not wait for the verdict has sent its requests
        before = len(scheduler.exchange.entries())

        scheduler.rejects_application(app)

    asks_no_more(scheduler, app, before)
    scheduler.stays_connected()


def asks_no_more(scheduler: SimulatedScheduler, app: str, since: int) -> None:
    """Check that nothing is requested for an application after ``since``, unless it is added.

    The window allows for RMs that try again after a pause.
    """
    scheduler.raises_barrier()  # what was decided has come
    scheduler.stays_quiet()
    sent = [entry.content for entry in scheduler.exchange.entries()[since:] if entry.sent_by_rm]
    if any(map(Sent(ApplicationRequest, application=app).matches, sent)):
        scheduler.records("an application that is over is submitted again")
        return
    for ask in filter(Sent(AskRequest, application=app).matches, sent):
        raise ConformanceFailure(f"{ask}, which is over", expected=f"no ask of {app}")


@requirement("SI-APP-034")
def test_equally_named_applications_do_not_share_an_id(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    name = rm.submits(queue="root.default", user="somebody")
    rm.awaits_started(name)

    submits_if_possible(rm, scheduler, name)
    rm.submits()

    no_id_is_used_twice(scheduler)


@requirement("SI-APP-034")
def test_an_id_is_used_again_only_after_its_application(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    name = rm.submits(Group(stopping=scheduler.deadlines.quiet))
    (key,) = rm.awaits_started(name)

    rm.ends_application(name)
    submits_if_possible(rm, scheduler, name)

    rm.waits_until(lambda view: key not in {one.key for one in view.containers}, f"{key} ends")
    no_id_is_used_twice(scheduler)


def submits_if_possible(rm: DrivenRM, scheduler: SimulatedScheduler, name: str) -> None:
    """Submit another application of this name elsewhere, which an RM may refuse."""
    try:
        rm.submits(Group(2), application=name, queue="root.other", user="another")
    except PreconditionFailed as refused:
        scheduler.records(f"a second application of a name: {refused.message}")


def no_id_is_used_twice(scheduler: SimulatedScheduler) -> None:
    """Check that no application has been added under the id of one that existed."""
    scheduler.expects_none()  # what was decided has come
    taken = added_under_a_taken_id(scheduler.exchange.entries())
    if taken is not None:
        raise ConformanceFailure(f"added under a taken id: {taken}", expected="an id of its own")


@requirement("SI-APP-038")
@pytest.mark.usefixtures("gang")
def test_nothing_is_requested_for_a_failed_application(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=2)
    app = rm.submits_gang(members=3, gang_style="Hard")
    placeholders = scheduler.allocations_of(app, at_least=2)
    scheduler.pending_of(app, at_least=1)

    scheduler.times_out(app)
    with precondition("the RM confirms that the placeholders are gone"):
        for placeholder in placeholders:
            scheduler.expects_confirmation(placeholder, Termination.TIMEOUT)
    scheduler.expects_none()  # what was decided has come
    before = len(scheduler.exchange.entries())
    scheduler.changes_state(app, "Failed", PLACEHOLDERS_TIMED_OUT)

    rm.expects(lambda view: not view.of(app), f"no container of {app} is left")
    asks_no_more(scheduler, app, before)
