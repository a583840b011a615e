"""What a scheduler asks and tells an RM by callback. ``offer`` is the stream it came on, from 1."""

from dataclasses import dataclass
from enum import Enum

from siconform.protocol.notifications import ANY, Fact


class Scheduling(Enum):
    """How the scheduling of an ask goes; the names are the text's."""

    UNSET = "UNKNOWN_SCHEDULING_STATE"
    SKIPPED = "SKIPPED"
    SCHEDULED = "SCHEDULED"
    RESERVED = "RESERVED"
    FAILED = "FAILED"
    UNDEFINED = "a number the revision does not define"


@dataclass(frozen=True, slots=True)
class PlacementCheck(Fact):
    """May this ask go on that node? ``allocate`` is False where it is only reserved there."""

    key: str = ANY
    node: str = ANY
    allocate: bool = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class EvictionCheck(Fact):
    """Does this ask fit on that node once some of these are gone, in this order?

    ``victims`` are allocation keys; the first attempt is without 0 to ``start``.
    """

    key: str = ANY
    node: str = ANY
    victims: tuple[str, ...] = ANY
    start: int = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class SchedulingReported(Fact):
    """How the scheduling of an ask goes."""

    key: str = ANY
    application: str = ANY
    state: Scheduling = ANY
    reason: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Assumed(Fact):
    """The RM can take this allocation as made (2021-02)."""

    key: str = ANY
    node: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Forgotten(Fact):
    """The RM can forget this allocation (2021-02)."""

    key: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class StrangeCall(Fact):
    """A call that is none of the callbacks, or whose content is not of its type."""

    problem: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class Answered(Fact):
    """What the RM answered; ``index`` is the last of the victims that has to go."""

    fits: bool = ANY
    index: int = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class CallbacksOffered(Fact):
    """The RM takes these callbacks from now on."""

    kinds: tuple[str, ...] = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class CallbacksEnded(Fact):
    """The stream of callbacks is over, by the scheduler's will."""

    status: str = ANY
    details: str = ANY
    offer: int = ANY
