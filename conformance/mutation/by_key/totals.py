"""What nodes and queues hold, summed up from the table."""

from collections import Counter, defaultdict

from mutation.by_key.queues import Amounts, upwards
from mutation.by_key.table import Entry, Node, Table


class Totals:
    """The sums at one moment; later placements are added by ``add``."""

    def __init__(self, table: Table) -> None:
        """Sum up all entries with a node."""
        self._table = table
        self._nodes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._queues: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for entry in table.entries.values():
            if entry.node:
                self.add(entry)

    def add(self, entry: Entry) -> None:
        """Count an entry where it is."""
        self._nodes[entry.node].update(entry.size)
        if entry.application is not None:
            for queue in upwards(entry.application.queue):
                self._queues[entry.application.partition, queue].update(entry.size)

    def free(self, node: Node) -> Amounts:
        """Return the free resources of a node."""
        return {kind: value - self._nodes[node.name][kind] for kind, value in node.has.items()}

    def node_holds(self, node: Node, size: Amounts) -> bool:
        """Return whether this fits; a node has nothing of types it does not name."""
        free = self.free(node)
        return all(value <= free.get(kind, 0) for kind, value in size.items() if value > 0)

    def queue_holds(self, partition: str, queue: str, size: Amounts) -> bool:
        """Return whether no quota of the queue or its ancestors is exceeded."""
        return all(
            self._queues[partition, name][kind] + size[kind] <= most
            for name in upwards(queue)
            for kind, most in self._table.partitions[partition].queues[name].most.items()
            if size.get(kind, 0) > 0
        )
