"""Mutants of keys as identity: one allocation at a time per key, pending or live."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.codec import r2024_10
from sireference.core import allocations, applications, asks, recovery, releases, updates
from sireference.core.model import (
    AskedAndHeld,
    Effect,
    NewAllocation,
    OneOfKey,
    RejectedAllocation,
    RejectedAsk,
    ReleasedAllocation,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocations
from sireference.core.state.pending_asks import PendingAsks
from siwire.r2023_12 import si_pb2 as older

from mutation.inside import Original, Patch
from mutation.inside.asks import first_values_stay
from mutation.inside.releasing import application_of, is_of_all
from mutation.mutant import mutant
from mutation.patching import instead_of

_NAME: Final = "2024-10"
_mutant: Final = partial(mutant, revision=_NAME)


def ended_keys(patch: Patch) -> set[str]:
    """Return the list of the keys that end, filled as they do."""
    ended: set[str] = set()

    def remove(original: Callable[..., None], held: Any, allocation: Any) -> None:
        ended.add(allocation.record.identity)
        original(held, allocation)

    patch.quietly().instead_of(Allocations.remove, remove)
    return ended


@_mutant(
    "key-in-use-gets-another-allocation",
    "An ask with the key of a live allocation also gets an allocation on another node.",
    breaks=("SI-ASK-027",),
)
@instead_of(updates.change)
def _(
    patch: Patch, original: Callable[..., Any], partition: Any, live: Any, ask: Any, *rest: Any
) -> Any:
    received = original(partition, live, ask, *rest)
    others = (node for node in partition.nodes.values() if node is not live.node)
    other = next((node for node in others if ask.resource.fits(node.free)), None)
    if other is None or len(rest) > 1:  # with or without a required node
        return received
    patch.fires()
    other.book(ask.resource)
    record = replace(live.record, node_id=other.node_id)
    return [*received, NewAllocation(partition.rm_id, record, live.application.leaf.name)]


@_mutant(
    "second-lifecycle-announced-twice",
    "The allocation of a reused key is announced twice.",
    breaks=("SI-ALLOC-008",),
)
def _(patch: Patch) -> None:
    ended = ended_keys(patch)

    def make(
        original: Callable[..., Any], partition: Any, pending: Any, node: Any, now: float
    ) -> Any:
        received = original(partition, pending, node, now)
        if pending.ask.key not in ended:
            return received
        patch.fires()
        return [*received, *(one for one in received if isinstance(one, NewAllocation))]

    patch.instead_of(allocations.make, make)


@_mutant(
    "second-lifecycle-ends-silently",
    "The release of an allocation whose key was used before is not confirmed.",
    breaks=("SI-REL-001",),
)
def _(patch: Patch) -> None:
    ended = ended_keys(patch)

    def stop(
        original: Callable[..., Any], partition: Any, live: Any, request: Any, now: float
    ) -> Any:
        is_again = live.record.ask.key in ended
        received = original(partition, live, request, now)
        if not is_again:
            return received
        patch.fires()
        return [one for one in received if not isinstance(one, ReleasedAllocation)]

    patch.instead_of(releases.stop, stop)


_mutant(
    "first-priority-of-a-key-stays",
    "Updates of the priority of a pending ask are ignored.",
    breaks=("SI-ASK-029",),
)(first_values_stay("priority"))
_mutant(
    "first-node-of-a-key-stays",
    "Updates of the required node of a pending ask are ignored.",
    breaks=("SI-ASK-029",),
)(first_values_stay("tags", "required_node"))
_mutant(
    "first-policy-of-a-key-stays",
    "Updates of the preemption policy of a pending ask are ignored.",
    breaks=("SI-ASK-029",),
)(first_values_stay("preemption_policy"))
_mutant(
    "first-group-of-a-key-stays",
    "Updates of the task group of a pending ask are ignored.",
    breaks=("SI-ASK-029",),
)(first_values_stay("task_group", "placeholder"))


@_mutant(
    "refused-update-drops-the-ask",
    "A rejected update ends the pending ask.",
    breaks=("SI-ASK-030",),
)
def _(patch: Patch) -> None:
    def drops(original: Callable[..., Any], rm: Any, sent: Any, now: float) -> Any:
        received = original(rm, sent, now)
        ask = getattr(sent, "ask", sent)
        partition = rm.partitions.get(partition_name(ask.partition))
        pending = partition and updates.of_pending(partition, ask)
        if pending and any(isinstance(one, RejectedAsk | RejectedAllocation) for one in received):
            patch.fires()
            partition.asks.drop(pending)
        return received

    patch.instead_of(asks.add, drops)
    patch.instead_of(recovery.add, drops)


@_mutant(
    "refused-update-is-made",
    "The update of a live allocation is rejected and applied.",
    breaks=("SI-ASK-030",),
)
@instead_of(updates.change)
def _(
    patch: Patch, original: Callable[..., Any], partition: Any, live: Any, ask: Any, *rest: Any
) -> Any:
    received = original(partition, live, ask, *rest)
    if any(isinstance(one, RejectedAllocation) for one in received):
        patch.fires()
        partition.resize(live, ask.resource)
    return received


@_mutant(
    "placement-by-the-rm-passed-over",
    "A pending ask that comes again with a node stays pending.",
    breaks=("SI-ASK-031",),
)
@instead_of(updates.place)
def _(patch: Patch, _original: Callable[..., Any], *_: Any) -> Any:
    patch.fires()
    return []


@_mutant(
    "placed-by-the-rm-and-still-pending",
    "A pending ask that the RM has placed is served again.",
    breaks=("SI-ASK-031",),
)
def _(patch: Patch) -> None:
    def place(
        original: Callable[..., Any], partition: Any, pending: Any, record: Any, now: float
    ) -> Any:
        patch.fires()
        application, ask = pending.application, pending.ask
        received = original(partition, pending, record, now)
        partition.asks.queue_up(application, ask)
        return received

    patch.instead_of(updates.place, place)


@_mutant(
    "released-under-any-application",
    "A release by key ends its allocation regardless of the application it names.",
    breaks=("SI-REL-028",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    subject = request.subject
    partition = rm.partitions.get(partition_name(request.partition))
    live = (
        partition.allocations.all.get(subject.key)
        if partition is not None and isinstance(subject, OneOfKey)
        else None
    )
    if live is not None and subject.application_id != live.application.application_id:
        patch.fires()
        its_own = replace(subject, application_id=live.application.application_id)
        request = replace(request, subject=its_own)
    return original(rm, request, now)


@_mutant(
    "reported-twice-counted-twice",
    "An existing allocation that is reported again takes its capacity twice.",
    breaks=("SI-REC-025",),
)
@instead_of(recovery.add)
def _(patch: Patch, original: Callable[..., Any], rm: Any, record: Any, now: float) -> Any:
    partition = rm.partitions.get(partition_name(record.ask.partition))
    live = updates.of_live(partition, record.ask.key)
    if live is not None and live.record.ask.resource == record.ask.resource:
        patch.fires()
        live.node.book(record.ask.resource)
    return original(rm, record, now)


@_mutant(
    "what-ended-is-not-taken-over",
    "An allocation that is reported after it ended is silently ignored.",
    breaks=("SI-REC-026",),
)
def _(patch: Patch) -> None:
    ended = ended_keys(patch)

    def add(original: Callable[..., Any], rm: Any, record: Any, now: float) -> Any:
        if record.ask.key in ended:
            patch.fires()
            return []
        return original(rm, record, now)

    patch.instead_of(recovery.add, add)


@_mutant(
    "asks-of-older-rms-are-served",
    "Asks in the fields of an older revision are served.",
    breaks=("SI-WIRE-016",),
)
@instead_of(r2024_10.allocation_lists)
def _(patch: Patch, original: Callable[..., Any], reads: Any, message: Any) -> Any:
    for ask in older.AllocationRequest.FromString(message.SerializeToString()).asks:
        patch.fires()
        read = message.allocations.add(
            allocationKey=ask.allocationKey,
            applicationID=ask.applicationID,
            partitionName=ask.partitionName,
        )
        read.resourcePerAlloc.ParseFromString(ask.resourceAsk.SerializeToString())
    return original(reads, message)


@_mutant(
    "legacy-withdrawals-carried-out",
    "Withdrawals in the fields of an older revision are carried out.",
    breaks=("SI-WIRE-016",),
)
@instead_of(r2024_10.allocation_lists)
def _(patch: Patch, original: Callable[..., Any], reads: Any, message: Any) -> Any:
    before = older.AllocationRequest.FromString(message.SerializeToString())
    for withdrawn in before.releases.allocationAsksToRelease:
        patch.fires()
        message.releases.allocationsToRelease.add(
            allocationKey=withdrawn.allocationKey,
            applicationID=withdrawn.applicationID,
            partitionName=withdrawn.partitionName,
        )
    return original(reads, message)


@_mutant(
    "occupation-by-older-rms-counts",
    "Occupied resources in the field of an older revision are counted.",
    breaks=("SI-WIRE-016",),
)
@instead_of(r2024_10.node)
def _(patch: Patch, original: Callable[..., Any], reads: Any, message: Any) -> Any:
    occupied = older.NodeInfo.FromString(message.SerializeToString()).occupiedResource
    info = original(reads, message)
    if not occupied.resources:
        return info
    patch.fires()
    amounts = {name: quantity.value for name, quantity in occupied.resources.items()}
    return replace(info, occupied=Resource(amounts))


@mutant(
    "used-key-keeps-its-priority",
    "A key that serves again has the priority it was first asked for with.",
    breaks=("SI-ALLOC-003",),
)
def _(patch: Patch) -> None:
    given: dict[str, int] = {}

    def make(original: Original, *args: Any) -> list[Effect]:
        effects = original(*args)
        for effect in effects:
            if isinstance(effect, NewAllocation):
                given.setdefault(effect.allocation.ask.key, effect.allocation.ask.priority)
        return effects

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        before = given.get(ask.key, ask.priority)
        if before != ask.priority:
            patch.fires()
            ask = replace(ask, priority=before)
        return original(rm, ask, now)

    patch.quietly().instead_of(allocations.make, make)
    patch.instead_of(asks.add, add)


@mutant(
    "used-key-keeps-its-amount",
    "A key that serves again is allocated with the amount it was first asked for with.",
    breaks=("SI-ALLOC-002",),
)
def _(patch: Patch) -> None:
    given: dict[tuple[str, str], Any] = {}

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        is_known = any(ask.key in one.allocations.all for one in rm.partitions.values())
        is_pending = any(one.asks.with_key(ask.key) for one in rm.partitions.values())
        before = given.setdefault((rm.rm_id, ask.key), ask.resource)
        if before != ask.resource and not is_known and not is_pending:
            patch.fires()
            ask = replace(ask, resource=before)
        return original(rm, ask, now)

    patch.instead_of(asks.add, add)


@mutant(
    "refused-update-takes-the-priority",
    "The refused update of a pending ask changes its priority.",
    breaks=("SI-ASK-030",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    effects = original(rm, ask, now)
    if any(isinstance(one, RejectedAsk) for one in effects):
        for held in rm.partitions.values():
            for application in held.asks.with_key(ask.key):
                patch.fires()
                pending = application.pending[ask.key]
                held.asks.replace(pending, replace(pending.ask, priority=ask.priority))
    return effects


@_mutant(
    "key-of-a-removed-application-is-unanswered",
    "An ask of another application with a key of a removed one is never answered.",
    breaks=("SI-ASK-001",),
)
def _(patch: Patch) -> None:
    removed: dict[str, str] = {}

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            application = partition.applications.get(request.application_id)
            if application is not None:
                for live in partition.allocations.of(application).values():
                    removed[live.record.ask.key] = request.application_id
        return original(rm, request, now)

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        if removed.get(ask.key, ask.application_id) == ask.application_id:
            return original(rm, ask, now)
        patch.fires()
        return []

    patch.quietly().instead_of(applications.remove, remove)
    patch.instead_of(asks.add, add)


@_mutant(
    "node-by-the-rm-is-not-binding",
    "A pending ask that comes again with a node is updated, and may be placed on another node.",
    breaks=("SI-ASK-031",),
)
@instead_of(updates.place)
def _(
    patch: Patch, _original: Callable[..., Any], partition: Any, pending: Any, record: Any, _: float
) -> Any:
    patch.fires()
    partition.asks.replace(pending, record.ask)
    return []


def _places(patch: Patch, changed: Callable[[Any, Any], Any]) -> None:
    """Change an ask that comes again with a node; ``changed`` takes the pending one and this."""

    def place(
        original: Callable[..., Any], partition: Any, pending: Any, record: Any, *rest: Any
    ) -> Any:
        ask = changed(pending.ask, record.ask)
        if ask != record.ask:
            patch.fires()
            record = replace(record, ask=ask)
        return original(partition, pending, record, *rest)

    patch.instead_of(updates.place, place)


_mutant(
    "placeholder-placed-by-the-rm-is-real",
    "A pending placeholder that comes again with a node is a regular allocation.",
    breaks=("SI-ASK-031",),
)(partial(_places, changed=lambda _, ask: replace(ask, placeholder=False)))


@_mutant(
    "updated-asks-pass-their-quota",
    "A pending ask that was updated is allocated beyond the quota of its queue.",
    breaks=("SI-ASK-011",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Callable[..., Any], rm: Any, ask: Any, now: float) -> Any:
    partition = rm.partitions.get(partition_name(ask.partition))
    is_update = partition is not None and updates.of_pending(partition, ask) is not None
    received = original(rm, ask, now)
    pending = updates.of_pending(partition, ask) if is_update else None
    if pending is not None and pending.ask_group is not None:
        node = partition.node_index.find(pending.ask_group.profile, ask.resource)
        if node is not None and not pending.application.can_take(ask.resource):
            patch.fires()
            received += allocations.make(partition, pending, node, now)
    return received


_mutant(
    "placed-by-the-rm-as-it-was-asked-for",
    "A pending ask that comes again with a node holds the amount it was asked for with.",
    breaks=("SI-ASK-031",),
)(partial(_places, changed=lambda pending, ask: replace(ask, resource=pending.resource)))


@_mutant(
    "nameless-release-ends-everything",
    "A release with neither application nor key ends what all applications have.",
    breaks=("SI-REL-028",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None or application_of(request) or not is_of_all(request):
        return original(rm, request, now)
    patch.fires()
    return [
        effect
        for application_id in list(partition.applications)
        for effect in original(rm, replace(request, subject=AskedAndHeld(application_id)), now)
    ]


@_mutant(
    "key-of-a-removed-ask-is-unanswered",
    "An ask with the key of an ask that was pending when its application was removed is ignored.",
    breaks=("SI-ASK-001",),
)
def _(patch: Patch) -> None:
    removed: set[str] = set()

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            application = partition.applications.get(request.application_id)
            if application is not None:
                removed.update(application.pending)
        return original(rm, request, now)

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        if ask.key not in removed:
            return original(rm, ask, now)
        patch.fires()
        return []

    patch.quietly().instead_of(applications.remove, remove)
    patch.instead_of(asks.add, add)


@_mutant(
    "placed-by-the-rm-and-still-replacing",
    "A real ask that the RM places while its placeholder is released is announced there as well.",
    breaks=("SI-ASK-031",),
)
def _(patch: Patch) -> None:
    placed: dict[str, Any] = {}  # by placeholder

    def place(
        original: Original, partition: Any, pending: Any, record: Any, now: float
    ) -> list[Effect]:
        for placeholder, waiting in partition.replacements.by_placeholder.items():
            if waiting is pending:
                placed[placeholder.record.identity] = record
        return original(partition, pending, record, now)

    def confirmed(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, live, *rest)
        record = placed.pop(live.record.identity, None)
        if record is None:
            return effects
        patch.fires()
        record = replace(record, node_id=live.node.node_id)
        return [*effects, NewAllocation(partition.rm_id, record, live.application.leaf.name)]

    patch.quietly().instead_of(updates.place, place)
    patch.instead_of(releases.confirmed, confirmed)


@_mutant(
    "first-tags-of-a-real-ask-stay",
    "A real ask that comes again during its replacement keeps the tags it had.",
    breaks=("SI-ASK-029",),
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], pending: Any, earlier: Any, ask: Any) -> None:
    if earlier.awaiting and ask.tags != earlier.ask.tags:
        patch.fires()
        ask = replace(ask, tags=earlier.ask.tags)
    original(pending, earlier, ask)
