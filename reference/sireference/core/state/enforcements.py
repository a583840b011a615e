"""Enforcements: queues that have more than their lowered maximum, and when that is ended."""

from sireference.core.state.queue import Queue
from sireference.core.state.timers import Timer


class Enforcements:
    """Of one partition: a timer for each queue that has until then to come below its maximum."""

    __slots__ = ("_timers",)

    def __init__(self) -> None:
        self._timers: dict[Queue, Timer] = {}

    def __contains__(self, queue: Queue) -> bool:
        return queue in self._timers

    def __len__(self) -> int:
        return len(self._timers)

    def begin(self, queue: Queue, timer: Timer) -> None:
        """``queue`` has until ``timer`` is due."""
        self._timers[queue] = timer

    def end(self, queue: Queue) -> None:
        """There is nothing to enforce any more, or it is done."""
        timer = self._timers.pop(queue, None)
        if timer is not None:
            timer.cancel()

    def clear(self) -> None:
        """Forget all: the partition is over."""
        for queue in list(self._timers):
            self.end(queue)
