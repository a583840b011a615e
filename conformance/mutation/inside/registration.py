"""Mutants of registration, and of state kept from an earlier registration."""

from collections.abc import Callable
from typing import Any

from sireference.core import applications, nodes
from sireference.core.model import AcceptedNode, Effect, NodeInfo, Refused, Register
from sireference.core.registration import ResourceManagers
from sireference.core.states import NodeAction, RMState

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
