"""Mutants with faults of an independent scheduler that the suite once overlooked."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import (
    allocations,
    application_lifecycle,
    nodes,
    recovery,
    releases,
    scheduler,
)
from sireference.core.gang import replacement
from sireference.core.model import (
    Ask,
    Effect,
    NewAllocation,
    OneAllocation,
    RejectedAllocation,
    Release,
    ReleasedAllocation,
    UpdateAllocations,
)
from sireference.core.preemption import cycle
from sireference.core.registration import ResourceManagers
from sireference.core.resources import NOTHING
from sireference.core.state.application import PendingAsk
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.state.placement_profile import Order
from sireference.core.states import ApplicationState, NodeAction, NodeState
from sireference.core.withdrawal import BY_THE_RM

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_with_separate_asks: Final = partial(mutant, revision="2023-12")
_HIGHEST: Final = 10  # priority


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


def _with_priority(entry: Any, priority: int) -> Any:
    return replace(entry, priority=priority) if isinstance(entry, Ask) else entry


@_with_separate_asks(
    "later-allocations-lack-tags",
    "The second and later allocations of an ask lack its tags.",
    breaks=("SI-ALLOC-003",),
)
@instead_of(allocations.make)
def _(patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
    is_first = not pending.made
    effects = original(partition, pending, *rest)
    return effects if is_first else [_without_tags(patch, effect) for effect in effects]


def _without_tags(patch: Patch, effect: Effect) -> Effect:
    if not isinstance(effect, NewAllocation) or not effect.allocation.ask.tags:
        return effect
    patch.fires()
    record = effect.allocation
    return replace(effect, allocation=replace(record, ask=replace(record.ask, tags={})))


@_with_separate_asks(
    "release-restores-demand",
    "The release of one allocation of an ask that is partly pending adds one to what is pending.",
    breaks=("SI-ASK-005",),
)
@instead_of(releases.stop)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    pending = live.application.pending.get(live.record.ask.key)
    if pending is not None and pending.made:
        patch.fires()
        pending.made -= 1
    return original(partition, live, *rest)


@_with_separate_asks(
    "updates-of-partly-allocated-asks-ignored",
    "The update of an ask that has some of its allocations already is ignored.",
    breaks=("SI-ASK-004",),
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if earlier.made:
        patch.fires()
    else:
        original(asks, earlier, ask)


@_with_separate_asks(
    "first-ask-release-of-a-message-only",
    "Of several ask releases in one message only the first is carried out.",
    breaks=("SI-REL-015",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateAllocations) and len(event.ask_releases) > 1:
        patch.fires()
        event = replace(event, ask_releases=event.ask_releases[:1])
    return original(rm, event, now)


@_with_separate_asks(
    "release-needs-a-key",
    "A release by identity that names no key is ignored.",
    breaks=("SI-REL-001",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    if isinstance(request.subject, OneAllocation) and request.subject.key is None:
        patch.fires()
        return []
    return original(rm, request, now)


@mutant(
    "second-confirmation-answered",
    "The second confirmation of a release is answered with a release.",
    breaks=("SI-REL-009",),
)
def _(patch: Patch) -> None:
    confirmed: dict[tuple[str, str], Release] = {}  # by RM and key

    def confirm(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        ask = live.record.ask
        confirmed[ask.application_id, ask.key] = live.release(live.open_release, "confirmed")
        return original(partition, live, *rest)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        subject = request.subject
        again = confirmed.get((subject.application_id, getattr(subject, "key", None) or ""))
        if again is None or request.termination in BY_THE_RM:
            return original(rm, request, now)
        patch.fires()
        return [ReleasedAllocation(rm.rm_id, again)]

    patch.quietly().instead_of(releases.confirmed, confirm)
    patch.instead_of(releases.release, release)


@_with_separate_asks(
    "undrained-without-occupied-resource",
    "A node that is undrained has no occupied resource any more.",
    breaks=("SI-NODE-007",),
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    if _undrains(node, *rest) and node.occupied != NOTHING:
        patch.fires()
        node.resize(node.capacity, NOTHING)
    return original(partition, node, *rest)


@mutant(
    "undrained-without-foreign-allocations",
    "On a node that is undrained no earlier foreign allocation counts any more.",
    breaks=("SI-FOR-009",),
    revision="2024-10",
)
@instead_of(nodes.change)
def _(patch: Patch, original: Original, partition: Any, node: Any, *rest: Any) -> list[Effect]:
    foreign: ForeignAllocations = partition.foreign
    for key in list(foreign.on(node)) if _undrains(node, *rest) else ():
        patch.fires()
        foreign.take_away(key)
    return original(partition, node, *rest)


def _undrains(node: Any, info: Any, _: float) -> bool:
    is_draining: bool = node.state is NodeState.DRAINING
    return is_draining and info.action is NodeAction.DRAIN_TO_SCHEDULABLE


@mutant(
    "preempting-ask-lost-with-a-node",
    "An ask is lost if the node of its victim is decommissioned before the RM confirms.",
    breaks=("SI-NODE-034",),
)
@instead_of(cycle.node_is_gone)
def _(patch: Patch, original: Callable[..., None], partition: Any, node: Any) -> None:
    waiting = [preemption.pending for preemption in partition.preemptions.on(node)]
    original(partition, node)
    for pending in waiting:
        patch.fires()
        partition.asks.drop(pending)


@mutant(
    "running-slots-survive-registration",
    "Running applications of an earlier registration still count against the limit of their queue.",
    breaks=("SI-REG-006",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Any, now: float
) -> list[Effect]:
    earlier = self.known(event.rm_id)
    partitions = {} if earlier is None else earlier.partitions
    running = {
        (name, queue.name): queue.running
        for name, partition in partitions.items()
        for queue in partition.root.all()
    }
    effects = original(self, event, now)
    later = self.known(event.rm_id)
    for name, partition in {} if later is None else later.partitions.items():
        for queue in partition.root.all():
            for _ in range(running.get((name, queue.name), 0)):
                patch.fires()
                queue.application_runs()
    return effects


@mutant(
    "high-priorities-are-equal",
    f"Priorities above {_HIGHEST} are all alike.",
    breaks=("SI-ASK-012",),
)
@instead_of(PendingAsk.order)
def _(patch: Patch, original: Callable[..., Order], pending: PendingAsk) -> Order:
    if pending.ask.priority <= _HIGHEST:
        return original(pending)
    patch.fires()
    return Order(-_HIGHEST, pending.number)


@_with_separate_asks(
    "replacement-has-no-execution-timeout",
    "The execution timeout of an allocation that replaced a placeholder never fires.",
    breaks=("SI-ASK-014",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, *rest)
    for effect in effects:
        if isinstance(effect, NewAllocation):
            live = partition.allocations.all[effect.allocation.identity]
            if live.timer is not None:
                patch.fires()
                live.timer.cancel()
                live.timer = None
    return effects


@mutant(
    "never-waits-before-an-allocation",
    "An application whose only ask was withdrawn before any allocation stays accepted.",
    breaks=("SI-APP-026",),
)
@instead_of(application_lifecycle.end)
def _(patch: Patch, original: Callable[..., Any], partition: Any, application: Any) -> Any:
    if application.state is ApplicationState.ACCEPTED and not application.is_gang:
        patch.fires()
        return None, ""
    return original(partition, application)


@_with_separate_asks(
    "existing-allocation-counts-twice",
    "An existing allocation that is reported again is rejected and counts once more on its node.",
    breaks=("SI-REC-017",),
)
@instead_of(recovery.add)
def _(patch: Patch, original: Original, rm: Any, allocation: Any, now: float) -> list[Effect]:
    effects = original(rm, allocation, now)
    if any(isinstance(effect, RejectedAllocation) for effect in effects):
        for partition in rm.partitions.values():
            known = partition.allocations.all.get(allocation.identity)
            if known is not None:
                patch.fires()
                known.node.book(allocation.ask.resource)
    return effects
