"""The clock of a target's timers: real time, or virtual time advanced by the kit.

If the target offers a virtual clock, the kit does not sleep until a timer is due: it advances the
target's time in small steps and looks for messages after each of them. While it waits for an
answer, virtual time passes like real time.
"""

import time
from collections.abc import Callable
from math import ceil
from typing import Final, Protocol, TypeVar

T = TypeVar("T")
Look = Callable[[float], T | None]
"""Look for something for this many seconds of real time; None if it did not come."""

_PROMPT: Final = 0.02  # seconds of real time in which most answers come, before time is advanced
_ALONG: Final = 0.05  # seconds of real time after which virtual time follows
_STEPS: Final = 40  # per wait for a timer at most, unless they get too long
_SHORTEST: Final = 0.1  # seconds of a step
LONGEST_STEP: Final = 0.5  # what comes within a step counts as coming at its end
_PER_SECOND: Final = 1000  # the extension counts milliseconds


class MovesOn(Protocol):
    """Advances a virtual clock."""

    def advances(self, seconds: float) -> None:
        """Advance time by this much."""


class Clock(Protocol):
    """How time passes for the target."""

    @property
    def is_virtual(self) -> bool:
        """Whether waiting costs no real time."""

    def moment(self, wall: float) -> float:
        """Return the timer time in seconds; ``wall`` is real time."""

    def ahead(self) -> float:
        """Return the seconds that were skipped."""

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look for an answer for this long."""

    def advance_and_look(
        self,
        look: Look[T],
        seconds: float,
        *,
        first: float = 0.0,
        settled: float = 0.0,
        under_way: bool = True,
    ) -> T | None:
        """Look while this much time passes for the target's timers.

        Virtual time skips the ``first`` seconds at once, and looks for ``settled`` seconds of real
        time at the end. It starts after answers that may be ``under_way`` have come.
        """


class WallClock:
    """Real time; waiting means sleeping."""

    is_virtual = False

    def moment(self, wall: float) -> float:
        """Return real time."""
        return wall

    def ahead(self) -> float:
        """Return 0: no time is skipped."""
        return 0.0

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look until the answer comes or the time is over."""
        return look(seconds)

    def advance_and_look(
        self,
        look: Look[T],
        seconds: float,
        *,
        first: float = 0.0,  # noqa: ARG002  # it passes anyway
        settled: float = 0.0,  # noqa: ARG002  # nothing is left over
        under_way: bool = True,  # noqa: ARG002  # they come meanwhile
    ) -> T | None:
        """Look while real time passes."""
        return look(seconds)


class VirtualClock:
    """Virtual time, which stands still until the kit advances it."""

    is_virtual = True

    def __init__(self, target: MovesOn) -> None:
        self._target = target
        self._moment = 0.0
        self._ahead = 0.0

    def serves(self, target: MovesOn) -> None:
        """Switch to the clock of another process and keep the time passed."""
        self._target = target

    def moment(self, wall: float) -> float:  # noqa: ARG002  # irrelevant
        """Return the virtual time."""
        return self._moment

    def ahead(self) -> float:
        """Return the seconds that were skipped."""
        return self._ahead

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look for this long, and let virtual time follow if no answer comes promptly."""
        until = time.monotonic() + seconds
        while True:
            began = time.monotonic()
            found = look(min(_ALONG, max(0.0, until - began)))
            now = time.monotonic()
            if found is not None or now >= until:
                return found
            self._pass(now - began, at_once=False)

    def advance_and_look(
        self,
        look: Look[T],
        seconds: float,
        *,
        first: float = 0.0,
        settled: float = 0.0,
        under_way: bool = True,
    ) -> T | None:
        """Look after each step of time."""
        found = look(_PROMPT if under_way else 0.0)
        for step in _steps(seconds, first):
            if found is not None:
                return found
            self._pass(step, at_once=True)
            found = look(0.0)
        return look(settled) if found is None else found

    def _pass(self, seconds: float, *, at_once: bool) -> None:
        """Advance by whole milliseconds; results may arrive before the call returns."""
        step = ceil(seconds * _PER_SECOND) / _PER_SECOND
        self._moment += step
        self._ahead += step if at_once else 0.0
        self._target.advances(step)


def _steps(seconds: float, first: float) -> list[float]:
    at_once = max(0.0, min(first, seconds))
    left = seconds - at_once
    if at_once and not left:
        return [at_once]
    count = max(1, min(_STEPS, ceil(left / _SHORTEST)), ceil(left / LONGEST_STEP))
    steps = [left / count] * count
    return [at_once, *steps] if at_once else steps


WALL: Final[Clock] = WallClock()
