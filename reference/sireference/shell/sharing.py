"""Sharing: whoever asks for what is being made already waits for that instead of a copy."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Sharing(Generic[Key, Made]):
    """What is being made at present, by key; what is done is forgotten."""

    def __init__(self) -> None:
        self._making: dict[Key, asyncio.Task[Made]] = {}

    async def get(self, key: Key, make: Callable[[], Awaitable[Made]]) -> Made:
        """What is being made under ``key``, if nothing is what ``make`` makes.

        It goes on even if nobody waits for it any more.
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
