"""Whose turn it is among requests that bring a configuration, which is read beside the loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Turns:
    """Reading a large configuration takes seconds; those of one RM are read one at a time."""

    def __init__(self) -> None:
        # A lock is there as long as somebody has it or waits for it
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, rm_id: str) -> AsyncIterator[None]:
        """Wait for the requests of this RM that came before, so that the latest one holds."""
        lock = self._locks.setdefault(rm_id, asyncio.Lock())
        async with lock:
            yield
