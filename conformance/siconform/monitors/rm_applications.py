"""Rules about the applications of an RM: their ids, and when it asks for them."""

from collections import Counter
from typing import Final

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.rm_streams import (
    CONFIRMED,
    STREAMS,
    CurrentStreams,
    Receipts,
    has_one_stream,
)
from siconform.protocol.application_states import COMPLETED, FAILED, OVER
from siconform.protocol.matchers import Matcher
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    ApplicationRemoval,
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Entry

_ENDS: Final = (ApplicationRejected, ApplicationUpdated, ApplicationRemoval)


def ids_name_one_application() -> Evaluator:
    """No other application is added under an id until its application has ended.

    An addition that repeats the earlier one adds nothing else.
    """
    added: dict[str, ApplicationRequest] = {}

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=name) as request:
                former = added.setdefault(name, request)
                message = f"another application is added as {name}, which has not ended"
                return violated_if(_described(former) != _described(request), message)
            case ApplicationRemoval(application=name) | ApplicationRejected(application=name):
                added.pop(name, None)
            case ApplicationUpdated(application=name, state=state) if OVER.accepts(state):
                added.pop(name, None)
        return NOTHING_TO_EVALUATE

    return evaluate


def _described(request: ApplicationRequest) -> tuple[object, ...]:
    """Return what one application does not change."""
    return request.queue, request.user, request.groups, request.tags, request.placeholder_ask


def asks_follow_their_application() -> Evaluator:
    """An ask comes after its application was added, or in the same message.

    Where applications and asks have a stream each nothing orders them, and nothing is evaluated.
    """
    added = _Added()

    def evaluate(entry: Entry) -> EntryFinding:
        added.observe(entry)
        if not isinstance(entry.content, AskRequest) or not added.is_ordered(entry):
            return NOTHING_TO_EVALUATE
        name = entry.content.application
        return violated_if(not added.knows(name, entry), f"{entry.content}: {name} is not added")

    return evaluate


def existing_allocations_follow_their_application() -> Evaluator:
    """An existing allocation comes after its application was added, or in the same message.

    Where applications and allocations have a stream each nothing is evaluated.
    """
    added = _Added()

    def evaluate(entry: Entry) -> EntryFinding:
        added.observe(entry)
        reported = recovered_in(entry.content)
        if not reported or not added.is_ordered(entry):
            return NOTHING_TO_EVALUATE
        unknown = [one for one in reported if not added.knows(one.application, entry)]
        first = unknown[0] if unknown else reported[0]
        message = f"existing allocation {first.key}: {first.application} is not added"
        return violated_if(unknown, message)

    return evaluate


class _Added:
    """The applications that an RM with one stream has added since its registration."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._streams = CurrentStreams()

    def observe(self, entry: Entry) -> None:
        self._streams.observe(entry)
        match entry.content:
            case RegistrationAnswered(status="OK"):
                self._names.clear()
            case ApplicationRequest(application=name):
                self._names.add(name)

    def is_ordered(self, entry: Entry) -> bool:
        return has_one_stream(entry) and self._streams.include(entry)

    def knows(self, name: str, entry: Entry) -> bool:
        """Return whether it was added before this entry or in its message."""
        together = getattr(entry.message, "newApplications", ())
        return name in self._names or any(one.applicationID == name for one in together)


def rejected_applications_get_no_asks() -> Evaluator:
    """An RM that has certainly received a rejection sends no ask for that application.

    It may add the application again; of one that it has added twice or that was accepted before,
    the rejection may be about the repetition. Where verdicts have a stream of their own, nothing
    shows that they were received.
    """
    over = _Over()
    added: Counter[str] = Counter()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=name) | ApplicationAccepted(application=name):
                added[name] += 1
            case ApplicationRemoval(application=name):
                del added[name]
            case ApplicationRejected(application=name):
                return over.ends(name, entry) if added.pop(name, 0) == 1 else NOTHING_TO_EVALUATE
        return over.observe(entry, "was rejected")

    return evaluate


def ended_applications_get_no_asks() -> Evaluator:
    """An RM that has certainly received a final state sends no ask for that application.

    It may add the application again. Where states have a stream of their own, nothing shows that
    they were received.
    """
    over = _Over()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationUpdated(application=name, state=state) if _is_final(state):
                return over.ends(name, entry)
        return over.observe(entry, "is over")

    return evaluate


def _is_final(state: str) -> bool:
    final: tuple[Matcher, ...] = (COMPLETED, FAILED)
    return any(one.accepts(state) for one in final)


class _Over:
    """The applications that ended, and what the RM has received of it."""

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}  # the number of the message
        self._receipts = Receipts()
        self._has_one_stream = True

    def ends(self, application: str, entry: Entry) -> EntryFinding:
        self._ended[application] = entry.number
        return ""

    def observe(self, entry: Entry, how: str) -> EntryFinding:
        if not self._has_one_stream:
            return NOTHING_TO_EVALUATE
        self._receipts.observe(entry)
        match entry.content:
            case AskRequest() if not has_one_stream(entry):
                self._has_one_stream = False
            case ApplicationRequest(application=name) | ApplicationRemoval(application=name):
                self._ended.pop(name, None)
            case AskRequest(application=name) as ask if name in self._ended:
                if self._receipts.include(self._ended[name], entry):
                    return f"{ask}: {name} {how}"
        return NOTHING_TO_EVALUATE


MONITORS: Final = (
    Monitor(ids_name_one_application, ("SI-APP-034",), observes=(ApplicationRequest, *_ENDS)),
    Monitor(
        asks_follow_their_application,
        ("SI-APP-016",),
        observes=STREAMS,
        outlives_registrations=True,
        about_new_names=True,
    ),
    Monitor(
        existing_allocations_follow_their_application,
        ("SI-REC-005",),
        observes=(*STREAMS, NodeRequest, ExistingAllocationRequest),
        outlives_registrations=True,
        about_new_names=True,
    ),
    Monitor(
        rejected_applications_get_no_asks,
        ("SI-APP-033",),
        observes=(*CONFIRMED, *_ENDS, ApplicationRequest, ApplicationAccepted, AskRequest),
    ),
    Monitor(
        ended_applications_get_no_asks,
        ("SI-APP-038",),
        observes=(*CONFIRMED, *_ENDS, ApplicationRequest, AskRequest),
    ),
)
