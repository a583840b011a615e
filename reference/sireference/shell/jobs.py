"""Jobs: what takes long is done bit by bit on the one event loop, in turns with everything else.

The jobs of one resource manager are done one after the other, in order. Those of different ones
take turns, portion by portion; between portions the loop serves whatever else there is.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

# Seconds between two portions, each of which takes some milliseconds. An answer to somebody else
# takes several turns of the loop; without a pause there would be a portion in each of them
PAUSE: Final = 0.001

Result = TypeVar("Result")
Job = Generator[None, None, Result]
"""Pauses wherever others may go on; what it returns is its result."""


class Jobs:
    """Those of every resource manager.

    ``busy`` is told when the job of an RM begins to take longer than one portion, and ``idle`` when
    the last of its jobs is over.
    """

    def __init__(self, busy: Callable[[str], None], idle: Callable[[str], None]) -> None:
        self._busy = busy
        self._idle = idle
        self._waiting: dict[str, deque[tuple[Job[Any], asyncio.Future[Any]]]] = {}
        self._is_due = False  # the next portion
        self._all_done = asyncio.Event()
        self._all_done.set()

    def begin(self, rm_id: str, job: Job[Result]) -> "asyncio.Future[Result]":
        """The result of ``job``, which is there at once if one portion is all there is to do.

        The job goes on even if nobody waits for the result any more.
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
        """Wait until no job is under way any more."""
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
        """Do a portion for the RM that is next, and go on with the one after it."""
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
    """Do the next portion; whether it was the last."""
    try:
        next(job)
    except StopIteration as end:
        if not result.done():
            result.set_result(end.value)
    except Exception as why:  # noqa: BLE001  # it is for whoever waits for the result
        if not result.done():
            result.set_exception(why)
    else:
        return False
    return True
