"""What travels by callback: what the scheduler tells or asks an RM there, and its answers."""

from dataclasses import dataclass

from sireference.core.model.event_records import EventRecord
from sireference.core.states import Symbol


class Callback(Symbol):
    """What an RM may take by callback, beside the answers that every RM takes."""

    PREDICATES = "may this ask be on that node"
    PREEMPTION_PREDICATES = "may it be there once others are gone"
    EVENTS = "event records"
    CONTAINER_STATE = "how the scheduling of an ask goes"
    CACHE_SYNC = "allocations to assume and to forget"


class SchedulingState(Symbol):
    """How the scheduling of an ask goes; the names are the SI's."""

    SKIPPED = "passed over in this round"
    SCHEDULED = "it has a node"
    RESERVED = "room on a node is kept for it"
    FAILED = "all nodes were looked at, none would do"


@dataclass(frozen=True, slots=True)
class OfferCallbacks:
    """The RM takes these by callback from now on, and no others."""

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
    """May the ask be on this node? ``allocate`` is False where only room is kept for it."""

    rm_id: str
    number: int
    key: str
    node_id: str
    allocate: bool


@dataclass(frozen=True, slots=True)
class PreemptionQuestion:
    """May the ask be on this node once the first of the victims are gone, and how many must go?

    Allocation keys of victims in the order they would go; at least those up to ``start_index``.
    """

    rm_id: str
    number: int
    key: str
    node_id: str
    victims: tuple[str, ...]
    start_index: int


@dataclass(frozen=True, slots=True)
class SentEvents:
    """A batch of event records, in the order things happened."""

    rm_id: str
    records: tuple[EventRecord, ...]


@dataclass(frozen=True, slots=True)
class ContainerState:
    """How the scheduling of an ask goes."""

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
