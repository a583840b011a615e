"""Timers: deadlines in order of time, with their actions."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sireference.core.model import Effect

_SMALL: Final = 1000
Due = Callable[[float], list[Effect]]


@dataclass(slots=True, order=True)
class Timer:
    """One deadline; among equal deadlines the one set earlier comes first."""

    deadline: float
    number: int
    due: Due | None = field(compare=False)

    def cancel(self) -> None:
        """Cancel the deadline."""
        self.due = None


def cancel(timer: Timer | None) -> None:
    """Cancel ``timer``, if there is one."""
    if timer is not None:
        timer.cancel()


class Timers:
    """The deadlines of one registration."""

    __slots__ = ("_count", "_heap", "_pass_at", "_worth_tidying")

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._count = 0
        self._pass_at: float | None = None  # time of a requested pass
        self._worth_tidying = _SMALL  # half of the length at which it is tidied

    def set(self, deadline: float, due: Due) -> Timer:
        """Return a timer that calls ``due(now)`` once ``deadline`` has come."""
        self._count += 1
        timer = Timer(deadline, self._count, due)
        if len(self._heap) > 2 * self._worth_tidying:
            self._tidy()
        heapq.heappush(self._heap, timer)
        return timer

    def request_pass(self, at: float) -> None:
        """Request a scheduling pass at ``at``, as after any deadline."""
        self._pass_at = at if self._pass_at is None else min(self._pass_at, at)

    def clear(self) -> None:
        """Cancel all deadlines."""
        self._pass_at = None
        for timer in self._heap:
            timer.cancel()
        self._heap.clear()

    def _tidy(self) -> None:
        """Remove cancelled timers, at amortised constant cost per timer."""
        self._heap = [timer for timer in self._heap if timer.due is not None]
        heapq.heapify(self._heap)
        self._worth_tidying = max(_SMALL, len(self._heap))

    def next_deadline(self) -> float | None:
        """Return the time of the next timer or requested pass; None without any."""
        timer = self._next()
        if timer is None or self._pass_at is None:
            return self._pass_at if timer is None else timer.deadline
        return min(timer.deadline, self._pass_at)

    def _next(self) -> Timer | None:
        heap = self._heap
        while heap and heap[0].due is None:
            heapq.heappop(heap)
        return heap[0] if heap else None

    def fire(self, now: float) -> list[Effect]:
        """Return the effects of every timer that is due, including timers set meanwhile."""
        effects: list[Effect] = []
        if self._pass_at is not None and self._pass_at <= now:
            self._pass_at = None
        while (timer := self._next()) is not None and timer.deadline <= now:
            heapq.heappop(self._heap)
            due, timer.due = timer.due, None
            if due is not None:
                effects += due(now)
        return effects
