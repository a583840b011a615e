"""Rules about the releases of an RM, where the kit is the scheduler."""

from collections import defaultdict
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.protocol.notifications import BY_THE_SCHEDULER, AskReleased, Released, Termination
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.recording.history import Entry

_Subject = OneAllocation | OneAsk | AllOf | AllThereIs
_Name = tuple[str, str]


def other_types_of_the_rm_confirm() -> Evaluator:
    """A release of the RM is STOPPED_BY_RM, or has the type of one that the scheduler sent.

    One for all of an application confirms any of it, even in a later registration.
    """
    begun: defaultdict[Termination, set[_Name]] = defaultdict(set)

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Released(termination=kind) | AskReleased(termination=kind):
                begun[kind] |= _as_begun(entry.content.subject)
            case ReleaseRequest(termination=kind) | AskReleaseRequest(termination=kind) as sent:
                if kind is Termination.STOPPED_BY_RM:
                    return ""
                if kind in BY_THE_SCHEDULER:
                    is_answer = _as_confirmed(sent.subject) & begun[kind]
                    return violated_if(not is_answer, f"{sent}, which the scheduler had not sent")
        return NOTHING_TO_EVALUATE

    return evaluate


def ask_releases_of_the_rm_name_a_partition() -> Evaluator:
    """The release of an ask names a partition, in whichever direction."""

    def evaluate(entry: Entry) -> EntryFinding:
        if not isinstance(entry.content, AskReleaseRequest):
            return NOTHING_TO_EVALUATE
        return violated_if(not entry.content.partition, f"{entry.content}: names no partition")

    return evaluate


def _as_begun(subject: _Subject) -> set[_Name]:
    """Return what a release of the scheduler covers, each with how it is named."""
    whole = ("all of", subject.application)
    return {_one(subject) or whole, ("some of", subject.application), ("some of", "")}


def _as_confirmed(subject: _Subject) -> set[_Name]:
    """Return what the scheduler may have released if this confirms it."""
    one = _one(subject)
    return {one, ("all of", subject.application)} if one else {("some of", subject.application)}


def _one(subject: _Subject) -> _Name | None:
    match subject:
        case OneAllocation(identity=name) | OneAsk(key=name):
            return "one", key_of(name)
        case _:
            return None


MONITORS: Final = (
    Monitor(
        other_types_of_the_rm_confirm,
        ("SI-REL-012",),
        observes=(Released, AskReleased, ReleaseRequest, AskReleaseRequest),
        outlives_registrations=True,
    ),
    Monitor(
        ask_releases_of_the_rm_name_a_partition,
        ("SI-REL-020",),
        observes=(AskReleaseRequest,),
        about_one_message=True,
        identity=Identity.GIVEN_BY_THE_SCHEDULER,
    ),
)
