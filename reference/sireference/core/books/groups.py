"""Groups of nodes: how many allocations of a kind each holds, for the affinities of pending asks.

Only affinities that a pending ask has are counted. Without any, an allocation that comes or goes
costs one look.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sireference.core.books.live import LiveAllocation
from sireference.core.books.node import Node
from sireference.core.books.pending import Shape
from sireference.core.placement_constraints import AllocationAffinity, Group


@dataclass(slots=True)
class _Count:
    """One affinity: who has it, and the allocations that match it by group."""

    shapes: dict[Shape, None] = field(default_factory=dict)
    by_group: Counter[Group] = field(default_factory=Counter)
    is_counted: bool = False


class Groups:
    """Counts the allocations of one partition."""

    __slots__ = ("_allocations", "_counts")

    def __init__(self, allocations: Mapping[str, LiveAllocation]) -> None:
        self._allocations = allocations
        self._counts: dict[AllocationAffinity, _Count] = {}

    def wanted(self, shape: Shape) -> None:
        """Some ask has this shape."""
        if shape.affinity is not None:
            self._counts.setdefault(shape.affinity, _Count()).shapes[shape] = None

    def unwanted(self, shape: Shape) -> None:
        """No ask has this shape any more."""
        if shape.affinity is not None:
            count = self._counts[shape.affinity]
            del count.shapes[shape]
            if not count.shapes:
                del self._counts[shape.affinity]

    def allow(self, shape: Shape, node: Node) -> bool:
        """Whether the affinity of ``shape``, if it has one, is met on ``node``."""
        affinity = shape.affinity
        if affinity is None:
            return True
        count = self._counted(affinity)[affinity.group(node.node_id, node.attributes)]
        return affinity.allows(count + shape.counts_itself)

    def came(self, live: LiveAllocation) -> list[Shape]:
        """Count ``live``; the shapes that more nodes may be open to now, for it is one more."""
        return self._changed(live, 1) if self._counts else []

    def went(self, live: LiveAllocation) -> list[Shape]:
        """Count ``live`` no more; the shapes that more nodes may be open to now."""
        return self._changed(live, -1) if self._counts else []

    def regrouped(self) -> list[Shape]:
        """The attributes of a node changed: count again; all shapes that may make a difference."""
        shapes: list[Shape] = []
        for count in self._counts.values():
            count.is_counted = False
            shapes += count.shapes
        return shapes

    def _counted(self, affinity: AllocationAffinity) -> Counter[Group]:
        count = self._counts.get(affinity) or _Count()
        if not count.is_counted:
            matching = (
                live.node
                for live in self._allocations.values()
                if affinity.matches(live.allocation.ask.tags)
            )
            count.by_group = Counter(
                affinity.group(node.node_id, node.attributes) for node in matching
            )
            count.is_counted = True
        return count.by_group

    def _changed(self, live: LiveAllocation, by: int) -> list[Shape]:
        node, tags = live.node, live.allocation.ask.tags
        opened: list[Shape] = []
        for affinity, count in self._counts.items():
            if not count.is_counted or not affinity.matches(tags):
                continue
            group = affinity.group(node.node_id, node.attributes)
            before = count.by_group[group]
            count.by_group[group] = before + by
            if not count.by_group[group]:
                del count.by_group[group]
            opened += [
                shape
                for shape in count.shapes
                if affinity.required
                and affinity.allows(before + by + shape.counts_itself)
                and not affinity.allows(before + shape.counts_itself)
            ]
        return opened
