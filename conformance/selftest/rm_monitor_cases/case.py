"""The histories that a monitor of RMs is tried with, and their usual elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selftest import sample_histories
from siconform.protocol.callbacks import (
    Answered,
    CallbacksOffered,
    ConfigurationStored,
    StateDumped,
)
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskReleased,
    Fact,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.recording.history import Exchange, History
from siconform.transport.dialects import dialect_for
from siwire import find_revision

Part = Any  # an element; several of one message in a Message

STOPPED, TIMEOUT, PREEMPTED = (
    Termination.STOPPED_BY_RM,
    Termination.TIMEOUT,
    Termination.PREEMPTED_BY_SCHEDULER,
)
NODE = NodeRequest("n", Action.CREATE, {"memory": 4, "vcore": 4})
APP = ApplicationRequest("a", "root.default", "default", "somebody")
ASK = AskRequest("k", "a", "default", {"memory": 1})
ACCEPTED = (NodeAccepted("n"), ApplicationAccepted("a"))
REGISTERED = (RegistrationRequested("rm"), RegistrationAnswered("rm", "OK", ""))


@dataclass(frozen=True)
class Message:
    """Elements that the RM sends in one message."""

    elements: Sequence[Part]


@dataclass(frozen=True)
class FromRm:
    """A fact about the RM's side, such as the end of a stream."""

    fact: Fact


@dataclass(frozen=True)
class RmCase:
    """A monitor with a history it passes, one that does not apply, and violating ones.

    They begin with the RM's registration.
    """

    monitor: str
    holds: Sequence[Part]
    idle: Sequence[Part]
    broken: Sequence[tuple[str, Sequence[Part]]]  # a part of the violation, the history
    revision: str = "2024-10"
    begins: Sequence[Part] = REGISTERED


def allocated(key: str = "k", identity: str = "", **named: Any) -> Allocated:
    usual = {"resource": {"memory": 1}, "partition": "default", "priority_class": ""}
    return sample_histories.allocated(key, identity or key, **{**usual, **named})


def released(
    identity: str = "k", termination: Termination = TIMEOUT, application: str = "a"
) -> Released:
    return Released(identity, application, identity, termination, "", "default")


def releases(
    identity: str = "k", termination: Termination = STOPPED, application: str = "a"
) -> ReleaseRequest:
    one = OneAllocation(application, identity, identity) if identity else AllOf(application)
    return ReleaseRequest(one, termination)


def ask_released(key: str = "k", application: str = "a") -> AskReleased:
    return AskReleased(key, application, TIMEOUT, "", "default")


def ask_releases(
    key: str = "k", termination: Termination = TIMEOUT, application: str = "a"
) -> AskReleaseRequest:
    return AskReleaseRequest(OneAsk(application, key), "default", termination)


def exchange_of(parts: Sequence[Part], revision: str) -> Exchange:
    """Return the exchange, with the messages of the RM's requests."""
    dialect = dialect_for(find_revision(revision))
    history = History(identity=dialect.identity)
    answers = (Answered, CallbacksOffered, ConfigurationStored, StateDumped, RegistrationRequested)
    for part in parts:
        match part:
            case FromRm(fact):
                history.add("rm", [fact], sent_by_rm=True)
            case Fact() | RegistrationRequested():
                history.add("rm", [part], sent_by_rm=isinstance(part, answers))
            case _:
                elements = part.elements if isinstance(part, Message) else [part]
                message = dialect.request(elements[0].kind, "rm", elements)
                history.add("rm", elements, sent_by_rm=True, message=message)
    return Exchange(history, start=0)
