"""What nodes and queues hold, added up from the table."""

from collections import Counter, defaultdict

from mutation.by_key.queues import Amounts, upwards
from mutation.by_key.table import Entry, Node, Table


class Totals:
    """The sums of one moment; what is placed afterwards is added by ``add``."""

    def __init__(self, table: Table) -> None:
        """Add up everything that has a node."""
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
        """What is left of a node."""
        return {kind: value - self._nodes[node.name][kind] for kind, value in node.has.items()}

    def node_holds(self, node: Node, size: Amounts) -> bool:
        """Whether this fits; of what a node does not name it has nothing."""
        free = self.free(node)
        return all(value <= free.get(kind, 0) for kind, value in size.items() if value > 0)

    def queue_holds(self, partition: str, queue: str, size: Amounts) -> bool:
        """Whether no quota on the way up is exceeded; what a quota does not name is free."""
        return all(
            self._queues[partition, name][kind] + size[kind] <= most
            for name in upwards(queue)
            for kind, most in self._table.partitions[partition].queues[name].most.items()
            if size.get(kind, 0) > 0
        )
