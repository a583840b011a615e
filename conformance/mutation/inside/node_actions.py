"""Mutants of node updates and actions, and of their later effects."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import allocation_end, application_lifecycle, nodes, scheduler
from sireference.core.model import Effect, NodeInfo, RejectedNode, ReleasedAllocation, UpdateNodes
from sireference.core.preemption import cycle
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import AskTrigger, NodeAction, NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_CREATIONS: Final = (NodeAction.CREATE, NodeAction.CREATE_DRAIN)
_BELOW_ROOT: Final = 2  # queues on the path of a leaf without parent queue, root included
_ACTIONS: Final = (
    NodeAction.DRAIN_NODE,
    NodeAction.DRAIN_TO_SCHEDULABLE,
    NodeAction.DECOMMISSION,
)


def ends_draining(patch: Patch, partition: Partition, node: Node) -> None:
    """Make the node schedulable if it is draining."""
    if node.state is NodeState.DRAINING:
        patch.fires()
        node.state = NodeState.SCHEDULABLE
        partition.node_index.capacity_freed(node)


@mutant(
    "capacity-resets-the-node",
    "A new capacity is free as a whole, regardless of allocations.",
    breaks=("SI-NODE-006", "SI-NODE-017", "SI-NODE-018"),
)
def _(patch: Patch) -> None:
    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        effects = original(partition, node, info, now)
        is_resized = info.action is NodeAction.UPDATE and info.capacity is not None
        if is_resized and partition.allocations.on(node):
            patch.fires()
            node.free = node.capacity - node.occupied
            if node.state is NodeState.SCHEDULABLE:
                partition.node_index.capacity_freed(node)
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "undrain-always-an-error",
    "A draining node is undrained, and the action is rejected nevertheless.",
    breaks=("SI-NODE-029",),
)
def _(patch: Patch) -> None:
    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        was_draining = node.state is NodeState.DRAINING
        effects = original(partition, node, info, now)
        if was_draining and info.action is NodeAction.DRAIN_TO_SCHEDULABLE:
            patch.fires()
            return [RejectedNode(partition.rm_id, node.node_id, "it is not draining"), *effects]
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "undrained-once-more-silently",
    "To undrain a node is no error if it has been undrained before.",
    breaks=("SI-NODE-029",),
)
def _(patch: Patch) -> None:
    undrained: set[Node] = set()

    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        was_draining = node.state is NodeState.DRAINING
        effects = original(partition, node, info, now)
        if info.action is not NodeAction.DRAIN_TO_SCHEDULABLE:
            return effects
        if was_draining:
            undrained.add(node)
        elif node in undrained:
            patch.fires()
            return []
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "early-drain-is-remembered",
    "A node that was drained before it was created is not used.",
    breaks=("SI-NODE-035",),
)
def _(patch: Patch) -> None:
    early: set[str] = set()

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        if rm.node(info.node_id) is None and info.action is NodeAction.DRAIN_NODE:
            early.add(info.node_id)
        elif info.action in (NodeAction.DECOMMISSION, NodeAction.DRAIN_TO_SCHEDULABLE):
            early.discard(info.node_id)
        return original(rm, _drained(patch, info, early), now)

    patch.instead_of(nodes.update, update)


@mutant(
    "drained-for-ever",
    "A node that was drained is not used when it comes back.",
    breaks=("SI-NODE-010", "SI-NODE-030"),
)
def _(patch: Patch) -> None:
    drained: set[str] = set()

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        if rm.node(info.node_id) is None:
            return original(rm, _drained(patch, info, drained), now)
        if info.action is NodeAction.DRAIN_NODE:
            drained.add(info.node_id)
        elif info.action is NodeAction.DRAIN_TO_SCHEDULABLE:
            drained.discard(info.node_id)
        return original(rm, info, now)

    patch.instead_of(nodes.update, update)


def _drained(patch: Patch, info: NodeInfo, which: set[str]) -> NodeInfo:
    """Create these nodes drained."""
    if info.action is not NodeAction.CREATE or info.node_id not in which:
        return info
    patch.fires()
    return replace(info, action=NodeAction.CREATE_DRAIN)


@mutant(
    "node-end-reported-to-one-application",
    "With its node, only what the first application had there is reported as ended.",
    breaks=("SI-NODE-032",),
)
@instead_of(nodes.decommission)
def _(patch: Patch, original: Original, *args: Any) -> list[Effect]:
    effects = original(*args)
    ends = [e.release.application_id for e in effects if isinstance(e, ReleasedAllocation)]
    if len(set(ends)) > 1:
        patch.fires()
    return [
        e
        for e in effects
        if not (isinstance(e, ReleasedAllocation) and e.release.application_id != ends[0])
    ]


@mutant(
    "decommission-ends-the-applications",
    "A removed node ends all allocations of its applications, on other nodes, too.",
    breaks=("SI-NODE-032",),
)
@instead_of(nodes.decommission)
def _(
    patch: Patch, original: Original, partition: Partition, node: Node, now: float
) -> list[Effect]:
    there = {
        id(one.application): one.application for one in partition.allocations.on(node).values()
    }
    effects = original(partition, node, now)
    for application in there.values():
        for live in list(partition.allocations.of(application).values()):
            patch.fires()
            effects += allocation_end.end(partition, live, TerminationType.STOPPED_BY_RM, now)
            effects += application_lifecycle.settle(partition, application, now)
            release = live.release(TerminationType.STOPPED_BY_RM, "its application lost a node")
            effects.append(ReleasedAllocation(partition.rm_id, release))
    return effects


@mutant(
    "decommission-fails-below-a-parent-queue",
    "A node cannot be decommissioned while it has an allocation of a queue below a parent queue.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(nodes.decommission)
def _(
    patch: Patch, original: Original, partition: Partition, node: Node, now: float
) -> list[Effect]:
    if any(
        len(live.application.leaf.path) > _BELOW_ROOT
        for live in partition.allocations.on(node).values()
    ):
        patch.fires()
        raise RuntimeError("no such queue")
    return original(partition, node, now)


@mutant(
    "ends-with-drained-nodes-count-in-their-queue",
    "What ends with a draining node still counts in its queue.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Partition, node: Node, *rest: Any) -> Any:
    is_meant = node.state is NodeState.DRAINING and rest[0].action is NodeAction.DECOMMISSION
    ended = list(partition.allocations.on(node).values()) if is_meant else []
    effects = original(partition, node, *rest)
    for live in ended:
        patch.fires()
        live.application.quotas.book(live.record.ask.resource)
    return effects


@mutant(
    "duplicate-brings-occupied",
    "The occupied resources of a rejected duplicate replace those of the node.",
    breaks=("SI-NODE-003",),
    revision="2023-12",
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    known = rm.node(info.node_id)
    if known is not None and info.action in _CREATIONS and info.occupied is not None:
        patch.fires()
        partition, node = known
        node.resize(node.capacity, info.occupied)
        if node.state is NodeState.SCHEDULABLE:
            partition.node_index.capacity_freed(node)
    return original(rm, info, now)


@mutant(
    "drained-node-brings-nothing",
    "Existing allocations on a node created draining are rejected.",
    breaks=("SI-REC-023",),
    revision="2023-12",
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    if info.action is NodeAction.CREATE_DRAIN and info.allocations:
        patch.fires()
        info = replace(info, allocations=())
    return original(rm, info, now)


@mutant(
    "refused-node-counts-in-its-queue",
    "Existing allocations of a rejected node stay counted in their queue.",
    breaks=("SI-REC-006",),
    revision="2023-12",
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    effects = original(rm, info, now)
    if not any(isinstance(one, RejectedNode) for one in effects):
        return effects
    for partition in rm.partitions.values():
        for existing in info.allocations:
            application = partition.applications.get(existing.ask.application_id)
            if application is not None:
                patch.fires()
                application.quotas.book(existing.ask.resource)
    return effects


@mutant(
    "nameless-node-accepted",
    "A node without id is accepted like any other.",
    breaks=("SI-NODE-005",),
)
@instead_of(nodes.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], info: NodeInfo, **known: bool) -> Any:
    for reason in original(info, **known):
        if info.node_id or "id" not in reason.split():
            yield reason
        else:
            patch.fires()


@mutant(
    "nameless-node-gets-a-name",
    "A node without id is accepted under a generated name.",
    breaks=("SI-NODE-005",),
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    if not info.node_id:
        patch.fires()
        info = replace(info, node_id="a-node")
    return original(rm, info, now)


def _silent(patch: Patch, *actions: NodeAction) -> None:
    """Log the failure of these actions without reporting it to the RM."""

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        effects = original(rm, info, now)
        if info.action not in actions:
            return effects
        received: list[Effect] = [one for one in effects if not isinstance(one, RejectedNode)]
        if len(received) < len(effects):
            patch.fires()
        return received

    patch.instead_of(nodes.update, update)


@mutant(
    "failed-actions-are-only-logged",
    "Failed updates and actions of nodes are logged and not reported.",
    breaks=("SI-NODE-016",),
)
def _(patch: Patch) -> None:
    _silent(patch, NodeAction.UPDATE, *_ACTIONS)


@mutant(
    "failed-update-is-only-logged",
    "The failed update of an unknown node is not reported.",
    breaks=("SI-NODE-016",),
)
def _(patch: Patch) -> None:
    _silent(patch, NodeAction.UPDATE)


@mutant(
    "failed-decommission-is-only-logged",
    "The failed decommission of an unknown node is not reported.",
    breaks=("SI-NODE-016",),
)
def _(patch: Patch) -> None:
    _silent(patch, NodeAction.DECOMMISSION)


@mutant(
    "asks-go-with-the-node",
    "A removed node drops all pending asks of the applications on it.",
    breaks=("SI-NODE-034",),
)
@instead_of(nodes.decommission)
def _(
    patch: Patch, original: Original, partition: Partition, node: Node, now: float
) -> list[Effect]:
    for application in [one.application for one in partition.allocations.on(node).values()]:
        for pending in list(application.pending.values()):
            patch.fires()
            partition.asks.drop(pending)
    return original(partition, node, now)


def _orders(patch: Patch, by: Callable[[NodeInfo], bool]) -> None:
    """Process the entries of a request for which ``by`` is false before the others."""

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        if isinstance(event, UpdateNodes):
            ordered = tuple(sorted(event.nodes, key=by))
            if ordered != event.nodes:
                patch.fires()
            event = replace(event, nodes=ordered)
        return original(rm, event, now)

    patch.instead_of(scheduler.apply, apply)


mutant(
    "creations-come-last",
    "The nodes created in a request are processed last, regardless of their order.",
    breaks=("SI-NODE-037",),
)(partial(_orders, by=lambda info: info.action in _CREATIONS))
mutant(
    "creations-come-first",
    "The nodes created in a request are processed first, regardless of their order.",
    breaks=("SI-NODE-037",),
)(partial(_orders, by=lambda info: info.action not in _CREATIONS))


@mutant(
    "first-entry-of-a-node-counts",
    "Of several entries for one node in one request only the first counts.",
    breaks=("SI-NODE-037",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateNodes):
        entries = {info.node_id: info for info in reversed(event.nodes)}
        first = tuple(info for info in event.nodes if entries[info.node_id] is info)
        if len(first) < len(event.nodes):
            patch.fires()
        event = replace(event, nodes=first)
    return original(rm, event, now)


@mutant(
    "attributes-are-merged",
    "Updated attributes are merged with earlier ones: a key left out stays.",
    breaks=("SI-NODE-038",),
)
def _(patch: Patch) -> None:
    merges_attributes(patch)


def merges_attributes(patch: Patch) -> None:
    """Merge new attributes with the existing ones, key by key."""

    def changed(original: Callable[..., None], partition: Any, node: Node, info: NodeInfo) -> None:
        merged = {**node.attributes, **info.attributes}
        if info.attributes and merged != info.attributes:
            patch.fires()
            info = replace(info, attributes=merged)
        original(partition, node, info)

    patch.instead_of(nodes._replace, changed)


@mutant(
    "comes-back-as-large-as-it-was",
    "A node that is created again has the capacity it had before.",
    breaks=("SI-NODE-006",),
)
def _(patch: Patch) -> None:
    capacities: dict[tuple[str, str], Any] = {}

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        before = capacities.setdefault((rm.rm_id, info.node_id), info.capacity)
        if before != info.capacity:
            patch.fires()
            info = replace(info, capacity=before)
        return original(rm, info, now)

    patch.instead_of(nodes.create, create)


def _undrains(node: Any, info: Any, _: float) -> bool:
    is_draining: bool = node.state is NodeState.DRAINING
    return is_draining and info.action is NodeAction.DRAIN_TO_SCHEDULABLE


@mutant(
    "undrained-without-occupied-resource",
    "A node that is undrained has no occupied resource any more.",
    breaks=("SI-NODE-007",),
    revision="2023-12",
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    if _undrains(node, *rest) and node.occupied != NOTHING:
        patch.fires()
        node.resize(node.capacity, NOTHING)
    return original(partition, node, *rest)


@mutant(
    "undrained-without-foreign-allocations",
    "On a node that is undrained no earlier foreign allocation counts any more.",
    breaks=("SI-FOR-009",),
    revision="2024-10",
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    foreign: ForeignAllocations = partition.foreign
    for key in list(foreign.on(node)) if _undrains(node, *rest) else ():
        patch.fires()
        foreign.take_away(key)
    return original(partition, node, *rest)


@mutant(
    "update-frees-what-is-being-released",
    "After an update of its node, what the scheduler is releasing there is counted no more.",
    breaks=("SI-GANG-020", "SI-PRE-002"),
)
def _(patch: Patch) -> None:
    forgotten: set[Any] = set()

    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        effects = original(partition, node, info, now)
        if info.action is not NodeAction.UPDATE:
            return effects
        for live in partition.allocations.on(node).values():
            if live.open_release is not None and live not in forgotten:
                patch.fires()
                forgotten.add(live)
                node.unbook(live.record.ask.resource)
                live.application.quotas.unbook(live.record.ask.resource)
        if node.state is NodeState.SCHEDULABLE:
            partition.node_index.capacity_freed(node)
        return effects + cycle.look_again(partition, node, now)

    def unbook(original: Callable[..., None], partition: Partition, live: Any, why: Any) -> None:
        original(partition, live, why)
        if live in forgotten:
            live.node.book(live.record.ask.resource)
            live.application.quotas.book(live.record.ask.resource)

    patch.instead_of(nodes.change, change)
    patch.quietly().instead_of(Partition.unbook, unbook)


@mutant(
    "updates-of-draining-nodes-ignored",
    "The update of a draining node is ignored.",
    breaks=("SI-NODE-017", "SI-NODE-018"),
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    info, _now = rest
    if node.state is NodeState.DRAINING and info.action is NodeAction.UPDATE:
        patch.fires()
        return []
    return original(partition, node, *rest)


@mutant(
    "update-of-third-types-ignored",
    "The update of a node changes its memory and vcores only.",
    breaks=("SI-NODE-017",),
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    info, now = rest
    if info.action is NodeAction.UPDATE and info.capacity is not None:
        both = ("memory", "vcore")
        kept = {name: n for name, n in node.capacity.amounts.items() if name not in both}
        changed = {name: n for name, n in info.capacity.amounts.items() if name in both}
        capacity = Resource({**kept, **changed})
        if capacity != info.capacity:
            patch.fires()
        info = replace(info, capacity=capacity)
    return original(partition, node, info, now)


@mutant(
    "drains-add-up",
    "A node that was drained twice is draining until it was undrained twice.",
    breaks=("SI-NODE-028",),
)
def _(patch: Patch) -> None:
    more: Counter[Any] = Counter()

    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        if info.action is NodeAction.DRAIN_NODE and node.state is NodeState.DRAINING:
            more[node] += 1
        elif info.action is NodeAction.DRAIN_TO_SCHEDULABLE and more[node]:
            patch.fires()
            more[node] -= 1
            return []
        return original(partition, node, info, now)

    patch.instead_of(nodes.change, change)


@mutant(
    "asks-that-require-a-node-go-with-it",
    "A pending ask that requires a node is dropped when the node is decommissioned.",
    breaks=("SI-NODE-034",),
)
@instead_of(nodes.decommission)
def _(
    patch: Patch, original: Original, partition: Partition, node: Node, now: float
) -> list[Effect]:
    for application in list(partition.applications.values()):
        for pending in tuple(application.pending.values()):
            if pending.ask.required_node == node.node_id:
                patch.fires()
                partition.asks.drop(pending, AskTrigger.WITHDRAWN)
    return original(partition, node, now)


@mutant(
    "duplicate-resizes-a-draining-node",
    "A rejected duplicate of a draining node changes its capacity.",
    breaks=("SI-NODE-003",),
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    known = rm.node(info.node_id)
    if known is not None and info.action in _CREATIONS and info.capacity is not None:
        _, node = known
        if node.state is NodeState.DRAINING:
            patch.fires()
            node.resize(info.capacity, node.occupied)
    return original(rm, info, now)


@mutant(
    "nodes-of-other-partitions-are-used",
    "A node of another partition that exists is added to the default one.",
    breaks=("SI-NODE-009",),
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    if info.partition != "default" and info.partition in rm.partitions:
        patch.fires()
        info = replace(info, partition="default")
    return original(rm, info, now)
