"""The clock a target's timers run by: the wall's, or one that the kit moves on.

Where the target offers a virtual clock nobody sleeps until a timer is due: its time is moved on in
small steps, and after each of them the kit looks what has come. While the kit waits for an answer,
virtual time passes as the time on the wall does.
"""

import time
from collections.abc import Callable
from math import ceil
from typing import Final, Protocol, TypeVar

T = TypeVar("T")
Look = Callable[[float], T | None]
"""Looks for something, for so many seconds on the wall; None when it did not come."""

_PROMPT: Final = 0.02  # seconds on the wall in which most answers come, before any time has to pass
_ALONG: Final = 0.05  # seconds on the wall after which virtual time follows
_STEPS: Final = 40  # a wait for a timer is cut into, at most, unless they get too long
_SHORTEST: Final = 0.1  # seconds of a step
LONGEST_STEP: Final = 0.5  # what comes within a step is taken to come at its end
_PER_SECOND: Final = 1000  # the extension counts milliseconds


class MovesOn(Protocol):
    """What moves a virtual clock."""

    def advances(self, seconds: float) -> None:
        """Let so much time pass."""


class Clock(Protocol):
    """How time passes for the target."""

    @property
    def is_virtual(self) -> bool:
        """Whether waiting costs nothing."""

    def moment(self, wall: float) -> float:
        """The time by which timers run, in seconds; ``wall`` is the one on the wall."""

    def ahead(self) -> float:
        """Seconds that passed in no time."""

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look for an answer that may take so long."""

    def advance_and_look(
        self,
        look: Look[T],
        seconds: float,
        *,
        first: float = 0.0,
        settled: float = 0.0,
        under_way: bool = True,
    ) -> T | None:
        """Look while so much time passes for the target's timers.

        Virtual time passes the ``first`` seconds at once, and what is processed at its end may take
        ``settled`` seconds on the wall. It begins once answers that may be ``under_way`` are here.
        """


class WallClock:
    """The target's time is that on the wall; to wait is to sleep."""

    is_virtual = False

    def moment(self, wall: float) -> float:
        """The time on the wall."""
        return wall

    def ahead(self) -> float:
        """None: no time passes at once."""
        return 0.0

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look until the answer is here or the time is over."""
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
        """Look while the time passes on the wall."""
        return look(seconds)


class VirtualClock:
    """Time stands still until the kit moves it on."""

    is_virtual = True

    def __init__(self, target: MovesOn) -> None:
        self._target = target
        self._moment = 0.0
        self._ahead = 0.0

    def serves(self, target: MovesOn) -> None:
        """The clock of another process from now on; what has passed has passed."""
        self._target = target

    def moment(self, wall: float) -> float:  # noqa: ARG002  # it does not count
        """How far time was moved on."""
        return self._moment

    def ahead(self) -> float:
        """Seconds that passed in no time."""
        return self._ahead

    def wait_for_answer(self, look: Look[T], seconds: float) -> T | None:
        """Look for so long, and let time follow once no answer came promptly."""
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
        """By whole milliseconds; what comes of it may be here before the call returns."""
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
