"""Mutants that overlook one of several: the second, the longest waiting, one elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import (
    allocations,
    application_lifecycle,
    asks,
    nodes,
    recovery,
    releases,
    scheduler,
)
from sireference.core.gang import replacement
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Effect,
    ForeignAllocation,
    RejectedNode,
    ReleasedAllocation,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.state.allocation import Allocation
from sireference.core.states import ApplicationState, NodeAction, NodeState

from mutation.inside import Original, Patch
from mutation.inside.asks import reported_with
from mutation.mutant import mutant
from mutation.patching import instead_of

_MANY: Final = 5
_LONG: Final = 1.0  # seconds
_CREATIONS: Final = (NodeAction.CREATE, NodeAction.CREATE_DRAIN)


@mutant(
    "foreign-forgotten-at-an-update",
    "Foreign allocations on a node do not count once the node is updated.",
    breaks=("SI-FOR-009",),
)
def _(patch: Patch) -> None:
    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        for key in list(partition.foreign.on(node)) if info.action is NodeAction.UPDATE else ():
            patch.fires()
            partition.foreign.take_away(key)
        return original(partition, node, info, now)

    patch.instead_of(nodes.change, change)


def _reports_the_first(patch: Patch, of: Any) -> None:
    def ends(original: Original, *args: Any) -> list[Effect]:
        effects = original(*args)
        received = [effect for effect in effects if isinstance(effect, ReleasedAllocation)]
        if len(received) > _MANY:
            patch.fires()
        return [effect for effect in effects if effect not in received[_MANY:]]

    patch.instead_of(of, ends)


mutant(
    "only-five-ends-per-node",
    "Of the allocations that end with a node only five are reported.",
    breaks=("SI-NODE-032",),
)(partial(_reports_the_first, of=nodes.decommission))
mutant(
    "only-five-ends-per-release",
    "Of the allocations that end with a release of all only five are reported.",
    breaks=("SI-REL-003",),
)(partial(_reports_the_first, of=releases.release))


@mutant(
    "recovered-leaves-it-waiting",
    "A recovered allocation does not end the waiting of its application.",
    breaks=("SI-REC-014",),
)
@instead_of(recovery.recover)
def _(patch: Patch, original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
    application = partition.applications[record.ask.application_id]
    if application.state is not ApplicationState.COMPLETING:
        return original(partition, record, now)
    patch.fires()
    allocation = Allocation(record, application, partition.nodes[record.node_id])
    partition.book(allocation)
    return []


def _does_not_count(patch: Patch, is_meant: Callable[[Any, float], bool]) -> None:
    """Let an application wait although such asks of it are pending."""

    def settle(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        meant = [one for one in application.pending.values() if is_meant(one, now)]
        if not meant or len(meant) < len(application.pending):
            return original(partition, application, now)
        kept, application.pending = application.pending, {}
        try:
            effects = original(partition, application, now)
        finally:
            application.pending = kept
        if effects:
            patch.fires()
        return effects

    patch.instead_of(application_lifecycle.settle, settle)


@mutant(
    "parked-is-not-pending",
    "An ask that waits for a replacement does not keep its application from waiting.",
    breaks=("SI-APP-027",),
)
def _(patch: Patch) -> None:
    _does_not_count(patch, lambda pending, _: bool(pending.awaiting))


@mutant(
    "pending-for-a-second-is-not-pending",
    "An ask pending for a second does not keep its application from waiting.",
    breaks=("SI-APP-027",),
)
def _(patch: Patch) -> None:
    since: dict[Any, float] = {}

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        since[ask.application_id, ask.key] = now
        return original(rm, ask, now)

    def is_old(pending: Any, now: float) -> bool:
        key = pending.application.application_id, pending.ask.key
        return now - since.get(key, now) >= _LONG

    patch.quietly().instead_of(asks.add, add)
    _does_not_count(patch, is_old)


@mutant(
    "duplicate-shrinks-the-node",
    "A rejected duplicate sets the node to the smaller capacity of the two.",
    breaks=("SI-NODE-003",),
)
@instead_of(nodes.update)
def _(patch: Patch, original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
    effects = original(rm, info, now)
    known = rm.node(info.node_id)
    is_rejected = any(isinstance(effect, RejectedNode) for effect in effects)
    if known and is_rejected and info.capacity is not None:
        partition, node = known
        if info.capacity.fits(node.capacity) and info.capacity != node.capacity:
            patch.fires()
            partition.total = partition.total - node.capacity + info.capacity
            node.resize(info.capacity, node.occupied)
    return effects


@mutant(
    "comes-back-draining",
    "A node removed while draining is draining when it is created again.",
    breaks=("SI-NODE-010",),
)
def _(patch: Patch) -> None:
    drained: set[str] = set()

    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        if node.state is NodeState.DRAINING and info.action is NodeAction.DECOMMISSION:
            drained.add(node.node_id)
        return original(partition, node, info, now)

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        if info.node_id in drained and info.action is NodeAction.CREATE:
            patch.fires()
            info = replace(info, action=NodeAction.CREATE_DRAIN)
        return original(rm, info, now)

    patch.quietly().instead_of(nodes.change, change)
    patch.instead_of(nodes.create, create)


@mutant(
    "negative-priorities-never-served",
    "An ask with a negative priority waits for ever.",
    breaks=("SI-ALLOC-003",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    if ask.priority < 0:
        patch.fires()
        return []
    return original(rm, ask, now)


@mutant(
    "negative-priorities-reported-as-zero",
    "A negative priority is reported as zero in the allocation.",
    breaks=("SI-ALLOC-003",),
)
@instead_of(allocations.make)
def _(patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, pending, *rest)
    return reported_with(patch, effects, priority=max(0, pending.ask.priority))


@mutant(
    "placeholder-of-another-application",
    "A real ask replaces a placeholder of another application with the same task group.",
    breaks=("SI-GANG-017",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Original, partition: Any, pending: Any) -> Any:
    own = original(partition, pending)
    if own is not None or not pending.key.replaces:
        return own
    for application in partition.applications.values():
        gang = partition.gangs.get(application)
        group = gang.replaceable.get(pending.key.replaces) if gang is not None else None
        if group:
            patch.fires()
            return next(iter(group.values()))
    return None


def _keeps_the_first(patch: Patch, of: Any, field: str, by: Callable[[Any], Any]) -> None:
    """Keep only the first of several parts of a message about the same object."""

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        if isinstance(event, of):
            sent = getattr(event, field)
            first = {by(one): one for one in reversed(sent)}
            kept = tuple(one for one in sent if first[by(one)] is one)
            if len(kept) < len(sent):
                patch.fires()
                event = replace(event, **{field: kept})
        return original(rm, event, now)

    patch.instead_of(scheduler.apply, apply)


def _key(entry: Any) -> tuple[str, str]:
    ask = getattr(entry, "ask", entry)
    return ask.application_id, ask.key


def _if_foreign(entry: Any) -> Any:
    return isinstance(entry, ForeignAllocation) or id(entry)


def _if_without_application(release: Any) -> Any:
    return not getattr(release.subject, "application_id", "") or id(release)


mutant(
    "first-of-equal-keys-counts",
    "Of several asks with one key in one message only the first counts.",
    breaks=("SI-ASK-003",),
)(partial(_keeps_the_first, of=UpdateAllocations, field="entries", by=_key))


@mutant(
    "one-node-of-a-message",
    "Of several actions on nodes in one message only the first is carried out.",
    breaks=("SI-NODE-026",),
)
def _(patch: Patch) -> None:
    def action(info: Any) -> str:
        return info.node_id if info.action in _CREATIONS else ""

    _keeps_the_first(patch, UpdateNodes, "nodes", action)


mutant(
    "one-action-beside-a-creation",
    "Further entries for a node after its creation in a message are ignored.",
    breaks=("SI-NODE-037",),
)(partial(_keeps_the_first, of=UpdateNodes, field="nodes", by=lambda info: info.node_id))
mutant(
    "one-foreign-report-of-a-message",
    "Of several foreign allocations reported in one message only the first counts.",
    breaks=("SI-FOR-002",),
)(partial(_keeps_the_first, of=UpdateAllocations, field="entries", by=_if_foreign))
mutant(
    "one-foreign-release-of-a-message",
    "Of several releases of foreign allocations in one message only the first is carried out.",
    breaks=("SI-FOR-003",),
)(partial(_keeps_the_first, of=UpdateAllocations, field="releases", by=_if_without_application))
mutant(
    "one-removal-of-a-message",
    "Of several applications that one message removes only the first is removed.",
    breaks=("SI-APP-018",),
)(partial(_keeps_the_first, of=UpdateApplications, field="remove", by=lambda _: None))
mutant(
    "one-release-of-a-message",
    "Of several releases in one message only the first is carried out.",
    breaks=("SI-REL-001",),
)(partial(_keeps_the_first, of=UpdateAllocations, field="releases", by=lambda _: None))


def _is_done_once(patch: Patch, is_counted: Callable[[Any, Any], bool]) -> None:
    """Ignore such a request for a node from the second time on; it takes node and request."""
    done: set[Any] = set()

    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        if is_counted(node, info):
            if node in done:
                patch.fires()
                return []
            done.add(node)
        return original(partition, node, info, now)

    patch.instead_of(nodes.change, change)


def _resizes(patch: Patch, is_counted: Callable[[Any, Any], bool]) -> None:
    """Ignore such a change of a node's capacity, given before and after, from the second on."""

    def counted(node: Any, info: Any) -> bool:
        is_update = info.action is NodeAction.UPDATE and info.capacity is not None
        return is_update and is_counted(node.capacity, info.capacity)

    _is_done_once(patch, counted)


mutant(
    "drained-once",
    "Only the first drain of a node has an effect.",
    breaks=("SI-NODE-026",),
)(partial(_is_done_once, is_counted=lambda _, info: info.action is NodeAction.DRAIN_NODE))
mutant(
    "undrained-once",
    "Only the first undrain of a node has an effect.",
    breaks=("SI-NODE-028",),
)(partial(_is_done_once, is_counted=lambda _, info: info.action is NodeAction.DRAIN_TO_SCHEDULABLE))
mutant(
    "grows-only-once",
    "An update to more capacity is ignored on a node that has grown before.",
    breaks=("SI-NODE-017",),
)(partial(_resizes, is_counted=lambda before, after: not after.fits(before)))
mutant(
    "shrinks-only-once",
    "An update to less capacity is ignored on a node that has shrunk before.",
    breaks=("SI-NODE-018",),
)(partial(_resizes, is_counted=lambda before, after: not before.fits(after)))
mutant(
    "resized-only-once",
    "Every update of a node's capacity after the first is ignored.",
    breaks=("SI-NODE-017", "SI-NODE-018"),
)(partial(_resizes, is_counted=lambda before, after: bool(before != after)))


def _with_priority(entry: Any, priority: int) -> Any:
    return replace(entry, priority=priority) if isinstance(entry, Ask) else entry


@mutant(
    "asks-of-a-message-share-a-priority",
    "The asks of one message all have the priority of the last.",
    breaks=("SI-ALLOC-003",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateAllocations):
        asks = [one for one in (*event.asks, *event.entries) if isinstance(one, Ask)]
        if len({ask.priority for ask in asks}) > 1:
            patch.fires()
            last = asks[-1].priority
            event = replace(
                event,
                asks=tuple(_with_priority(ask, last) for ask in event.asks),
                entries=tuple(_with_priority(one, last) for one in event.entries),
            )
    return original(rm, event, now)


@mutant(
    "first-ask-release-of-a-message-only",
    "Of several ask releases in one message only the first is carried out.",
    breaks=("SI-REL-015",),
    revision="2023-12",
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateAllocations) and len(event.ask_releases) > 1:
        patch.fires()
        event = replace(event, ask_releases=event.ask_releases[:1])
    return original(rm, event, now)


def _drops_updates(patch: Patch, dropped: Callable[[list[str]], list[bool]]) -> None:
    """Ignore updates of live allocations in a message; it takes their keys in order."""

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        if isinstance(event, UpdateAllocations):
            live = {key for held in rm.partitions.values() for key in held.allocations.all}
            records = (one for one in event.entries if isinstance(one, AllocationRecord))
            updates = [one for one in records if one.ask.key in live]
            are_dropped = dropped([one.ask.key for one in updates])
            later = {id(one) for one, drop in zip(updates, are_dropped, strict=True) if drop}
            if later:
                patch.fires()
                kept = tuple(one for one in event.entries if id(one) not in later)
                event = replace(event, entries=kept)
        return original(rm, event, now)

    patch.instead_of(scheduler.apply, apply)


mutant(
    "first-update-in-a-message-counts",
    "Of several updates of a live allocation in one message only the first counts.",
    breaks=("SI-ALLOC-012",),
    revision="2024-10",
)(partial(_drops_updates, dropped=lambda keys: [k in keys[:i] for i, k in enumerate(keys)]))
mutant(
    "one-updated-allocation-of-a-message",
    "Of several live allocations that a message updates only the first is updated.",
    breaks=("SI-ALLOC-012",),
    revision="2024-10",
)(partial(_drops_updates, dropped=lambda keys: [key != keys[0] for key in keys]))
