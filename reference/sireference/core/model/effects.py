"""Effects: what goes out."""

from dataclasses import dataclass
from typing import Final, TypeGuard, get_args

from sireference.core.model.callbacks import Call
from sireference.core.model.records import AllocationRecord, AskRelease, Release
from sireference.core.resources import Resource
from sireference.core.states import ApplicationState


@dataclass(frozen=True, slots=True)
class Registered:
    """The registration holds."""

    rm_id: str


@dataclass(frozen=True, slots=True)
class Configured:
    """The update of the configuration is in force."""

    rm_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The event was not for a running RM, or not possible as a whole, and changed nothing."""

    rm_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedNode:
    """The node is known from now on."""

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
    """The application is known from now on."""

    rm_id: str
    application_id: str


@dataclass(frozen=True, slots=True)
class RejectedApplication:
    """The application was not taken."""

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


@dataclass(frozen=True, slots=True)
class NewAllocation:
    """An ask was served."""

    rm_id: str
    allocation: AllocationRecord
    queue: str = ""  # full name of the queue it is accounted to


@dataclass(frozen=True, slots=True)
class ReleasedAllocation:
    """An allocation ends: a confirmation, a notice, or a request that the RM has to confirm."""

    rm_id: str
    release: Release


@dataclass(frozen=True, slots=True)
class ReleasedAsk:
    """A pending ask ends."""

    rm_id: str
    release: AskRelease


@dataclass(frozen=True, slots=True)
class RejectedAsk:
    """The ask is refused and forgotten."""

    rm_id: str
    key: str
    application_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RejectedAllocation:
    """An existing allocation the RM reported is refused."""

    rm_id: str
    key: str
    application_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecommendedNode:
    """The scheduler suggests that the node offers no more than this; the RM is free to follow."""

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
