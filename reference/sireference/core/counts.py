"""Counts of the objects held for one resource manager."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sireference.core.state.resource_manager import ResourceManager


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts over all partitions; counting visits each application once."""

    rm_id: str
    state: str
    nodes: int
    allocations: int
    pending_asks: int
    applications: Mapping[str, int]  # by state


def count(rm: ResourceManager) -> Counts:
    """Return the current counts."""
    partitions = rm.partitions.values()
    applications = [one for p in partitions for one in p.applications.values()]
    return Counts(
        rm.rm_id,
        rm.state.value,
        sum(len(partition.nodes) for partition in partitions),
        sum(len(partition.allocations.all) for partition in partitions),
        sum(len(application.pending) for application in applications),
        Counter(application.state.value for application in applications),
    )
