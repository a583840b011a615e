"""Shapes by what they need: those that some room is of use to are found without asking each."""

from collections.abc import Callable, Iterator
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING

from sireference.core.resources import Resource
from sireference.core.state.blocks import LOWER, Blocks, Key

if TYPE_CHECKING:
    from sireference.core.state.ask_group import PlacementProfile


class Needs:
    """Shapes that wait, each with its need."""

    __slots__ = ("_blocks", "_keys", "_numbers")

    def __init__(self) -> None:
        self._blocks: Blocks[tuple[PlacementProfile, Resource]] = Blocks(itemgetter(1), LOWER)
        self._keys: dict[PlacementProfile, Key] = {}
        self._numbers = count()

    def add(self, profile: "PlacementProfile", need: Resource) -> None:
        """``shape``, which is not here, waits."""
        key = (sorted(profile.need), next(self._numbers))
        self._keys[profile] = key
        self._blocks.add(key, (profile, need))

    def discard(self, profile: "PlacementProfile") -> None:
        """``shape``, if it is here, does not wait any more."""
        key = self._keys.pop(profile, None)
        if key is not None:
            self._blocks.remove(key)

    def served_by(self, serves: Callable[[Resource], bool]) -> "Iterator[PlacementProfile]":
        """Those whose need ``serves`` is true of; it must be true of any smaller one, too."""
        return (profile for profile, need in self._blocks.where(serves) if serves(need))

    def __bool__(self) -> bool:
        return bool(self._keys)
