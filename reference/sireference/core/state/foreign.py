"""Foreign allocations: usage by others on the nodes of a partition."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sireference.core.model import ForeignAllocation
from sireference.core.state.node import Node
from sireference.core.state.node_index import NodeIndex
from sireference.core.states import NodeState

_NONE: Final[Mapping[str, ForeignAllocation]] = MappingProxyType({})


class ForeignAllocations:
    """The foreign allocations of a partition by key; each takes resources on one node only."""

    __slots__ = ("_node_index", "_on", "nodes")

    def __init__(self, node_index: NodeIndex) -> None:
        self._node_index = node_index
        self.nodes: dict[str, Node] = {}  # by key
        self._on: dict[Node, dict[str, ForeignAllocation]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self.nodes

    def on(self, node: Node) -> Mapping[str, ForeignAllocation]:
        """Return those on ``node``, the oldest first."""
        return self._on.get(node, _NONE)

    def put(self, foreign: ForeignAllocation, node: Node) -> Node | None:
        """Count it on ``node``; return the node that gained free resources, if any."""
        if self.nodes.get(foreign.key) is node:
            return self.resize(foreign, node)
        left = self.take_away(foreign.key)
        self.nodes[foreign.key] = node
        self._on.setdefault(node, {})[foreign.key] = foreign
        node.take_by_others(foreign.resource)
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_used(node)
        return left

    def resize(self, foreign: ForeignAllocation, node: Node) -> Node | None:
        """Count its new resource; return the node if capacity became free."""
        there = self._on[node]
        before, there[foreign.key] = there[foreign.key].resource, foreign
        node.take_by_others(foreign.resource - before)
        shrinks = not before.fits(foreign.resource)
        self._node_index.resized(node, frees=shrinks)
        return node if shrinks else None

    def take_away(self, key: str) -> Node | None:
        """Stop counting it; return its node, if it had one."""
        node = self.nodes.pop(key, None)
        if node is None:
            return None
        there = self._on[node]
        node.give_back_by_others(there.pop(key).resource)
        if not there:
            del self._on[node]
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_freed(node)
        return node

    def node_is_gone(self, node: Node) -> None:
        """Remove everything on ``node``, which is gone."""
        for key in self._on.pop(node, _NONE):
            del self.nodes[key]

    def clear(self) -> None:
        """Remove all: the partition ends."""
        self.nodes.clear()
        self._on.clear()
