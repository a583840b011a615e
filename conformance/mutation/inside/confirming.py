"""Mutants of confirmations that are not expected, or have another type."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import application_lifecycle, recovery, releases, scheduler
from sireference.core.model import (
    AllocationSubject,
    AskRelease,
    Effect,
    NewAllocation,
    Release,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    UpdateAllocations,
    partition_name,
)
from sireference.core.states import ApplicationState, TerminationType
from sireference.core.withdrawal import BY_THE_RM

from mutation.inside import Original, Patch
from mutation.inside.releasing import application_of, identity_of, is_of_all, key_of, named
from mutation.mutant import mutant
from mutation.patching import instead_of

_STOPS: Final = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


def allocated_again(rm_id: str, live: Any) -> Effect:
    """Return the report of an allocation like this one with another identity."""
    again = replace(live.record, identity=f"{live.record.identity}-again")
    return NewAllocation(rm_id, again, live.application.leaf.name)


@mutant(
    "confirmation-of-nothing-replaces",
    "An unexpected confirmation ends the allocation and makes another.",
    breaks=("SI-REL-014",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = named(rm, request)
    if live is None or live.open_release is not None or request.termination in _STOPS:
        return original(rm, request, now)
    patch.fires()
    live.open_release = request.termination
    return [*original(rm, request, now), allocated_again(rm.rm_id, live)]


@mutant(
    "confirmation-of-all-replaces",
    "A confirmation without identity lets everything of its application be allocated again.",
    breaks=("SI-REL-014",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    partition = rm.partitions.get(partition_name(request.partition))
    application = partition and partition.applications.get(application_of(request))
    if application is None or not is_of_all(request) or request.termination in _STOPS:
        return original(rm, request, now)
    effects = original(rm, request, now)
    for live in partition.allocations.of(application).values():
        patch.fires()
        effects.append(allocated_again(rm.rm_id, live))
    return effects


@mutant(
    "confirmation-of-nothing-ends-the-stream",
    "An unexpected confirmation is an error and ends the stream.",
    breaks=("SI-REL-014",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = named(rm, request)
    if live is not None and request.termination not in (live.open_release, *_STOPS):
        patch.fires()
        raise RuntimeError("this confirmation is unexpected")
    return original(rm, request, now)


def _answers_confirmations(patch: Patch, *, from_the: int) -> None:
    """Echo the ask releases that confirm, from the given one of a key on."""
    counts: Counter[AllocationSubject] = Counter()

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        is_of_ask = named(rm, request) is None and request.termination not in _STOPS
        effects = original(rm, request, now)
        if not is_of_ask or not application_of(request):
            return effects
        counts[request.subject] += 1
        if counts[request.subject] < from_the:
            return effects
        patch.fires()
        return [*effects, ReleasedAsk(rm.rm_id, _echo(request))]

    patch.instead_of(releases.release, release)


def _echo(request: ReleaseRequest) -> AskRelease:
    """Return the release as it was sent."""
    return AskRelease(
        partition=request.partition,
        application_id=application_of(request),
        key=key_of(request),
        termination=request.termination,
        message=request.message,
    )


mutant(
    "ask-confirmation-answered",
    "The confirmation of an ask release is answered.",
    breaks=("SI-REL-025",),
)(partial(_answers_confirmations, from_the=1))
mutant(
    "second-ask-confirmation-answered",
    "Once an ask release is confirmed, a further confirmation is answered.",
    breaks=("SI-REL-025",),
)(partial(_answers_confirmations, from_the=2))


def _mistyped(rm: Any, request: Any) -> Any:
    """Return the allocation whose open release is confirmed with another type, if any."""
    live = named(rm, request)
    if live is None or live.open_release in (None, request.termination):
        return None
    return None if request.termination in _STOPS else live


@mutant(
    "mistyped-confirmation-loses-the-ask",
    "A confirmation of another type ends a placeholder, and its replacement is lost.",
    breaks=("SI-REL-026",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = _mistyped(rm, request)
    if live is None:
        return original(rm, request, now)
    partition = rm.partitions[partition_name(request.partition)]
    pending = partition.replacements.by_placeholder.get(live)
    if pending is None:
        return original(rm, request, now)
    patch.fires()
    partition.asks.drop(pending)
    return original(rm, replace(request, termination=live.open_release), now)


@mutant(
    "mistyped-confirmation-frees-already",
    "A confirmation of another type frees the capacity, and the right one does so again.",
    breaks=("SI-REL-026",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = _mistyped(rm, request)
    if live is not None:
        patch.fires()
        node = live.node
        node.resize(node.capacity, node.occupied - live.record.ask.resource)
        rm.partitions[partition_name(request.partition)].node_index.capacity_freed(node)
    return original(rm, request, now)


@mutant(
    "second-ask-confirmation-keeps-it-failing",
    "An application whose ask release is confirmed twice stays Failing.",
    breaks=("SI-REL-025",),
)
def _(patch: Patch) -> None:
    confirmed: set[AllocationSubject] = set()
    stuck: set[str] = set()

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        if request.termination is TerminationType.TIMEOUT and named(rm, request) is None:
            if request.subject in confirmed:
                stuck.add(application_of(request))
            confirmed.add(request.subject)
        return original(rm, request, now)

    def settle(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        is_failing = application.state is ApplicationState.FAILING
        if is_failing and application.application_id in stuck:
            patch.fires()
            return []
        return original(partition, application, now)

    patch.instead_of(releases.release, release)
    patch.instead_of(application_lifecycle.settle, settle)


@mutant(
    "second-confirmation-of-a-message-ignored",
    "Of several confirmations in one message only the first counts.",
    breaks=("SI-GANG-021",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateAllocations):
        replaced = TerminationType.PLACEHOLDER_REPLACED
        confirmations = [one for one in event.releases if one.termination is replaced]
        if len(confirmations) > 1:
            patch.fires()
            kept = tuple(one for one in event.releases if one not in confirmations[1:])
            event = replace(event, releases=kept)
    return original(rm, event, now)


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


@mutant(
    "confirmation-of-the-recovered-answered",
    "The confirmation for an allocation that was recovered is answered.",
    breaks=("SI-REL-009",),
)
def _(patch: Patch) -> None:
    recovered: set[str] = set()

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        recovered.add(record.identity)
        return original(partition, record, now)

    def confirmed(
        original: Original, partition: Any, live: Any, termination: TerminationType, now: float
    ) -> list[Effect]:
        effects = original(partition, live, termination, now)
        if live.record.identity in recovered:
            patch.fires()
            effects.append(ReleasedAllocation(partition.rm_id, live.release(termination, "")))
        return effects

    patch.quietly().instead_of(recovery.recover, recover)
    patch.instead_of(releases.confirmed, confirmed)


def _second_frees_again(patch: Patch, termination: TerminationType) -> None:
    """Free what a second confirmation of this type names once more."""
    ended: dict[tuple[str, str], Any] = {}  # by RM and identity

    def confirm(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        ended[partition.rm_id, live.record.identity] = live
        return original(partition, live, *rest)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        live = ended.get((rm.rm_id, identity_of(request)))
        partition = rm.partitions.get(partition_name(request.partition))
        if live is not None and request.termination is termination and partition is not None:
            patch.fires()
            live.node.unbook(live.record.ask.resource)
            partition.node_index.capacity_freed(live.node)
        return original(rm, request, now)

    patch.quietly().instead_of(releases.confirmed, confirm)
    patch.instead_of(releases.release, release)


mutant(
    "second-confirmation-of-a-preemption-frees-again",
    "When the end of a preempted allocation is confirmed twice, its capacity is free twice.",
    breaks=("SI-NODE-006",),
)(partial(_second_frees_again, termination=TerminationType.PREEMPTED_BY_SCHEDULER))
mutant(
    "second-confirmation-of-a-timeout-frees-again",
    "When the end of an allocation by a timeout is confirmed twice, its capacity is free twice.",
    breaks=("SI-NODE-006",),
)(partial(_second_frees_again, termination=TerminationType.TIMEOUT))


@mutant(
    "second-stop-frees-the-quota-again",
    "An allocation that is released twice is freed twice in its queue.",
    breaks=("SI-REL-005",),
)
def _(patch: Patch) -> None:
    ended: dict[tuple[str, str], Any] = {}  # by RM and identity

    def stop(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        ended[partition.rm_id, live.record.identity] = live
        return original(partition, live, *rest)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        live = ended.get((rm.rm_id, identity_of(request)))
        if live is not None and request.termination in BY_THE_RM:
            patch.fires()
            live.application.quotas.unbook(live.record.ask.resource)
        return original(rm, request, now)

    patch.quietly().instead_of(releases.stop, stop)
    patch.instead_of(releases.release, release)


@mutant(
    "confirmations-end-asks-that-live-on",
    "A confirmation of nothing for a pending ask is answered as if that had ended.",
    breaks=("SI-REL-014",),
    revision="2024-10",
)
@instead_of(releases.release)
def _(
    patch: Patch, original: Original, rm: Any, request: ReleaseRequest, now: float
) -> list[Effect]:
    partition = rm.partitions.get(partition_name(request.partition))
    name = getattr(request.subject, "application_id", "")
    application = partition.applications.get(name) if partition is not None else None
    effects = original(rm, request, now)
    if application is None or request.termination in BY_THE_RM:
        return effects
    for pending in releases.pending_meant(application, request.subject):
        patch.fires()
        stopped = TerminationType.STOPPED_BY_RM
        ended = AskRelease(partition.name, name, pending.ask.key, stopped, "withdrawn")
        effects.append(ReleasedAsk(rm.rm_id, ended))
    return effects


@mutant(
    "second-stop-in-a-message-frees-the-node-again",
    "An allocation that is released twice in one message is freed twice on its node.",
    breaks=("SI-REL-005",),
)
def _(patch: Patch) -> None:
    ended: dict[str, Any] = {}  # by this message

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        ended.clear()
        return original(rm, event, now)

    def stop(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        ended[live.record.identity] = live
        return original(partition, live, *rest)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        live = ended.get(identity_of(request))
        partition = rm.partitions.get(partition_name(request.partition))
        if live is not None and partition is not None and request.termination in BY_THE_RM:
            patch.fires()
            live.node.unbook(live.record.ask.resource)
            partition.node_index.capacity_freed(live.node)
        return original(rm, request, now)

    patch.quietly().instead_of(scheduler.apply, apply)
    patch.quietly().instead_of(releases.stop, stop)
    patch.instead_of(releases.release, release)
