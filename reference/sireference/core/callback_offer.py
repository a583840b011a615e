"""The offer of callbacks: the RM says which it takes, and is told anew what goes that way."""

from sireference.core.model import OfferCallbacks
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager


def offer(rm: ResourceManager, event: OfferCallbacks) -> None:
    """From now on the RM takes what it offers, and nothing else; what was asked is asked again."""
    rm.callbacks.offer(event.callbacks)
    for partition in rm.partitions.values():
        partition.is_asking = False
        _report_again(partition)


def _report_again(partition: Partition) -> None:
    """Whoever takes callbacks now was not told how asks go, and which allocations there are."""
    for application in partition.applications.values():
        for pending in application.pending.values():
            pending.reported = None
            partition.states.moved(pending)
    for allocation in partition.allocations.all.values():
        partition.callbacks.cache.allocation_added(allocation)
