"""Snapshot: what the scheduler holds for one resource manager at one moment."""

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import NodeState, RMState

Amounts = Mapping[str, int]
View = TypeVar("View")
_MOST: Final = 1_000  # views between two pauses


@dataclass(frozen=True, slots=True)
class AllocationView:
    """An allocation as the scheduler holds it."""

    identity: str
    allocation_key: str
    node_id: str
    task_group: str
    placeholder: bool
    release_open: bool
    resource: Amounts


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as the scheduler counts it."""

    node_id: str
    partition: str
    schedulable: bool
    attributes: Mapping[str, str]
    capacity: Amounts
    occupied: Amounts
    allocated: Amounts


@dataclass(frozen=True, slots=True)
class ApplicationView:
    """An application as the scheduler counts it."""

    application_id: str
    partition: str
    queue: str
    state: str
    allocated_real: Amounts
    allocated_placeholder: Amounts
    allocations: tuple[AllocationView, ...]
    pending_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue as the scheduler counts it, everything below it included."""

    name: str
    partition: str
    max: Amounts
    guaranteed: Amounts
    allocated: Amounts
    running_applications: int
    dynamic: bool
    draining: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the scheduler holds for an RM; ``state`` is None if it never registered."""

    rm_id: str
    state: RMState | None
    extra_config: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[NodeView, ...] = ()
    queues: tuple[QueueView, ...] = ()  # parents first
    applications: tuple[ApplicationView, ...] = ()


def snapshot(rm_id: str, rm: ResourceManager | None) -> Snapshot:
    """Return what is held for ``rm``, which may be None, in order of creation."""
    taking = chunks(rm_id, rm)
    while True:
        try:
            next(taking)
        except StopIteration as end:
            taken: Snapshot = end.value
            return taken


def chunks(rm_id: str, rm: ResourceManager | None) -> Generator[None, None, Snapshot]:
    """Take a snapshot in chunks; ``rm`` must not change in between."""
    if rm is None:
        return Snapshot(rm_id, None)
    partitions = list(rm.partitions.values())
    nodes = yield from _pausing(_node(p, node) for p in partitions for node in p.nodes.values())
    queues = yield from _pausing(_queue(p, queue) for p in partitions for queue in p.root.all())
    applications: list[ApplicationView] = []
    for partition in partitions:
        for application in partition.applications.values():
            applications.append((yield from _application(partition, application)))
            if len(applications) % _MOST == 0:
                yield
    extra_config = rm.register.extra_config if rm.state is not RMState.STOPPED else {}
    return Snapshot(rm_id, rm.state, extra_config, nodes, queues, tuple(applications))


def _pausing(views: Iterable[View]) -> Generator[None, None, tuple[View, ...]]:
    """Yield all of ``views``, pausing after some hundreds."""
    rest = iter(views)
    taken: list[View] = []
    while some := tuple(islice(rest, _MOST)):
        taken += some
        yield
    return tuple(taken)


def _node(partition: Partition, node: Node) -> NodeView:
    return NodeView(
        node.node_id,
        partition.name,
        node.state is NodeState.SCHEDULABLE,
        node.attributes,
        node.capacity.amounts,
        _some(node.used_by_others),
        _some(node.allocated),
    )


def _queue(partition: Partition, queue: Queue) -> QueueView:
    return QueueView(
        queue.name,
        partition.name,
        (queue.maximum or NOTHING).amounts,
        (queue.guaranteed or NOTHING).amounts,
        _some(queue.used - queue.reserved),
        queue.running,
        queue.is_dynamic,
        queue.is_draining,
    )


def _application(
    partition: Partition, application: Application
) -> Generator[None, None, ApplicationView]:
    everything = partition.allocations.of(application).values()
    allocations = yield from _pausing(map(_allocation, everything))
    placeholders = NOTHING
    if application.placeholders_held:
        placeholders = total(allocation for allocation in everything if allocation.is_placeholder)
    return ApplicationView(
        application.application_id,
        partition.name,
        application.leaf.name,
        application.state.value,
        _some(application.used - placeholders),
        placeholders.amounts,
        allocations,
        tuple(application.pending),
    )


def _allocation(allocation: Allocation) -> AllocationView:
    ask = allocation.record.ask
    return AllocationView(
        allocation.record.identity,
        ask.key,
        allocation.record.node_id,
        ask.task_group,
        allocation.is_placeholder,
        allocation.open_release is not None,
        ask.resource.amounts,
    )


def total(allocations: Iterable[Allocation]) -> Resource:
    """Return the sum of the resources of these allocations."""
    return sum((allocation.record.ask.resource for allocation in allocations), NOTHING)


def _some(used: Resource) -> Amounts:
    """Return the amounts without zeros left over by releases."""
    return {name: amount for name, amount in used.amounts.items() if amount}
