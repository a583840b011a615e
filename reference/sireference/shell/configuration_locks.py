"""Locks that put requests which bring a configuration in order: it is read beside the loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

# Characters; what is larger takes long enough for others to feel it
_LARGE: Final = 1 << 16


class ConfigurationLocks:
    """Configurations of one RM are read one at a time, and so are large ones, whoever sends them.

    Threads share one interpreter: the more of them read at once, the less is left for the loop.
    """

    def __init__(self) -> None:
        # A lock is there as long as somebody has it or waits for it
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._large = asyncio.Lock()

    @asynccontextmanager
    async def held_for(self, rm_id: str, configuration: str) -> AsyncIterator[None]:
        """Wait for the requests of this RM that came before, so that the latest one holds."""
        lock = self._locks.setdefault(rm_id, asyncio.Lock())
        async with AsyncExitStack() as held:
            await held.enter_async_context(lock)
            if len(configuration) > _LARGE:
                await held.enter_async_context(self._large)
            yield
