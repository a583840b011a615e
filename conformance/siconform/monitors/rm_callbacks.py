"""Rules about an RM's answers to callbacks."""

import json
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
)
from siconform.monitors.open_calls import CALLS, OpenCalls
from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    CallbacksOffered,
    ConfigurationStored,
    EvictionCheck,
    Forgotten,
    StateDumped,
)
from siconform.protocol.notifications import AskRejected, AskReleased, Released
from siconform.protocol.requests import (
    ApplicationRemoval,
    AskReleaseRequest,
    AskRequest,
    ReleaseRequest,
)
from siconform.recording.history import Entry

_ANSWERED: Final = (*CALLS, Answered, CallbacksOffered)


def victims_that_have_to_go_are_listed() -> Evaluator:
    """Where an ask fits once victims are gone, the last of them is one of the list."""
    calls = OpenCalls()

    def evaluate(entry: Entry) -> EntryFinding:
        match calls.answered_by(entry), entry.content:
            case [EvictionCheck(victims=victims)], Answered(fits=True, index=index) if victims:
                message = f"index {index} with {len(victims)} victims"
                return violated_if(not 0 <= index < len(victims), message)
        return NOTHING_TO_EVALUATE

    return evaluate


def synchronised_allocations_are_taken() -> Evaluator:
    """What is assumed or forgotten of the RM's own requests is answered without an error."""
    asked: set[str] = set()  # and not ended in any way
    calls = OpenCalls()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key):
                asked.add(key_of(key))
            case AskRejected(key=key):
                asked.discard(key_of(key))
            case (
                ReleaseRequest() | AskReleaseRequest() | ApplicationRemoval()
                | Released() | AskReleased()
            ):  # fmt: skip
                asked.clear()  # perhaps this one, by whatever name
        call = calls.answered_by(entry)
        names = [one.key for one in call if isinstance(one, (Assumed, Forgotten))]
        if not names or not asked.issuperset(names) or not isinstance(entry.content, Answered):
            return NOTHING_TO_EVALUATE
        message = f"an error for {', '.join(names)}: {entry.content.reason}"
        return violated_if(not entry.content.fits, message)

    return evaluate


def state_dumps_are_json() -> Evaluator:
    """A state dump that is not an error is a JSON document."""

    def evaluation(dumped: StateDumped) -> str:
        if dumped.ok:
            try:
                json.loads(dumped.text)
            except ValueError as error:
                return f"a state dump that is not JSON: {error}"
        return ""

    return of_each(StateDumped, evaluation)


def unsaved_configurations_have_a_reason() -> Evaluator:
    """An RM that does not save a configuration gives a reason."""

    def evaluation(answer: ConfigurationStored) -> str:
        missing = not answer.stored and not answer.reason.strip()
        return violated_if(missing, "a configuration is not saved, without a reason")

    return of_each(ConfigurationStored, evaluation)


MONITORS: Final = (
    Monitor(victims_that_have_to_go_are_listed, ("SI-CB-006",), observes=_ANSWERED),
    Monitor(state_dumps_are_json, ("SI-CB-010",), observes=(StateDumped,), about_one_message=True),
    Monitor(
        synchronised_allocations_are_taken,
        ("SI-CB-011",),
        observes=(
            *(*_ANSWERED, AskRequest, AskRejected, AskReleaseRequest, ReleaseRequest),
            *(ApplicationRemoval, Released, AskReleased),
        ),
    ),
    Monitor(
        unsaved_configurations_have_a_reason,
        ("SI-CFG-007",),
        observes=(ConfigurationStored,),
        about_one_message=True,
    ),
)
