"""Callbacks of a scheduler to an RM. ``offer`` is the number of the stream, from 1."""

from dataclasses import dataclass
from enum import Enum

from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Fact


class Scheduling(Enum):
    """The progress of scheduling an ask; the names are those of the SI."""

    UNSET = "UNKNOWN_SCHEDULING_STATE"
    SKIPPED = "SKIPPED"
    SCHEDULED = "SCHEDULED"
    RESERVED = "RESERVED"
    FAILED = "FAILED"
    UNDEFINED = "a number the revision does not define"


@dataclass(frozen=True, slots=True)
class PlacementCheck(Fact):
    """May this ask go on that node? ``allocate`` is False for a reservation."""

    key: str = ANY
    node: str = ANY
    allocate: bool = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class EvictionCheck(Fact):
    """Does this ask fit on that node once these are evicted in order?

    ``victims`` are allocation keys; the first attempt evicts 0 to ``start``.
    """

    key: str = ANY
    node: str = ANY
    victims: tuple[str, ...] = ANY
    start: int = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class SchedulingReported(Fact):
    """The progress of scheduling an ask."""

    key: str = ANY
    application: str = ANY
    state: Scheduling = ANY
    reason: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Assumed(Fact):
    """The RM can assume this allocation (2021-02)."""

    key: str = ANY
    node: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Forgotten(Fact):
    """The RM can forget this allocation (2021-02)."""

    key: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class StateDumpWanted(Fact):
    """The RM is asked for a dump of its state."""

    offer: int = ANY


@dataclass(frozen=True, slots=True)
class ConfigurationHandedOver(Fact):
    """The RM is to store this configuration (2021-02)."""

    config: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class InvalidCall(Fact):
    """A call of an unknown kind, or with content of another type."""

    problem: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Answered(Fact):
    """The RM's answer; ``index`` is the last victim that has to go."""

    fits: bool = ANY
    index: int = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class StateDumped(Fact):
    """The RM's dump of its state in ``text``, or its reason if it is not ``ok``."""

    ok: bool = ANY
    text: str = ANY


@dataclass(frozen=True, slots=True)
class ConfigurationStored(Fact):
    """The RM's answer to a configuration: whether it is stored, and the former one (2021-02)."""

    stored: bool = ANY
    former: str = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class CallbacksOffered(Fact):
    """The RM takes these callbacks from now on."""

    kinds: tuple[str, ...] = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class CallbacksEnded(Fact):
    """The scheduler ended the callback stream."""

    status: str = ANY
    details: str = ANY
    offer: int = ANY
