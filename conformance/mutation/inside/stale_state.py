"""Mutants of state after a rejection or an end: applications, asks, allocations, nodes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.core import allocations, applications, asks, configuration_update, nodes, recovery
from sireference.core.model import (
    Ask,
    Configured,
    Effect,
    NewApplication,
    NodeInfo,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
)
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction, NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "unknown-node-means-another",
    "An action on an unknown node is carried out on another one.",
    breaks=("SI-NODE-035",),
)
def _(patch: Patch) -> None:
    wanted = (NodeAction.DRAIN_NODE, NodeAction.DECOMMISSION, NodeAction.DRAIN_TO_SCHEDULABLE)

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        others = [name for one in rm.partitions.values() for name in one.nodes]
        if info.action not in wanted or rm.node(info.node_id) is not None or not others:
            return original(rm, info, now)
        patch.fires()
        return original(rm, replace(info, node_id=others[-1]), now)

    patch.instead_of(nodes.update, update)


@mutant(
    "create-revives",
    "Creating a draining node again is rejected and undrains the node.",
    breaks=("SI-NODE-039",),
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    effects = original(rm, info, now)
    known = rm.node(info.node_id)
    was_rejected = any(isinstance(effect, RejectedNode) for effect in effects)
    if was_rejected and known is not None and known[1].state is NodeState.DRAINING:
        patch.fires()
        back = NodeInfo(info.node_id, NodeAction.DRAIN_TO_SCHEDULABLE)
        effects += original(rm, back, now)
    return effects


@mutant(
    "rejected-application-exists",
    "A rejected application is served in another queue.",
    breaks=("SI-APP-023",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
    effects = original(rm, new, now)
    if not any(isinstance(effect, RejectedApplication) for effect in effects):
        return effects
    patch.fires()
    original(rm, replace(new, queue="root.plain"), now)
    return effects


@mutant(
    "application-tags-are-of-asks",
    "The tags of an application count as those of its asks.",
    breaks=("SI-APP-011",),
    revision="2023-12",
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    for one in rm.partitions.values():
        application = one.applications.get(ask.application_id)
        node = application.submitted.tags.get(_REQUIRED_NODE) if application else None
        if node:
            patch.fires()
            ask = replace(ask, required_node=node)
    return original(rm, ask, now)


_REQUIRED_NODE = "yunikorn.apache.org/requiredNode"


@mutant(
    "rejected-ask-comes-back",
    "A rejected ask is served once its application is added.",
    breaks=("SI-ASK-017",),
)
def _(patch: Patch) -> None:
    rejected: dict[str, list[Ask]] = {}

    def add(original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
        effects = original(rm, ask, now)
        if any(isinstance(effect, RejectedAsk) for effect in effects):
            rejected.setdefault(ask.application_id, []).append(ask)
        return effects

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        for ask in rejected.pop(new.application_id, []):
            patch.fires()
            effects += asks.add(rm, ask, now)
        return effects

    patch.instead_of(asks.add, add)
    patch.instead_of(applications.submit, submit)


@mutant(
    "ask-timeout-from-the-ask",
    "The execution timeout of an ask starts when it is requested.",
    breaks=("SI-ASK-016",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    asked: dict[str, float] = {}

    def add(original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
        asked.setdefault(ask.key, now)
        return original(rm, ask, now)

    def watch(_: Any, partition: Any, live: Any, now: float) -> None:
        ask = live.record.ask
        if ask.execution_timeout > 0:
            expire_since(asked.get(ask.key, now), patch, partition, live, now)

    patch.instead_of(asks.add, add)
    patch.instead_of(allocations.watch, watch)


def expire_since(since: float, patch: Patch, partition: Any, live: Any, now: float) -> None:
    """Have the allocation expire as if its execution timeout had begun at ``since``."""
    if since < now:
        patch.fires()
    deadline = max(now, since + live.record.ask.execution_timeout)
    live.timer = partition.timers.set(deadline, partial(allocations.expire, partition, live))


@mutant(
    "later-allocations-time-out-with-the-first",
    "All allocations of an ask end when the execution timeout of the first is over.",
    breaks=("SI-ASK-014",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    first: dict[str, float] = {}

    def watch(_: Any, partition: Any, live: Any, now: float) -> None:
        ask = live.record.ask
        if ask.execution_timeout > 0:
            expire_since(first.setdefault(ask.key, now), patch, partition, live, now)

    patch.instead_of(allocations.watch, watch)


@mutant(
    "capacity-is-lost",
    "The capacity of an ended allocation is never used again.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(Node.unbook)
def _(patch: Patch, original: Callable[..., None], node: Node, resource: Any) -> None:
    patch.fires()
    original(node, resource)
    node.resize(node.capacity, node.occupied + resource)


@mutant(
    "removal-keeps-the-capacity",
    "The capacity of allocations that end with their application is never used again.",
    breaks=("SI-APP-018",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    lost: list[tuple[Node, Any]] = []
    for one in rm.partitions.values():
        application = one.applications.get(request.application_id)
        for live in one.allocations.of(application).values() if application is not None else ():
            patch.fires()
            lost.append((live.node, live.record.ask.resource))
    effects = original(rm, request, now)
    for node, resource in lost:
        node.resize(node.capacity, node.occupied + resource)
    return effects


@mutant(
    "update-drops-asks",
    "A new configuration drops all pending asks.",
    breaks=("SI-CFG-002",),
)
@instead_of(configuration_update.update)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    effects = original(rm, event, now)
    if not any(isinstance(effect, Configured) for effect in effects):
        return effects
    for one in rm.partitions.values():
        for application in one.applications.values():
            for pending in list(application.pending.values()):
                patch.fires()
                one.asks.drop(pending)
    return effects


@mutant(
    "existing-allocated-again",
    "A recovered allocation is also treated as an ask, and allocated again.",
    breaks=("SI-REC-002",),
)
def _(patch: Patch) -> None:
    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        effects = original(partition, allocation, now)
        patch.fires()
        application = partition.applications[allocation.ask.application_id]
        partition.asks.queue_up(application, replace(allocation.ask, placeholder=False))
        return effects

    patch.instead_of(recovery.recover, recover)


@mutant(
    "preempted-as-timeout",
    "Preempted allocations are released with TIMEOUT.",
    breaks=("SI-PRE-001",),
)
def _(patch: Patch) -> None:
    def ask_for_release(
        original: Callable[..., Any], partition: Any, live: Any, termination: Any, message: str
    ) -> Any:
        if termination is TerminationType.PREEMPTED_BY_SCHEDULER:
            patch.fires()
            termination = TerminationType.TIMEOUT
        return original(partition, live, termination, message)

    patch.instead_of(Partition.ask_for_release, ask_for_release)


@mutant(
    "removed-asks-come-back",
    "Pending asks of a removed application come back when its id is reused.",
    breaks=("SI-APP-017",),
)
def _(patch: Patch) -> None:
    orphans: dict[str, list[Ask]] = {}

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            application = partition.applications.get(request.application_id)
            if application is not None:
                pending = application.pending.values()
                orphans[request.application_id] = [one.ask for one in pending]
        return original(rm, request, now)

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        identity = new.application_id
        is_known = any(identity in partition.applications for partition in rm.partitions.values())
        effects = original(rm, new, now)
        for ask in [] if is_known else orphans.pop(identity, []):
            patch.fires()
            effects += asks.add(rm, ask, now)
        return effects

    patch.instead_of(applications.remove, remove)
    patch.instead_of(applications.submit, submit)


@mutant(
    "decommissioned-are-asked-again",
    "What ends with its node is allocated again elsewhere, although it was not asked for again.",
    breaks=("SI-ALLOC-008",),
)
@instead_of(nodes.decommission)
def _(
    patch: Patch, original: Original, partition: Partition, node: Node, now: float
) -> list[Effect]:
    there = list(partition.allocations.on(node).values())
    effects = original(partition, node, now)
    for live in there:
        if live.application.application_id in partition.applications:
            patch.fires()
            partition.asks.queue_up(live.application, live.record.ask)
    return effects


@mutant(
    "preempted-are-asked-again",
    "What was preempted is allocated again later, although it was not asked for again.",
    breaks=("SI-ALLOC-008",),
)
@instead_of(Partition.unbook)
def _(
    patch: Patch, original: Callable[..., None], partition: Partition, live: Any, termination: Any
) -> None:
    original(partition, live, termination)
    if termination is TerminationType.PREEMPTED_BY_SCHEDULER:
        patch.fires()
        partition.asks.queue_up(live.application, live.record.ask)
