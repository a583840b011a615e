"""Turns of gangs: in a leaf the oldest gathers first, but does not keep the others for ever.

The text wants no more than one new gang at a time in a queue, so that not several are left with a
half each; who comes first is a SHOULD (SI-GANG-052), and how long the others have to wait it does
not say. But a gang that fits no node is no reason to reject it (SI-GANG-051), and without a
placeholder it never times out (SI-GANG-031). So the turn of a gang that has no placeholder is
over after a while: it passes, and from then on holds up nobody. It gets room as before, ahead of
the younger ones where there is some for both, and with its first placeholder it has its turn again.
Of a gang that has some the placeholder timeout makes an end.
"""

from functools import partial

from sireference.core.model import Effect
from sireference.core.state.admission_order import AdmissionOrder
from sireference.core.state.partition import Partition
from sireference.core.state.queue import LeafApplication


def watch(partition: Partition, now: float) -> None:
    """Let the time run of those whose turn has come and who have nothing, and of nobody else."""
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
    """End the turn of a gang that got nothing all the time: the next one may gather."""
    gathering.turn = None
    if gathering.first() is application:
        application.pass_turn()
    return []
