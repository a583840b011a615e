"""Mutants of draining nodes: they take work nevertheless, or what changes there does not count."""

from collections.abc import Callable
from typing import Any

from sireference.core import (
    allocations,
    applications,
    asks,
    configuration_update,
    nodes,
    recovery,
)
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Configured,
    Effect,
    NodeInfo,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction, NodeState

from mutation.inside import Original, Patch
from mutation.inside.node_actions import ends_draining
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "end-of-an-allocation-ends-draining",
    "A draining node is schedulable again once an allocation on it has ended.",
    breaks=("SI-NODE-026",),
)
@instead_of(Partition.unbook)
def _(
    patch: Patch, original: Callable[..., None], partition: Partition, live: Any, termination: Any
) -> None:
    original(partition, live, termination)
    ends_draining(patch, partition, live.node)


@mutant(
    "recovery-ends-draining",
    "A draining node is schedulable again once an existing allocation on it was reported.",
    breaks=("SI-NODE-012",),
)
@instead_of(recovery.add)
def _(
    patch: Patch, original: Original, rm: Any, allocation: AllocationRecord, now: float
) -> list[Effect]:
    effects = original(rm, allocation, now)
    known = rm.node(allocation.node_id)
    if known is not None:
        ends_draining(patch, *known)
    return effects


@mutant(
    "configuration-ends-draining",
    "Draining nodes are schedulable again once a new configuration is in force.",
    breaks=("SI-NODE-026",),
)
@instead_of(configuration_update.update)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    effects = original(rm, event, now)
    if any(isinstance(effect, Configured) for effect in effects):
        for partition in rm.partitions.values():
            for node in partition.nodes.values():
                ends_draining(patch, partition, node)
    return effects


@mutant(
    "update-ends-draining-of-a-node-in-use",
    "A draining node with an allocation is schedulable again once its resources were updated.",
    breaks=("SI-NODE-025", "SI-NODE-026"),
)
@instead_of(nodes.change)
def _(
    patch: Patch,
    original: Original,
    partition: Partition,
    node: Node,
    *rest: Any,
) -> list[Effect]:
    effects = original(partition, node, *rest)
    info: NodeInfo = rest[0]
    is_resized = info.action is NodeAction.UPDATE and info.capacity is not None
    if is_resized and partition.allocations.on(node):
        ends_draining(patch, partition, node)
    return effects


@mutant(
    "priority-goes-to-draining-nodes",
    "An ask with a priority is placed on a draining node if it fits nowhere else.",
    breaks=("SI-NODE-026",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    effects = original(rm, ask, now)
    partition = rm.partitions.get(partition_name(ask.partition))
    application = partition.applications.get(ask.application_id) if partition else None
    pending = application.pending.get(ask.key) if application else None
    if ask.priority <= 0 or pending is None:
        return effects
    fitting = [node for node in partition.nodes.values() if ask.resource.fits(node.free)]
    if fitting and all(node.state is NodeState.DRAINING for node in fitting):
        patch.fires()
        effects += allocations.make(partition, pending, fitting[0], now)
    return effects


@mutant(
    "duplicate-drains-again",
    "A rejected creation as draining drains a node that was drained before.",
    breaks=("SI-NODE-013",),
)
def _(patch: Patch) -> None:
    drained: set[Node] = set()

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        known = rm.node(info.node_id)
        effects = original(rm, info, now)
        if known is None:
            return effects
        _, node = known
        if info.action is NodeAction.DRAIN_NODE:
            drained.add(node)
        elif info.action is NodeAction.CREATE_DRAIN and node in drained:
            patch.fires()
            effects += original(rm, NodeInfo(info.node_id, NodeAction.DRAIN_NODE), now)
        return effects

    patch.instead_of(nodes.update, update)


@mutant(
    "release-frees-nothing-on-draining-nodes",
    "What an allocation held of a draining node is not free once that is undrained.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(Partition.unbook)
def _(
    patch: Patch, original: Callable[..., None], partition: Partition, live: Any, termination: Any
) -> None:
    original(partition, live, termination)
    if live.node.state is NodeState.DRAINING:
        patch.fires()
        live.node.book(live.record.ask.resource)


@mutant(
    "removal-keeps-the-share-on-draining-nodes",
    "What ends with its application on a draining node still counts in its queue.",
    breaks=("SI-APP-018",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    kept: list[Any] = []
    for partition in rm.partitions.values():
        application = partition.applications.get(request.application_id)
        held = partition.allocations.of(application).values() if application is not None else ()
        kept += [live for live in held if live.node.state is NodeState.DRAINING]
    effects = original(rm, request, now)
    for live in kept:
        patch.fires()
        live.application.quotas.book(live.record.ask.resource)
    return effects


@mutant(
    "foreign-updates-ignored-on-draining-nodes",
    "The new amount of a foreign allocation on a draining node does not count.",
    breaks=("SI-FOR-002",),
)
@instead_of(ForeignAllocations.resize)
def _(
    patch: Patch,
    original: Callable[..., Node | None],
    held: ForeignAllocations,
    foreign: Any,
    node: Node,
) -> Node | None:
    if node.state is NodeState.DRAINING:
        patch.fires()
        return None
    return original(held, foreign, node)


@mutant(
    "foreign-amounts-add-up-on-draining-nodes",
    "The new amount of a foreign allocation on a draining node is added to the earlier one.",
    breaks=("SI-FOR-002",),
)
def _(patch: Patch) -> None:
    earlier: dict[str, Resource] = {}  # by key

    def put(original: Callable[..., Any], held: Any, foreign: Any, node: Node) -> Any:
        freed = original(held, foreign, node)
        earlier[foreign.key] = foreign.resource
        return freed

    def resize(original: Callable[..., Any], held: Any, foreign: Any, node: Node) -> Any:
        freed = original(held, foreign, node)
        if node.state is NodeState.DRAINING:
            patch.fires()
            node.take_by_others(earlier[foreign.key])
        return freed

    patch.quietly().instead_of(ForeignAllocations.put, put)
    patch.instead_of(ForeignAllocations.resize, resize)
