"""Nodes: added, cordoned, uncordoned, resized, removed."""

from sirm.core import containers, requests
from sirm.core.cluster import Node
from sirm.core.model import (
    AcceptedNode,
    AddNode,
    Effect,
    NodeAction,
    Notice,
    RefusedError,
    RejectedNode,
    ReportNode,
    ResizeNode,
    Rules,
)
from sirm.core.state import State
from sirm.core.states import Verdict


def add(state: State, event: AddNode) -> list[Effect]:
    """Add a node. Raises RefusedError for an id that is in use."""
    if not event.node_id:
        raise RefusedError("a node needs an id")
    if event.node_id in state.cluster.nodes:
        raise RefusedError(f'node "{event.node_id}" exists')
    node = Node(event.node_id, event.capacity, dict(event.attributes), event.cordoned)
    state.cluster.nodes[node.node_id] = node
    state.knowledge.new_nodes[node.node_id] = node
    return []


def creation(state: State, node: Node) -> list[ReportNode]:
    """Return the report that creates a node, a cordoned one as well (SI-NODE-014).

    The capacity is the full one, whatever others use there (SI-FOR-011).
    """
    existing = state.cluster.on_node(node.node_id) if state.rules.allocations_with_node else ()
    allocations = tuple(
        requests.allocation(one)
        for one in existing
        if state.accepts_application(one.application.application_id)
    )
    first, *others = creation_actions(state.rules, node)
    created = ReportNode(node.node_id, first, node.attributes, node.capacity, allocations)
    return [created, *(ReportNode(node.node_id, action) for action in others)]


def creation_actions(rules: Rules, node: Node) -> tuple[NodeAction, ...]:
    """Return how a node is created: a cordoned one draining, or then drained (C-21)."""
    if not node.cordoned:
        return (NodeAction.CREATE,)
    if rules.create_draining:
        return (NodeAction.CREATE_DRAIN,)
    return (NodeAction.CREATE, NodeAction.DRAIN_NODE)


def cordon(state: State, node_id: str) -> list[Effect]:
    """Close a node for further containers. Raises RefusedError if there is no such node."""
    node = _node(state, node_id)
    if node.cordoned:
        return []
    node.cordoned = True
    return report(state, ReportNode(node_id, NodeAction.DRAIN_NODE))


def uncordon(state: State, node_id: str) -> list[Effect]:
    """Open a node again, also one that was created draining (SI-NODE-041)."""
    node = _node(state, node_id)
    if not node.cordoned:
        return []
    node.cordoned = False
    return report(state, ReportNode(node_id, NodeAction.DRAIN_TO_SCHEDULABLE))


def resize(state: State, event: ResizeNode) -> list[Effect]:
    """Change capacity and attributes; only such a change is an update (SI-NODE-023)."""
    node = _node(state, event.node_id)
    node.capacity = event.capacity
    node.attributes = dict(event.attributes) or node.attributes
    update = ReportNode(node.node_id, NodeAction.UPDATE, node.attributes, node.capacity)
    return report(state, update)


def remove(state: State, node_id: str) -> list[Effect]:
    """Remove a node; its containers end with it, which the scheduler knows by the decommission."""
    _node(state, node_id)
    effects = report(state, ReportNode(node_id, NodeAction.DECOMMISSION))
    state.cluster.nodes.pop(node_id)
    state.knowledge.nodes.pop(node_id, None)
    state.knowledge.new_nodes.pop(node_id, None)
    for foreign in state.cluster.foreign_on(node_id):
        state.cluster.foreign.pop(foreign.name)
        state.knowledge.new_foreign.pop(foreign.name, None)
        state.knowledge.sent.discard(foreign.key)
    for container in state.cluster.on_node(node_id):
        containers.forget(state, container)
        container.application.outcome = "failed"
        effects += containers.gone(state, container)
    return effects


def accepted(state: State, event: AcceptedNode) -> list[Effect]:
    """Note the verdict on a node."""
    if event.node_id not in state.knowledge.nodes:
        return []
    state.knowledge.nodes[event.node_id] = Verdict.ACCEPTED
    return [Notice(f"node {event.node_id} accepted")]


def rejected(state: State, event: RejectedNode) -> list[Effect]:
    """Note the rejection of a node; one that is accepted already stays so (a failed update)."""
    if state.knowledge.nodes.get(event.node_id) is Verdict.AWAITED:
        state.knowledge.nodes[event.node_id] = Verdict.REJECTED
    return [Notice(f"node {event.node_id} rejected: {event.reason}")]


def report(state: State, report: ReportNode) -> list[Effect]:
    """Return a change of a node that the scheduler has; it has no answer (SI-NODE-024)."""
    known = state.knowledge.nodes.get(report.node_id)
    return [report] if known in (Verdict.AWAITED, Verdict.ACCEPTED) else []


def _node(state: State, node_id: str) -> Node:
    if node_id not in state.cluster.nodes:
        raise RefusedError(f'there is no node "{node_id}"')
    return state.cluster.nodes[node_id]
