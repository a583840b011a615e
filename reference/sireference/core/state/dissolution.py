"""Dissolution: a partition is over, and nothing in it refers to itself any more.

So it goes when nobody has it any more. Otherwise it would stay until Python's collector looks for
cycles, which is seldom, and then stop everything for as long as all of it takes.
"""

from sireference.core.state.application import Application
from sireference.core.state.lazy_heap import LazyHeap
from sireference.core.state.partition import Partition
from sireference.core.state.wait_queue import never


def dissolve(partition: Partition) -> None:
    """Take apart all that is in ``partition``, which nobody uses from now on."""
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
