"""What a release is taken for, and what is said of one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from sireference.core import allocation_end, allocations, asks, recovery, releases, scheduler
from sireference.core.model import ReleasedAllocation, partition_name
from sireference.core.state.allocation import Allocation
from sireference.core.states import TerminationType

from proof.fault import fault, liberty
from proof.inside import Inside

_AGAIN: Final = 1.0  # seconds without an answer
_SOON: Final = 0.05
_STOPS: Final = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


@fault(
    "untyped-release-confirms",
    "A release without type is taken for the confirmation that is open.",
    breaks=("SI-REL-007",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = named(rm, request)
        is_open = live is not None and live.open_release is not None
        if is_open and request.termination is TerminationType.UNSET:
            inside.fires()
            request = replace(request, termination=live.open_release)
        return original(rm, request, now)

    inside.instead_of(releases.release, release)


@fault(
    "placeholders-survive-a-release-of-all",
    "A release without identity spares placeholders.",
    breaks=("SI-REL-003",),
)
def _(inside: Inside) -> None:
    def stop(
        original: Callable[..., Any], partition: Any, live: Any, request: Any, now: float
    ) -> Any:
        if live.is_placeholder and not request.identity:
            inside.fires()
            return []
        return original(partition, live, request, now)

    inside.instead_of(releases._stop, stop)


@fault(
    "added-placeholder-is-real",
    "A placeholder that is added by an allocation request counts as a real allocation.",
    breaks=("SI-REC-021",),
)
def _(inside: Inside) -> None:
    def add(original: Callable[..., Any], rm: Any, allocation: Any, now: float) -> Any:
        if allocation.ask.is_placeholder:
            inside.fires()
            allocation = replace(allocation, ask=replace(allocation.ask, placeholder=False))
        return original(rm, allocation, now)

    inside.instead_of(recovery.add, add)


@liberty(
    "found-by-identity-alone",
    "An identity names an allocation, whatever application stands beside it.",
    misjudged_by=("SI-REL-005", "SI-REL-011"),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        live = named(rm, request)
        if live is not None and request.application_id != live.application.application_id:
            inside.fires()
            request = replace(request, application_id=live.application.application_id)
        return original(rm, request, now)

    inside.instead_of(releases.release, release)


@liberty(
    "misnamed-releases-are-echoed",
    "A release of what is not there is answered with itself, and nothing else happens.",
    misjudged_by=("SI-REL-005",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        partition = rm.partitions.get(partition_name(request.partition))
        application = partition and partition.applications.get(request.application_id)
        is_there = application is not None and (
            request.identity in partition.allocations.of(application)
        )
        if request.identity and not is_there and request.termination in _STOPS:
            inside.fires()
            return [ReleasedAllocation(rm.rm_id, request)]
        return original(rm, request, now)

    inside.instead_of(releases.release, release)


def _repeats(inside: Inside, seconds: float) -> None:
    """An open release is told again, as often as it is not confirmed within so many seconds."""
    watched: set[int] = set()

    def repeat(rm: Any, partition: Any, live: Allocation, now: float) -> Any:
        termination = live.open_release
        if termination is None or live.record.identity not in partition.allocations.all:
            return []
        inside.fires()
        rm.timers.set(now + seconds, lambda later: repeat(rm, partition, live, later))
        return [ReleasedAllocation(rm.rm_id, live.release(termination, "once more"))]

    def passes(original: Callable[..., Any], rm: Any, now: float) -> Any:
        effects = original(rm, now)
        for partition in rm.partitions.values():
            for live in partition.allocations.all.values():
                if live.open_release is not None and id(live) not in watched:
                    watched.add(id(live))
                    rm.timers.set(
                        now + seconds,
                        lambda later, p=partition, one=live: repeat(rm, p, one, later),
                    )
        return effects

    inside.instead_of(scheduler._pass, passes)


@liberty(
    "unconfirmed-releases-are-repeated",
    "What the RM does not confirm within a second is said again, each second.",
    misjudged_by=("SI-ALLOC-009", "SI-REL-011"),
)
def _(inside: Inside) -> None:
    _repeats(inside, _AGAIN)


@liberty(
    "unconfirmed-releases-are-repeated-soon",
    "What the RM does not confirm is said again and again, so that its word may cross with it.",
    misjudged_by=("SI-ALLOC-009", "SI-GANG-020", "SI-REL-009", "SI-REL-011"),
)
def _(inside: Inside) -> None:
    _repeats(inside, _SOON)


@fault(
    "timed-out-room-given-away-at-once",
    "The room of an allocation whose time is over is free before the RM has confirmed its end.",
    breaks=("SI-REL-011",),
)
def _(inside: Inside) -> None:
    def expire(original: Callable[..., Any], partition: Any, live: Any, now: float) -> Any:
        told = original(partition, live, now)
        if not told:
            return told
        inside.fires()
        return told + allocation_end.end(partition, live, TerminationType.TIMEOUT, now)

    inside.instead_of(allocations._expire, expire)


@fault(
    "timed-out-while-it-is-replaced",
    "A placeholder is released with TIMEOUT although its replacement is not confirmed yet.",
    breaks=("SI-REL-011",),
)
def _(inside: Inside) -> None:
    def expire(original: Callable[..., Any], partition: Any, live: Any, now: float) -> Any:
        if live.open_release is None:
            return original(partition, live, now)
        inside.fires()
        live.timer = None
        release = live.release(TerminationType.TIMEOUT, "its time is over")
        return [ReleasedAllocation(partition.rm_id, release)]

    inside.instead_of(allocations._expire, expire)


@fault(
    "releases-name-no-partition",
    "What the scheduler releases is named without its partition.",
    breaks=("SI-REL-023",),
)
def _(inside: Inside) -> None:
    def release(original: Callable[..., Any], live: Any, *rest: Any) -> Any:
        inside.fires()
        return replace(original(live, *rest), partition="")

    inside.instead_of(Allocation.release, release)


@fault(
    "release-of-all-drops-asks",
    "A release without identity takes away what its application still asks for, too.",
    breaks=("SI-REL-003",),
)
def _(inside: Inside) -> None:
    def stop(
        original: Callable[..., Any], partition: Any, live: Any, request: Any, now: float
    ) -> Any:
        for pending in [] if request.identity else list(live.application.pending.values()):
            inside.fires()
            partition.asks.drop(pending)
        return original(partition, live, request, now)

    inside.instead_of(releases._stop, stop)


@fault(
    "nameless-ask-release-ignored",
    "An ask release that names no application is ignored.",
    breaks=("SI-REL-021",),
)
def _(inside: Inside) -> None:
    def meant(original: Callable[..., Any], partition: Any, request: Any) -> Iterator[Any]:
        if request.application_id or not request.key:
            yield from original(partition, request)
        else:
            inside.fires()

    inside.instead_of(asks.meant, meant)


@fault(
    "key-alone-withdraws-all",
    "An ask release with a key and no application withdraws all that its application asks for.",
    breaks=("SI-REL-021",),
)
def _(inside: Inside) -> None:
    def meant(original: Callable[..., Any], partition: Any, request: Any) -> Iterator[Any]:
        for application, pending in original(partition, request):
            if request.application_id or not request.key:
                yield application, pending
                continue
            for other in list(application.pending.values()):
                inside.fires()
                yield application, other

    inside.instead_of(asks.meant, meant)


def named(rm: Any, request: Any) -> Any:
    """The allocation of this identity, None where there is none."""
    partition = rm.partitions.get(partition_name(request.partition))
    return partition.allocations.all.get(request.identity) if partition is not None else None
