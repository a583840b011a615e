"""Index by need: finds the members that some free resources may serve."""

from collections.abc import Callable, Hashable, Iterator
from itertools import count
from operator import itemgetter
from typing import Generic, TypeVar

from sireference.core.resources import Resource
from sireference.core.state.blocks import LOWER, Blocks, Key

Member = TypeVar("Member", bound=Hashable)


class NeedIndex(Generic[Member]):
    """Waiting members, each with its need."""

    __slots__ = ("_blocks", "_keys", "_numbers")

    def __init__(self) -> None:
        self._blocks: Blocks[tuple[Member, Resource]] = Blocks(itemgetter(1), LOWER)
        self._keys: dict[Member, Key] = {}
        self._numbers = count()

    def add(self, member: Member, need: Resource) -> None:
        """Add ``member``, which waits for ``need``."""
        key = (sorted(need.key), next(self._numbers))
        self._keys[member] = key
        self._blocks.add(key, (member, need))

    def discard(self, member: Member) -> None:
        """Remove ``member``, if present."""
        key = self._keys.pop(member, None)
        if key is not None:
            self._blocks.remove(key)

    def served_by(self, serves: Callable[[Resource], bool]) -> Iterator[Member]:
        """Return the members whose need satisfies ``serves``; it must hold for smaller needs."""
        return (member for member, need in self._blocks.where(serves) if serves(need))

    def __bool__(self) -> bool:
        return bool(self._keys)
