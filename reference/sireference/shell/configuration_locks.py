"""Locks that serialise requests with a configuration, which is read outside the loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

# Characters; reading a larger one noticeably delays others
_LARGE: Final = 1 << 16


class ConfigurationLocks:
    """Serialises the reading per RM, and of large configurations across RMs.

    Threads share one interpreter: the more of them read at once, the less is left for the loop.
    """

    def __init__(self) -> None:
        # A lock exists as long as it is held or waited for
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._large = asyncio.Lock()

    @asynccontextmanager
    async def held_for(self, rm_id: str, configuration: str) -> AsyncIterator[None]:
        """Wait for earlier requests of this RM, so that the latest one wins."""
        lock = self._locks.setdefault(rm_id, asyncio.Lock())
        async with AsyncExitStack() as held:
            await held.enter_async_context(lock)
            if len(configuration) > _LARGE:
                await held.enter_async_context(self._large)
            yield
