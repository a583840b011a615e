"""Mutants of messages about what has ended, when its name belongs to something else by then."""

from dataclasses import replace
from typing import Any

from sireference.core import applications, nodes, releases, withdrawal
from sireference.core.model import Effect, NewAllocation, partition_name
from sireference.core.state.allocation import Allocation
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition

from mutation.inside import Original, Patch
from mutation.inside.releasing import application_of, identity_of
from mutation.mutant import mutant


@mutant(
    "late-releases-free-the-next-node-of-the-id",
    "The release of what ended with its node frees its amount on the next node of that id.",
    breaks=("SI-NODE-006",),
)
def _(patch: Patch) -> None:
    ended: dict[tuple[str, str], Allocation] = {}  # by RM and identity

    def decommission(
        original: Original, partition: Partition, node: Node, now: float
    ) -> list[Effect]:
        there = partition.allocations.on(node).values()
        ended.update(((partition.rm_id, live.record.identity), live) for live in there)
        return original(partition, node, now)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        gone = ended.pop((rm.rm_id, identity_of(request)), None)
        partition = rm.partitions.get(partition_name(request.partition))
        if gone is None or partition is None:
            return original(rm, request, now)
        node = partition.nodes.get(gone.node.node_id)
        if node is not None:
            patch.fires()
            node.unbook(gone.record.ask.resource)
            partition.node_index.capacity_freed(node)
        return original(rm, request, now)

    patch.quietly().instead_of(nodes.decommission, decommission)
    patch.instead_of(releases.release, release)


def _allocated_late(partition: Any, placeholder: Allocation, ask: Any) -> Effect:
    """Return the report of an allocation for this ask in place of a placeholder."""
    identity = f"{placeholder.record.identity}-late"
    record = replace(placeholder.record, ask=ask, identity=identity)
    return NewAllocation(partition.rm_id, record, placeholder.application.leaf.name)


@mutant(
    "removed-replacement-continues-in-the-next-gang",
    "A replacement that ended with its gang continues once there is another gang of its id.",
    breaks=("SI-GANG-062",),
)
def _(patch: Patch) -> None:
    open_ones: dict[tuple[str, str], tuple[Allocation, Any]] = {}  # by RM and identity

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            for placeholder, pending in partition.replacements.by_placeholder.items():
                if placeholder.application.application_id == request.application_id:
                    name = rm.rm_id, placeholder.record.identity
                    open_ones[name] = placeholder, pending.ask
        return original(rm, request, now)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        effects = original(rm, request, now)
        partition = rm.partitions.get(partition_name(request.partition))
        if partition is None or application_of(request) not in partition.applications:
            return effects
        found = open_ones.pop((rm.rm_id, identity_of(request)), None)
        if found is None:
            return effects
        patch.fires()
        return [*effects, _allocated_late(partition, *found)]

    patch.quietly().instead_of(applications.remove, remove)
    patch.instead_of(releases.release, release)


@mutant(
    "withdrawn-and-asked-again-is-allocated-twice",
    "A parked ask that was withdrawn and sent again is allocated once more at the confirmation.",
    breaks=("SI-ASK-005",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    withdrawn: dict[Allocation, Any] = {}  # by the placeholder that it waited for

    def withdraw(original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
        awaited = partition.replacements.of(pending).values()
        withdrawn.update(dict.fromkeys(awaited, pending.ask))
        return original(partition, pending, now)

    def confirmed(
        original: Original, partition: Any, live: Allocation, termination: Any, now: float
    ) -> list[Effect]:
        ask = withdrawn.pop(live, None)
        is_there = ask is not None and ask.key in live.application.pending
        effects = original(partition, live, termination, now)
        if not is_there:
            return effects
        patch.fires()
        return [*effects, _allocated_late(partition, live, ask)]

    patch.quietly().instead_of(withdrawal.withdraw, withdraw)
    patch.instead_of(releases.confirmed, confirmed)
