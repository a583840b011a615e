"""Places: how many streams may be open at a time, of everybody and of one RM."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from sireference.core.model import quoted
from sireference.shell.streams import Ending


class StreamLimit:
    """There are ``most`` of them, and ``most_of_one`` for the streams of one RM."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._taken = 0
        self._taken_by: Counter[str] = Counter()

    @asynccontextmanager
    async def one(self, context: Any) -> AsyncIterator[None]:
        """A place for one stream; the call is aborted where none is left."""
        if self._taken >= self._most:
            problem = f"{self._taken} streams are open, which is the most this server takes"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    def take_for(self, rm_id: str) -> Ending | None:
        """Count a stream for this RM; how the stream ends where the RM has too many."""
        taken = self._taken_by[rm_id]
        if taken >= self._most_of_one:
            problem = (
                f"resource manager {quoted(rm_id)} has {taken} streams, which is the most of one:"
                " a stream that has ended counts until its status is read or the call is cancelled"
            )
            return Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._taken_by[rm_id] += 1
        return None

    def give_back(self, rm_id: str) -> None:
        """A stream of this RM is gone, its status too."""
        self._taken_by[rm_id] -= 1
        if not self._taken_by[rm_id]:
            del self._taken_by[rm_id]


def too_silent(timeout: float) -> Ending:
    """How a stream ends that said nothing for ``timeout`` seconds, so that nobody knows whose."""
    problem = f"no first message came in {timeout:g} s, so the stream is nobody's"
    return Ending(grpc.StatusCode.DEADLINE_EXCEEDED, problem)
