"""Dissolution: removes all reference cycles in a partition that has ended.

So it is freed when its last reference goes. Otherwise it would stay until Python's cycle collector
runs, which is seldom and would then block for the whole partition.
"""

from sireference.core.state.application import Application
from sireference.core.state.lazy_heap import LazyHeap
from sireference.core.state.partition import Partition
from sireference.core.state.wait_queue import never


def dissolve(partition: Partition) -> None:
    """Take apart everything in ``partition``, which must not be used any more."""
    for application in partition.applications.values():
        _let_go(application)
    for preemption in partition.preemptions.open:
        preemption.victims.clear()
    partition.preemptions.clear()
    partition.replacements.clear()
    partition.allocations.clear()
    partition.foreign.clear()
    partition.gangs.clear()
    partition.slots_lacked.clear()
    partition.enforcements.clear()
    partition.proposals.clear()
    partition.node_index.waiting.may_go = never
    partition.root.let_go()


def _let_go(application: Application) -> None:
    for pending in application.pending.values():
        pending.ask_group = None
    for ask_group in application.ask_groups.values():
        ask_group.unblock()
    application.pending.clear()
    application.ask_groups.clear()
    application.notified.clear()
    application.awake = LazyHeap()
