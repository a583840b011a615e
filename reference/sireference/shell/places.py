"""Places: how many streams may be open at a time, whoever opens them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc


class Places:
    """There are ``most`` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0

    @asynccontextmanager
    async def one(self, context: Any) -> AsyncIterator[None]:
        """A place for one stream; the call is aborted where none is left."""
        if self._taken >= self._most:
            says = f"{self._taken} streams are open, which is the most this server takes"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, says)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
