"""Turns of gangs: in a leaf the oldest gang gathers first, but does not block others forever.

The specification wants at most one new gang gathering in a queue, so that no two gangs hold half of
what they need; the order is a SHOULD (SI-GANG-052), and the waiting time of the others is not
specified. But a gang that fits no node must not be rejected for it (SI-GANG-051), and without a
placeholder it never times out (SI-GANG-031). So the turn of a gang without placeholder ends after a
while, and from then on it blocks no other gang. It still comes before younger gangs when there is
capacity for both, and has its turn again with its first placeholder. A gang with placeholders is
ended by the placeholder timeout.
"""

from functools import partial

from sireference.core.model import Effect
from sireference.core.state.admission_order import AdmissionOrder
from sireference.core.state.partition import Partition
from sireference.core.state.queue import LeafApplication


def watch(partition: Partition, now: float) -> None:
    """Run the timer of gangs whose turn it is and that have no placeholder, and of no others."""
    leaves = partition.root.gangs_moved
    while leaves:
        leaf, _ = leaves.popitem()
        gathering = leaf.gathering
        first = gathering.first()
        waits = first if first is not None and not first.held else None
        before = gathering.turn[0] if gathering.turn is not None else None
        if waits is before:
            continue
        if gathering.turn is not None:
            gathering.turn[1].cancel()
            gathering.turn = None
        if waits is not None:
            end = now + partition.settings.gang_turn_timeout
            gathering.turn = waits, partition.timers.set(end, partial(_expire, gathering, waits))


def _expire(
    gathering: AdmissionOrder[LeafApplication], application: LeafApplication, _now: float
) -> list[Effect]:
    """End the turn of a gang that got nothing: the next one may gather."""
    gathering.turn = None
    if gathering.first() is application:
        application.pass_turn()
    return []
