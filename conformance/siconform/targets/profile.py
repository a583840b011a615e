"""What was known of a target before it was asked anything."""

from dataclasses import dataclass

from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets.terms import PLAIN, Terms


@dataclass(frozen=True, slots=True)
class TargetProfile:
    """``timers`` are those of targets of this kind, ``stated`` those its user told."""

    timers: Timers = UNKNOWN
    stated: Timers = UNKNOWN
    terms: Terms = PLAIN
