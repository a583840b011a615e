"""Deadlines: one limit per class of answer, scaled together."""

from dataclasses import dataclass, replace
from typing import Final

from siconform.expecting.waits import WaitClass
from siconform.protocol.callbacks import EvictionCheck, PlacementCheck
from siconform.protocol.events import EventReceived
from siconform.protocol.notifications import Allocated, AskReleased, Fact, Released, Termination

_PLACING: Final = (Allocated, PlacementCheck, EvictionCheck)
_FOR_ANOTHER: Final = (Termination.PLACEHOLDER_REPLACED, Termination.PREEMPTED_BY_SCHEDULER)


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Deadlines in seconds by class. An answer after its deadline but within grace is LATE."""

    ack: float = 2.0  # a verdict on a node or application, the rejection of an ask
    place: float = 3.0  # an allocation that fits
    release: float = 2.0  # the confirmation of a release
    timer: float = 2.0  # slack after a timer is due
    waiting: float = 35.0  # until a waiting application completes, if only completion is reported
    quiet: float = 0.2  # silence after a barrier before "nothing was received" holds
    afterwards: float = 5.0  # silence in which a fault that begins late shows; not scaled
    events: float = 5.0  # a batch of events
    settle: float = 0.02  # silence in real time, if the target's clock has already been advanced
    register: float = 10.0  # an answer to RegisterResourceManager
    connect: float = 5.0  # a connection
    scaled_by: float = 1.0  # factor applied to all of these
    grace: float = 1.0  # extra time, as a factor of the deadline, that separates LATE from never

    def scaled(self, factor: float) -> "Deadlines":
        """Return the limits times ``factor``, for slow targets and machines."""
        return replace(
            self,
            ack=self.ack * factor,
            place=self.place * factor,
            release=self.release * factor,
            timer=self.timer * factor,
            quiet=self.quiet * factor,
            events=self.events * factor,
            settle=self.settle * factor,
            register=self.register * factor,
            connect=self.connect * factor,
            scaled_by=self.scaled_by * factor,
        )

    def of(self, patterns: tuple[Fact, ...]) -> float:
        """Return the deadline for the first of these patterns: the longest of their classes."""
        limit: float = getattr(self, class_of(patterns))
        return limit


def class_of(patterns: tuple[Fact, ...]) -> WaitClass:
    """Return the class with the longest deadline among those of the patterns."""
    if any(isinstance(p, _PLACING) or _is_decision(p) for p in patterns):
        return WaitClass.PLACE
    if any(isinstance(p, (Released, AskReleased)) for p in patterns):
        return WaitClass.RELEASE
    if any(isinstance(p, EventReceived) for p in patterns):
        return WaitClass.EVENTS
    return WaitClass.ACK


def _is_decision(pattern: Fact) -> bool:
    """Return whether the scheduler releases this to place something else."""
    return isinstance(pattern, Released) and pattern.termination in _FOR_ANOTHER
