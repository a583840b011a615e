"""One scheduling pass: every line that is worth a look gets what it can, or goes to sleep."""

from typing import Final

from sireference.core import gates, predicates
from sireference.core.books.node import Node
from sireference.core.books.partition import Partition
from sireference.core.books.pending import Line
from sireference.core.books.sleepers import Sleepers
from sireference.core.gang import replacement
from sireference.core.model import Effect

# An ask may want two billion allocations and a node have room for them, or it may fit on none of a
# hundred thousand nodes: others have to get a word in between. So many steps take about six
# milliseconds, and so do so many looks at nodes
_MOST_STEPS: Final = 200
_MOST_LOOKS: Final = 20_000


def run(partition: Partition, now: float) -> list[Effect]:
    """The allocations that are possible now, in the order of queues, applications and asks.

    Each step either serves an ask or sends a line to sleep, so a pass costs what changed since
    the last one, not asks times nodes. After much work it ends, and another pass is due.
    """
    effects: list[Effect] = []
    most_looks = partition.room.looked_at + _MOST_LOOKS
    for _ in range(_MOST_STEPS):
        line = None if partition.proposals else partition.root.next_line()
        if line is None:
            return effects
        effects += _step(partition, line, now)
        line.application.done_with_called()
        if partition.room.looked_at > most_looks:
            break
    partition.timers.set(now, lambda _: [])  # whenever a deadline has come, there is a pass
    return effects


def _step(partition: Partition, line: Line, now: float) -> list[Effect]:
    """Serve the first ask of ``line``, or send the line to sleep."""
    pending = line.first()
    if pending is None:
        return []
    bed = gates.bed(line)
    if bed is not None:
        return _send_to_sleep(partition, line, bed)
    placeholder = replacement.choose(pending)
    if placeholder is not None:
        return replacement.begin(partition, pending, placeholder, now)
    found = _find(partition, line)
    if isinstance(found, Node):
        return predicates.place(partition, pending, found, now)
    predicates.found_no_node(partition, pending, now)
    return _send_to_sleep(partition, line, found)


def _send_to_sleep(partition: Partition, line: Line, bed: Sleepers) -> list[Effect]:
    line.sleep(bed)
    partition.states.slept(line)
    return []


def _find(partition: Partition, line: Line) -> Node | Sleepers:
    """The node for the first ask of ``line``, or where the line has to wait."""
    for quota in line.application.quotas:
        if not quota.has_room(line.need):
            return quota.full
    return partition.room.find(line.shape, line.need) or partition.room.sleepers
