"""Endings: an allocation is gone, and what waited for its end goes on."""

from sireference.core.books.live import LiveAllocation
from sireference.core.books.partition import Partition
from sireference.core.gang import replacement
from sireference.core.model import Effect
from sireference.core.preemption import handshake
from sireference.core.states import TerminationType


def end(
    partition: Partition, live: LiveAllocation, termination: TerminationType, now: float
) -> list[Effect]:
    """End ``live``: its room is free for whoever waited for just this, then for anybody."""
    partition.unbook(live, termination)
    return replacement.go_on(partition, live, now) + handshake.go_on(partition, live, now)
