"""Mutants of registration, and of state kept from an earlier registration."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sireference.core import applications, limits, nodes, recovery
from sireference.core.model import AcceptedNode, Effect, NodeInfo, Refused, Register
from sireference.core.registration import ResourceManagers
from sireference.core.resources import Resource
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quotas
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.state.user_quota import Holder
from sireference.core.states import NodeAction, NodeState, RMState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "registered-and-not-running",
    "A registration succeeds and the RM is not served.",
    breaks=("SI-CONN-001",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    effects = original(self, event, now)
    rm = self.known(event.rm_id)
    if rm is not None:
        patch.fires()
        rm.state = RMState.STOPPED
    return effects


@mutant("registered-once", "A second registration is rejected.", breaks=("SI-REG-004",))
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    if self.known(event.rm_id) is None:
        return original(self, event, now)
    patch.fires()
    return [Refused(event.rm_id, "it is registered already")]


@mutant(
    "one-rm-a-group",
    "A second RM with the same policyGroup is rejected.",
    breaks=("SI-REG-013",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    others = [rm for rm in self.all() if rm.rm_id != event.rm_id]
    if any(rm.register.policy_group == event.policy_group for rm in others):
        patch.fires()
        return [Refused(event.rm_id, "another RM has this policyGroup")]
    return original(self, event, now)


def _keeps(patch: Patch, keep: Callable[[Any, Any, float], None]) -> None:
    """Keep what ``keep`` takes from the partitions of the earlier registration."""

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        earlier = self.known(event.rm_id)
        partitions = {} if earlier is None else dict(earlier.partitions)
        effects = original(self, event, now)
        later = self.known(event.rm_id)
        if earlier is not None and later is not earlier:
            keep(partitions, later, now)
        return effects

    patch.instead_of(ResourceManagers.register, register)


@mutant(
    "use-by-users-survives",
    "What a user held still counts for the user after registering again.",
    breaks=("SI-REG-007",),
)
def _(patch: Patch) -> None:
    held: dict[tuple[str, Holder], Resource] = {}

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        earlier = self.known(event.rm_id)
        for partition in earlier.partitions.values() if earlier is not None else ():
            for queue in partition.root.all():
                for holder, quota in queue.user_quotas.items():
                    held[queue.name, holder] = quota.used
        return original(self, event, now)

    def join(original: Callable[..., Quotas], leaf: Queue, *who: Any) -> Quotas:
        quotas = original(leaf, *who)
        for queue in leaf.path:
            for holder, quota in queue.user_quotas.items():
                if (queue.name, holder) in held:
                    patch.fires()
                    quota.book(held.pop((queue.name, holder)))
        return quotas

    patch.instead_of(ResourceManagers.register, register)
    patch.instead_of(limits.join, join)


def _about_to_end(rm: ResourceManager | None) -> Iterator[Any]:
    """Yield the allocations whose release the RM has not confirmed."""
    for partition in rm.partitions.values() if rm is not None else ():
        yield from (one for one in partition.allocations.all.values() if one.open_release)


@mutant(
    "open-releases-survive",
    "A placeholder that was being replaced is still being replaced after registering again.",
    breaks=("SI-REG-007",),
)
def _(patch: Patch) -> None:
    released: dict[str, TerminationType] = {}

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        for live in _about_to_end(self.known(event.rm_id)):
            released[live.record.identity] = live.open_release
        return original(self, event, now)

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        effects = original(partition, record, now)
        termination = released.pop(record.identity, None)
        if termination is not None:
            patch.fires()
            partition.ask_for_release(partition.allocations.all[record.identity], termination, "")
        return effects

    patch.instead_of(ResourceManagers.register, register)
    patch.instead_of(recovery.recover, recover)


@mutant(
    "quota-of-open-releases-survives",
    "What was about to end still counts in its queue after registering again.",
    breaks=("SI-REG-007",),
)
def _(patch: Patch) -> None:
    held: dict[str, Resource] = {}

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        for live in _about_to_end(self.known(event.rm_id)):
            held[live.application.leaf.name] = live.record.ask.resource
        return original(self, event, now)

    def join(original: Callable[..., Quotas], leaf: Queue, *who: Any) -> Quotas:
        if leaf.name in held:
            patch.fires()
            leaf.book(held.pop(leaf.name))
        return original(leaf, *who)

    patch.instead_of(ResourceManagers.register, register)
    patch.instead_of(limits.join, join)


@mutant("nodes-survive", "Nodes are still known after registering again.", breaks=("SI-REG-005",))
def _(patch: Patch) -> None:
    def keep(partitions: Any, later: Any, now: float) -> None:
        for name, partition in partitions.items():
            for node in partition.nodes.values():
                patch.fires()
                info = NodeInfo(
                    node.node_id,
                    NodeAction.CREATE,
                    name,
                    node.attributes,
                    node.capacity,
                    node.occupied,
                )
                nodes.create(later, info, now)

    _keeps(patch, keep)


@mutant(
    "nodes-survive-a-third-registration",
    "Nodes are still known after an RM registered for the third time.",
    breaks=("SI-REG-005",),
)
def _(patch: Patch) -> None:
    registrations: Counter[str] = Counter()

    def keep(partitions: Any, later: Any, now: float) -> None:
        registrations[later.rm_id] += 1
        for name, partition in partitions.items() if registrations[later.rm_id] > 1 else ():
            for node in partition.nodes.values():
                patch.fires()
                create = NodeAction.CREATE
                info = NodeInfo(node.node_id, create, name, node.attributes, node.capacity)
                nodes.create(later, info, now)

    _keeps(patch, keep)


@mutant(
    "applications-survive",
    "Applications are still known after registering again.",
    breaks=("SI-REG-006",),
)
def _(patch: Patch) -> None:
    def keep(partitions: Any, later: Any, now: float) -> None:
        for partition in partitions.values():
            for application in partition.applications.values():
                patch.fires()
                applications.submit(later, application.submitted, now)

    _keeps(patch, keep)


@mutant(
    "nodes-survive-unseen",
    "Nodes are still used after registering again, until they are created again.",
    breaks=("SI-REG-005",),
)
def _(patch: Patch) -> None:
    unseen: set[str] = set()

    def keep(partitions: Any, later: Any, now: float) -> None:
        for name, partition in partitions.items():
            for node in partition.nodes.values():
                patch.fires()
                unseen.add(node.node_id)
                create = NodeAction.CREATE
                nodes.create(later, NodeInfo(node.node_id, create, name, {}, node.capacity), now)

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        if info.node_id in unseen and info.action is NodeAction.CREATE:
            unseen.remove(info.node_id)
            return [AcceptedNode(rm.rm_id, info.node_id)]
        return original(rm, info, now)

    _keeps(patch, keep)
    patch.instead_of(nodes.update, update)


@mutant(
    "drain-survives-registration",
    "A node that was draining when its RM registered again is created draining.",
    breaks=("SI-REG-005",),
)
def _(patch: Patch) -> None:
    drained: dict[tuple[str, str], Any] = {}

    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        effects = original(partition, node, info, now)
        if node.state is NodeState.DRAINING:
            drained[partition.rm_id, node.node_id] = partition
        else:
            drained.pop((partition.rm_id, node.node_id), None)
        return effects

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        earlier = drained.get((rm.rm_id, info.node_id))
        if earlier is not None and earlier is not rm.partitions.get(info.partition):
            patch.fires()
            info = replace(info, action=NodeAction.CREATE_DRAIN)
        return original(rm, info, now)

    patch.quietly().instead_of(nodes.change, change)
    patch.instead_of(nodes.create, create)


@mutant(
    "running-slots-survive-registration",
    "Running applications of an earlier registration still count against the limit of their queue.",
    breaks=("SI-REG-006",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Any, now: float
) -> list[Effect]:
    earlier = self.known(event.rm_id)
    partitions = {} if earlier is None else earlier.partitions
    running = {
        (name, queue.name): queue.running
        for name, partition in partitions.items()
        for queue in partition.root.all()
    }
    effects = original(self, event, now)
    later = self.known(event.rm_id)
    for name, partition in {} if later is None else later.partitions.items():
        for queue in partition.root.all():
            for _ in range(running.get((name, queue.name), 0)):
                patch.fires()
                queue.application_runs()
    return effects


@mutant(
    "limits-survive-registration",
    "A queue that an earlier registration configured as well keeps its limits.",
    breaks=("SI-REG-018",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Any, now: float
) -> list[Effect]:
    earlier = self.known(event.rm_id)
    limits_of = {
        queue.name: (queue.maximum, queue.guaranteed, queue.most_applications)
        for partition in ([] if earlier is None else earlier.partitions.values())
        for queue in partition.root.all()
    }
    effects = original(self, event, now)
    later = self.known(event.rm_id)
    for partition in [] if later is None else later.partitions.values():
        for queue in partition.root.all():
            kept = limits_of.get(queue.name, (queue.maximum, None, None))
            if kept[0] != queue.maximum:
                patch.fires()
                queue.limit(*kept)
    return effects
