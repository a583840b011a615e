"""Sharing of work in progress: later callers wait for the same result."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Sharing(Generic[Key, Made]):
    """Work in progress by key; finished work is forgotten."""

    def __init__(self) -> None:
        self._making: dict[Key, asyncio.Task[Made]] = {}

    async def get(self, key: Key, make: Callable[[], Awaitable[Made]]) -> Made:
        """Return the result of the work under ``key``, started with ``make`` if needed.

        The work continues even if no caller waits for it any more.
        """
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.ensure_future(self._make(key, make))
        return await asyncio.shield(making)

    async def _make(self, key: Key, make: Callable[[], Awaitable[Made]]) -> Made:
        try:
            return await make()
        finally:
            del self._making[key]
