"""Rules about applications: one verdict each, complete state changes, and final end states."""

from collections import Counter
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    Barriers,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.protocol.application_states import (
    ACCEPTED,
    COMPLETED,
    FAILED,
    NEW,
    RESUMING,
    RUNNING,
    WAITING,
    State,
)
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import ApplicationRemoval, ApplicationRequest
from siconform.recording.history import Entry

ACTIVE: Final = (NEW, ACCEPTED, RUNNING, RESUMING, WAITING)
"""States of an application that has not ended."""


def each_application_gets_at_most_one_verdict() -> Evaluator:
    """There are never more verdicts on an application than additions of it."""
    added: Counter[str] = Counter()
    evaluated: Counter[str] = Counter()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=application):
                added[application] += 1
            case (
                ApplicationAccepted(application=application)
                | ApplicationRejected(application=application)
            ):
                evaluated[application] += 1
                surplus = evaluated[application] > added[application]
                return violated_if(surplus, f"one verdict too many on application {application}")
        return NOTHING_TO_EVALUATE

    return evaluate


def removed_applications_get_nothing() -> Evaluator:
    """Nothing is allocated to a certainly removed application until it is added again."""
    partitions: dict[str, str] = {}
    certainty: Certainty[str] = Certainty()
    removed: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        removed.update(certainty.observe(entry))
        match entry.content:
            case ApplicationRequest(application=application, partition=partition):
                partitions[application] = partition
                removed.discard(application)
                certainty.forgets(lambda name: name == application)
            case ApplicationRemoval(application=application, partition=partition):
                if partitions.get(application) == partition:
                    certainty.send(application, UpdateKind.APPLICATIONS)
                    return ""
            case Allocated(application=application, identity=identity) if application in removed:
                return f"allocation {identity} is for {application}, which was removed"
        return NOTHING_TO_EVALUATE

    return evaluate


def state_changes_are_complete() -> Evaluator:
    """A state change names an application of this RM, a state and a time.

    Notifications about an application from before a new registration may still have been in flight.
    """
    known: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=application):
                known.add(application)
            case ApplicationUpdated() as update:
                return _incomplete(update, known)
        return NOTHING_TO_EVALUATE

    return evaluate


def _incomplete(update: ApplicationUpdated, known: set[str]) -> str:
    if update.application not in known:
        return f"state {update.state} of {update.application!r}, which was never added"
    if not update.state:
        return f"a state change of {update.application} names no state"
    if not update.timestamp:
        return f"the change of {update.application} to {update.state} has no timestamp"
    return ""


def state_timestamps_do_not_go_back() -> Evaluator:
    """Timestamps of successive state changes of one application never decrease."""
    last: dict[str, int] = {}

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=application):
                last.pop(application, None)
            case ApplicationUpdated(application=application, timestamp=timestamp) as update:
                before, last[application] = last.get(application), timestamp
                if before is not None:
                    message = f"{application} became {update.state} before its previous state"
                    return violated_if(timestamp < before, message)
        return NOTHING_TO_EVALUATE

    return evaluate


def completed_applications_stay_completed() -> Evaluator:
    """After Completed only end states follow, unless the application is added again."""
    return _last_state(COMPLETED)


def failed_applications_stay_failed() -> Evaluator:
    """After Failed neither active states nor Completed follow, unless it is added again."""
    return _last_state(FAILED, COMPLETED)


def _last_state(final: State, *besides: State) -> Evaluator:
    """Return an evaluator of what follows this state, which itself may be repeated.

    Until a re-added application is accepted, its state changes may be about the earlier one.
    """
    reached: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case (
                ApplicationRequest(application=application)
                | ApplicationAccepted(application=application)
            ):
                reached.discard(application)
            case ApplicationUpdated(application=application, state=state):
                if final.accepts(state):
                    reached.add(application)
                    return ""
                if application in reached and any(
                    other.accepts(state) for other in (*ACTIVE, *besides)
                ):
                    return f"{application} became {state} after it was {final}"
        return NOTHING_TO_EVALUATE

    return evaluate


_STATES: Final = (ApplicationRequest, ApplicationAccepted, ApplicationUpdated)
MONITORS: Final = (
    Monitor(
        each_application_gets_at_most_one_verdict,
        ("SI-APP-004",),
        observes=(ApplicationRequest, ApplicationAccepted, ApplicationRejected),
    ),
    Monitor(
        removed_applications_get_nothing,
        ("SI-APP-017",),
        observes=(ApplicationRequest, ApplicationRemoval, Allocated, StreamEnded, Barriers),
    ),
    Monitor(
        state_changes_are_complete,
        ("SI-APP-021",),
        observes=(ApplicationRequest, ApplicationUpdated),
        outlives_registrations=True,
    ),
    Monitor(
        state_timestamps_do_not_go_back,
        ("SI-APP-022",),
        observes=(ApplicationRequest, ApplicationUpdated),
    ),
    Monitor(completed_applications_stay_completed, ("SI-APP-030",), observes=_STATES),
    Monitor(failed_applications_stay_failed, ("SI-GANG-037",), observes=_STATES),
)
