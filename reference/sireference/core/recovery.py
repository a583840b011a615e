"""Recovery: allocations that exist already, reported by the RM with a node or on their own."""

from collections.abc import Iterable, Iterator

from sireference.core import allocations, application_lifecycle
from sireference.core.gang import placeholders
from sireference.core.model import (
    AllocationRecord,
    Effect,
    Identification,
    RejectedAllocation,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.state.allocation import Allocation
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import ApplicationState


def add(rm: ResourceManager, allocation: AllocationRecord, now: float) -> list[Effect]:
    """Book an allocation that was made before this registration, or say why not."""
    ask = allocation.ask
    partition = rm.partitions.get(partition_name(ask.partition))
    if partition is None:
        reason = f"there is no partition {quoted(ask.partition)}"
    else:
        reason = next(_objections(partition, allocation), "")
        if not reason:
            return recover(partition, allocation, now)
    return [RejectedAllocation(rm.rm_id, ask.key, ask.application_id, reason)]


def _objections(partition: Partition, allocation: AllocationRecord) -> Iterator[str]:
    """Why the allocation cannot exist, nothing if it can.

    It needs no room: what runs already runs, even above a limit or on a draining node.
    """
    ask = allocation.ask
    names = (allocation.identity, ask.key, ask.task_group, *ask.resource.amounts)
    yield from too_long(partition.settings.longest_name, *names)
    if not allocation.identity:
        yield "the allocation has no identity"
    if allocation.identity in partition.allocations.all:
        yield f"allocation {quoted(allocation.identity)} is known already"
    if partition.rules.identification is Identification.BY_KEY and partition.asks.with_key(ask.key):
        yield f"allocation {quoted(ask.key)} is asked for"
    if allocation.node_id not in partition.nodes:
        yield f"there is no node {quoted(allocation.node_id)}"
    application = partition.applications.get(ask.application_id)
    if application is None:
        yield f"there is no application {quoted(ask.application_id)}"
    elif application.state is ApplicationState.FAILING:
        yield f"application {quoted(ask.application_id)} is failing"
    elif ask.is_placeholder and placeholders.are_given_up(partition, application):
        yield f"application {quoted(ask.application_id)} gives up its placeholders"
    yield from ask.resource.objections()


def objections_to_node(
    partition: Partition, node: Node, existing: Iterable[AllocationRecord]
) -> Iterator[str]:
    """Why a node cannot come with these allocations, nothing if it can; one bad one spoils all."""
    seen: set[str] = set()
    for allocation in existing:
        identity = quoted(allocation.identity)
        if allocation.node_id != node.node_id:
            yield f"allocation {identity} is on node {quoted(allocation.node_id)}"
        if allocation.identity in seen:
            yield f"allocation {identity} is there twice"
        yield from _objections(partition, allocation)
        seen.add(allocation.identity)


def recover(partition: Partition, record: AllocationRecord, now: float) -> list[Effect]:
    """Book it. No ask is needed and nothing is announced as new (C-32, C-33)."""
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
    return effects
