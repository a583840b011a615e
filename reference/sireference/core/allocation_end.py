"""The end of an allocation: it is gone, and what waited for its end goes on."""

from collections.abc import Iterable

from sireference.core.gang import replacement
from sireference.core.model import Effect
from sireference.core.preemption import cycle
from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType


def end(
    partition: Partition, allocation: Allocation, termination: TerminationType, now: float
) -> list[Effect]:
    """End ``allocation``: its room is free for whoever waited for just this, then for anybody."""
    partition.unbook(allocation, termination)
    return replacement.go_on(partition, allocation, now) + cycle.go_on(partition, allocation, now)


def in_order(
    states: Iterable[Effect], releases: Iterable[Effect], went_on: Iterable[Effect]
) -> list[Effect]:
    """What is told of endings that the RM caused, and of what came of them.

    First the states that their applications are in now, then the releases, then what went on in the
    room that came free: nobody hears of an allocation before that of what made room for it. So an
    application is reported as failed just before the last of its releases. One message may have
    both, of which the RM takes the releases first (gang design, "Cleanup").
    """
    return [*states, *releases, *went_on]
