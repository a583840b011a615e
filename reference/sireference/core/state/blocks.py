"""Blocks: ordered members in blocks of neighbours, each with a bound on its members' amounts.

A search checks the bound of a block before its members, and skips blocks that cannot contain a
match. A bound is never too narrow; after a removal it may be too wide until a search has passed the
whole block without a match.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, Generic, NamedTuple, TypeVar

from sireference.core.resources import Resource

Kind = TypeVar("Kind")
Key = tuple[Any, ...]
"""The position of a member; unique."""

_MOST: Final = 256  # members of a block; a larger one is split
_LEAST: Final = _MOST // 4  # a smaller one joins a neighbour


class Bound(NamedTuple):
    """A kind of bound: the bound ``of`` several amounts, and whether an amount is ``within`` it."""

    of: Callable[[Iterable[Resource]], Resource]
    within: Callable[[Resource, Resource], bool]


def _largest(amounts: Iterable[Resource]) -> Resource:
    most: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.amounts.items():
            if amount > most.get(name, 0):
                most[name] = amount
    return Resource(most)


def _smallest(amounts: Iterable[Resource]) -> Resource:
    first, *others = amounts
    least = {name: amount for name, amount in first.amounts.items() if amount > 0}
    for each in others:
        for name in [name for name, amount in least.items() if amount > each.amounts.get(name, 0)]:
            least[name] = each.amounts.get(name, 0)
    return Resource(least)


UPPER: Final = Bound(_largest, Resource.fits)
"""Upper bound, the maximum of every type: what does not fit there fits no member."""

LOWER: Final = Bound(_smallest, lambda amount, bound: bound.fits(amount))
"""Lower bound, the minimum need of every type: where it does not fit, no member does."""


class _Block(Generic[Kind]):
    """Neighbours; ``is_exact`` is True if nothing was removed since the bound was computed."""

    __slots__ = ("bound", "is_exact", "keys", "members")

    def __init__(self, keys: list[Key], members: list[Kind], bound: Resource) -> None:
        self.keys = keys  # of the members, in order
        self.members = members
        self.bound = bound
        self.is_exact = False


class Blocks(Generic[Kind]):
    """Members in the order of their keys.

    ``amount`` is the bounded amount of a member, ``bound`` the kind: `UPPER` for what they have,
    `LOWER` for what they need. When the amount of a member changes, remove it and add it again.
    """

    __slots__ = ("_amount", "_blocks", "_bound", "_is_exact", "_last", "_whole")

    def __init__(self, amount: Callable[[Kind], Resource], bound: Bound) -> None:
        self._amount = amount
        self._bound = bound
        self._blocks: list[_Block[Kind]] = []
        self._last: list[Key] = []  # key of each block
        self._whole = Resource()  # the bound of all of them
        self._is_exact = False

    def add(self, key: Key, member: Kind) -> None:
        """Add ``member``."""
        amount = self._amount(member)
        if not self._blocks:
            self._blocks.append(_Block([key], [member], amount))
            self._last.append(key)
            self._whole = amount
            return
        if key > self._last[-1]:
            at = len(self._last) - 1
            block = self._blocks[at]
            block.keys.append(key)
            block.members.append(member)
            self._last[at] = key
        else:
            at = bisect_left(self._last, key)
            block = self._blocks[at]
            place = bisect_left(block.keys, key)
            block.keys.insert(place, key)
            block.members.insert(place, member)
        if not self._bound.within(amount, block.bound):
            block.bound = self._bound.of((block.bound, amount))
            self._whole = self._bound.of((self._whole, amount))
        if len(block.keys) > _MOST:
            self._split(at)

    def remove(self, key: Key) -> None:
        """Remove the member at that position."""
        if key == self._blocks[0].keys[0]:
            at = place = 0
        else:
            at = bisect_left(self._last, key)
            place = bisect_left(self._blocks[at].keys, key)
        block = self._blocks[at]
        del block.keys[place], block.members[place]
        block.is_exact = self._is_exact = False
        if block.keys:
            self._last[at] = block.keys[-1]
        if len(block.keys) < _LEAST:
            self._join(at)

    def first(self) -> Kind | None:
        """Return the first member, None without any."""
        return self._blocks[0].members[0] if self._blocks else None

    def __iter__(self) -> Iterator[Kind]:
        return chain.from_iterable([block.members for block in self._blocks])

    def where(self, may_be: Callable[[Resource], bool]) -> Iterator[Kind]:
        """Yield in order all members except those of blocks excluded by their bound.

        ``may_be`` must be true of a bound if it is true of the amount of any member within. A
        caller that reads on has found nothing: bounds that may be too wide are recomputed after
        each block.
        """
        if not self._blocks or not may_be(self._whole):
            return
        for block in self._blocks:
            if may_be(block.bound):
                yield from block.members
                if not block.is_exact:
                    self._work_out(block)
        if not self._is_exact:
            self._whole = self._bound.of(block.bound for block in self._blocks)
            self._is_exact = True

    def _work_out(self, block: _Block[Kind]) -> None:
        block.bound = self._bound.of(self._amount(member) for member in block.members)
        block.is_exact = True
        self._is_exact = False

    def _split(self, at: int) -> None:
        block = self._blocks[at]
        half = len(block.keys) // 2
        later = _Block(block.keys[half:], block.members[half:], block.bound)
        del block.keys[half:], block.members[half:]
        self._blocks.insert(at + 1, later)
        self._last.insert(at, block.keys[-1])
        self._work_out(block)
        self._work_out(later)

    def _join(self, at: int) -> None:
        """Merge a small block into the previous one, or drop it if it is empty."""
        block = self._blocks[at]
        if not block.keys:
            del self._blocks[at], self._last[at]
        elif at and len(block.keys) + len(self._blocks[at - 1].keys) <= _MOST:
            before = self._blocks[at - 1]
            before.keys += block.keys
            before.members += block.members
            before.bound = self._bound.of((before.bound, block.bound))
            before.is_exact = False
            del self._blocks[at], self._last[at - 1]
