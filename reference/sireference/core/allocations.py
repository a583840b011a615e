"""Allocations: made from asks, and ended when their time is over."""

from functools import partial

from sireference.core import progress
from sireference.core.books.live import LiveAllocation
from sireference.core.books.node import Node
from sireference.core.books.partition import Partition
from sireference.core.books.pending import PendingAsk
from sireference.core.gang import placeholders
from sireference.core.model import Allocation, Effect, NewAllocation, ReleasedAllocation
from sireference.core.states import TerminationType


def make(partition: Partition, pending: PendingAsk, node: Node, now: float) -> list[Effect]:
    """Serve ``pending`` once on ``node``; a change of state is told before the allocation."""
    application = pending.application
    allocation = Allocation(partition.new_identity(), pending.ask, node.node_id)
    live = LiveAllocation(allocation, application, node)
    partition.journal.served(allocation)
    partition.served(pending)
    partition.book(live)
    effects: list[Effect] = []
    if live.is_placeholder:
        effects += placeholders.allocated(partition, live, now)
    else:
        effects += progress.has_allocation(partition, application, now)
    watch(partition, live, now)
    effects.append(NewAllocation(partition.rm_id, allocation, application.leaf.name))
    return effects


def watch(partition: Partition, live: LiveAllocation, now: float) -> None:
    """Let the execution timeout of the ask run from now on, if it has one (SI-ASK-016)."""
    timeout = live.allocation.ask.execution_timeout
    if timeout > 0:
        live.timer = partition.timers.set(now + timeout, partial(_expire, partition, live))


def _expire(partition: Partition, live: LiveAllocation, _now: float) -> list[Effect]:
    """Its time is over: the RM is asked to end it, unless it was asked already."""
    live.timer = None
    if live.open_release is not None:
        return []
    message = "the execution timeout of its ask is over"
    release = live.ask_for_release(TerminationType.TIMEOUT, message)
    return [ReleasedAllocation(partition.rm_id, release)]
