"""Liberties in what outlives a registration, a stream, or an RM that knows better."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sireference.core import nodes, recovery
from sireference.core.model import (
    Effect,
    RejectedAllocation,
    UpdateNodes,
    partition_name,
)
from sireference.core.resources import NOTHING
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction
from sireference.shell.streams import StreamTable

from proof.fault import liberty
from proof.inside import Inside

_EMPTY_TIMES: Final = 2  # that an RM has nothing any more before it is dropped: between two tests


def held(rm: Any, allocation: Any) -> bool:
    """Whether it is nobody's that is known, on a node there is, and new."""
    partition = rm.partitions.get(partition_name(allocation.ask.partition))
    return (
        partition is not None
        and allocation.node_id in partition.nodes
        and allocation.identity not in partition.allocations.all
        and allocation.ask.application_id not in partition.applications
        and not next(allocation.ask.resource.objections(), "")
    )


@liberty(
    "existing-never-rejected",
    "An existing allocation is never rejected: what it holds is taken for occupied by others.",
    misjudged_by=("SI-REC-017",),
    departs_from=("SI-REC-008",),
)
def _(inside: Inside) -> None:
    def add(original: Callable[..., Any], rm: Any, allocation: Any, now: float) -> list[Effect]:
        if held(rm, allocation):
            partition = rm.partitions[partition_name(allocation.ask.partition)]
            node = partition.nodes[allocation.node_id]
            node.resize(node.capacity, node.occupied + allocation.ask.resource)
            if node in partition.node_index.index:
                partition.node_index.capacity_used(node)
        effects: list[Effect] = original(rm, allocation, now)
        told: list[Effect] = [one for one in effects if not isinstance(one, RejectedAllocation)]
        if len(told) < len(effects):
            inside.fires()
        return told

    def create(original: Callable[..., Any], rm: Any, info: Any, now: float) -> list[Effect]:
        partition = rm.partitions.get(partition_name(info.partition))
        known = partition.applications if partition is not None else {}
        strangers = [one for one in info.allocations if one.ask.application_id not in known]
        if strangers:
            inside.fires()
            occupied = info.occupied or NOTHING
            for one in strangers:
                occupied += one.ask.resource
            ours = tuple(one for one in info.allocations if one not in strangers)
            info = replace(info, occupied=occupied, allocations=ours)
        effects: list[Effect] = original(rm, info, now)
        return effects

    inside.instead_of(recovery.add, add)
    inside.instead_of(nodes.create, create)


@liberty(
    "unheard-is-lost",
    "What is told on a stream that was never opened is lost.",
    misjudged_by=("SI-REC-006",),
)
def _(inside: Inside) -> None:
    def deliver(
        original: Callable[..., None], table: StreamTable, rm_id: str, method: str, said: Any
    ) -> None:
        is_open = method in table._open.get(rm_id, {})
        has_broken = method in table._lost.get(rm_id, ())
        inside.fires()  # in force: nobody is to speak before all that may answer is open
        if is_open or has_broken:
            original(table, rm_id, method, said)

    inside.instead_of(StreamTable.deliver, deliver)


@liberty(
    "rm-dropped-once",
    "An RM that has nothing any more is dropped, once, and has to register again.",
    misjudged_by=("SI-REG-004", "SI-CONN-009"),
)
def _(inside: Inside) -> None:
    empty: dict[str, int] = {}

    def handle(original: Callable[..., Any], self: Scheduler, event: Any, now: float) -> Any:
        effects = original(self, event, now)
        rm = self.rms.running(event.rm_id)
        if rm is None or not isinstance(event, UpdateNodes):
            return effects
        is_over = any(info.action is NodeAction.DECOMMISSION for info in event.nodes)
        has = any(one.nodes or one.applications for one in rm.partitions.values())
        if is_over and not has:
            times = empty[rm.rm_id] = empty.get(rm.rm_id, 0) + 1
            if times == _EMPTY_TIMES:
                inside.fires()
                self.rms.shut_down(rm, now)
        return effects

    inside.instead_of(Scheduler.handle, handle)
