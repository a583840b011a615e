"""Rules about single event records: what each has to name, and that its parts fit together."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from siconform.monitors.content_types import REGISTRATION
from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.used_names import Remembered
from siconform.protocol.events import Detail, EmptyBatch, EventReceived, Subject, details_of
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Entry

_EARLIEST: Final = 1_400_000_000 * 1_000_000_000  # 2014, before there was an SI
_LATEST: Final = 4_100_000_000 * 1_000_000_000  # 2099
_ROOT: Final = "root"
_MOST_OWNERS: Final = 100_000  # asks whose application is remembered


def events_come_in_batches() -> Evaluator:
    """No batch of event records is empty."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case EventReceived():
                return ""
            case EmptyBatch():
                return "a batch without event records"
        return NOTHING_TO_EVALUATE

    return evaluate


def event_records_name_a_known_object() -> Evaluator:
    """A record is about an object that the RM has sent, or about a queue below the root.

    Any name is allowed for users and groups, and where a later revision defines the type. Without
    the registration it is unknown which objects exist.
    """
    is_complete = False
    known: Mapping[Subject, Remembered] = {
        subject: Remembered() for subject in (Subject.REQUEST, Subject.APPLICATION, Subject.NODE)
    }

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_complete
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_complete = True
            case ApplicationRequest(application=name):
                known[Subject.APPLICATION].add(name)
            case AskRequest(key=key) | Updated(key=key) | ForeignAllocationRequest(key=key):
                known[Subject.REQUEST].add(key_of(key))
            case EventReceived(about=about, subject=subject):
                names = known.get(subject)
                is_known = about != "" if names is None else about in names
                if subject is Subject.QUEUE:
                    is_known = about.split(".")[0] == _ROOT
                if subject in (Subject.UNDEFINED, Subject.UNSET) or not is_complete:
                    return NOTHING_TO_EVALUATE
                message = f"a record of type {subject.value} about {about!r}"
                return violated_if(not is_known, message)
            case content:
                if isinstance(content, NodeRequest):
                    known[Subject.NODE].add(content.node)
                reported = recovered_in(content)
                known[Subject.REQUEST].add(*(key_of(one.key) for one in reported))
        return NOTHING_TO_EVALUATE

    return evaluate


def event_records_have_a_time_in_nanoseconds() -> Evaluator:
    """The time of a record, read as nanoseconds since 1970, is in this century."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case EventReceived(about=about, time=int(time)):
                is_plausible = _EARLIEST <= time <= _LATEST
                return violated_if(not is_plausible, f"record about {about} has the time {time}")
        return NOTHING_TO_EVALUATE

    return evaluate


def event_records_have_a_type() -> Evaluator:
    """No record has the unknown type."""

    def evaluation(event: EventReceived) -> str:
        return violated_if(event.subject is Subject.UNSET, f"record about {event.about}: no type")

    return of_each(EventReceived, evaluation)


def event_details_belong_to_their_type() -> Evaluator:
    """The detail of a record is one of its type, or the end of an allocation."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case EventReceived(detail=Detail.NONE | Detail.UNDEFINED):
                return NOTHING_TO_EVALUATE
            case EventReceived(subject=Subject.UNDEFINED | Subject.UNSET):
                return NOTHING_TO_EVALUATE
            case EventReceived(about=about, subject=subject, detail=Detail() as detail):
                message = f"detail {detail.value} of a record of type {subject.value} about {about}"
                return violated_if(detail not in details_of(subject), message)
        return NOTHING_TO_EVALUATE

    return evaluate


def event_records_name_their_group_and_reason() -> Evaluator:
    """In 2021-02 the group of a request is its application, that of an application its queue.

    Later records have no group, so records count from the first one with a group on.
    """
    owners: dict[str, set[str]] = {}
    grouped = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal grouped
        match entry.content:
            case AskRequest(key=key, application=application):
                if len(owners) >= _MOST_OWNERS:
                    owners.clear()
                owners.setdefault(key, set()).add(application)
            case EventReceived(group=group) as event:
                grouped = grouped or bool(group)
                if grouped:
                    return _wrongly_grouped(event, owners)
        return NOTHING_TO_EVALUATE

    return evaluate


def _wrongly_grouped(event: EventReceived, owners: Mapping[str, set[str]]) -> EntryFinding:
    if event.subject not in (Subject.REQUEST, Subject.APPLICATION):
        return NOTHING_TO_EVALUATE
    if not event.reason:
        return f"record about {event.about} gives no reason"
    if event.subject is Subject.APPLICATION:
        is_queue = event.group.split(".")[0] == _ROOT
        return violated_if(not is_queue, f"{event.about} is in the group {event.group!r}")
    owner = owners.get(event.about)
    if owner is None:
        return NOTHING_TO_EVALUATE
    return violated_if(event.group not in owner, f"{event.about} is in the group {event.group!r}")


_NAMES: Final = (
    *(NodeRequest, ApplicationRequest, AskRequest, Updated, ForeignAllocationRequest),
    *(ExistingAllocationRequest, Placed),
)

_RecordMonitor = partial(Monitor, observes=(EventReceived,), about_one_message=True)

MONITORS: Final = (
    Monitor(
        events_come_in_batches,
        ("SI-EVT-001",),
        observes=(EventReceived, EmptyBatch),
        about_one_message=True,
    ),
    Monitor(
        event_records_name_a_known_object,
        ("SI-EVT-002",),
        observes=(*_NAMES, *REGISTRATION, EventReceived),
        outlives_registrations=True,
        about_new_names=True,
    ),
    _RecordMonitor(event_records_have_a_time_in_nanoseconds, ("SI-EVT-002",)),
    Monitor(
        event_records_name_their_group_and_reason,
        ("SI-EVT-003",),
        observes=(AskRequest, EventReceived),
        outlives_registrations=True,
    ),
    _RecordMonitor(event_records_have_a_type, ("SI-EVT-004",)),
    _RecordMonitor(event_details_belong_to_their_type, ("SI-EVT-006",)),
)
