"""Mutants of what must stay unchanged: on nodes, in applications, in queues."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.core import (
    allocation_end,
    application_lifecycle,
    applications,
    configuration_update,
    limits,
    nodes,
    recovery,
    scheduling_pass,
)
from sireference.core.gang import timeout
from sireference.core.model import (
    Configured,
    Effect,
    NewApplication,
    NodeInfo,
    ReleasedAllocation,
)
from sireference.core.placement import NoQueueError, place
from sireference.core.registration import ResourceManagers
from sireference.core.resources import NOTHING
from sireference.core.state.application import Application
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quota
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import ApplicationState, NodeAction, NodeState, TerminationType

from mutation.inside import Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

Original = Callable[..., Any]
_CREATIONS = (NodeAction.CREATE, NodeAction.CREATE_DRAIN)


@mutant(
    "duplicate-frees-the-node",
    "After a rejected duplicate, allocations on the node are not counted.",
    breaks=("SI-NODE-003",),
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: ResourceManager, info: NodeInfo, now: float) -> Any:
    known = rm.node(info.node_id)
    if known is not None and info.action in _CREATIONS:
        partition, node = known
        node.free = node.capacity - node.occupied
        partition.node_index.capacity_freed(node)
        patch.fires()
    return original(rm, info, now)


@mutant(
    "duplicate-hands-over-its-allocations",
    "The existing allocations of a rejected duplicate are taken over.",
    breaks=("SI-NODE-003",),
    revision="2023-12",
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: ResourceManager, info: NodeInfo, now: float) -> Any:
    known = rm.node(info.node_id)
    effects = original(rm, info, now)
    if known is not None and info.action in _CREATIONS:
        for allocation in info.allocations:
            patch.fires()
            recovery.add(rm, allocation, now)
    return effects


@mutant(
    "undrain-drains",
    "Undraining a node that is not draining is an error and drains it.",
    breaks=("SI-NODE-029",),
)
def _(patch: Patch) -> None:
    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> Any:
        is_open = node.state is NodeState.SCHEDULABLE
        effects = original(partition, node, info, now)
        if is_open and info.action is NodeAction.DRAIN_TO_SCHEDULABLE:
            node.state = NodeState.DRAINING
            partition.node_index.closed(node)
            patch.fires()
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "shrinking-stops",
    "An allocation that no longer fits its shrunk node is stopped.",
    breaks=("SI-NODE-043",),
)
def _(patch: Patch) -> None:
    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> Any:
        effects: list[Effect] = original(partition, node, info, now)
        for live in list(partition.allocations.on(node).values()):
            if not any(node.free.objections()):
                break
            effects += allocation_end.end(partition, live, TerminationType.STOPPED_BY_RM, now)
            effects += application_lifecycle.settle(partition, live.application, now)
            release = live.release(TerminationType.STOPPED_BY_RM, "it does not fit any more")
            effects.append(ReleasedAllocation(partition.rm_id, release))
            patch.fires()
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "duplicate-moves-its-application",
    "A rejected duplicate moves the application to the queue it names.",
    breaks=("SI-APP-003",),
)
def _(patch: Patch) -> None:
    def submit(original: Original, rm: ResourceManager, new: NewApplication, now: float) -> Any:
        partition = rm.partitions.get("default")
        known = partition.applications.get(new.application_id) if partition else None
        effects = original(rm, new, now)
        if partition is not None and known is not None:
            try:
                leaf = place(partition, new)
            except NoQueueError:
                return effects
            if leaf is not known.leaf:
                _move(known, leaf)
                patch.fires()
        return effects

    def _move(application: Any, leaf: Queue) -> None:
        """Count the use of the application in this leaf from now on."""
        for quota in application.quotas:
            quota.unbook(application.used)
        submitted = application.submitted
        application.quotas = limits.join(leaf, submitted.user, submitted.member_of)
        for quota in application.quotas:
            quota.book(application.used)

    patch.instead_of(applications.submit, submit)


@mutant(
    "duplicate-restarts-the-gang-timer",
    "A rejected duplicate restarts the placeholder timeout of its gang.",
    breaks=("SI-APP-003",),
)
def _(patch: Patch) -> None:
    def restart(partition: Partition, known: Application, _: NewApplication, now: float) -> None:
        gang = partition.gangs.get(known)
        if gang is not None and gang.timer is not None:
            patch.fires()
            gang.stop_timer()
            timeout.watch(partition, known, now)

    _after_duplicate(patch, restart)


def _takes_over(patch: Patch, field: str) -> None:
    """Let a rejected duplicate change a field of the application."""

    def take_over(_: Partition, known: Application, new: NewApplication, _now: float) -> None:
        if getattr(known.submitted, field) != getattr(new, field):
            patch.fires()
            known.submitted = replace(known.submitted, **{field: getattr(new, field)})

    _after_duplicate(patch, take_over)


mutant(
    "duplicate-sets-the-style",
    "A rejected duplicate changes the style of its gang.",
    breaks=("SI-APP-003",),
)(partial(_takes_over, field="gang_style"))
mutant(
    "duplicate-sets-the-placeholder-ask",
    "A rejected duplicate changes the placeholderAsk of its gang.",
    breaks=("SI-APP-003",),
)(partial(_takes_over, field="placeholder_ask"))


def _after_duplicate(
    patch: Patch, then: Callable[[Partition, Application, NewApplication, float], None]
) -> None:
    """Do this once the duplicate of an application was rejected."""

    def submit(original: Original, rm: ResourceManager, new: NewApplication, now: float) -> Any:
        partition = rm.partitions.get("default")
        known = partition.applications.get(new.application_id) if partition else None
        effects = original(rm, new, now)
        if partition is not None and known is not None:
            then(partition, known, new, now)
        return effects

    patch.instead_of(applications.submit, submit)


@mutant(
    "queues-remember-their-use",
    "Queue usage is kept when an RM registers again.",
    breaks=("SI-REG-007",),
)
@instead_of(ResourceManagers.register)
def _(patch: Patch, original: Original, self: ResourceManagers, event: Any, now: float) -> Any:
    before = self.known(event.rm_id)
    earlier = {} if before is None else before.partitions
    used = {
        name: {queue.name: queue.used for queue in partition.root.all()}
        for name, partition in earlier.items()
    }
    effects = original(self, event, now)
    after = self.known(event.rm_id)
    if before is None or after is None or before is after:
        return effects
    for name, partition in after.partitions.items():
        if name in used:
            for queue in partition.root.all():
                queue.book(used[name].get(queue.name, NOTHING))
                patch.fires()
    return effects


@mutant(
    "quota-of-a-parent-ignored",
    "The maximum of a parent queue limits gangs only.",
    breaks=("SI-CFG-008",),
)
def _(patch: Patch) -> None:
    def has_capacity(original: Original, self: Quota, need: Any) -> Any:
        if isinstance(self, Queue) and self.children:
            patch.fires()
            return True
        return original(self, need)

    def can_take(original: Original, self: Quota, need: Any, *reserved: Any) -> Any:
        if isinstance(self, Queue) and self.children:
            return True
        return original(self, need, *reserved)

    patch.instead_of(Quota.has_capacity, has_capacity)
    patch.instead_of(Quota.can_take, can_take)


@mutant(
    "decommission-leaks-quota",
    "Allocations that end with their node still count in their queue.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    def decommission(original: Original, partition: Partition, node: Node, now: float) -> Any:
        leaked = [(live.application, live.record.ask.resource) for live in _live(partition, node)]
        effects = original(partition, node, now)
        for application, resource in leaked:
            for quota in application.quotas:
                quota.book(resource)
            patch.fires()
        return effects

    def _live(partition: Partition, node: Node) -> list[Any]:
        return list(partition.allocations.on(node).values())

    patch.instead_of(nodes.decommission, decommission)


@mutant(
    "same-capacity-twice",
    "All asks of one scheduling pass see the capacity from before it.",
    breaks=("SI-NODE-006",),
)
def _(patch: Patch) -> None:
    booked: list[tuple[Node, Any]] = []

    def book(original: Original, self: Node, resource: Any) -> None:
        original(self, resource)
        self.free += resource
        booked.append((self, resource))
        patch.fires()

    def run(original: Original, partition: Partition, now: float) -> Any:
        effects = original(partition, now)
        while booked:
            node, resource = booked.pop()
            node.free -= resource
        return effects

    patch.instead_of(Node.book, book)
    patch.instead_of(scheduling_pass.run, run)


def _after_configuration(patch: Patch, change: Callable[[Patch, Partition], None]) -> None:
    """Change a partition once a new configuration is in force."""

    def update(original: Original, rm: ResourceManager, event: Any, now: float) -> Any:
        effects = original(rm, event, now)
        if any(isinstance(effect, Configured) for effect in effects):
            for partition in rm.partitions.values():
                change(patch, partition)
        return effects

    patch.instead_of(configuration_update.update, update)


@mutant(
    "configuration-ends-replacements",
    "A new configuration makes asks that wait for the end of a placeholder disappear.",
    breaks=("SI-CFG-002",),
)
def _(patch: Patch) -> None:
    def change(patch: Patch, partition: Partition) -> None:
        for pending in set(partition.replacements.by_placeholder.values()):
            patch.fires()
            partition.asks.drop(pending)

    _after_configuration(patch, change)


@mutant(
    "configuration-stops-gang-timers",
    "A new configuration stops the placeholder timeouts of gangs.",
    breaks=("SI-CFG-002",),
)
def _(patch: Patch) -> None:
    def change(patch: Patch, partition: Partition) -> None:
        for gang in partition.gangs.values():
            if gang.timer is not None:
                patch.fires()
                gang.timer.cancel()

    _after_configuration(patch, change)


@mutant(
    "configuration-stops-waiting",
    "A new configuration keeps applications that are waiting from being completed.",
    breaks=("SI-CFG-002",),
)
def _(patch: Patch) -> None:
    def change(patch: Patch, partition: Partition) -> None:
        for application in partition.applications.values():
            if application.state is ApplicationState.COMPLETING:
                patch.fires()
                application.stop_state_timer()

    _after_configuration(patch, change)
