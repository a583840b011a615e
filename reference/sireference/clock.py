"""The time as the core is told it: the system's, or one that moves only when it is told to."""

import time
from typing import Protocol


class Clock(Protocol):
    """Something that knows the time in seconds since the epoch; it never goes back."""

    def now(self) -> float:
        """The time now."""


class SystemClock:
    """The system's time, whatever happens to its settings meanwhile."""

    def __init__(self) -> None:
        self._epoch = time.time() - time.monotonic()

    def now(self) -> float:
        """The time now."""
        return self._epoch + time.monotonic()


class VirtualClock:
    """A time that stands still until it is moved on; it begins now."""

    def __init__(self) -> None:
        self._now = time.time()

    def now(self) -> float:
        """The time now."""
        return self._now

    def move_to(self, moment: float) -> None:
        """Be at ``moment``, unless that is past already."""
        self._now = max(self._now, moment)
