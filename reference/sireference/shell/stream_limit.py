"""Stream limits: maximum open streams in total and per RM."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from sireference.core.model import quoted
from sireference.shell.streams import Ending


class StreamLimit:
    """Counts streams: at most ``most``, and ``most_of_one`` per RM."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._taken = 0
        self._taken_by: Counter[str] = Counter()

    @asynccontextmanager
    async def one(self, context: Any) -> AsyncIterator[None]:
        """Take a slot for one stream; abort the call if none is left."""
        if self._taken >= self._most:
            problem = f"{self._taken} streams are open, the maximum of this server"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    def take_for(self, rm_id: str) -> Ending | None:
        """Count a stream for this RM; return how it ends if the RM has too many."""
        taken = self._taken_by[rm_id]
        if taken >= self._most_of_one:
            problem = (
                f"resource manager {quoted(rm_id)} has {taken} streams, the maximum of one:"
                " an ended stream counts until its status is read or the call is cancelled"
            )
            return Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._taken_by[rm_id] += 1
        return None

    def give_back(self, rm_id: str) -> None:
        """Release the slot of a closed stream of this RM."""
        self._taken_by[rm_id] -= 1
        if not self._taken_by[rm_id]:
            del self._taken_by[rm_id]


def too_silent(timeout: float) -> Ending:
    """Return the ending of a stream without a message for ``timeout`` seconds, its RM unknown."""
    problem = f"no first message in {timeout:g} s, so the stream belongs to no resource manager"
    return Ending(grpc.StatusCode.DEADLINE_EXCEEDED, problem)
