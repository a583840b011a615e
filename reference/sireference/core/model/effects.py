"""Effects: the outgoing messages of the core."""

from dataclasses import dataclass
from typing import Final, TypeGuard, get_args

from sireference.core.model.callbacks import Call
from sireference.core.model.records import AllocationRecord, AskRelease, Release
from sireference.core.record import record
from sireference.core.resources import Resource
from sireference.core.states import ApplicationState


@dataclass(frozen=True, slots=True)
class Registered:
    """The registration is accepted."""

    rm_id: str


@dataclass(frozen=True, slots=True)
class Configured:
    """The configuration update is in force."""

    rm_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The event was rejected as a whole and changed nothing, for example without a running RM."""

    rm_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedNode:
    """The node is accepted."""

    rm_id: str
    node_id: str


@dataclass(frozen=True, slots=True)
class RejectedNode:
    """The node action failed and changed nothing."""

    rm_id: str
    node_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedApplication:
    """The application is accepted."""

    rm_id: str
    application_id: str


@dataclass(frozen=True, slots=True)
class RejectedApplication:
    """The application is rejected."""

    rm_id: str
    application_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class UpdatedApplication:
    """The application is in another state since ``at`` (seconds since the epoch)."""

    rm_id: str
    application_id: str
    state: ApplicationState
    at: float
    message: str


@record
class NewAllocation:
    """An ask got an allocation."""

    rm_id: str
    allocation: AllocationRecord
    queue: str = ""  # full name of the queue it is accounted to


@dataclass(frozen=True, slots=True)
class ReleasedAllocation:
    """An allocation ends: a confirmation, a notice, or a request that the RM must confirm."""

    rm_id: str
    release: Release


@dataclass(frozen=True, slots=True)
class ReleasedAsk:
    """A pending ask ends."""

    rm_id: str
    release: AskRelease


@dataclass(frozen=True, slots=True)
class RejectedAsk:
    """The ask is rejected and forgotten."""

    rm_id: str
    key: str
    application_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RejectedAllocation:
    """An existing allocation reported by the RM is rejected."""

    rm_id: str
    key: str
    application_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecommendedNode:
    """A recommended lower capacity for the node; the RM is free to follow it."""

    rm_id: str
    node_id: str
    capacity: Resource
    message: str


NodeEffect = AcceptedNode | RejectedNode | RecommendedNode
ApplicationEffect = AcceptedApplication | RejectedApplication | UpdatedApplication
AllocationEffect = (
    NewAllocation | ReleasedAllocation | ReleasedAsk | RejectedAsk | RejectedAllocation
)
Answer = NodeEffect | ApplicationEffect | AllocationEffect
Effect = Registered | Configured | Refused | Answer | Call
_ANSWERS: Final = frozenset(get_args(Answer))


def is_answer(effect: Effect) -> TypeGuard[Answer]:
    """Whether ``effect`` is an answer."""
    return type(effect) in _ANSWERS
