"""Faults in what confirmations do that nobody waits for, or that come of another type."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sireference.core import application_lifecycle, releases
from sireference.core.model import (
    AllocationSubject,
    AskRelease,
    Effect,
    NewAllocation,
    ReleasedAsk,
    ReleaseRequest,
    partition_name,
)
from sireference.core.states import ApplicationState, TerminationType

from mutation.inside import Inside, Original
from mutation.inside.releasing import application_of, is_of_all, key_of, named
from mutation.mutant import mutant

_STOPS: Final = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


def allocated_again(rm_id: str, live: Any) -> Effect:
    """What tells of an allocation like this one, by another identity."""
    again = replace(live.record, identity=f"{live.record.identity}-again")
    return NewAllocation(rm_id, again, live.application.leaf.name)


@mutant(
    "confirmation-of-nothing-replaces",
    "What confirms a release nobody asked for is believed: the allocation ends, and another comes.",
    breaks=("SI-REL-014",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = named(rm, request)
        if live is None or live.open_release is not None or request.termination in _STOPS:
            return original(rm, request, now)
        inside.fires()
        live.open_release = request.termination
        return [*original(rm, request, now), allocated_again(rm.rm_id, live)]

    inside.instead_of(releases.release, release)


@mutant(
    "confirmation-of-all-replaces",
    "A confirmation without identity lets everything of its application be allocated again.",
    breaks=("SI-REL-014",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        partition = rm.partitions.get(partition_name(request.partition))
        application = partition and partition.applications.get(application_of(request))
        if application is None or not is_of_all(request) or request.termination in _STOPS:
            return original(rm, request, now)
        effects = original(rm, request, now)
        for live in partition.allocations.of(application).values():
            inside.fires()
            effects.append(allocated_again(rm.rm_id, live))
        return effects

    inside.instead_of(releases.release, release)


@mutant(
    "confirmation-of-nothing-ends-the-stream",
    "A confirmation nobody waits for is an error, and the stream ends.",
    breaks=("SI-REL-014",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = named(rm, request)
        if live is not None and request.termination not in (live.open_release, *_STOPS):
            inside.fires()
            raise RuntimeError("nobody waits for this confirmation")
        return original(rm, request, now)

    inside.instead_of(releases.release, release)


def _answers_confirmations(inside: Inside, *, from_the: int) -> None:
    """An ask release that confirms is sent back, beginning with that one of its key."""
    counts: Counter[AllocationSubject] = Counter()

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        is_of_ask = named(rm, request) is None and request.termination not in _STOPS
        effects = original(rm, request, now)
        if not is_of_ask or not application_of(request):
            return effects
        counts[request.subject] += 1
        if counts[request.subject] < from_the:
            return effects
        inside.fires()
        return [*effects, ReleasedAsk(rm.rm_id, _echo(request))]

    inside.instead_of(releases.release, release)


def _echo(request: ReleaseRequest) -> AskRelease:
    """The same as it was said."""
    return AskRelease(
        partition=request.partition,
        application_id=application_of(request),
        key=key_of(request),
        termination=request.termination,
        message=request.message,
    )


@mutant(
    "ask-confirmation-answered",
    "The confirmation of an ask release is answered.",
    breaks=("SI-REL-025",),
)
def _(inside: Inside) -> None:
    _answers_confirmations(inside, from_the=1)


@mutant(
    "second-ask-confirmation-answered",
    "Once an ask release is confirmed, a further confirmation is answered.",
    breaks=("SI-REL-025",),
)
def _(inside: Inside) -> None:
    _answers_confirmations(inside, from_the=2)


def _mistyped(rm: Any, request: Any) -> Any:
    """The allocation whose open release is confirmed by another type, None without."""
    live = named(rm, request)
    if live is None or live.open_release in (None, request.termination):
        return None
    return None if request.termination in _STOPS else live


@mutant(
    "mistyped-confirmation-loses-the-ask",
    "A confirmation by another type ends a placeholder, and what was to replace it is forgotten.",
    breaks=("SI-REL-026",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = _mistyped(rm, request)
        if live is None:
            return original(rm, request, now)
        partition = rm.partitions[partition_name(request.partition)]
        pending = partition.replacements._by_placeholder.get(live)
        if pending is None:
            return original(rm, request, now)
        inside.fires()
        partition.asks.drop(pending)
        return original(rm, replace(request, termination=live.open_release), now)

    inside.instead_of(releases.release, release)


@mutant(
    "mistyped-confirmation-frees-already",
    "With a confirmation by another type the room is free, and once more with the right one.",
    breaks=("SI-REL-026",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = _mistyped(rm, request)
        if live is not None:
            inside.fires()
            node = live.node
            node.resize(node.capacity, node.occupied - live.record.ask.resource)
            rm.partitions[partition_name(request.partition)].node_index.capacity_freed(node)
        return original(rm, request, now)

    inside.instead_of(releases.release, release)


@mutant(
    "second-ask-confirmation-keeps-it-failing",
    "An application whose ask release is confirmed twice is failing for ever.",
    breaks=("SI-REL-025",),
)
def _(inside: Inside) -> None:
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
            inside.fires()
            return []
        return original(partition, application, now)

    inside.instead_of(releases.release, release)
    inside.instead_of(application_lifecycle.settle, settle)
