"""Where there is room: nodes in order of what they have free, and what is known to fit nowhere."""

import bisect
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sireference.configuration.model import NodeSortPolicy, NodeSortType
from sireference.core.books.groups import Groups
from sireference.core.books.live import LiveAllocation
from sireference.core.books.node import Node
from sireference.core.books.pending import Line, Outlook, Shape
from sireference.core.books.proposals import Vetoes
from sireference.core.books.sleepers import Sleepers
from sireference.core.model import SchedulingState
from sireference.core.resources import Resource, least_free_share

_NOWHERE: Final = Outlook(SchedulingState.FAILED, "no node that suits it has room for it")


class NodeIndex:
    """Schedulable nodes, sorted; a change costs one bisect, not a sort."""

    __slots__ = ("_places", "_rank")

    def __init__(self, rank: Callable[[Node], float]) -> None:
        self._rank = rank
        self._places: list[tuple[float, int, Node]] = []  # with its rank and number

    def add(self, node: Node) -> None:
        """Take ``node`` in."""
        node.rank = self._rank(node)
        bisect.insort(self._places, (node.rank, node.number, node))

    def remove(self, node: Node) -> None:
        """Take ``node`` out."""
        place = bisect.bisect_left(self._places, (node.rank, node.number))
        del self._places[place]
        node.rank = None

    def changed(self, node: Node) -> None:
        """Find the new place of ``node``."""
        self.remove(node)
        self.add(node)

    def __contains__(self, node: Node) -> bool:
        return node.rank is not None

    def __iter__(self) -> Iterator[Node]:
        return (node for _, _, node in self._places)


def rank_by(policy: NodeSortPolicy) -> Callable[[Node], float]:
    """What ``policy`` sorts nodes by, the node to try first having the lowest rank.

    Fair takes the node with most room first, binpacking the one with least. Room is the mean of
    the free shares of the weighted resource types; a node that has none of them is ranked by the
    type it has least of.
    """
    weights: Final = {name: weight for name, weight in policy.weights.items() if weight > 0}
    sign = -1.0 if policy.type is NodeSortType.FAIR else 1.0

    def rank(node: Node) -> float:
        free, capacity = node.free.amounts, node.capacity.amounts
        weighted = total = 0.0
        for name, weight in weights.items():
            whole = capacity.get(name, 0)
            if whole > 0:
                weighted += weight * free.get(name, 0) / whole
                total += weight
        room = weighted / total if total else least_free_share(node.free, node.capacity)
        return sign * room

    return rank


class Room:
    """Finds a node for a need, and remembers what fits nowhere.

    For a shape that was looked for in vain only those nodes are looked at again that gained room
    since, unless its placement constraint opens nodes to it otherwise. The memory of a shape lasts
    as long as somebody wants it.
    """

    __slots__ = (
        "_gained",
        "_groups",
        "_needs",
        "_vetoes",
        "_wanted",
        "index",
        "looked_at",
        "sleepers",
    )

    def __init__(self, policy: NodeSortPolicy, groups: Groups) -> None:
        self._groups = groups
        self.index = NodeIndex(rank_by(policy))
        self.looked_at = 0  # nodes, in all
        self.sleepers = Sleepers(_NOWHERE, self._may_find)  # lines that found no node
        self._gained: dict[Shape, dict[str, Node]] = {}
        self._wanted: dict[Shape, int] = {}
        self._needs: dict[Shape, Resource] = {}
        self._vetoes: dict[Vetoes, None] = {}  # each is of one shape

    def sort_by(self, policy: NodeSortPolicy) -> None:
        """Sort the nodes by ``policy`` from now on."""
        nodes = list(self.index)
        self.index = NodeIndex(rank_by(policy))
        for node in nodes:
            self.index.add(node)

    def wanted(self, shape: Shape, need: Resource) -> None:
        """One more line has this shape."""
        self._needs[shape] = need
        if shape.vetoes is not None:
            self._vetoes[shape.vetoes] = None
        self._wanted[shape] = self._wanted.get(shape, 0) + 1
        self._groups.wanted(shape)

    def unwanted(self, shape: Shape) -> None:
        """One line less has this shape."""
        self._wanted[shape] -= 1
        if not self._wanted[shape]:
            del self._wanted[shape]
            del self._needs[shape]
            if shape.vetoes is not None:
                del self._vetoes[shape.vetoes]
            self._gained.pop(shape, None)
            self._groups.unwanted(shape)

    def find(self, shape: Shape, need: Resource) -> Node | None:
        """The first node in order that ``need`` fits on, None if it fits nowhere.

        A node where an affinity is met that is only preferred comes before all others.
        """
        gained = self._gained.get(shape)
        candidates: Iterable[Node]
        if gained is None:
            candidates = self.index
        elif gained:
            candidates = sorted(gained.values(), key=lambda node: (node.rank, node.number))
        else:
            return None
        second: Node | None = None
        for node in candidates:
            self.looked_at += 1
            if need.fits(node.free) and self.is_open(shape, node):
                if shape.affinity is None or self._groups.allow(shape, node):
                    return node
                second = second or node
        if second is None:
            self._gained[shape] = {}
        return second

    def _may_find(self, line: Line) -> bool:
        """Whether it is not certain that ``line`` would find nothing."""
        return self._gained.get(line.shape) != {}

    def is_open(self, shape: Shape, node: Node) -> bool:
        """Whether ``shape`` may be on ``node`` at all, as far as room is not the question."""
        constraint = shape.constraint
        if shape.vetoes is not None and node.node_id in shape.vetoes.nodes:
            return False
        return shape.required_node in ("", node.node_id) and (
            constraint is None
            or (
                constraint.suits(node.attributes)
                and (not constraint.is_strict or self._groups.allow(shape, node))
            )
        )

    def came(self, live: LiveAllocation) -> None:
        """``live`` is there: some may have waited for company."""
        self._opened(self._groups.came(live))

    def went(self, live: LiveAllocation) -> None:
        """``live`` is gone: some may have kept away from it."""
        self._opened(self._groups.went(live))

    def regrouped(self) -> None:
        """The attributes of a node changed: all affinities are worth another look."""
        self._opened(self._groups.regrouped())

    def _opened(self, shapes: list[Shape]) -> None:
        """These may fit on nodes that gained no room: forget what is known of them, call them."""
        for shape in shapes:
            self._gained.pop(shape, None)
            self.sleepers.call(shape)

    def shrank(self, node: Node) -> None:
        """``node`` has less room than before."""
        self.index.changed(node)

    def grew(self, node: Node) -> None:
        """``node``, schedulable, may have more room than before: call those it may serve."""
        if node in self.index:
            self.index.changed(node)
        else:
            self.index.add(node)

        def fits(shape: Shape, need: Resource) -> bool:
            return need.fits(node.free) and self.is_open(shape, node)

        for vetoes in self._vetoes:
            vetoes.nodes.discard(node.node_id)
        for shape, gained in self._gained.items():
            if fits(shape, self._needs[shape]):
                gained[node.node_id] = node
        self.sleepers.call_those(fits)

    def closed(self, node: Node) -> None:
        """Nothing may be placed on ``node`` any more."""
        if node in self.index:
            self.index.remove(node)
        for gained in self._gained.values():
            gained.pop(node.node_id, None)
