"""Dissolution: a partition is over, and nothing in it refers to itself any more.

So it goes when nobody has it any more. Otherwise it would stay until Python's collector looks for
cycles, which is seldom, and then stop everything for as long as all of it takes.
"""

from sireference.core.books.application import Application
from sireference.core.books.partition import Partition
from sireference.core.books.sleepers import until_woken
from sireference.core.books.turns import Turns


def dissolve(partition: Partition) -> None:
    """Take apart all that is in ``partition``, which nobody uses from now on."""
    for application in partition.applications.values():
        _let_go(application)
    for preemption in partition.preemptions.open:
        preemption.victims.clear()
    for node in partition.nodes.values():
        node.allocations.clear()
        node.promises.clear()
    partition.proposals.clear()
    partition.room.sleepers.may_go = until_woken
    partition.root.let_go()


def _let_go(application: Application) -> None:
    for pending in application.pending.values():
        pending.line = pending.preemption = None
        pending.awaited.clear()
    for line in application.lines.values():
        line.leave_bed()
    application.pending.clear()
    application.lines.clear()
    application.called.clear()
    application.awake = Turns()
    application.allocations.clear()
