"""Index of affinities and allocations by tag, to find possible matches."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Generic, TypeVar

from sireference.core.placement_constraints import TargetExpression, TargetOperator
from sireference.core.state.allocation import Allocation

Kind = TypeVar("Kind")
Targets = tuple[TargetExpression, ...]

# Operators that only allocations with the tag can satisfy; the most selective first
_OF_A_TAG: Final = (TargetOperator.IN, TargetOperator.EXIST)


def _most_selective(targets: Targets) -> TargetExpression | None:
    """Return the most selective target to search by, None if there is none."""
    of_tags = (each for operator in _OF_A_TAG for each in targets if each.operator is operator)
    return next(of_tags, None)


class TaggedAllocations:
    """Allocations indexed by their tags."""

    __slots__ = ("_all", "_by_tag")

    def __init__(self, allocations: Mapping[str, Allocation]) -> None:
        self._all = allocations  # without the one just removed or just added
        self._by_tag: dict[str, dict[str, dict[str, Allocation]]] = {}  # key, value, identity
        for allocation in allocations.values():
            self.add(allocation)

    def add(self, allocation: Allocation) -> None:
        """Add an allocation."""
        for key, value in allocation.record.ask.tags.items():
            by_value = self._by_tag.setdefault(key, {})
            by_value.setdefault(value, {})[allocation.record.identity] = allocation

    def discard(self, allocation: Allocation) -> None:
        """Remove an allocation."""
        for key, value in allocation.record.ask.tags.items():
            by_value = self._by_tag[key]
            del by_value[value][allocation.record.identity]
            if not by_value[value]:
                del by_value[value]
            if not by_value:
                del self._by_tag[key]

    def matching(self, targets: Targets) -> Iterator[Allocation]:
        """Yield those that match all of ``targets``."""
        return (
            allocation
            for allocation in self._possible_matches(targets)
            if all(target.holds(allocation.record.ask.tags) for target in targets)
        )

    def _possible_matches(self, targets: Targets) -> Iterable[Allocation]:
        target = _most_selective(targets)
        if target is None:
            return self._all.values()
        by_value = self._by_tag.get(target.key, {})
        values: Iterable[str] = by_value
        if target.operator is TargetOperator.IN:
            values = (value for value in target.values if value in by_value)
        return chain.from_iterable(by_value[value].values() for value in values)


class ByTargets(Generic[Kind]):
    """Members with targets, indexed by the tags that may match."""

    __slots__ = ("_any", "_by_key", "_by_tag")

    def __init__(self) -> None:
        self._by_tag: dict[tuple[str, str], dict[Kind, None]] = {}
        self._by_key: dict[str, dict[Kind, None]] = {}
        self._any: dict[Kind, None] = {}

    def add(self, member: Kind, targets: Targets) -> None:
        """Add ``member``."""
        target = _most_selective(targets)
        if target is None:
            self._any[member] = None
        elif target.operator is TargetOperator.EXIST:
            self._by_key.setdefault(target.key, {})[member] = None
        else:
            for value in target.values:
                self._by_tag.setdefault((target.key, value), {})[member] = None

    def discard(self, member: Kind, targets: Targets) -> None:
        """Remove ``member``."""
        target = _most_selective(targets)
        if target is None:
            del self._any[member]
        elif target.operator is TargetOperator.EXIST:
            del self._by_key[target.key][member]
            if not self._by_key[target.key]:
                del self._by_key[target.key]
        else:
            for value in target.values:
                tag = (target.key, value)
                del self._by_tag[tag][member]
                if not self._by_tag[tag]:
                    del self._by_tag[tag]

    def possible_matches(self, tags: Mapping[str, str]) -> Iterator[Kind]:
        """Yield each member whose targets may all match ``tags``, once."""
        yield from self._any
        for tag in tags.items():
            yield from self._by_key.get(tag[0], ())
            yield from self._by_tag.get(tag, ())
