"""Mutants that undo what the RM requested, some time after they carried it out."""

from collections.abc import Callable
from functools import partial
from typing import Final

from sireference.core import allocations, nodes, withdrawal
from sireference.core.model import Effect, NodeInfo
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction, NodeState

from mutation.inside import Original, Patch
from mutation.inside.node_actions import ends_draining
from mutation.inside.updated_asks import updates_of_asks
from mutation.mutant import mutant
from mutation.patching import instead_of

_LATER: Final = 2.5  # seconds
_PLACED_FOR: Final = 3.0  # seconds


@mutant(
    "withdrawn-asks-come-back",
    f"A withdrawn ask is pending again {_LATER} s later.",
    breaks=("SI-ASK-018",),
)
@instead_of(withdrawal.withdraw)
def _(
    patch: Patch, original: Original, partition: Partition, pending: PendingAsk, now: float
) -> list[Effect]:
    def come_back(_now: float) -> list[Effect]:
        application = pending.application
        is_there = partition.applications.get(application.application_id) is application
        if is_there and pending.ask.key not in application.pending:
            patch.fires()
            partition.asks.queue_up(application, pending.ask)
        return []

    effects = original(partition, pending, now)
    partition.timers.set(now + _LATER, come_back)
    return effects


@mutant(
    "drains-are-forgotten",
    f"A draining node is schedulable again {_LATER} s after it was drained.",
    breaks=("SI-NODE-026",),
)
def _(patch: Patch) -> None:
    def forget(partition: Partition, node: Node, _now: float) -> list[Effect]:
        ends_draining(patch, partition, node)
        return []

    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        effects = original(partition, node, info, now)
        if info.action is NodeAction.DRAIN_NODE:
            partition.timers.set(now + _LATER, partial(forget, partition, node))
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "smaller-nodes-grow-back",
    f"A node whose capacity was lowered has its earlier one again {_LATER} s later.",
    breaks=("SI-NODE-018",),
)
def _(patch: Patch) -> None:
    def grow_back(
        partition: Partition, node: Node, capacity: Resource, _now: float
    ) -> list[Effect]:
        if partition.nodes.get(node.node_id) is node:
            patch.fires()
            partition.total += capacity - node.capacity
            node.resize(capacity, node.occupied)
            if node.state is NodeState.SCHEDULABLE:
                partition.node_index.capacity_freed(node)
        return []

    def change(
        original: Original, partition: Partition, node: Node, info: NodeInfo, now: float
    ) -> list[Effect]:
        before = node.capacity
        effects = original(partition, node, info, now)
        if not before.fits(node.capacity):
            partition.timers.set(now + _LATER, partial(grow_back, partition, node, before))
        return effects

    patch.instead_of(nodes.change, change)


@mutant(
    "allocations-of-updated-asks-time-out",
    f"An allocation whose ask was updated before is released with TIMEOUT after {_PLACED_FOR} s.",
    breaks=("SI-APP-013",),
)
def _(patch: Patch) -> None:
    updates = updates_of_asks(patch)

    def watch(
        original: Callable[..., None], partition: Partition, live: Allocation, now: float
    ) -> None:
        original(partition, live, now)
        ask = live.record.ask
        if updates[ask.application_id, ask.key] and live.timer is None:
            live.timer = partition.timers.set(now + _PLACED_FOR, partial(expire, partition, live))

    def expire(partition: Partition, live: Allocation, now: float) -> list[Effect]:
        patch.fires()
        return allocations.expire(partition, live, now)

    patch.instead_of(allocations.watch, watch)
