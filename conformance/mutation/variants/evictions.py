"""Permitted variants of preemption on nodes that have too little, and of how long a stop takes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from sireference.core import foreign_allocations, nodes, recovery, releases, updates
from sireference.core.model import Effect, Release, ReleasedAllocation
from sireference.core.preemption.victims import may_be_preempted
from sireference.core.resources import Resource
from sireference.core.states import TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import CHANGES, variant
from mutation.variants import lifecycles  # noqa: F401  # a variant here alters like one there

_STOP: Final = 0.5  # seconds until a stopped allocation is gone
_WHY: Final = (TerminationType.PREEMPTED_BY_SCHEDULER, "its node has too little")


def _is_short(free: Resource) -> bool:
    return any(amount < 0 for amount in free.amounts.values())


def _preempts(patch: Patch, partition: Any) -> list[Effect]:
    """Preempt the latest allocations of each node that has too little."""
    return [
        ReleasedAllocation(partition.rm_id, release)
        for node in partition.nodes.values()
        for release in _releases(patch, partition, node)
    ]


def _releases(patch: Patch, partition: Any, node: Any) -> Iterator[Release]:
    held = list(partition.allocations.on(node).values())
    free = node.free
    for one in held:
        if one.open_release is not None:
            free += one.record.ask.resource
    for one in reversed(held):
        if _is_short(free) and may_be_preempted(one):
            patch.fires()
            free += one.record.ask.resource
            yield partition.ask_for_release(one, *_WHY)


@variant(
    "overfull-nodes-preempt",
    "Allocations are preempted if their node has too little, by whatever message that came.",
    once_failed_by=("SI-ALLOC-012", "SI-FOR-005"),
    departs_from=("SI-ALLOC-014", "SI-REC-013"),  # by which only placements are held back
    areas=("NODE", "ALLOC", "FOR", "REC"),
)
def _(patch: Patch) -> None:
    def change(original: Original, partition: Any, *rest: Any) -> list[Effect]:
        return [*original(partition, *rest), *_preempts(patch, partition)]

    def report(original: Original, rm: Any, *rest: Any) -> list[Effect]:
        effects = original(rm, *rest)
        for partition in rm.partitions.values():
            effects += _preempts(patch, partition)
        return effects

    for original in (nodes.change, updates.change, recovery.recover):
        patch.instead_of(original, change)
    patch.instead_of(foreign_allocations.report, report)


@variant(
    "shrunk-nodes-preempt-applications",
    "What an application has on a node that shrank below its use is preempted by one release.",
    once_failed_by=("SI-NODE-018", "SI-NODE-043"),
    areas=("NODE",),
)
def _(patch: Patch) -> None:
    def change(original: Original, partition: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, *rest)
        for application in partition.applications.values():
            held = list(partition.allocations.of(application).values())
            if held and all(_is_short(one.node.free) and may_be_preempted(one) for one in held):
                patch.fires()
                *_, release = [partition.ask_for_release(one, *_WHY) for one in held]
                whole = replace(release, identity="", key="")
                effects.append(ReleasedAllocation(partition.rm_id, whole))
        return effects

    patch.instead_of(nodes.change, change)


@variant(
    "stops-take-half-a-second",
    "A stop by the RM takes 0.5 s; asks that do not fit meanwhile are rejected.",
    once_failed_by=("SI-ALLOC-012", "SI-REL-005"),
    departs_from=("SI-ASK-011",),
    areas=("ALLOC", "REL"),
)
def _(patch: Patch) -> None:
    stopping: dict[int, Any] = {}
    CHANGES["rejects-without-capacity"].alter(patch.quietly())

    def stop(
        original: Original, partition: Any, allocation: Any, request: Any, now: float
    ) -> list[Effect]:
        def ends(at: float) -> list[Effect]:
            is_live = partition.allocations.all.get(allocation.record.identity) is allocation
            return original(partition, allocation, request, at) if is_live else []

        if id(allocation) not in stopping:
            patch.fires()
            stopping[id(allocation)] = allocation
            partition.timers.set(now + _STOP, ends)
        return []

    patch.instead_of(releases.stop, stop)
