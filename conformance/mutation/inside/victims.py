"""Mutants of preemption: the choice of victims, and when their capacity is reused."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from sireference.core import (
    allocation_end,
    allocations,
    application_lifecycle,
    applications,
    releases,
    withdrawal,
)
from sireference.core.model import Effect, Release, partition_name
from sireference.core.preemption import cycle, eligibility, rm_approval
from sireference.core.preemption.victims import Candidates, Victim
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.partition import Partition
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.states import (
    ApplicationState,
    ApplicationTrigger,
    AskState,
    NodeState,
    TerminationType,
)

from mutation.inside import Original, Patch
from mutation.inside.releasing import key_of
from mutation.inside.tracking import Chosen, recovered, updated
from mutation.mutant import mutant, variant
from mutation.patching import instead_of

_SOON: Final = 0.4  # seconds after the release


def _opted_out(live: Any) -> bool:
    policy = live.record.ask.preemption_policy
    return policy is not None and not policy.allow_preempt_self


def may_go_nevertheless(patch: Patch, is_one: Callable[[Any], bool]) -> None:
    """Let these allocations be victims although they opted out."""

    def may_go(original: Callable[..., bool], candidates: Any, live: Any) -> bool:
        if not is_one(live) or not _opted_out(live):
            return original(candidates, live)
        patch.fires()
        return live.open_release is None and live.application is not candidates.application

    patch.instead_of(Candidates.may_go, may_go)


@variant(
    "preempts-lower-priorities-only",
    "Victims have a lower priority than the ask, never the same.",
    once_failed_by=("SI-PRE-001", "SI-PRE-002", "SI-PRE-003", "SI-PRE-004", "SI-PRE-007"),
    areas=("PRE", "REL"),
)
def _(patch: Patch) -> None:
    _spares_equals(patch)


@mutant(
    "opt-out-ignored-of-lower-priorities",
    "Allocations that opted out are preempted by asks of a higher priority.",
    breaks=("SI-PRE-003", "SI-PRE-007"),
)
def _(patch: Patch) -> None:
    may_go_nevertheless(patch, lambda _: True)
    _spares_equals(patch)


@mutant(
    "any-ask-preempts-lower-priorities",
    "An ask that may not preempt others preempts lower priorities.",
    breaks=("SI-PRE-004",),
)
def _(patch: Patch) -> None:
    def allow(original: Callable[..., bool], partition: Any, pending: Any) -> bool:
        if pending.ask.preemption_policy is None or original(partition, pending):
            return original(partition, pending)
        patch.fires()
        return True

    patch.instead_of(eligibility.allow, allow)
    _spares_equals(patch)


@mutant(
    "preempted-freed-unconfirmed",
    "Preempted allocations end after 0.4 s, confirmed or not.",
    breaks=("SI-PRE-002",),
)
def _(patch: Patch) -> None:
    def begin(original: Callable[..., Any], partition: Any, *args: Any, **named: Any) -> Any:
        effects = original(partition, *args, **named)
        preempted = TerminationType.PREEMPTED_BY_SCHEDULER
        victims = partition.preemptions.by_victim
        for live in [one for one in partition.allocations.all.values() if one in victims]:

            def is_over(now: float, live: Any = live) -> Any:
                if live.record.identity not in partition.allocations.all:
                    return []
                patch.fires()
                return allocation_end.end(partition, live, preempted, now)

            partition.timers.set(_now[0] + _SOON, is_over)
        return effects

    def run(original: Callable[..., Any], partition: Any, now: float) -> Any:
        _now[0] = now
        return original(partition, now)

    _now = [0.0]
    patch.instead_of(rm_approval.begin, begin)
    patch.instead_of(cycle.run, run)


@mutant(
    "one-confirmation-ends-all-victims",
    "The first confirmation ends all victims of an ask.",
    breaks=("SI-PRE-002",),
)
def _(patch: Patch) -> None:
    def end(
        original: Callable[..., Any], partition: Any, live: Any, termination: Any, now: float
    ) -> Any:
        preemption = partition.preemptions.by_victim.get(live)
        others = list(preemption.victims.values()) if preemption is not None else []
        effects = original(partition, live, termination, now)
        for other in others:
            if other.record.identity in partition.allocations.all:
                patch.fires()
                effects += original(partition, other, TerminationType.PREEMPTED_BY_SCHEDULER, now)
        return effects

    patch.instead_of(allocation_end.end, end)


def _spares_equals(patch: Patch) -> None:
    def victim(original: Callable[..., Victim | None], candidates: Any, live: Any) -> Victim | None:
        found = original(candidates, live)
        if found is None:
            return None
        patch.fires()
        most = candidates.comparison(live.application.leaf).most
        return found if found.priority < most else None

    patch.instead_of(Candidates.victim, victim)


@mutant(
    "priorities-lose-their-sign",
    "Preemption compares the amounts of priorities: -5 is as high as 5.",
    breaks=("SI-PRE-005",),
)
@instead_of(Candidates.victim)
def _(patch: Patch, original: Callable[..., Any], candidates: Any, live: Any) -> Any:
    comparison = candidates.comparison(live.application.leaf)
    if comparison is None:
        return None
    priority = comparison.priority(live)
    if (abs(priority) <= abs(comparison.most)) == (priority <= comparison.most):
        return original(candidates, live)
    patch.fires()
    return Victim(live, abs(priority)) if abs(priority) <= abs(comparison.most) else None


@mutant(
    "preempting-ask-lost-with-an-application",
    "An ask is lost if the application of its victim is removed before the RM confirms.",
    breaks=("SI-APP-018",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    for held in rm.partitions.values():
        for victim, preemption in list(held.preemptions.by_victim.items()):
            if victim.application.application_id == request.application_id:
                patch.fires()
                held.preemptions.end(preemption)
                held.asks.drop(preemption.pending)
    return original(rm, request, now)


@mutant(
    "reservation-outlives-its-ask",
    "The capacity reserved for an ask stays reserved when the ask is withdrawn.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, held: Any, pending: Any, now: float) -> list[Effect]:
    preemption = held.preemptions.of(pending)
    effects = original(held, pending, now)
    if preemption is not None:
        patch.fires()
        preemption.node.reserve(pending.ask.resource)
    return effects


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


def _serves_nevertheless(patch: Patch, is_forbidden: Callable[[Any, Any], bool]) -> None:
    """Allocate a preempting ask on its node once its victims are gone, although that is wrong."""

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        preemption = partition.preemptions.by_victim.get(gone)
        effects = original(partition, gone, now)
        if preemption is None or preemption.victims:
            return effects
        pending = preemption.pending
        if pending.state is AskState.PENDING and is_forbidden(pending, gone.node):
            patch.fires()
            effects += allocations.make(partition, pending, gone.node, now)
        return effects

    patch.instead_of(cycle.go_on, go_on)


mutant(
    "preempts-onto-a-drained-node",
    "A preempting ask is allocated on its node although that is drained by then.",
    breaks=("SI-NODE-026",),
)(partial(_serves_nevertheless, is_forbidden=lambda _, node: node.state is NodeState.DRAINING))
mutant(
    "preempts-onto-a-shrunk-node",
    "A preempting ask is allocated on its node although that is too small by then.",
    breaks=("SI-NODE-018",),
)(
    partial(
        _serves_nevertheless,
        is_forbidden=lambda pending, node: not pending.ask.resource.fits(node.free),
    )
)


def _has_priority_zero(patch: Patch, is_one: Chosen) -> None:
    """Choose these allocations as victims as if their priority were zero."""

    def victim(original: Callable[..., Victim | None], candidates: Any, live: Any) -> Any:
        compared = candidates.comparison(live.application.leaf)
        if not is_one(live) or compared is None or not live.record.ask.priority:
            return original(candidates, live)
        patch.fires()
        return Victim(live, 0)

    patch.instead_of(Candidates.victim, victim)


@mutant(
    "recovered-priorities-ignored",
    "Recovered allocations are preempted as if they had the priority zero.",
    breaks=("SI-PRE-005",),
)
def _(patch: Patch) -> None:
    _has_priority_zero(patch, recovered(patch))


mutant(
    "placeholders-cannot-opt-out",
    "Placeholders that opted out are preempted.",
    breaks=("SI-PRE-003",),
)(partial(may_go_nevertheless, is_one=lambda live: live.is_placeholder))


@mutant(
    "preempting-ask-lost-when-sent-again",
    "An ask that is sent again while its victims end is never allocated.",
    breaks=("SI-PRE-002",),
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    is_reserved = earlier.is_reserved
    original(asks, earlier, ask)
    later = earlier.application.pending.get(ask.key)
    if is_reserved and later is not None:
        patch.fires()
        asks.drop(later)


def _is_resized(patch: Patch, amount: Callable[[Resource], Resource]) -> Callable[..., None]:
    """Return a replacement that reserves an amount for good when a preempting ask is resized."""

    def replace(original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
        preemptions = asks._preemptions  # noqa: SLF001  # it has no public name
        preemption = preemptions.of(earlier)
        original(asks, earlier, ask)
        if preemption is not None and ask.resource != earlier.ask.resource:
            patch.fires()
            preemption.node.reserve(amount(earlier.ask.resource))

    return replace


@mutant(
    "reservation-outlives-its-amount",
    "The capacity reserved for an ask stays reserved when another amount is requested.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    patch.instead_of(PendingAsks.replace, _is_resized(patch, lambda before: before))


@mutant(
    "reservation-is-given-back-twice",
    "The capacity reserved for an ask is free twice when another amount is requested.",
    breaks=("SI-NODE-006",),
)
def _(patch: Patch) -> None:
    patch.instead_of(PendingAsks.replace, _is_resized(patch, lambda before: NOTHING - before))


@mutant(
    "reservation-outlives-its-application",
    "The capacity reserved for an ask stays reserved when its application is removed.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    reserved = [
        (preemption.node, preemption.pending.ask.resource)
        for partition in rm.partitions.values()
        for preemption in set(partition.preemptions.by_victim.values())
        if preemption.pending.application.application_id == request.application_id
    ]
    effects = original(rm, request, now)
    for node, resource in reserved:
        patch.fires()
        node.reserve(resource)
    return effects


mutant(
    "priorities-of-placeholders-ignored",
    "Placeholders are preempted as if they had the priority zero.",
    breaks=("SI-PRE-005",),
)(partial(_has_priority_zero, is_one=lambda live: live.is_placeholder))


def _replaced_a_placeholder(live: Any) -> bool:
    return bool(live.record.ask.task_group) and not live.is_placeholder


mutant(
    "replacements-cannot-opt-out",
    "What replaced a placeholder is preempted although it opted out.",
    breaks=("SI-PRE-003",),
)(partial(may_go_nevertheless, is_one=_replaced_a_placeholder))
mutant(
    "priorities-of-replacements-ignored",
    "What replaced a placeholder is preempted as if it had the priority zero.",
    breaks=("SI-PRE-005",),
)(partial(_has_priority_zero, is_one=_replaced_a_placeholder))


@mutant(
    "priorities-of-the-updated-ignored",
    "Allocations that were updated are preempted as if they had the priority zero.",
    breaks=("SI-PRE-005",),
    revision="2024-10",
)
def _(patch: Patch) -> None:
    _has_priority_zero(patch, updated(patch))


@mutant(
    "victims-are-no-longer-active",
    "An application whose last allocation is to be preempted is waiting before the RM confirms.",
    breaks=("SI-APP-027",),
)
def _(patch: Patch) -> None:
    moment = [0.0]

    def run(original: Original, partition: Any, now: float) -> list[Effect]:
        moment[:] = [now]
        return original(partition, now)

    def begin(
        original: Original, partition: Any, pending: Any, chosen: Any, **named: Any
    ) -> list[Effect]:
        effects = original(partition, pending, chosen, **named)
        for application in {victim.allocation.application for victim in chosen.victims}:
            held = partition.allocations.of(application).values()
            is_running = application.state is ApplicationState.RUNNING
            if is_running and not application.pending and all(one.open_release for one in held):
                patch.fires()
                effects += application_lifecycle.move(
                    partition,
                    application,
                    ApplicationTrigger.COMPLETE,
                    moment[0],
                    "nothing is left",
                )
        return effects

    patch.quietly().instead_of(cycle.run, run)
    patch.instead_of(rm_approval.begin, begin)


@mutant(
    "stopped-victims-leak",
    "The quota of an allocation that the RM stops while it is preempted is never free again.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(releases.stop)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
        patch.fires()
        live.application.quotas.book(live.record.ask.resource)
    return original(partition, live, *rest)


@mutant(
    "removed-victims-wait-for-the-rm",
    "The quota of a victim whose application is removed is not free before the RM confirms.",
    breaks=("SI-APP-018",),
)
def _(patch: Patch) -> None:
    held: dict[str, Any] = {}

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        partition = rm.partitions.get(partition_name(request.partition))
        application = partition and partition.applications.get(request.application_id)
        preempted = TerminationType.PREEMPTED_BY_SCHEDULER
        for live in partition.allocations.of(application).values() if application else ():
            if live.open_release is preempted:
                patch.fires()
                held[live.record.identity] = live
                application.quotas.book(live.record.ask.resource)
        return original(rm, request, now)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        live = held.pop(key_of(request) or "", None)
        if live is not None:
            live.application.quotas.unbook(live.record.ask.resource)
        return original(rm, request, now)

    patch.instead_of(applications.remove, remove)
    patch.quietly().instead_of(releases.release, release)


@mutant(
    "recovered-with-a-higher-priority-go-last",
    "Recovered allocations are preempted whatever their priority, those of a lower one first.",
    breaks=("SI-PRE-005",),
)
def _(patch: Patch) -> None:
    was_recovered = recovered(patch)

    def victim(original: Callable[..., Victim | None], candidates: Any, live: Any) -> Any:
        compared = candidates.comparison(live.application.leaf)
        found = original(candidates, live)
        if found is not None or not was_recovered(live) or compared is None:
            return found
        patch.fires()
        return Victim(live, compared.priority(live))

    patch.instead_of(Candidates.victim, victim)


@mutant(
    "recovered-that-opted-out-go-last",
    "Recovered allocations that opted out are preempted if there are no others.",
    breaks=("SI-PRE-007",),
)
def _(patch: Patch) -> None:
    was_recovered = recovered(patch)

    def victim(original: Callable[..., Victim | None], candidates: Any, live: Any) -> Any:
        found = original(candidates, live)
        if found is None or not was_recovered(live) or not _opted_out(live):
            return found
        return Victim(live, candidates.comparison(live.application.leaf).most)

    may_go_nevertheless(patch, was_recovered)
    patch.instead_of(Candidates.victim, victim)


@mutant(
    "victims-are-replaced-as-well",
    "A placeholder that is being preempted is released again, as replaced.",
    breaks=("SI-REL-011",),
)
@instead_of(Partition.ask_for_release)
def _(
    patch: Patch,
    original: Callable[..., Release],
    partition: Partition,
    live: Any,
    *rest: Any,
) -> Release:
    if live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
        patch.fires()
    asked = original(partition, live, *rest)
    gang = partition.gangs.get(live.application)
    if gang is not None and live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
        gang.book(live)
    return asked
