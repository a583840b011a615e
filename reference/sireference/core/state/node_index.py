"""Node index: nodes ordered by free resources, and the profiles known to fit nowhere."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Final

from sireference.configuration.model import NodeSortPolicy, NodeSortType
from sireference.core.model import SchedulingState
from sireference.core.resources import Resource, least_free_share
from sireference.core.state.affinity_counts import AffinityCounts
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import AskGroup
from sireference.core.state.blocks import UPPER, Blocks
from sireference.core.state.node import Node
from sireference.core.state.node_exclusions import ActiveExclusions, NodeExclusions
from sireference.core.state.placement_profile import PlacementProfile
from sireference.core.state.unplaced import Unplaced
from sireference.core.state.wait_queue import WaitQueue
from sireference.core.state.wait_reason import WaitReason

_NOWHERE: Final = WaitReason(SchedulingState.FAILED, "no suitable node has capacity for it")


class SortedNodes:
    """Schedulable nodes in order; a change costs a binary search or two."""

    __slots__ = ("_nodes", "_rank")

    def __init__(self, rank: Callable[[Node], float]) -> None:
        self._rank = rank
        self._nodes: Blocks[Node] = Blocks(attrgetter("free"), UPPER)

    def add(self, node: Node) -> None:
        """Add ``node``."""
        node.rank = self._rank(node)
        self._nodes.add((node.rank, node.number), node)

    def remove(self, node: Node) -> None:
        """Remove ``node``."""
        self._nodes.remove((node.rank, node.number))
        node.rank = None

    def changed(self, node: Node) -> None:
        """Move ``node`` to its new place."""
        self._nodes.remove((node.rank, node.number))
        self.add(node)

    def __contains__(self, node: Node) -> bool:
        return node.rank is not None

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def first(self) -> Node | None:
        """Return the first node in order, None without any."""
        return self._nodes.first()

    def for_need(self, need: Resource) -> Iterator[Node]:
        """Yield in order a superset of the nodes that ``need`` fits on."""
        return self._nodes.where(need.fits)


def rank_by(policy: NodeSortPolicy) -> Callable[[Node], float]:
    """Return the sort key of nodes for ``policy``; the lowest is tried first.

    Fair takes the node with most free resources first, binpacking the one with least. They are
    measured as the mean of the free shares of the weighted resource types; a node that has none of
    these is ranked by its scarcest type.
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
        share = weighted / total if total else least_free_share(node.free, node.capacity)
        return sign * share

    return rank


class NodeIndex:
    """Finds a node for a need, and remembers what fits nowhere.

    For a profile that found no node, only nodes that gained free resources since are examined
    again, unless its placement constraint makes other nodes suitable. It is remembered as long as
    an ask has the profile.
    """

    __slots__ = (
        "_exclusions",
        "_groups",
        "_nodes",
        "_unplaced",
        "_wanted",
        "changes",
        "index",
        "looked_at",
        "waiting",
    )

    def __init__(
        self, policy: NodeSortPolicy, nodes: Mapping[str, Node], groups: AffinityCounts
    ) -> None:
        self._nodes = nodes  # of the partition, schedulable or not
        self._groups = groups
        self.index = SortedNodes(rank_by(policy))
        self.changes = 0  # number of changes in capacity and usage
        self.looked_at = 0  # nodes examined in search of capacity
        self.waiting = WaitQueue(_NOWHERE, self._may_find)  # groups that found no node
        self._unplaced = Unplaced()
        self._wanted: dict[PlacementProfile, int] = {}
        self._exclusions = ActiveExclusions()  # each belongs to one profile

    def sort_by(self, policy: NodeSortPolicy) -> None:
        """Sort the nodes by ``policy`` from now on."""
        self.changes += 1
        nodes = list(self.index)
        self.index = SortedNodes(rank_by(policy))
        for node in nodes:
            self.index.add(node)

    def wanted(self, profile: PlacementProfile) -> None:
        """Count one more group with this profile."""
        before = self._wanted.get(profile, 0)
        self._wanted[profile] = before + 1
        if not before:
            self._groups.wanted(profile)
            if profile.exclusions is not None:
                self._exclusions.add(profile.exclusions)

    def unwanted(self, profile: PlacementProfile) -> None:
        """Count one group less with this profile."""
        self._wanted[profile] -= 1
        if self._wanted[profile]:
            return
        del self._wanted[profile]
        self._unplaced.forget(profile)
        self._groups.unwanted(profile)
        if profile.exclusions is not None:
            self._exclusions.discard(profile.exclusions)

    def exclude(self, exclusions: NodeExclusions, node: Node) -> None:
        """Exclude ``node``, which the RM refused, for the ask with these ``exclusions``."""
        self._exclusions.exclude(exclusions, node.node_id)

    def find(self, profile: PlacementProfile, need: Resource) -> Node | None:
        """Return the first node in order that ``need`` fits on, None if it fits nowhere.

        Nodes that satisfy a preferred affinity come before all others.
        """
        if profile.needs_only_capacity and self._unplaced.gained(profile) is None:
            first = self.index.first()  # mostly it has capacity
            if first is not None and need.fits(first.free):
                self.looked_at += 1
                return first
        second: Node | None = None
        for node in self._candidates(profile, need):
            self.looked_at += 1
            if need.fits(node.free) and self.is_open(profile, node):
                if profile.affinity is None or self._groups.allow(profile, node):
                    return node
                second = second or node
        if second is None:
            self._unplaced.add(profile, need)
        return second

    def _candidates(self, profile: PlacementProfile, need: Resource) -> Iterable[Node]:
        """Yield in order a superset of the nodes with capacity for ``profile``."""
        gained = self._unplaced.gained(profile)
        if gained is not None:
            return sorted(gained, key=lambda node: (node.rank, node.number))
        if profile.required_node:
            node = self._nodes.get(profile.required_node)
            return () if node is None or node not in self.index else (node,)
        return self.index.for_need(need)

    def _may_find(self, ask_group: AskGroup) -> bool:
        """Return False only if ``ask_group`` certainly finds no node."""
        return self._unplaced.may_fit(ask_group.profile, ask_group.need)

    def is_open(self, profile: PlacementProfile, node: Node) -> bool:
        """Return whether ``profile`` may use ``node``, apart from capacity."""
        constraint = profile.constraint
        if profile.exclusions is not None and node.node_id in profile.exclusions.nodes:
            return False
        return profile.required_node in ("", node.node_id) and (
            constraint is None
            or (
                constraint.suits(node.attributes)
                and (not constraint.is_strict or self._groups.allow(profile, node))
            )
        )

    def allocation_added(self, allocation: Allocation) -> None:
        """Recheck profiles with an affinity to an allocation like this."""
        self.changes += 1
        opened = self._groups.allocation_added(allocation)
        if opened:  # rarely
            self._opened(opened)

    def allocation_removed(self, allocation: Allocation) -> None:
        """Recheck profiles with an anti-affinity to an allocation like this."""
        self.changes += 1
        self._opened(self._groups.allocation_removed(allocation))

    def regrouped(self) -> None:
        """Recheck all affinities: the attributes of a node changed."""
        self._opened(self._groups.regrouped())

    def _opened(self, profiles: Iterable[PlacementProfile]) -> None:
        """Notify profiles that may fit on more nodes; drop their cached results."""
        for profile in profiles:
            self._unplaced.forget(profile)
            self.waiting.notify(profile)

    def capacity_used(self, node: Node) -> None:
        """Move ``node`` in the order: it has less capacity than before."""
        self.index.changed(node)

    def capacity_freed(self, node: Node) -> None:
        """Notify the profiles that a schedulable ``node`` with possibly more capacity may serve."""
        self.changes += 1
        if node in self.index:
            self.index.changed(node)
        else:
            self.index.add(node)
        self._exclusions.lift(node.node_id)
        for profile in self._unplaced.that_fit(node):
            if self.is_open(profile, node):
                self._unplaced.gains(profile, node)
                self.waiting.notify(profile)

    def resized(self, node: Node, *, frees: bool) -> None:
        """Handle a size change on ``node``; ``frees`` if some type became smaller.

        An increase may matter to preemption: its queue may exceed its guarantee now.
        """
        self.changes += 1
        if node not in self.index:
            return
        if frees:
            self.capacity_freed(node)
        else:
            self.capacity_used(node)

    def closed(self, node: Node) -> None:
        """Close ``node`` for placements."""
        self.changes += 1
        if node in self.index:
            self.index.remove(node)
        self._unplaced.closed(node)
