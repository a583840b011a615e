"""Jobs: long work is done in chunks on the event loop, alternating with everything else.

The jobs of one resource manager run in order, one after the other. Those of different ones
alternate chunk by chunk; between chunks the loop handles everything else.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

# Seconds between two chunks, each of which takes some milliseconds. An answer to another client
# takes several turns of the loop; without a pause there would be a chunk in each of them
PAUSE: Final = 0.001

Result = TypeVar("Result")
Job = Generator[None, None, Result]
"""Yields where other work may run; its return value is the result."""


class Jobs:
    """The jobs of all resource managers.

    ``busy`` is called when the job of an RM takes longer than one chunk, and ``idle`` after the
    last of its jobs.
    """

    def __init__(self, busy: Callable[[str], None], idle: Callable[[str], None]) -> None:
        self._busy = busy
        self._idle = idle
        self._waiting: dict[str, deque[tuple[Job[Any], asyncio.Future[Any]]]] = {}
        self._is_due = False  # the next chunk
        self._all_done = asyncio.Event()
        self._all_done.set()

    def begin(self, rm_id: str, job: Job[Result]) -> "asyncio.Future[Result]":
        """Start ``job``; its result is ready at once if one chunk is enough.

        The job continues even if its result is not awaited any more.
        """
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if rm_id in self._waiting:
            self._waiting[rm_id].append((job, result))
        elif not _advance(job, result):
            self._waiting[rm_id] = deque([(job, result)])
            self._busy(rm_id)
            self._all_done.clear()
            self._come_again()
        return result

    async def all_done(self) -> None:
        """Wait until all jobs are done."""
        await self._all_done.wait()

    def _come_again(self) -> None:
        if self._is_due:
            return
        if self._waiting:
            self._is_due = True
            asyncio.get_running_loop().call_later(PAUSE, self._go_on)
        else:
            self._all_done.set()

    def _go_on(self) -> None:
        """Run a chunk for the next RM, and schedule the following one."""
        self._is_due = False
        rm_id = next(iter(self._waiting))
        jobs = self._waiting.pop(rm_id)
        if _advance(*jobs[0]):
            jobs.popleft()
        if jobs:
            self._waiting[rm_id] = jobs
        else:
            self._idle(rm_id)
        self._come_again()


def _advance(job: Job[Any], result: "asyncio.Future[Any]") -> bool:
    """Run the next chunk; return whether it was the last."""
    try:
        next(job)
    except StopIteration as end:
        if not result.done():
            result.set_result(end.value)
    except Exception as why:  # noqa: BLE001  # passed to the waiter for the result
        if not result.done():
            result.set_exception(why)
    else:
        return False
    return True
