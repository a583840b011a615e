"""Prior knowledge about a target."""

from dataclasses import dataclass

from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets.terms import PLAIN, Terms


@dataclass(frozen=True, slots=True)
class TargetProfile:
    """Prior knowledge: ``timers`` are typical of the target, ``stated`` those of the user."""

    timers: Timers = UNKNOWN
    stated: Timers = UNKNOWN
    terms: Terms = PLAIN
