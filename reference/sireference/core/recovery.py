"""Recovery: existing allocations reported by the RM, with a node or on their own."""

from collections.abc import Iterable, Iterator

from sireference.core import allocations, application_lifecycle, updates
from sireference.core.gang import placeholders
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Effect,
    NewAllocation,
    RejectedAllocation,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import ApplicationState


def add(rm: ResourceManager, allocation: AllocationRecord, now: float) -> list[Effect]:
    """Add an allocation made before this registration, or reject it with a reason.

    Where the key is the identity, a known allocation is updated (SI-REC-025), and a pending ask is
    on that node from now on (SI-ASK-031).
    """
    ask = allocation.ask
    partition = rm.partitions.get(partition_name(ask.partition))
    if partition is None:
        reason = f"there is no partition {quoted(ask.partition)}"
    else:
        live = updates.of_live(partition, ask.key)
        if live is not None:
            return updates.change(partition, live, ask, now, allocation.node_id)
        pending = updates.of_pending(partition, ask)
        reason = next(objections(partition, allocation, pending), "")
        if not reason and pending is not None:
            return updates.place(partition, pending, allocation, now)
        if not reason:
            return recover(partition, allocation, now)
    return [RejectedAllocation(rm.rm_id, ask.key, ask.application_id, reason)]


def objections(
    partition: Partition, allocation: AllocationRecord, pending: PendingAsk | None = None
) -> Iterator[str]:
    """Return why the allocation cannot exist; empty if it can.

    It needs no free resources: it already runs, even above a limit or on a draining node.
    """
    ask = allocation.ask
    names = (allocation.identity, ask.key, ask.task_group, *ask.resource.amounts)
    yield from too_long(partition.settings.longest_name, *names)
    if not allocation.identity:
        yield "the allocation has no identity"
    if allocation.identity in partition.allocations.all:
        yield f"allocation {quoted(allocation.identity)} is known already"
    if partition.identifies_by_key:
        yield from _objections_to_key(partition, ask)
    if allocation.node_id not in partition.nodes:
        yield f"there is no node {quoted(allocation.node_id)}"
    application = partition.applications.get(ask.application_id)
    if application is None:
        yield f"there is no application {quoted(ask.application_id)}"
    elif application.state is ApplicationState.FAILING:
        yield f"application {quoted(ask.application_id)} is failing"
    elif ask.is_placeholder and placeholders.are_given_up(partition, application):
        yield f"application {quoted(ask.application_id)} is releasing its placeholders"
    yield from ask.resource.objections() if pending is None else updates.objections_to_amount(ask)


def _objections_to_key(partition: Partition, ask: Ask) -> Iterator[str]:
    """Return why the key cannot identify the allocation of ``ask``; empty if it can."""
    if ask.key in partition.foreign:
        yield f"allocation {quoted(ask.key)} is a foreign one"
    if any(one.application_id != ask.application_id for one in partition.asks.with_key(ask.key)):
        yield f"another application asks for allocation {quoted(ask.key)}"


def objections_to_node(
    partition: Partition, node: Node, existing: Iterable[AllocationRecord]
) -> Iterator[str]:
    """Return why a node is rejected with these allocations; one invalid one is enough."""
    seen: set[str] = set()
    for allocation in existing:
        identity = quoted(allocation.identity)
        if allocation.node_id != node.node_id:
            yield f"allocation {identity} is on node {quoted(allocation.node_id)}"
        if allocation.identity in seen:
            yield f"allocation {identity} is listed twice"
        yield from objections(partition, allocation)
        seen.add(allocation.identity)


def recover(partition: Partition, record: AllocationRecord, now: float) -> list[Effect]:
    """Add the allocation; it needs no ask, and is sent back only if so configured (C-32, C-33)."""
    application = partition.applications[record.ask.application_id]
    allocation = Allocation(record, application, partition.nodes[record.node_id])
    partition.book(allocation)
    effects: list[Effect] = []
    if application.state is ApplicationState.NEW or not allocation.is_placeholder:
        effects += application_lifecycle.has_ask(partition, application, now)
    if allocation.is_placeholder:
        effects += placeholders.allocated(partition, allocation, now)
    else:
        effects += application_lifecycle.has_allocation(partition, application, now)
    allocations.watch(partition, allocation, now)
    if partition.settings.echo_recovered_allocations:
        effects.append(NewAllocation(partition.rm_id, record, application.leaf.name))
    return effects
