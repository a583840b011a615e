"""How long a target's own timers run, as far as the kit was told."""

from typing import Annotated, Final, Self

import msgspec

Seconds = Annotated[float, msgspec.Meta(gt=0)]


class Timers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """As under ``timers`` in a target.yaml; ``None`` is unknown.

    ``placeholder`` is the scheduler's own limit for a gang that waits for its placeholders. With
    ``placeholder_from_application_timeout`` the executionTimeoutMilliSeconds of an application
    takes its place where it is positive: no text names a field for the limit, and yunikorn-core
    reads this one.
    """

    placeholder: Seconds | None = None
    placeholder_from_application_timeout: bool = False
    waiting_to_completed: Seconds | None = None
    connection_loss: Seconds | None = None

    def with_known(self, better: Self) -> Self:
        """These, with what ``better`` knows in place of what is known here."""
        known = {k: v for k, v in msgspec.structs.asdict(better).items() if v not in (None, False)}
        return msgspec.structs.replace(self, **known)

    @property
    def longest(self) -> float:
        """Seconds of the longest that is known; 0 where none is."""
        known = (self.placeholder, self.waiting_to_completed, self.connection_loss)
        return max(seconds or 0.0 for seconds in known)

    def scaled(self, factor: float) -> Self:
        """These times ``factor``."""
        return msgspec.structs.replace(
            self,
            placeholder=_times(self.placeholder, factor),
            waiting_to_completed=_times(self.waiting_to_completed, factor),
            connection_loss=_times(self.connection_loss, factor),
        )


def _times(seconds: float | None, factor: float) -> float | None:
    return None if seconds is None else seconds * factor


UNKNOWN: Final = Timers()
"""Of a target nobody described."""

SHORT: Final = Timers(placeholder=3.0, waiting_to_completed=1.5, connection_loss=2.0)
"""What the kit would like: short, and yet time for a test to act before they end.

Those of gangs differ, so that the end of one is not taken for that of the other.
"""
