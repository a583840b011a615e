"""Where there is room: nodes in order of what they have free, and what is known to fit nowhere."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Final

from sireference.configuration.model import NodeSortPolicy, NodeSortType
from sireference.core.books.blocks import UPPER, Blocks
from sireference.core.books.groups import Groups
from sireference.core.books.live import LiveAllocation
from sireference.core.books.node import Node
from sireference.core.books.pending import Line, Outlook, Shape
from sireference.core.books.proposals import StandingVetoes, Vetoes
from sireference.core.books.sleepers import Sleepers
from sireference.core.books.unplaced import Unplaced
from sireference.core.model import SchedulingState
from sireference.core.resources import Resource, least_free_share

_NOWHERE: Final = Outlook(SchedulingState.FAILED, "no node that suits it has room for it")


class NodeIndex:
    """Schedulable nodes, sorted; a change costs a search or two, not a sort."""

    __slots__ = ("_nodes", "_rank")

    def __init__(self, rank: Callable[[Node], float]) -> None:
        self._rank = rank
        self._nodes: Blocks[Node] = Blocks(attrgetter("free"), UPPER)

    def add(self, node: Node) -> None:
        """Take ``node`` in."""
        node.rank = self._rank(node)
        self._nodes.add((node.rank, node.number), node)

    def remove(self, node: Node) -> None:
        """Take ``node`` out."""
        self._nodes.remove((node.rank, node.number))
        node.rank = None

    def changed(self, node: Node) -> None:
        """Find the new place of ``node``."""
        self.remove(node)
        self.add(node)

    def __contains__(self, node: Node) -> bool:
        return node.rank is not None

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def for_need(self, need: Resource) -> Iterator[Node]:
        """In order, at least the nodes that ``need`` fits on."""
        return self._nodes.where(need.fits)


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
        "_groups",
        "_nodes",
        "_unplaced",
        "_vetoes",
        "_wanted",
        "index",
        "looked_at",
        "sleepers",
    )

    def __init__(self, policy: NodeSortPolicy, nodes: Mapping[str, Node], groups: Groups) -> None:
        self._nodes = nodes  # of the partition, schedulable or not
        self._groups = groups
        self.index = NodeIndex(rank_by(policy))
        self.looked_at = 0  # nodes so far, in search of one that has room
        self.sleepers = Sleepers(_NOWHERE, self._may_find)  # lines that found no node
        self._unplaced = Unplaced()
        self._wanted: dict[Shape, int] = {}
        self._vetoes = StandingVetoes()  # each is of one shape

    def sort_by(self, policy: NodeSortPolicy) -> None:
        """Sort the nodes by ``policy`` from now on."""
        nodes = list(self.index)
        self.index = NodeIndex(rank_by(policy))
        for node in nodes:
            self.index.add(node)

    def wanted(self, shape: Shape) -> None:
        """One more line has this shape."""
        before = self._wanted.get(shape, 0)
        self._wanted[shape] = before + 1
        if not before:
            self._groups.wanted(shape)
            if shape.vetoes is not None:
                self._vetoes.add(shape.vetoes)

    def unwanted(self, shape: Shape) -> None:
        """One line less has this shape."""
        self._wanted[shape] -= 1
        if self._wanted[shape]:
            return
        del self._wanted[shape]
        self._unplaced.forget(shape)
        self._groups.unwanted(shape)
        if shape.vetoes is not None:
            self._vetoes.discard(shape.vetoes)

    def veto(self, vetoes: Vetoes, node: Node) -> None:
        """The RM does not want the ask whose ``vetoes`` these are on ``node``."""
        self._vetoes.veto(vetoes, node.node_id)

    def find(self, shape: Shape, need: Resource) -> Node | None:
        """The first node in order that ``need`` fits on, None if it fits nowhere.

        A node where an affinity is met that is only preferred comes before all others.
        """
        second: Node | None = None
        for node in self._candidates(shape, need):
            self.looked_at += 1
            if need.fits(node.free) and self.is_open(shape, node):
                if shape.affinity is None or self._groups.allow(shape, node):
                    return node
                second = second or node
        if second is None:
            self._unplaced.add(shape, need)
        return second

    def _candidates(self, shape: Shape, need: Resource) -> Iterable[Node]:
        """In order, at least the nodes where ``shape`` has room."""
        gained = self._unplaced.gained(shape)
        if gained is not None:
            return sorted(gained, key=lambda node: (node.rank, node.number))
        if shape.required_node:
            node = self._nodes.get(shape.required_node)
            return () if node is None or node not in self.index else (node,)
        return self.index.for_need(need)

    def _may_find(self, line: Line) -> bool:
        """Whether it is not certain that ``line`` would find nothing."""
        return self._unplaced.may_fit(line.shape, line.need)

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

    def _opened(self, shapes: Iterable[Shape]) -> None:
        """These may fit on nodes that gained no room: forget what is known of them, call them."""
        for shape in shapes:
            self._unplaced.forget(shape)
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
        self._vetoes.lift(node.node_id)
        for shape in self._unplaced.that_fit(node):
            if self.is_open(shape, node):
                self._unplaced.gains(shape, node)
                self.sleepers.call(shape)

    def closed(self, node: Node) -> None:
        """Nothing may be placed on ``node`` any more."""
        if node in self.index:
            self.index.remove(node)
        self._unplaced.closed(node)
