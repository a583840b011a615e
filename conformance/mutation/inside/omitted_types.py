"""Mutants that need two resource types: one is omitted, another changes or ends."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import applications, nodes, recovery, releases, updates
from sireference.core.resources import Resource
from sireference.core.state.partition import Partition
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.states import NodeAction

from mutation.inside import Original, Patch
from mutation.mutant import mutant

_MEMORY: Final = "memory"
Taken = Callable[[Resource, Resource], Resource]
"""A function of the previous amounts and the new ones that returns those to use."""


def _with_what_was_left_out(before: Resource, now: Resource) -> Resource:
    return Resource({**before.amounts, **now.amounts})


def _with_what_was_zeroed(before: Resource, now: Resource) -> Resource:
    zeroed = {name: before.amounts.get(name, 0) for name, n in now.amounts.items() if n == 0}
    return Resource({**now.amounts, **zeroed})


def _with_its_memory_alone(before: Resource, now: Resource) -> Resource:
    memory = {_MEMORY: now.amounts[_MEMORY]} if _MEMORY in now.amounts else {}
    return Resource({**before.amounts, **memory})


def _without_new_types(before: Resource, now: Resource) -> Resource:
    return Resource({name: n for name, n in now.amounts.items() if name in before.amounts})


def _of_nodes(patch: Patch, taken: Taken) -> None:
    def change(original: Original, held_in: Partition, node: Any, info: Any, now: float) -> Any:
        if info.action is NodeAction.UPDATE and info.capacity is not None:
            capacity = taken(node.capacity, info.capacity)
            if capacity != info.capacity:
                patch.fires()
            info = replace(info, capacity=capacity)
        return original(held_in, node, info, now)

    patch.instead_of(nodes.change, change)


mutant(
    "node-keeps-a-type-left-out",
    "A node update that omits a resource type keeps the old amount of it.",
    breaks=("SI-NODE-018",),
)(partial(_of_nodes, taken=_with_what_was_left_out))
mutant(
    "node-keeps-what-becomes-zero",
    "A node update with zero of a resource type keeps the old amount of it.",
    breaks=("SI-NODE-018",),
)(partial(_of_nodes, taken=_with_what_was_zeroed))
mutant(
    "node-takes-over-memory-alone",
    "Only the memory in a node update counts.",
    breaks=("SI-NODE-017", "SI-NODE-018"),
)(partial(_of_nodes, taken=_with_its_memory_alone))
mutant(
    "node-takes-over-no-new-type",
    "A resource type that a node did not have before does not count in a node update.",
    breaks=("SI-NODE-017",),
)(partial(_of_nodes, taken=_without_new_types))


def _of_what_waits(patch: Patch, taken: Taken) -> None:
    def replaces(original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
        resource = taken(earlier.ask.resource, ask.resource)
        if resource != ask.resource:
            patch.fires()
        original(asks, earlier, replace(ask, resource=resource))

    patch.instead_of(PendingAsks.replace, replaces)


mutant(
    "pending-keeps-a-type-left-out",
    "An ask update that omits a resource type keeps the old amount of it.",
    breaks=("SI-ASK-032",),
)(partial(_of_what_waits, taken=_with_what_was_left_out))
mutant(
    "pending-takes-over-memory-alone",
    "Only the memory in an ask update counts.",
    breaks=("SI-ASK-032",),
)(partial(_of_what_waits, taken=_with_its_memory_alone))
mutant(
    "pending-takes-over-no-new-type",
    "A resource type that an ask did not name before does not count in an ask update.",
    breaks=("SI-ASK-032",),
)(partial(_of_what_waits, taken=_without_new_types))


def _of_live_allocations(patch: Patch, taken: Taken) -> None:
    def change(original: Original, held_in: Any, live: Any, ask: Any, *rest: Any) -> Any:
        resource = taken(live.record.ask.resource, ask.resource)
        if resource != ask.resource:
            patch.fires()
        return original(held_in, live, replace(ask, resource=resource), *rest)

    patch.instead_of(updates.change, change)


mutant(
    "live-keeps-a-type-left-out",
    "An allocation update that omits a resource type keeps the old amount of it.",
    breaks=("SI-ALLOC-012",),
)(partial(_of_live_allocations, taken=_with_what_was_left_out))
mutant(
    "live-takes-over-memory-alone",
    "Only the memory in an allocation update counts.",
    breaks=("SI-ALLOC-012",),
)(partial(_of_live_allocations, taken=_with_its_memory_alone))
mutant(
    "live-takes-over-no-new-type",
    "A resource type that an allocation did not hold before does not count in its update.",
    breaks=("SI-ALLOC-012",),
)(partial(_of_live_allocations, taken=_without_new_types))


@mutant(
    "recovered-counts-its-memory-alone",
    "Only the memory of a recovered allocation is counted on its node and in its queues.",
    breaks=("SI-REC-007",),
)
def _(patch: Patch) -> None:
    recovered: set[str] = set()

    def recover(original: Original, held_in: Partition, record: Any, now: float) -> Any:
        recovered.add(record.identity)
        return original(held_in, record, now)

    def counts(original: Callable[..., None], held_in: Any, allocation: Any, *rest: Any) -> None:
        whole = allocation.record
        if whole.identity in recovered:
            memory = Resource({_MEMORY: whole.ask.resource.amounts.get(_MEMORY, 0)})
            if memory != whole.ask.resource:
                patch.fires()
            allocation.record = replace(whole, ask=replace(whole.ask, resource=memory))
        original(held_in, allocation, *rest)
        allocation.record = whole

    patch.quietly().instead_of(recovery.recover, recover)
    patch.instead_of(Partition.book, counts)
    patch.instead_of(Partition.unbook, counts)


def _ends_as_it_was(patch: Patch, caller: Any) -> None:
    """Give back the first amount of an updated allocation when this call ends it."""
    first: dict[Any, Resource] = {}
    now: list[bool] = []

    def resize(original: Original, held_in: Partition, live: Any, resource: Resource) -> Any:
        first.setdefault(live, live.record.ask.resource)
        return original(held_in, live, resource)

    def course(original: Original, *args: Any) -> Any:
        now.append(True)
        try:
            return original(*args)
        finally:
            now.pop()

    def unbook(original: Original, held_in: Partition, live: Any, *rest: Any) -> Any:
        kept = live.record.ask.resource - first[live] if now and live in first else None
        given = original(held_in, live, *rest)
        if kept is not None:
            patch.fires()
            live.application.quotas.book(kept)
            live.node.book(kept)
        return given

    patch.quietly().instead_of(Partition.resize, resize)
    patch.quietly().instead_of(caller, course)
    patch.instead_of(Partition.unbook, unbook)


mutant(
    "updated-ends-as-it-was-with-its-node",
    "When a node goes, an updated allocation gives back its first amount.",
    breaks=("SI-ALLOC-012",),
)(partial(_ends_as_it_was, caller=nodes.decommission))
mutant(
    "updated-ends-as-it-was-with-its-application",
    "When an application is removed, an updated allocation gives back its first amount.",
    breaks=("SI-ALLOC-012",),
)(partial(_ends_as_it_was, caller=applications.remove))
mutant(
    "updated-ends-as-it-was-when-released",
    "When the RM releases an updated allocation, it gives back its first amount.",
    breaks=("SI-ALLOC-012",),
)(partial(_ends_as_it_was, caller=releases.release))
