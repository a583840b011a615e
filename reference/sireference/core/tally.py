"""A tally: how many of what the scheduler holds for one resource manager."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sireference.core.books.resource_manager import ResourceManager


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over all partitions; counting costs one look at every application."""

    rm_id: str
    state: str
    nodes: int
    allocations: int
    pending_asks: int
    applications: Mapping[str, int]  # by state


def tally(rm: ResourceManager) -> Tally:
    """How many there are now."""
    partitions = rm.partitions.values()
    applications = [one for p in partitions for one in p.applications.values()]
    return Tally(
        rm.rm_id,
        rm.state.value,
        sum(len(partition.nodes) for partition in partitions),
        sum(len(partition.allocations) for partition in partitions),
        sum(len(application.pending) for application in applications),
        Counter(application.state.value for application in applications),
    )
