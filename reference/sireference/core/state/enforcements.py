"""Quota enforcements: queues above their lowered maximum, with their deadlines."""

from sireference.core.state.queue import Queue
from sireference.core.state.timers import Timer


class Enforcements:
    """A timer for each queue of a partition that must come below its maximum."""

    __slots__ = ("_timers",)

    def __init__(self) -> None:
        self._timers: dict[Queue, Timer] = {}

    def __contains__(self, queue: Queue) -> bool:
        return queue in self._timers

    def __len__(self) -> int:
        return len(self._timers)

    def begin(self, queue: Queue, timer: Timer) -> None:
        """Give ``queue`` time until ``timer`` is due."""
        self._timers[queue] = timer

    def end(self, queue: Queue) -> None:
        """End the enforcement for ``queue``."""
        timer = self._timers.pop(queue, None)
        if timer is not None:
            timer.cancel()

    def clear(self) -> None:
        """Remove all: the partition ends."""
        for queue in list(self._timers):
            self.end(queue)
