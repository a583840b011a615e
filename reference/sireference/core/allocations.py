"""Allocations: created from asks and ended by their execution timeout."""

from functools import partial

from sireference.core import application_lifecycle
from sireference.core.gang import placeholders
from sireference.core.model import AllocationRecord, Effect, NewAllocation, ReleasedAllocation
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType


def make(partition: Partition, pending: PendingAsk, node: Node, now: float) -> list[Effect]:
    """Allocate ``pending`` once on ``node``; report a state change before the allocation."""
    application = pending.application
    record = AllocationRecord(partition.new_identity(pending.ask), pending.ask, node.node_id)
    allocation = Allocation(record, application, node)
    partition.event_log.served(record)
    partition.asks.served(pending)
    partition.book(allocation)
    effects: list[Effect] = []
    if pending.ask.is_placeholder:
        effects += placeholders.allocated(partition, allocation, now)
    else:
        effects += application_lifecycle.has_allocation(partition, application, now)
    watch(partition, allocation, now)
    effects.append(NewAllocation(partition.rm_id, record, application.leaf.name))
    return effects


def watch(partition: Partition, allocation: Allocation, now: float) -> None:
    """Start the execution timeout of the ask, if it has one (SI-ASK-016)."""
    timeout = allocation.record.ask.execution_timeout
    if timeout > 0:
        allocation.timer = partition.timers.set(
            now + timeout, partial(expire, partition, allocation)
        )


def expire(partition: Partition, allocation: Allocation, _now: float) -> list[Effect]:
    """Ask the RM to end an allocation after its timeout, unless a release is already open."""
    allocation.timer = None
    if allocation.open_release is not None:
        return []
    message = "the execution timeout of its ask has expired"
    release = partition.ask_for_release(allocation, TerminationType.TIMEOUT, message)
    return [ReleasedAllocation(partition.rm_id, release)]
