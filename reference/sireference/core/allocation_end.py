"""End of an allocation: free its resources and continue what waited for the end."""

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
    """End ``allocation``; its resources go to the ask that waited for it, then to any other."""
    partition.unbook(allocation, termination)
    return replacement.go_on(partition, allocation, now) + cycle.go_on(partition, allocation, now)


def in_order(
    states: Iterable[Effect], releases: Iterable[Effect], went_on: Iterable[Effect]
) -> list[Effect]:
    """Order the effects of endings that the RM caused.

    The order is: application states, releases, then what follows from the freed resources, so that
    an allocation is reported only after the release that made it possible. An application is
    therefore reported as failed just before the last of its releases. One message may hold both,
    and the RM handles its releases first (gang design, "Cleanup").
    """
    return [*states, *releases, *went_on]
