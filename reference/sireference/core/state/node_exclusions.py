"""Node exclusions: nodes that the RM refused for an ask."""


class NodeExclusions:
    """The nodes that the RM refused for one ask, which therefore has its own profile.

    They last until something changes on the node, or for ``timeout`` seconds once no other node is
    left.
    """

    __slots__ = ("nodes", "timeout")

    def __init__(self, timeout: float) -> None:
        self.nodes: set[str] = set()
        self.timeout = timeout


class ActiveExclusions:
    """Exclusions of asks that wait for a node, indexed by node."""

    __slots__ = ("_active", "_by_node")

    def __init__(self) -> None:
        self._active: set[NodeExclusions] = set()
        self._by_node: dict[str, set[NodeExclusions]] = {}

    def add(self, exclusions: NodeExclusions) -> None:
        """Watch these exclusions: their ask waits for a node."""
        self._active.add(exclusions)
        for node_id in exclusions.nodes:
            self._by_node.setdefault(node_id, set()).add(exclusions)

    def discard(self, exclusions: NodeExclusions) -> None:
        """Stop watching these exclusions: their ask waits no more."""
        self._active.discard(exclusions)
        for node_id in exclusions.nodes:
            self._by_node[node_id].discard(exclusions)
            if not self._by_node[node_id]:
                del self._by_node[node_id]

    def exclude(self, exclusions: NodeExclusions, node_id: str) -> None:
        """Add a node to ``exclusions``."""
        exclusions.nodes.add(node_id)
        if exclusions in self._active:
            self._by_node.setdefault(node_id, set()).add(exclusions)

    def lift(self, node_id: str) -> None:
        """Lift the exclusions of a node that has changed."""
        for exclusions in self._by_node.pop(node_id, ()):
            exclusions.nodes.discard(node_id)

    def __bool__(self) -> bool:
        return bool(self._active or self._by_node)
