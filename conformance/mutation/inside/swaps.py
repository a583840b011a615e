"""Mutants of placeholder replacement."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.core import allocations, applications, asks, nodes, releases, scheduling_pass
from sireference.core.gang import placeholders, replacement, timeout
from sireference.core.model import (
    AllocationRecord,
    Effect,
    NewAllocation,
    Release,
    ReleasedAllocation,
    ReleaseRequest,
)
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, TerminationType

from mutation.inside import Original, Patch
from mutation.inside.asks import reported_with
from mutation.inside.releasing import identity_of
from mutation.mutant import mutant
from mutation.patching import instead_of

_REPLACED = TerminationType.PLACEHOLDER_REPLACED


def after_replacement(patch: Patch, do: Callable[[Any, Any], None]) -> None:
    """Do something to each allocation that replaced a placeholder: it gets both."""

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        effects = original(partition, gone, now)
        for effect in effects:
            if isinstance(effect, NewAllocation):
                do(partition.allocations.all[effect.allocation.identity], gone)
        return effects

    patch.instead_of(replacement.go_on, go_on)


def places_beyond_capacity(patch: Patch, when: Callable[[Any, Any, Any], bool]) -> None:
    """Place a real ask on the node of its placeholder in this case, although it does not fit."""

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        pending = partition.replacements.by_placeholder.get(gone)
        fits = pending is None or pending.ask.resource.fits(gone.node.free)
        if fits or not when(partition, pending, gone):
            return original(partition, gone, now)
        patch.fires()
        partition.replacements.resume(gone)
        return allocations.make(partition, pending, gone.node, now)

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "real-asks-only-replace",
    "A real ask of a gang stays pending although it could replace a placeholder.",
    breaks=("SI-GANG-022",),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application = ask_group.application
    gang = partition.gangs.get(application)
    is_real = application.placeholders_held and not ask_group.key.is_placeholder
    if is_real and gang is not None and ask_group.key.replaces not in gang.replaceable:
        patch.fires()
        return gang.unsettled
    return original(partition, ask_group)


@mutant(
    "marked-is-chosen-again",
    "A placeholder in replacement may be chosen again.",
    breaks=("SI-GANG-023",),
)
def _(patch: Patch) -> None:
    def release(
        _: Any, partition: Partition, live: Allocation, termination: TerminationType, message: str
    ) -> Release:
        live.open_release = termination
        gang = partition.gangs.get(live.application)
        if termination is _REPLACED:
            patch.fires()
        elif gang is not None:
            gang.mark(live)
        return live.release(termination, message)

    patch.instead_of(Partition.ask_for_release, release)


@mutant(
    "one-replacement-stops-all",
    "Nothing is allocated during a replacement.",
    breaks=("SI-GANG-024",),
)
@instead_of(scheduling_pass.run)
def _(patch: Patch, original: Original, partition: Partition, now: float) -> list[Effect]:
    if any(live.open_release is _REPLACED for live in partition.allocations.all.values()):
        patch.fires()
        return []
    return original(partition, now)


@mutant(
    "placed-without-capacity",
    "The real allocation goes to the node of its placeholder even if it does not fit.",
    breaks=("SI-GANG-025", "SI-GANG-055"),
)
def _(patch: Patch) -> None:
    places_beyond_capacity(patch, lambda _partition, _pending, _gone: True)


@mutant(
    "third-types-of-replacements-unchecked",
    "A real ask takes the place of its placeholder if memory and vcores suffice there.",
    breaks=("SI-RES-001",),
)
def _(patch: Patch) -> None:
    def has_memory_and_vcores(_: Any, pending: Any, gone: Any) -> bool:
        need = pending.ask.resource.amounts
        two = {name: need[name] for name in ("memory", "vcore") if name in need}
        return Resource(two).fits(gone.node.free)

    places_beyond_capacity(patch, has_memory_and_vcores)


@mutant(
    "placed-beyond-the-quota",
    "The real allocation goes to the node of its placeholder even if its queue has no room for it.",
    breaks=("SI-GANG-027",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    need = None if pending is None else pending.ask.resource
    if need is None or not gone.node.can_take(need) or gone.application.can_take(need):
        return original(partition, gone, now)
    patch.fires()
    partition.replacements.resume(gone)
    return allocations.make(partition, pending, gone.node, now)


@mutant(
    "real-ask-lost-beyond-the-quota",
    "A real ask is lost if its queue has no room for it when its placeholder is gone.",
    breaks=("SI-GANG-055",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    if pending is None or pending.application.can_take(pending.ask.resource):
        return original(partition, gone, now)
    patch.fires()
    partition.replacements.resume(gone)
    partition.asks.drop(pending)
    return []


@mutant(
    "swap-not-counted",
    "A real allocation that replaced a placeholder is not counted.",
    breaks=("SI-GANG-026",),
)
def _(patch: Patch) -> None:
    def is_not_counted(live: Any, _gone: Any) -> None:
        patch.fires()
        live.application.quotas.unbook(live.record.ask.resource)

    after_replacement(patch, is_not_counted)


@mutant(
    "swap-counted-twice",
    "A replaced placeholder still counts in its queue.",
    breaks=("SI-GANG-026",),
)
@instead_of(releases.confirmed)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.open_release is _REPLACED:
        patch.fires()
        live.application.quotas.book(live.record.ask.resource)
    return original(partition, live, *rest)


@mutant(
    "placeholders-beyond-the-quota",
    "Placeholders do not count against the quota of their queue.",
    breaks=("SI-GANG-027",),
)
def _(patch: Patch) -> None:
    def book(original: Callable[..., None], partition: Any, live: Any) -> None:
        original(partition, live)
        if live.is_placeholder:
            patch.fires()
            live.application.quotas.unbook(live.record.ask.resource)

    def unbook(original: Callable[..., None], partition: Any, live: Any, kind: Any) -> None:
        if live.is_placeholder:
            live.application.quotas.book(live.record.ask.resource)
        original(partition, live, kind)

    patch.instead_of(Partition.book, book)
    patch.instead_of(Partition.unbook, unbook)


@mutant(
    "leftovers-not-replaced",
    "A real ask of a waiting gang is allocated without replacing the leftovers.",
    breaks=("SI-GANG-046",),
)
def _(patch: Patch) -> None:
    waiting: set[str] = set()

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        for one in rm.partitions.values():
            application = one.applications.get(ask.application_id)
            if application is not None and application.state is ApplicationState.COMPLETING:
                waiting.add(ask.key)
        return original(rm, ask, now)

    def choose(original: Callable[..., Any], partition: Any, pending: Any) -> Any:
        if pending.ask.key in waiting:
            patch.fires()
            return None
        return original(partition, pending)

    patch.instead_of(asks.add, add)
    patch.instead_of(replacement.choose, choose)


@mutant(
    "stopped-is-replaceable",
    "A placeholder the RM stopped may still be replaced.",
    breaks=("SI-GANG-047",),
)
@instead_of(Partition.placeholder_ended)
def _(patch: Patch, _: Any, partition: Partition, placeholder: Allocation) -> None:
    patch.fires()
    application = placeholder.application
    application.placeholders_held -= 1
    if not application.placeholders_held:
        partition.gangs.begin(application).stop_timer()


@mutant(
    "stopped-leftover-ends-replacements",
    "Once the RM stopped a leftover of a waiting gang, its other leftovers are not replaced.",
    breaks=("SI-GANG-047",),
)
def _(patch: Patch) -> None:
    stopped: list[Any] = []  # applications

    def ended(original: Callable[..., None], partition: Partition, placeholder: Allocation) -> None:
        if placeholder.application.state is ApplicationState.COMPLETING:
            stopped.append(placeholder.application)
        original(partition, placeholder)

    def choose(original: Callable[..., Any], partition: Partition, pending: Any) -> Any:
        if pending.application in stopped:
            patch.fires()
            return None
        return original(partition, pending)

    patch.instead_of(Partition.placeholder_ended, ended)
    patch.instead_of(replacement.choose, choose)


@mutant(
    "each-confirmation-allocates",
    "A second confirmation of a replacement allocates again.",
    breaks=("SI-GANG-057",),
)
def _(patch: Patch) -> None:
    replaced: dict[str, NewAllocation] = {}

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        effects = original(partition, gone, now)
        for effect in effects:
            if isinstance(effect, NewAllocation):
                replaced[gone.record.identity] = effect
        return effects

    def release(original: Original, rm: Any, request: ReleaseRequest, now: float) -> list[Effect]:
        is_confirmation = request.termination is _REPLACED
        first = replaced.get(identity_of(request)) if is_confirmation else None
        effects = original(rm, request, now)
        if first is not None:
            patch.fires()
            again = replace(first.allocation, identity=f"{first.allocation.identity}-again")
            effects.append(replace(first, allocation=again))
        return effects

    patch.instead_of(replacement.go_on, go_on)
    patch.instead_of(releases.release, release)


@mutant(
    "gone-with-its-node-is-replaced",
    "A placeholder that ends with its node is released as replaced.",
    breaks=("SI-GANG-060",),
)
@instead_of(nodes.decommission)
def _(patch: Patch, original: Original, partition: Any, node: Any, now: float) -> list[Effect]:
    there = partition.allocations.on(node)
    gone = {key for key, live in there.items() if live.is_placeholder}
    effects = original(partition, node, now)
    return [_as_replaced(patch, effect, gone) for effect in effects]


def _as_replaced(patch: Patch, effect: Effect, gone: set[str]) -> Effect:
    if not isinstance(effect, ReleasedAllocation) or effect.release.identity not in gone:
        return effect
    patch.fires()
    return replace(effect, release=replace(effect.release, termination=_REPLACED))


@mutant(
    "removal-leaves-replacements",
    "A replacement continues although its application was removed.",
    breaks=("SI-GANG-062",),
)
def _(patch: Patch) -> None:
    open_ones: dict[str, AllocationRecord] = {}

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        for one in rm.partitions.values():
            application = one.applications.get(request.application_id)
            for live in one.allocations.of(application).values() if application else ():
                pending = one.replacements.by_placeholder.get(live)
                if pending is not None:
                    identity, real = live.record.identity, pending.ask
                    open_ones[identity] = AllocationRecord(f"{identity}-r", real, live.node.node_id)
        return original(rm, request, now)

    def release(original: Original, rm: Any, request: ReleaseRequest, now: float) -> list[Effect]:
        effects = original(rm, request, now)
        real = open_ones.pop(identity_of(request), None)
        if real is not None:
            patch.fires()
            effects.append(NewAllocation(rm.rm_id, real, "root.plain"))
        return effects

    patch.instead_of(applications.remove, remove)
    patch.instead_of(releases.release, release)


@mutant(
    "timeout-takes-all-placeholders",
    "At the timeout placeholders in replacement are released, too.",
    breaks=("SI-GANG-066",),
)
def _(patch: Patch) -> None:
    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        for live in partition.allocations.of(application).values():
            if live.open_release is _REPLACED:
                patch.fires()
                release = live.release(TerminationType.TIMEOUT, "the time is over")
                effects.append(ReleasedAllocation(partition.rm_id, release))
        return effects

    patch.instead_of(timeout.expire, expire)


@mutant(
    "real-ask-stands-in-line-again",
    "The capacity of a released placeholder goes to the oldest pending ask.",
    breaks=("SI-GANG-021",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    others = [one for one in partition.applications.values() if one is not gone.application]
    older = [
        one
        for other in others
        for one in other.pending.values()
        if pending is not None and one.number < pending.number
    ]
    if not older:
        return original(partition, gone, now)
    patch.fires()
    partition.replacements.resume(gone)
    pending.had_placeholder = True
    partition.asks.enqueue(pending)
    return []


@mutant(
    "replacements-wait-for-each-other",
    "Real allocations wait until all open replacements of their gang are confirmed.",
    breaks=("SI-GANG-021",),
)
def _(patch: Patch) -> None:
    kept: list[Any] = []

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        kept.append(gone)
        if any(
            one.open_release is _REPLACED
            for one in partition.allocations.of(gone.application).values()
        ):
            if gone in partition.replacements.by_placeholder:
                patch.fires()
            return []
        mine = [one for one in kept if one.application is gone.application]
        kept[:] = [one for one in kept if one.application is not gone.application]
        return [effect for one in mine for effect in original(partition, one, now)]

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "share-of-timed-out-given-away-soon",
    "The quota of a timed-out placeholder is free before its end is confirmed.",
    breaks=("SI-GANG-037",),
)
def _(patch: Patch) -> None:
    early: set[str] = set()

    def ask(
        original: Any,
        partition: Partition,
        live: Allocation,
        termination: TerminationType,
        why: str,
    ) -> Release:
        if termination is TerminationType.TIMEOUT and live.is_placeholder:
            patch.fires()
            early.add(live.record.identity)
            live.application.quotas.unbook(live.record.ask.resource)
        return original(partition, live, termination, why)  # type: ignore[no-any-return]

    def unbook(original: Callable[..., None], partition: Any, live: Any, kind: Any) -> None:
        if live.record.identity in early:
            live.application.quotas.book(live.record.ask.resource)
        original(partition, live, kind)

    patch.instead_of(Partition.ask_for_release, ask)
    patch.instead_of(Partition.unbook, unbook)


def _replacement_loses(patch: Patch, **lost: Any) -> None:
    """Report allocations that replace a placeholder without these values of their asks."""

    def make(original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, pending, *rest)
        return reported_with(patch, effects, **lost) if pending.key.replaces else effects

    patch.instead_of(allocations.make, make)


mutant(
    "replacement-loses-the-originator-flag",
    "An allocation that replaces a placeholder is not reported as that of the originator.",
    breaks=("SI-ALLOC-007",),
)(partial(_replacement_loses, originator=False))
mutant(
    "replacement-loses-its-preemption-policy",
    "An allocation that replaces a placeholder is reported without the policy of its ask.",
    breaks=("SI-ALLOC-007",),
)(partial(_replacement_loses, preemption_policy=None))
mutant(
    "replacement-loses-its-partition",
    "An allocation that replaces a placeholder is reported without its partition.",
    breaks=("SI-ALLOC-003",),
)(partial(_replacement_loses, partition=""))
mutant(
    "replacement-loses-its-tags",
    "An allocation that replaces a placeholder is reported without the tags of its ask.",
    breaks=("SI-ALLOC-003",),
)(partial(_replacement_loses, tags={}))


def _matches(patch: Patch, matches: Callable[[str, str], bool]) -> None:
    """Let a real ask replace a placeholder of any group that matches its own."""

    def choose(original: Original, partition: Any, pending: Any) -> Any:
        gang = partition.gangs.get(pending.application)
        wanted = pending.key.replaces
        for name, group in gang.replaceable.items() if gang is not None and wanted else ():
            if name != wanted and matches(name, wanted) and group:
                patch.fires()
                return next(iter(group.values()))
        return original(partition, pending)

    patch.instead_of(replacement.choose, choose)


mutant(
    "task-groups-matched-by-prefix",
    "A real ask replaces a placeholder of any group whose name begins with that of its own.",
    breaks=("SI-GANG-017",),
)(partial(_matches, matches=lambda name, wanted: name.startswith(wanted)))
mutant(
    "task-groups-matched-without-case",
    "A real ask replaces a placeholder of a group whose name differs from its own in case only.",
    breaks=("SI-GANG-017",),
)(partial(_matches, matches=lambda name, wanted: name.casefold() == wanted.casefold()))


@mutant(
    "replacement-has-no-execution-timeout",
    "The execution timeout of an allocation that replaced a placeholder never fires.",
    breaks=("SI-ASK-014",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def has_no_timer(live: Any, _gone: Any) -> None:
        if live.timer is not None:
            patch.fires()
            live.timer.cancel()
            live.timer = None

    after_replacement(patch, has_no_timer)


mutant(
    "replacement-loses-its-priority",
    "An allocation that replaces a placeholder is reported without the priority of its ask.",
    breaks=("SI-ALLOC-003",),
)(partial(_replacement_loses, priority=0))
