"""Shapes by what they need: those that some room is of use to are found without asking each."""

from collections.abc import Callable, Iterator
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING

from sireference.core.books.blocks import LOWER, Blocks, Key
from sireference.core.resources import Resource

if TYPE_CHECKING:
    from sireference.core.books.pending import Shape


class Needs:
    """Shapes that wait, each with its need."""

    __slots__ = ("_blocks", "_keys", "_numbers")

    def __init__(self) -> None:
        self._blocks: Blocks[tuple[Shape, Resource]] = Blocks(itemgetter(1), LOWER)
        self._keys: dict[Shape, Key] = {}
        self._numbers = count()

    def add(self, shape: "Shape", need: Resource) -> None:
        """``shape``, which is not here, waits."""
        key = (sorted(shape.need), next(self._numbers))
        self._keys[shape] = key
        self._blocks.add(key, (shape, need))

    def discard(self, shape: "Shape") -> None:
        """``shape``, if it is here, does not wait any more."""
        key = self._keys.pop(shape, None)
        if key is not None:
            self._blocks.remove(key)

    def served_by(self, serves: Callable[[Resource], bool]) -> "Iterator[Shape]":
        """Those whose need ``serves`` is true of; it must be true of any smaller one, too."""
        return (shape for shape, need in self._blocks.where(serves) if serves(need))

    def __bool__(self) -> bool:
        return bool(self._keys)
