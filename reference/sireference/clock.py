"""Clocks for the core: system time, or virtual time that moves only on request."""

import time
from typing import Protocol


class Clock(Protocol):
    """A clock in seconds since the epoch; it never goes back."""

    def now(self) -> float:
        """Return the current time."""


class SystemClock:
    """System time, unaffected by changes of the system clock."""

    def __init__(self) -> None:
        self._epoch = time.time() - time.monotonic()

    def now(self) -> float:
        """Return the current time."""
        return self._epoch + time.monotonic()


class VirtualClock:
    """Virtual time that stands still until it is advanced; it starts at system time."""

    def __init__(self) -> None:
        self._now = time.time()

    def now(self) -> float:
        """Return the current time."""
        return self._now

    def move_to(self, moment: float) -> None:
        """Advance to ``moment``, unless that is past already."""
        self._now = max(self._now, moment)
