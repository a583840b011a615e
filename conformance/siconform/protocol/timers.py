"""Durations of a target's timers, as far as they are known."""

from typing import Annotated, Final, Self

import msgspec

Seconds = Annotated[float, msgspec.Meta(gt=0)]


class Timers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """As under ``timers`` in a target.yaml; ``None`` is unknown.

    ``placeholder`` is the scheduler's default placeholder timeout of a gang. With
    ``placeholder_from_application_timeout`` a positive executionTimeoutMilliSeconds of an
    application replaces it: the specification has no field for the timeout, and yunikorn-core reads
    this one.
    """

    placeholder: Seconds | None = None
    placeholder_from_application_timeout: bool = False
    waiting_to_completed: Seconds | None = None
    connection_loss: Seconds | None = None

    def with_known(self, better: Self) -> Self:
        """Return these, overridden by what ``better`` knows."""
        known = {k: v for k, v in msgspec.structs.asdict(better).items() if v not in (None, False)}
        return msgspec.structs.replace(self, **known)

    @property
    def longest(self) -> float:
        """Seconds of the longest known timer; 0 if none is known."""
        known = (self.placeholder, self.waiting_to_completed, self.connection_loss)
        return max(seconds or 0.0 for seconds in known)

    def scaled(self, factor: float) -> Self:
        """Return these times ``factor``."""
        return msgspec.structs.replace(
            self,
            placeholder=_times(self.placeholder, factor),
            waiting_to_completed=_times(self.waiting_to_completed, factor),
            connection_loss=_times(self.connection_loss, factor),
        )


def _times(seconds: float | None, factor: float) -> float | None:
    return None if seconds is None else seconds * factor


UNKNOWN: Final = Timers()
"""Timers of a target without description."""

SHORT: Final = Timers(placeholder=3.0, waiting_to_completed=1.5, connection_loss=2.0)
"""Timers the kit proposes: short, but long enough for a test to act before they end.

Those of gangs differ, so that their ends can be distinguished.
"""
