"""Permitted variants of reused keys, and of how they are answered (2024-10 on)."""

from collections.abc import Callable, Iterator
from typing import Any

from sireference.core import (
    application_lifecycle,
    asks,
    foreign_allocations,
    nodes,
    recovery,
    updates,
)
from sireference.core.model import (
    Ask,
    Effect,
    ForeignAllocation,
    NewAllocation,
    RejectedAllocation,
    RejectedAsk,
    Release,
    ReleasedAllocation,
    ReleasedAsk,
)
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType
from sireference.core.withdrawal import withdraw as withdrawal

from mutation.inside import Original, Patch
from mutation.mutant import variant
from mutation.patching import instead_of

_LATER = 1.2  # seconds


@variant(
    "updates-are-echoed",
    "An update of an allocation is answered with the current allocation.",
    once_failed_by=("SI-ALLOC-008", "SI-ALLOC-013", "SI-ASK-027"),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, live, *rest)
    if any(isinstance(one, RejectedAllocation) for one in effects):
        return effects
    patch.fires()
    echo = NewAllocation(partition.rm_id, live.record, live.application.leaf.name)
    return [echo, *effects]


@variant(
    "updates-are-refused",
    "Every update of an allocation is rejected.",
    once_failed_by=("SI-ALLOC-012", "SI-ALLOC-014"),
    departs_from=("SI-ALLOC-014", "SI-REC-025"),
)
@instead_of(updates.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], *args: Any) -> Iterator[str]:
    yield from original(*args)
    patch.fires()
    yield "what is allocated stays as it is"


@variant(
    "ended-keys-are-refused",
    "The key of an ended allocation is never accepted again.",
    once_failed_by=("SI-ASK-028", "SI-REC-026"),
)
def _(patch: Patch) -> None:
    ended: dict[int, tuple[Any, set[str]]] = {}  # with the partition, in which the key is unique

    def unbook(original: Callable[..., None], partition: Any, live: Any, *rest: Any) -> None:
        ended.setdefault(id(partition), (partition, set()))[1].add(live.record.ask.key)
        original(partition, live, *rest)

    def is_over(partition: Any, key: str) -> bool:
        return partition is not None and key in ended.get(id(partition), (None, set[str]()))[1]

    def objections(
        original: Callable[..., Iterator[str]], partition: Any, application: Any, ask: Ask
    ) -> Iterator[str]:
        yield from original(partition, application, ask)
        if is_over(partition, ask.key):
            patch.fires()
            yield "the allocation of this key is over"

    def objections_to_existing(
        original: Callable[..., Iterator[str]], partition: Any, allocation: Any, *rest: Any
    ) -> Iterator[str]:
        yield from original(partition, allocation, *rest)
        if is_over(partition, allocation.ask.key):
            patch.fires()
            yield "the allocation of this key is over"

    patch.instead_of(Partition.unbook, unbook)
    patch.instead_of(asks.objections, objections)
    patch.instead_of(recovery.objections, objections_to_existing)


@variant(
    "only-the-scheduler-places",
    "A pending ask that the RM assigns to a node is rejected there and stays pending.",
    once_failed_by=("SI-ASK-031",),
    departs_from=("SI-ASK-031",),
)
def _(patch: Patch) -> None:
    def objections(
        original: Callable[..., Iterator[str]],
        partition: Any,
        allocation: Any,
        pending: Any = None,
    ) -> Iterator[str]:
        yield from original(partition, allocation, pending)
        if pending is not None:
            patch.fires()
            yield "it waits for a node, and gets one from the scheduler"

    patch.instead_of(recovery.objections, objections)


@variant(
    "foreign-is-refused",
    "Foreign allocations are not supported: each report is rejected.",
    once_failed_by=("SI-FOR-002", "SI-FOR-004"),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, _: Original, rm: Any, foreign: ForeignAllocation, __: float) -> list[Effect]:
    patch.fires()
    named = (foreign.key, foreign.application_id)
    return [RejectedAllocation(rm.rm_id, *named, "foreign allocations are not supported")]


@variant(
    "foreign-is-ignored",
    "Foreign allocations are not supported: a report is not answered.",
    once_failed_by=("SI-FOR-002", "SI-FOR-004"),
    departs_from=("SI-FOR-004", "SI-FOR-010"),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, _: Original, __: Any, ___: ForeignAllocation, ____: float) -> list[Effect]:
    patch.fires()
    return []


@variant(
    "foreign-ends-are-confirmed",
    "The release of a foreign allocation is confirmed like any other.",
    once_failed_by=("SI-FOR-003", "SI-FOR-008", "SI-REL-023"),
)
def _(patch: Patch) -> None:
    def release(
        original: Original, partition: Any, key: str, termination: TerminationType, now: float
    ) -> list[Effect]:
        is_there = key in partition.foreign
        effects = original(partition, key, termination, now)
        if not is_there or key in partition.foreign:
            return effects
        patch.fires()
        return [_foreign_release(partition, key, "released by the RM"), *effects]

    patch.instead_of(foreign_allocations.release, release)


@variant(
    "foreign-ends-with-its-node",
    "The end of a node is reported for the foreign allocations on it, too.",
    once_failed_by=("SI-REL-023",),
)
@instead_of(nodes.decommission)
def _(patch: Patch, original: Original, partition: Any, node: Any, now: float) -> list[Effect]:
    message = "its node was decommissioned"
    ended = [_foreign_release(partition, key, message) for key in partition.foreign.on(node)]
    if ended:
        patch.fires()
    return [*original(partition, node, now), *ended]


def _foreign_release(partition: Any, key: str, message: str) -> ReleasedAllocation:
    """Return the report that a foreign allocation ended."""
    over = Release(
        partition=partition.name,
        application_id="",
        identity=key,
        termination=TerminationType.STOPPED_BY_RM,
        key=key,
        message=message,
    )
    return ReleasedAllocation(partition.rm_id, over)


@variant(
    "withdrawals-are-silent",
    "The withdrawal of a pending ask is not answered.",
    once_failed_by=("SI-REL-019",),
    departs_from=("SI-REL-019",),
)
@instead_of(withdrawal)
def _(patch: Patch, original: Original, *args: Any) -> list[Effect]:
    patch.fires()
    return [one for one in original(*args) if not isinstance(one, ReleasedAsk)]


@variant(
    "withdrawals-are-confirmed-late",
    "The withdrawal of a pending ask is confirmed 1.2 s later.",
    once_failed_by=("SI-REL-019", "SI-REL-015", "SI-ASK-018"),
)
@instead_of(withdrawal)
def _(patch: Patch, original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
    effects = original(partition, pending, now)
    received = [one for one in effects if isinstance(one, ReleasedAsk)]
    patch.fires()
    partition.timers.set(now + _LATER, lambda _: received)
    return [one for one in effects if one not in received]


@variant(
    "withdrawals-are-rejections",
    "A pending ask that is withdrawn is reported as rejected, as the RM asked.",
    once_failed_by=("SI-REL-019", "SI-ASK-019", "SI-ASK-022"),
    departs_from=("SI-REL-019",),
)
@instead_of(withdrawal)
def _(patch: Patch, original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
    patch.fires()
    named = (pending.ask.key, pending.ask.application_id)
    rejected = RejectedAsk(partition.rm_id, *named, "rejected as the RM asked")
    effects = original(partition, pending, now)
    return [rejected if isinstance(one, ReleasedAsk) else one for one in effects]


@variant(
    "asks-of-a-gang-are-rejected",
    "Pending asks of a gang are reported as rejected at its timeout.",
    once_failed_by=("SI-GANG-033", "SI-ASK-019", "SI-ASK-022"),
)
@instead_of(application_lifecycle.withdraw)
def _(patch: Patch, original: Original, partition: Any, *rest: Any) -> list[Effect]:
    received: list[Effect] = []
    for effect in original(partition, *rest):
        if isinstance(effect, ReleasedAsk):
            patch.fires()
            named = (effect.release.key, effect.release.application_id)
            received.append(RejectedAsk(partition.rm_id, *named, "its gang timed out"))
        else:
            received.append(effect)
    return received
