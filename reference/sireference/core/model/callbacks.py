"""Callbacks: notifications and questions to an RM, and its answers."""

from dataclasses import dataclass

from sireference.core.model.event_records import EventRecord
from sireference.core.states import Symbol


class Callback(Symbol):
    """A callback that an RM may take in addition to the responses that every RM takes."""

    PREDICATES = "may the ask run on this node"
    PREEMPTION_PREDICATES = "may the ask run there once victims are gone"
    EVENTS = "event records"
    CONTAINER_STATE = "scheduling states"
    CACHE_SYNC = "allocations to assume and to forget"


class SchedulingState(Symbol):
    """The scheduling state of an ask, by the SI's names."""

    SKIPPED = "passed over in this round"
    SCHEDULED = "it has a node"
    RESERVED = "capacity on a node is reserved for it"
    FAILED = "no node is suitable"


@dataclass(frozen=True, slots=True)
class OfferCallbacks:
    """The RM takes exactly these callbacks from now on."""

    rm_id: str
    callbacks: frozenset[Callback]


@dataclass(frozen=True, slots=True)
class Answered:
    """The RM's answer to the question ``number``.

    ``index`` is the last victim that has to go, where the question was about victims.
    """

    rm_id: str
    number: int
    suits: bool
    reason: str = ""
    index: int = -1


@dataclass(frozen=True, slots=True)
class PredicatesQuestion:
    """May the ask run on this node? ``allocate`` is False for a reservation."""

    rm_id: str
    number: int
    key: str
    node_id: str
    allocate: bool


@dataclass(frozen=True, slots=True)
class PreemptionQuestion:
    """May the ask run on this node once the first victims are gone, and how many must go?

    Allocation keys of victims in the order of eviction; at least those up to ``start_index``.
    """

    rm_id: str
    number: int
    key: str
    node_id: str
    victims: tuple[str, ...]
    start_index: int


@dataclass(frozen=True, slots=True)
class SentEvents:
    """A batch of event records in chronological order."""

    rm_id: str
    records: tuple[EventRecord, ...]


@dataclass(frozen=True, slots=True)
class ContainerState:
    """A change of the scheduling state of an ask."""

    rm_id: str
    application_id: str
    key: str
    state: SchedulingState
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SyncedCache:
    """Allocations the RM can assume (key, node) and others it can forget (key)."""

    rm_id: str
    assumed: tuple[tuple[str, str], ...] = ()
    forgotten: tuple[str, ...] = ()


Call = PredicatesQuestion | PreemptionQuestion | SentEvents | ContainerState | SyncedCache
