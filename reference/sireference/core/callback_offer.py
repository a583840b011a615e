"""Callback offers: the RM states which callbacks it takes and gets the current state again."""

from sireference.core.model import OfferCallbacks
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager


def offer(rm: ResourceManager, event: OfferCallbacks) -> None:
    """Set the callbacks that the RM takes; repeat open questions."""
    rm.callbacks.offer(event.callbacks)
    for partition in rm.partitions.values():
        partition.is_asking = False
        _report_again(partition)


def _report_again(partition: Partition) -> None:
    """Report scheduling states and allocations to an RM that has not received them."""
    for application in partition.applications.values():
        for pending in application.pending.values():
            pending.reported = None
            partition.states.moved(pending)
    for allocation in partition.allocations.all.values():
        partition.callbacks.cache.allocation_added(allocation)
