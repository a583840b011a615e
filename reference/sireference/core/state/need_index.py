"""An index by need: those to whom some room is of use are found without asking each."""

from collections.abc import Callable, Hashable, Iterator
from itertools import count
from operator import itemgetter
from typing import Generic, TypeVar

from sireference.core.resources import Resource
from sireference.core.state.blocks import LOWER, Blocks, Key

Member = TypeVar("Member", bound=Hashable)


class NeedIndex(Generic[Member]):
    """Members that wait, each with what it needs."""

    __slots__ = ("_blocks", "_keys", "_numbers")

    def __init__(self) -> None:
        self._blocks: Blocks[tuple[Member, Resource]] = Blocks(itemgetter(1), LOWER)
        self._keys: dict[Member, Key] = {}
        self._numbers = count()

    def add(self, member: Member, need: Resource) -> None:
        """``member``, which is not in here, waits for ``need``."""
        key = (sorted(need.key), next(self._numbers))
        self._keys[member] = key
        self._blocks.add(key, (member, need))

    def discard(self, member: Member) -> None:
        """``member``, if it is in here, does not wait any more."""
        key = self._keys.pop(member, None)
        if key is not None:
            self._blocks.remove(key)

    def served_by(self, serves: Callable[[Resource], bool]) -> Iterator[Member]:
        """Those whose need ``serves`` is true of; it must be true of any smaller need, too."""
        return (member for member, need in self._blocks.where(serves) if serves(need))

    def __bool__(self) -> bool:
        return bool(self._keys)
