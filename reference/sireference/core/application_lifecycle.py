"""Application life cycle: state transitions caused by asks, allocations and timeouts."""

from functools import partial
from typing import Final

from sireference.core import queues, running_slots
from sireference.core.gang import completion
from sireference.core.model import (
    AskRelease,
    Effect,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.partition import Finished, Partition
from sireference.core.states import (
    ApplicationState,
    ApplicationTrigger,
    AskTrigger,
    TerminationType,
    fire,
)

_RUNNING_KIND = (ApplicationState.STARTING, ApplicationState.RUNNING)
_COUNTED = (*_RUNNING_KIND, ApplicationState.FAILING)
_GATHERED = (ApplicationState.ACCEPTED, ApplicationState.RESUMING)
_OVER = (ApplicationState.COMPLETED, ApplicationState.FAILED)
# Per trigger, the states that an ask or a real allocation leaves, and how that is reported
_ASK_CAME: Final = {
    ApplicationState.NEW: "its first ask came",
    ApplicationState.COMPLETING: "an ask came while it was waiting",
}
_ALLOCATION_MADE: Final = {
    ApplicationState.ACCEPTED: "its first allocation was made",
    ApplicationState.STARTING: "another allocation was made",
}


def move(
    partition: Partition,
    application: Application,
    trigger: ApplicationTrigger,
    now: float,
    message: str,
) -> list[Effect]:
    """Change the state, run the actions on entry, and notify the RM."""
    application.state = fire(partition.rules.application_transitions, application.state, trigger)
    partition.event_log.moved(application, message)
    enter(partition, application, now)
    if application.state not in _OVER:
        application.moved()
    effects: list[Effect] = [
        UpdatedApplication(
            partition.rm_id, application.application_id, application.state, now, message
        )
    ]
    return effects + _forget_surplus(partition, now)


def enter(partition: Partition, application: Application, now: float) -> None:
    """Start or stop the timers of an application that has entered a state."""
    state, settings = application.state, partition.settings
    application.stop_state_timer()
    if state in _RUNNING_KIND:
        limit = application.submitted.execution_timeout
        is_limited = limit > 0 and not settings.placeholder_timeout_from_application
        if is_limited and application.execution_timer is None:
            application.execution_timer = partition.timers.set(
                now + limit, partial(execution_timeout, partition, application)
            )
    else:
        application.stop_execution_timer()
    if state is ApplicationState.STARTING:
        application.state_timer = partition.timers.set(
            now + settings.starting_timeout, partial(_starting_timeout, partition, application)
        )
    elif state is ApplicationState.COMPLETING:
        application.state_timer = partition.timers.set(
            now + settings.completing_timeout, partial(completing_timeout, partition, application)
        )
    gang = partition.gangs.get(application)
    if gang is not None:
        gang.is_clearing_up = False
    count(partition, application)
    if state in _OVER:
        _leave(partition, application, now)


def count(partition: Partition, application: Application) -> None:
    """Count the application as running in its queues, or stop counting it.

    A gang counts from its first placeholder on: it must not begin where it could not run.
    """
    _set_counts(
        partition,
        application,
        counts=application.state in _COUNTED
        or (application.state in _GATHERED and application.held > 0),
    )


def retire(partition: Partition, application: Application, now: float) -> None:
    """Stop counting a removed application and stop its timers."""
    application.stop_state_timer()
    application.stop_execution_timer()
    _set_counts(partition, application, counts=False)
    application.moved()
    queues.leave(partition, application, now)


def _set_counts(partition: Partition, application: Application, *, counts: bool) -> None:
    if counts == application.is_counted:
        return
    application.is_counted = counts
    for quota in application.quotas:
        if counts:
            quota.application_runs()
        else:
            quota.application_rests()
    if counts:
        running_slots.notice(partition, application)


def _leave(partition: Partition, application: Application, now: float) -> None:
    """Leave the queue; the id is free again (SI-APP-030, SI-APP-031)."""
    application_id = application.application_id
    del partition.applications[application_id]
    partition.event_log.left(application, application.state.value)
    queue = application.leaf.name
    application.moved()  # while its queue still exists
    queues.leave(partition, application, now)
    timer = partition.timers.set(
        now + partition.settings.retention, partial(_expire, partition, application_id)
    )
    partition.finished[application_id] = Finished(application_id, queue, application.state, timer)


def _forget_surplus(partition: Partition, now: float) -> list[Effect]:
    """Forget the oldest finished applications beyond the configured maximum."""
    effects: list[Effect] = []
    while len(partition.finished) > partition.settings.max_finished:
        oldest = next(iter(partition.finished.values()))
        oldest.timer.cancel()
        effects += _expire(partition, oldest.application_id, now)
    return effects


def _expire(partition: Partition, application_id: str, now: float) -> list[Effect]:
    finished = partition.finished.pop(application_id)
    state = fire(partition.rules.application_transitions, finished.state, ApplicationTrigger.EXPIRE)
    message = "not remembered any longer"
    partition.event_log.forgotten(application_id, finished.queue, message)
    return [UpdatedApplication(partition.rm_id, application_id, state, now, message)]


def _starting_timeout(partition: Partition, application: Application, now: float) -> list[Effect]:
    return move(partition, application, ApplicationTrigger.RUN, now, "started long ago")


def completing_timeout(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Complete an application that has waited long enough without asks and allocations."""
    clearing = completion.clear_up(partition, application)
    if clearing is not None:
        return clearing
    message = "nothing was asked for while it was waiting"
    return move(partition, application, ApplicationTrigger.COMPLETE, now, message)


def execution_timeout(partition: Partition, application: Application, now: float) -> list[Effect]:
    """End an application that has run for as long as its execution timeout allows."""
    reason = "the application ran for as long as its execution timeout allows"
    return fail(partition, application, now, reason)


def fail(partition: Partition, application: Application, now: float, reason: str) -> list[Effect]:
    """Release everything of an application that timed out; it fails with the last release."""
    effects = move(partition, application, ApplicationTrigger.FAIL, now, reason)
    asks = list(application.pending.values())
    held = list(partition.allocations.of(application).values())
    effects += withdraw(partition, asks, held, reason)
    return effects + settle(partition, application, now)


def withdraw(
    partition: Partition, asks: list[PendingAsk], held: list[Allocation], reason: str
) -> list[Effect]:
    """Release these with TIMEOUT: asks end at once, allocations when the RM confirms.

    An allocation with an open release is not released again (SI-GANG-066).
    """
    effects: list[Effect] = []
    for pending in asks:
        partition.asks.drop(pending, AskTrigger.TIMED_OUT)
        release = AskRelease(
            partition.name,
            pending.application.application_id,
            pending.ask.key,
            TerminationType.TIMEOUT,
            reason,
        )
        effects.append(ReleasedAsk(partition.rm_id, release))
    releases = (
        partition.ask_for_release(one, TerminationType.TIMEOUT, reason)
        for one in held
        if one.open_release is None
    )
    effects += [ReleasedAllocation(partition.rm_id, release) for release in releases]
    return effects


def has_ask(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Handle a new ask: a new application is accepted, a waiting one runs again."""
    message = _ASK_CAME.get(application.state)
    if message is None:
        return []
    return move(partition, application, ApplicationTrigger.RUN, now, message)


def has_allocation(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Handle a real allocation: the first starts the application, the second makes it run.

    Under rules without the state Starting, the application runs with the first.
    """
    message = _ALLOCATION_MADE.get(application.state)
    if message is None:
        return []
    return move(partition, application, ApplicationTrigger.RUN, now, message)


def settle(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Let the application wait or complete when nothing of it is active or pending."""
    count(partition, application)
    if application.state is ApplicationState.RESUMING:
        return _resumed(partition, application, now)
    if application.is_active or application.pending:
        return []
    trigger, message = end(partition, application)
    return move(partition, application, trigger, now, message) if trigger else []


def end(partition: Partition, application: Application) -> tuple[ApplicationTrigger | None, str]:
    """Return the next step for an application with nothing active and nothing pending."""
    state = application.state
    if state in (ApplicationState.ACCEPTED, *_RUNNING_KIND):
        if not completion.keeps_from_waiting(application):
            return ApplicationTrigger.COMPLETE, "no allocation and no pending ask is left"
    elif state is ApplicationState.FAILING:
        if not application.held:
            return ApplicationTrigger.FAIL, "everything it had is released"
    elif completion.is_cleared_up(partition, application):
        return ApplicationTrigger.COMPLETE, "the last of its placeholders is gone"
    return None, ""


def _resumed(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Schedule the application like any other, without placeholders (SI-GANG-035)."""
    if application.placeholders_held:
        return []
    message = "its placeholders are gone"
    effects = move(partition, application, ApplicationTrigger.RUN, now, message)
    if application.is_active:
        effects += has_allocation(partition, application, now)
    return effects + settle(partition, application, now)
