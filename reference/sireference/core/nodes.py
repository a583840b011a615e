"""Nodes: created, updated, drained, reactivated and decommissioned."""

from collections.abc import Iterator
from itertools import chain, islice

from sireference.core import allocation_end, application_lifecycle, recovery
from sireference.core.model import (
    AcceptedNode,
    Effect,
    NodeInfo,
    RejectedNode,
    ReleasedAllocation,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.preemption import cycle
from sireference.core.resources import NOTHING
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import (
    NODE_TRANSITIONS,
    NodeAction,
    NodeState,
    NotAllowedError,
    TerminationType,
    fire,
)

_CREATIONS = (NodeAction.CREATE, NodeAction.CREATE_DRAIN)


def update(rm: ResourceManager, info: NodeInfo, now: float) -> list[Effect]:
    """Apply the RM's action to one node.

    A creation has exactly one verdict; for the other actions only a failure is reported, as a
    RejectedNode (C-07). Without an action nothing happens (SI-NODE-036).
    """
    if info.action is NodeAction.UNSET:
        return []
    known = rm.node(info.node_id)
    are_too_long = _too_long(rm.settings.longest_name, info)
    reason = next(chain(are_too_long, objections(info, is_known=known is not None)), "")
    if reason:  # reported once for all chunks
        return [RejectedNode(rm.rm_id, info.node_id, reason)] if info.at_most is None else []
    if known is None:
        return create(rm, info, now)
    return change(*known, info, now)


def _too_long(longest: int, info: NodeInfo) -> tuple[str, ...]:
    types = chain.from_iterable(one.amounts for one in (info.capacity, info.occupied) if one)
    return too_long(longest, info.node_id, *types)


def objections(info: NodeInfo, *, is_known: bool) -> Iterator[str]:
    """Return why the action is invalid in every state; empty if it is valid."""
    if not info.node_id:
        yield "the node has no id"
    for resource in (info.capacity, info.occupied):
        if resource is not None:
            yield from resource.objections()
    if is_known and info.action in _CREATIONS:
        yield f"node {quoted(info.node_id)} exists already"
    if not is_known and info.action not in _CREATIONS:
        yield f"there is no node {quoted(info.node_id)}"


def create(rm: ResourceManager, info: NodeInfo, now: float) -> list[Effect]:
    """Create a node, schedulable or draining, with the allocations that run on it."""
    partition = rm.partitions.get(partition_name(info.partition))
    if partition is None:
        reason = f"there is no partition {quoted(info.partition)}"
        return [RejectedNode(rm.rm_id, info.node_id, reason)]
    if partition.is_draining:
        reason = f"partition {quoted(partition.name)} is drained"
        return [RejectedNode(rm.rm_id, info.node_id, reason)]
    node = Node(
        node_id=info.node_id,
        number=partition.number(),
        attributes=info.attributes,
        capacity=info.capacity or NOTHING,
        occupied=info.occupied or NOTHING,
        state=fire(NODE_TRANSITIONS, NodeState.UNKNOWN, info.action),
    )
    partition.nodes[node.node_id] = node
    reason = next(recovery.objections_to_node(partition, node, info.allocations), "")
    if reason:
        del partition.nodes[node.node_id]
        return [RejectedNode(rm.rm_id, info.node_id, reason)]
    partition.total += node.capacity
    if node.state is NodeState.SCHEDULABLE:
        partition.node_index.capacity_freed(node)
    partition.event_log.node_added(node)
    effects: list[Effect] = [AcceptedNode(rm.rm_id, info.node_id)]
    for allocation in info.allocations:
        effects += recovery.recover(partition, allocation, now)
    return effects


def change(partition: Partition, node: Node, info: NodeInfo, now: float) -> list[Effect]:
    """Apply the action to a known node, or reject it and change nothing."""
    if node.state is NodeState.REMOVED:
        return _remove(partition, node, info, now)  # removal has begun already
    try:
        state = fire(NODE_TRANSITIONS, node.state, info.action)
    except NotAllowedError as why:
        return [RejectedNode(partition.rm_id, node.node_id, f"node {quoted(node.node_id)}: {why}")]
    if info.action is NodeAction.UPDATE:
        _replace(partition, node, info)
    before, node.state = node.state, state
    partition.event_log.node_changed(node, before)
    if state is NodeState.SCHEDULABLE:
        partition.node_index.capacity_freed(node)
    else:
        partition.node_index.closed(node)
    if state is NodeState.REMOVED:
        return _remove(partition, node, info, now)
    return cycle.look_again(partition, node, now)


def _replace(partition: Partition, node: Node, info: NodeInfo) -> None:
    """Replace values that were sent; others stay (C-15)."""
    before = (node.capacity, node.occupied, node.attributes)
    if info.attributes and info.attributes != node.attributes:
        node.attributes = info.attributes
        partition.node_index.regrouped()
    if info.capacity is not None:
        partition.total = partition.total - node.capacity + info.capacity
    node.resize(
        node.capacity if info.capacity is None else info.capacity,
        node.occupied if info.occupied is None else info.occupied,
    )
    partition.event_log.node_updated(node, *before)


def _remove(partition: Partition, node: Node, info: NodeInfo, now: float) -> list[Effect]:
    """Remove the node with everything on it, or only some of its allocations first."""
    if info.at_most is None:
        return decommission(partition, node, now)
    cycle.node_is_gone(partition, node)
    return _end(partition, node, info.at_most, now)


def decommission(partition: Partition, node: Node, now: float) -> list[Effect]:
    """Remove the node and end everything on it without asking the RM (SI-NODE-032)."""
    del partition.nodes[node.node_id]
    partition.total -= node.capacity
    cycle.node_is_gone(partition, node)
    partition.foreign.node_is_gone(node)
    effects = _end(partition, node, None, now)
    partition.event_log.node_removed(node)
    return effects


def _end(partition: Partition, node: Node, at_most: int | None, now: float) -> list[Effect]:
    """End the allocations on the node, at most ``at_most`` of them."""
    states: list[Effect] = []
    releases: list[Effect] = []
    went_on: list[Effect] = []
    for allocation in list(islice(partition.allocations.on(node).values(), at_most)):
        went_on += allocation_end.end(partition, allocation, TerminationType.STOPPED_BY_RM, now)
        states += application_lifecycle.settle(partition, allocation.application, now)
        message = f"node {quoted(node.node_id)} was decommissioned"
        release = allocation.release(TerminationType.STOPPED_BY_RM, message)
        releases.append(ReleasedAllocation(partition.rm_id, release))
    return allocation_end.in_order(states, releases, went_on)
