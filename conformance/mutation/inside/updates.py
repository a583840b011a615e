"""Mutants of live allocations that the RM updates to another amount."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import allocation_end, recovery, snapshot, updates
from sireference.core.model import Effect, NewAllocation, RejectedAllocation, ReleasedAllocation
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.partition import Partition
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.state.user_quota import UserQuota
from sireference.core.states import NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.inside.gang_admission import restart_timeout
from mutation.inside.node_actions import ends_draining
from mutation.inside.swaps import after_replacement
from mutation.mutant import mutant
from mutation.patching import instead_of

_NAME: Final = "2024-10"
_mutant: Final = partial(mutant, revision=_NAME)
_Original = Callable[..., Any]


@_mutant(
    "live-updates-ignored",
    "The update of a live allocation's amount is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, _original: _Original, *_: Any) -> Any:
    patch.fires()
    return []


@_mutant(
    "live-updates-add-up",
    "The updated amount of a live allocation is added to the old one.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(Partition.resize)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
    patch.fires()
    return original(held_in, live, live.record.ask.resource + resource)


def _uncounted(patch: Patch, is_passed_over: Callable[[Any, Any], bool]) -> None:
    """Do not count updates in some of the quotas."""

    def resize(original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
        more = resource - live.record.ask.resource
        shrinks = original(held_in, live, resource)
        for quota in live.application.quotas:
            if is_passed_over(live, quota):
                patch.fires()
                quota.unbook(more)
        return shrinks

    patch.instead_of(Partition.resize, resize)


_mutant(
    "updates-count-in-leaves-only",
    "The update of a live allocation's amount does not count in the parents of its queue.",
    breaks=("SI-ALLOC-012",),
)(partial(_uncounted, is_passed_over=lambda live, quota: quota in live.application.leaf.path[1:]))
_mutant(
    "updates-not-counted-for-users",
    "The update of a live allocation's amount does not count for its user.",
    breaks=("SI-ALLOC-012",),
)(partial(_uncounted, is_passed_over=lambda _live, quota: isinstance(quota, UserQuota)))
_mutant(
    "placeholder-updates-not-counted-in-quotas",
    "The update of a placeholder's amount does not count in any quota.",
    breaks=("SI-ALLOC-012",),
)(partial(_uncounted, is_passed_over=lambda live, _quota: live.is_placeholder))


@_mutant(
    "update-reported-as-an-end",
    "An update is reported as the release of the previous allocation.",
    breaks=("SI-ALLOC-013",),
)
@instead_of(updates.change)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, *rest: Any) -> Any:
    patch.fires()
    release = live.release(TerminationType.STOPPED_BY_RM, "it has another size now")
    return [*original(held_in, live, *rest), ReleasedAllocation(held_in.rm_id, release)]


@_mutant(
    "update-reported-on-another-node",
    "An update is reported as a new allocation on the wrong node.",
    breaks=("SI-ALLOC-013",),
)
@instead_of(updates.change)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, *rest: Any) -> Any:
    patch.fires()
    record = replace(live.record, node_id="elsewhere")
    received = NewAllocation(held_in.rm_id, record, live.application.leaf.name)
    return [*original(held_in, live, *rest), received]


def _rejects(patch: Patch, is_too_much: Callable[[Any, Any], bool]) -> None:
    """Reject updates by which the allocation grows too much."""

    def change(original: _Original, held_in: Any, live: Any, ask: Any, *rest: Any) -> Any:
        if is_too_much(live, ask.resource - live.record.ask.resource):
            patch.fires()
            reason = "it does not fit"
            return [RejectedAllocation(held_in.rm_id, ask.key, ask.application_id, reason)]
        return original(held_in, live, ask, *rest)

    patch.instead_of(updates.change, change)


_mutant(
    "update-needs-capacity-on-its-node",
    "An update that does not fit its node is rejected.",
    breaks=("SI-ALLOC-014",),
)(partial(_rejects, is_too_much=lambda live, more: not more.fits(live.node.free)))
_mutant(
    "update-needs-capacity-in-its-queue",
    "An update that exceeds the quota of its queue is rejected.",
    breaks=("SI-ALLOC-014",),
)(partial(_rejects, is_too_much=lambda live, more: not live.application.leaf.has_capacity(more)))


@_mutant(
    "updated-onto-two-nodes",
    "An update that names another node also takes capacity there.",
    breaks=("SI-ALLOC-015",),
)
@instead_of(updates.change)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, ask: Any, *rest: Any) -> Any:
    _, *named = rest  # the time, and a node if one is named
    other = held_in.nodes.get(named[0]) if named else None
    if other is None or other is live.node:
        return original(held_in, live, ask, *rest)
    patch.fires()
    other.book(ask.resource)
    return []


@_mutant(
    "growth-of-a-placeholder-is-real",
    "The growth of a placeholder is shown as a real allocation.",
    breaks=("SI-ALLOC-016",),
)
def _(patch: Patch) -> None:
    first: dict[Any, Any] = {}

    def resize(original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
        first.setdefault(live, live.record.ask.resource)
        return original(held_in, live, resource)

    def add_up(_original: _Original, held: Any) -> Any:
        total = NOTHING
        for allocation in held:
            if allocation in first:
                patch.fires()
            total += first.get(allocation, allocation.record.ask.resource)
        return total

    patch.quietly().instead_of(Partition.resize, resize)
    patch.instead_of(snapshot.total, add_up)


@_mutant(
    "parked-ask-booked-as-it-was",
    "A replacement also takes the capacity of its ask before the update.",
    breaks=("SI-ALLOC-016",),
)
def _(patch: Patch) -> None:
    first: dict[str, Any] = {}

    def put(original: _Original, pending: Any, earlier: Any, ask: Any) -> None:
        if earlier.ask.task_group:
            first.setdefault(ask.key, earlier.ask.resource)
        original(pending, earlier, ask)

    def book(original: _Original, held_in: Any, allocation: Any) -> None:
        original(held_in, allocation)
        before = first.get(allocation.record.identity)
        if before is not None:
            patch.fires()
            allocation.node.book(before)

    patch.quietly().instead_of(PendingAsks.replace, put)
    patch.instead_of(Partition.book, book)


@mutant(
    "updates-on-draining-nodes-ignored",
    "The update of a live allocation on a draining node is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.node.state is NodeState.DRAINING:
        patch.fires()
        return []
    return original(partition, live, *rest)


@mutant(
    "updates-below-zero-count",
    "The update of a live allocation to an amount below zero is accepted.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.objections_to_amount)
def _(patch: Patch, original: Original, ask: Any) -> Any:
    if any(original(ask)):
        patch.fires()
    return iter(())


@mutant(
    "updates-of-leaving-allocations-ignored",
    "The update of an allocation whose release is open is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.open_release is not None:
        patch.fires()
        return []
    return original(partition, live, *rest)


@_mutant(
    "victims-free-their-first-amount",
    "A preempted allocation frees the amount it had before its updates.",
    breaks=("SI-ALLOC-012",),
)
def _(patch: Patch) -> None:
    first: dict[Any, Any] = {}

    def resize(original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
        first.setdefault(live, live.record.ask.resource)
        return original(held_in, live, resource)

    def unbook(original: _Original, held_in: Any, live: Any, termination: Any) -> None:
        if live in first and termination is TerminationType.PREEMPTED_BY_SCHEDULER:
            patch.fires()
            too_much = first[live] - live.record.ask.resource
            live.node.unbook(too_much)
            live.application.quotas.unbook(too_much)
        original(held_in, live, termination)

    patch.quietly().instead_of(Partition.resize, resize)
    patch.instead_of(Partition.unbook, unbook)


@mutant(
    "update-restarts-the-placeholder-timeout",
    "The update of a placeholder restarts the timeout of its gang.",
    breaks=("SI-GANG-031",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, live, *rest)
    restart_timeout(patch, partition, live, now=rest[1])
    return effects


@_mutant(
    "updates-of-replacements-ignored",
    "The update of an allocation that replaced a placeholder is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
def _(patch: Patch) -> None:
    replacements: set[Any] = set()
    after_replacement(patch.quietly(), lambda live, _gone: replacements.add(live))

    def change(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        if live in replacements:
            patch.fires()
            return []
        return original(partition, live, *rest)

    patch.instead_of(updates.change, change)


@_mutant(
    "updates-of-recovered-allocations-ignored",
    "The update of an allocation that was recovered is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
def _(patch: Patch) -> None:
    recovered: set[tuple[str, str]] = set()

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        recovered.add((partition.rm_id, record.identity))
        return original(partition, record, now)

    def change(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        if (partition.rm_id, live.record.identity) in recovered:
            patch.fires()
            return []
        return original(partition, live, *rest)

    patch.quietly().instead_of(recovery.recover, recover)
    patch.instead_of(updates.change, change)


@_mutant(
    "updated-victims-end-unconfirmed",
    "The update of a preempted allocation ends it before the RM confirms its release.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, live, *rest)
    _ask, now, *_ = rest
    if live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
        patch.fires()
        effects += allocation_end.end(partition, live, live.open_release, now)
    return effects


@_mutant(
    "updates-count-up-to-the-capacity",
    "The update of an allocation is counted on its node only as far as that has capacity.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(Partition.resize)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
    shrinks = original(held_in, live, resource)
    uncounted = {name: -amount for name, amount in live.node.free.amounts.items() if amount < 0}
    if uncounted:
        patch.fires()
        live.node.unbook(Resource(uncounted))
    return shrinks


@_mutant(
    "update-ends-draining",
    "The update of an allocation on a draining node makes the node schedulable.",
    breaks=("SI-NODE-026",),
)
@instead_of(Partition.resize)
def _(patch: Patch, original: _Original, held_in: Any, live: Any, resource: Any) -> Any:
    shrinks = original(held_in, live, resource)
    ends_draining(patch, held_in, live.node)
    return shrinks
