"""Mutants of how releases are interpreted and reported."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import (
    allocation_end,
    allocations,
    application_lifecycle,
    asks,
    recovery,
    releases,
    scheduler,
)
from sireference.core.gang import completion
from sireference.core.model import (
    AllOfApplication,
    AskedAndHeld,
    AskReleaseRequest,
    EachOfKey,
    Effect,
    Everything,
    OneAllocation,
    OneOfKey,
    Release,
    ReleasedAllocation,
    ReleaseRequest,
    partition_name,
)
from sireference.core.resources import NOTHING
from sireference.core.state.allocation import Allocation
from sireference.core.states import NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant, variant
from mutation.patching import instead_of

_AGAIN: Final = 1.0  # seconds without an answer
_SOON: Final = 0.05
_STOPS: Final = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


@mutant(
    "untyped-release-confirms",
    "A release without type is treated as the open confirmation.",
    breaks=("SI-REL-007",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = named(rm, request)
    is_open = live is not None and live.open_release is not None
    if is_open and request.termination is TerminationType.UNSET:
        patch.fires()
        request = replace(request, termination=live.open_release)
    return original(rm, request, now)


@mutant(
    "release-ends-the-latest-of-its-key",
    "A release of one allocation of an ask ends the latest allocation of that ask.",
    breaks=("SI-REL-001", "SI-REL-002"),
    revision="2023-12",
)
@instead_of(releases.meant)
def _(
    patch: Patch, original: Callable[..., Any], partition: Any, application: Any, subject: Any
) -> Any:
    held = partition.allocations.of(application)
    named = held.get(subject.identity) if isinstance(subject, OneAllocation) else None
    if named is None:
        return original(partition, application, subject)
    *_, latest = (one for one in held.values() if one.record.ask.key == named.record.ask.key)
    if latest is not named:
        patch.fires()
    return (latest,)


@mutant(
    "placeholders-survive-a-release-of-all",
    "A release without identity keeps placeholders.",
    breaks=("SI-REL-003",),
)
def _(patch: Patch) -> None:
    def stop(
        original: Callable[..., Any], partition: Any, live: Any, request: Any, now: float
    ) -> Any:
        if live.is_placeholder and is_of_all(request):
            patch.fires()
            return []
        return original(partition, live, request, now)

    patch.instead_of(releases.stop, stop)


@mutant(
    "added-placeholder-is-real",
    "A placeholder added by an allocation request counts as a real allocation.",
    breaks=("SI-REC-021",),
)
@instead_of(recovery.add)
def _(patch: Patch, original: Callable[..., Any], rm: Any, allocation: Any, now: float) -> Any:
    if allocation.ask.is_placeholder:
        patch.fires()
        allocation = replace(allocation, ask=replace(allocation.ask, placeholder=False))
    return original(rm, allocation, now)


@variant(
    "found-by-identity-alone",
    "A release by identity ignores the application it names.",
    once_failed_by=("SI-REL-005", "SI-REL-011"),
    departs_from=("SI-REL-028",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    live = named(rm, request)
    if live is not None:
        its_own = live.application.application_id
        if request.subject.application_id != its_own:
            patch.fires()
            subject = replace(request.subject, application_id=its_own)
            request = replace(request, subject=subject)
    return original(rm, request, now)


@variant(
    "misnamed-releases-are-echoed",
    "A release of something unknown is answered by its echo.",
    once_failed_by=("SI-REL-005",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
    partition = rm.partitions.get(partition_name(request.partition))
    named = request.subject
    application = partition and partition.applications.get(named.application_id)
    is_there = application is not None and (
        identity_of(request) in {*partition.allocations.of(application), *application.pending}
    )
    is_there = is_there or (partition is not None and identity_of(request) in partition.foreign)
    if not is_of_all(request) and not is_there and request.termination in _STOPS:
        patch.fires()
        echo = Release(
            partition=request.partition,
            application_id=named.application_id,
            identity=identity_of(request),
            termination=request.termination,
            key=named.key or "",
            message=request.message,
        )
        return [ReleasedAllocation(rm.rm_id, echo)]
    return original(rm, request, now)


def _repeats(patch: Patch, seconds: float) -> None:
    """Repeat an open release whenever it is unconfirmed for this many seconds."""
    watched: set[int] = set()

    def repeat(rm: Any, partition: Any, live: Allocation, now: float) -> Any:
        termination = live.open_release
        if termination is None or live.record.identity not in partition.allocations.all:
            return []
        patch.fires()
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

    patch.instead_of(scheduler.run_pass, passes)


variant(
    "unconfirmed-releases-are-repeated",
    "An unconfirmed release is repeated each second.",
    once_failed_by=("SI-ALLOC-009", "SI-REL-011"),
)(partial(_repeats, seconds=_AGAIN))
variant(
    "unconfirmed-releases-are-repeated-soon",
    "An unconfirmed release is repeated at a short interval.",
    once_failed_by=("SI-ALLOC-009", "SI-GANG-020", "SI-REL-009", "SI-REL-011"),
)(partial(_repeats, seconds=_SOON))


@mutant(
    "timed-out-freed-unconfirmed",
    "The capacity of a timed-out allocation is free before the RM has confirmed its end.",
    breaks=("SI-REL-011",),
    revision="2023-12",
)
@instead_of(allocations.expire)
def _(patch: Patch, original: Callable[..., Any], partition: Any, live: Any, now: float) -> Any:
    received = original(partition, live, now)
    if not received:
        return received
    patch.fires()
    return received + allocation_end.end(partition, live, TerminationType.TIMEOUT, now)


@mutant(
    "leftovers-freed-unconfirmed",
    "The capacity of a leftover placeholder is free before the RM has confirmed its release.",
    breaks=("SI-REL-011",),
)
@instead_of(completion.clear_up)
def _(patch: Patch, original: Callable[..., Any], partition: Any, application: Any) -> Any:
    clearing = original(partition, application)
    if clearing:
        patch.fires()
        for live in partition.allocations.of(application).values():
            partition.resize(live, NOTHING)
    return clearing


@mutant(
    "ended-application-freed-unconfirmed",
    "What the execution timeout of an application ends is free before the RM has confirmed that.",
    breaks=("SI-REL-011",),
)
@instead_of(application_lifecycle.execution_timeout)
def _(
    patch: Patch, original: Original, partition: Any, application: Any, now: float
) -> list[Effect]:
    effects = original(partition, application, now)
    for live in partition.allocations.of(application).values():
        patch.fires()
        partition.resize(live, NOTHING)
    return effects


@mutant(
    "timed-out-while-it-is-replaced",
    "A placeholder is released with TIMEOUT before its replacement is confirmed.",
    breaks=("SI-REL-011",),
    revision="2023-12",
)
@instead_of(allocations.expire)
def _(patch: Patch, original: Callable[..., Any], partition: Any, live: Any, now: float) -> Any:
    if live.open_release is None:
        return original(partition, live, now)
    patch.fires()
    live.timer = None
    release = live.release(TerminationType.TIMEOUT, "its time is over")
    return [ReleasedAllocation(partition.rm_id, release)]


@mutant(
    "releases-name-no-partition",
    "Releases by the scheduler do not name the partition.",
    breaks=("SI-REL-023",),
)
@instead_of(Allocation.release)
def _(patch: Patch, original: Callable[..., Any], live: Any, *rest: Any) -> Any:
    patch.fires()
    return replace(original(live, *rest), partition="")


@mutant(
    "release-of-all-drops-asks",
    "A release without identity also withdraws the pending asks of its application.",
    breaks=("SI-REL-003",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def stop(
        original: Callable[..., Any], partition: Any, live: Any, request: Any, now: float
    ) -> Any:
        asks_too = list(live.application.pending.values()) if is_of_all(request) else []
        for pending in asks_too:
            patch.fires()
            partition.asks.drop(pending)
        return original(partition, live, request, now)

    patch.instead_of(releases.stop, stop)


@mutant(
    "nameless-ask-release-ignored",
    "An ask release without application is ignored.",
    breaks=("SI-REL-021",),
    revision="2023-12",
)
@instead_of(asks.meant)
def _(patch: Patch, original: Callable[..., Any], partition: Any, subject: Any) -> Iterator[Any]:
    if isinstance(subject, EachOfKey):
        patch.fires()
    else:
        yield from original(partition, subject)


@mutant(
    "key-alone-withdraws-all",
    "An ask release by key withdraws all pending asks of its application.",
    breaks=("SI-REL-021",),
    revision="2023-12",
)
@instead_of(asks.meant)
def _(patch: Patch, original: Callable[..., Any], partition: Any, subject: Any) -> Iterator[Any]:
    for pending in original(partition, subject):
        if not isinstance(subject, EachOfKey):
            yield pending
            continue
        for other in list(pending.application.pending.values()):
            patch.fires()
            yield other


def named(rm: Any, request: Any) -> Any:
    """Return the allocation that a release names, None if there is none."""
    partition = rm.partitions.get(partition_name(request.partition))
    return partition.allocations.all.get(identity_of(request)) if partition is not None else None


def identity_of(request: ReleaseRequest) -> str:
    """Return the identity of the one allocation to release, empty for other releases."""
    match request.subject:
        case OneAllocation(identity=identity) | OneOfKey(key=identity):
            return identity
    return ""


def application_of(request: ReleaseRequest | AskReleaseRequest) -> str:
    """Return the application that a release names, empty if none."""
    subject = request.subject
    return "" if isinstance(subject, EachOfKey | Everything) else subject.application_id


def key_of(request: ReleaseRequest | AskReleaseRequest) -> str:
    """Return the ask key that an ask release names, empty if none."""
    return request.subject.key if isinstance(request.subject, OneOfKey | EachOfKey) else ""


def is_of_all(request: ReleaseRequest) -> bool:
    """Return whether it releases all allocations of an application."""
    return isinstance(request.subject, AllOfApplication | AskedAndHeld)


@mutant(
    "release-of-all-spares-recovered",
    "A release without identity spares recovered allocations.",
    breaks=("SI-REL-003",),
)
def _(patch: Patch) -> None:
    recovered: set[tuple[str, str]] = set()

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        recovered.add((partition.rm_id, record.identity))
        return original(partition, record, now)

    def meant(original: Original, partition: Any, application: Any, subject: Any) -> Any:
        found: Any = original(partition, application, subject)
        if not isinstance(subject, AllOfApplication | AskedAndHeld):
            return found
        spared = [one for one in found if (partition.rm_id, one.record.identity) in recovered]
        if spared:
            patch.fires()
        return tuple(one for one in found if one not in spared)

    patch.quietly().instead_of(recovery.recover, recover)
    patch.instead_of(releases.meant, meant)


@mutant(
    "release-needs-a-key",
    "A release by identity that names no key is ignored.",
    breaks=("SI-REL-001",),
    revision="2023-12",
)
@instead_of(releases.release)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    if isinstance(request.subject, OneAllocation) and request.subject.key is None:
        patch.fires()
        return []
    return original(rm, request, now)


def _spares(patch: Patch, is_spared: Callable[[Allocation], bool]) -> None:
    """Leave some allocations out of each release of all of an application."""

    def meant(original: Callable[..., Any], partition: Any, application: Any, subject: Any) -> Any:
        found = original(partition, application, subject)
        kept = tuple(one for one in found if not is_spared(one))
        if not isinstance(subject, AllOfApplication | AskedAndHeld) or len(kept) == len(found):
            return found
        patch.fires()
        return kept

    patch.instead_of(releases.meant, meant)


mutant(
    "release-of-all-spares-draining-nodes",
    "A release of all of an application leaves what is on a draining node.",
    breaks=("SI-REL-003",),
)(partial(_spares, is_spared=lambda live: live.node.state is NodeState.DRAINING))
mutant(
    "release-of-all-spares-replacements",
    "A release of all of an application leaves the placeholders that are being replaced.",
    breaks=("SI-REL-003",),
)(
    partial(
        _spares, is_spared=lambda live: live.open_release is TerminationType.PLACEHOLDER_REPLACED
    )
)
mutant(
    "release-of-all-spares-victims",
    "A release of all of an application leaves what is being preempted.",
    breaks=("SI-REL-003",),
)(
    partial(
        _spares, is_spared=lambda live: live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER
    )
)
mutant(
    "release-of-all-spares-what-replaced-placeholders",
    "A release of all of an application leaves what has replaced a placeholder.",
    breaks=("SI-REL-003",),
)(
    partial(
        _spares,
        is_spared=lambda live: bool(live.record.ask.task_group) and not live.is_placeholder,
    )
)


@mutant(
    "released-by-the-beginning-of-a-key",
    "A release by key also ends the allocations whose keys begin with that key.",
    breaks=("SI-REL-027",),
    revision="2024-10",
)
@instead_of(releases.meant)
def _(
    patch: Patch, original: Callable[..., Any], partition: Any, application: Any, subject: Any
) -> Any:
    found = original(partition, application, subject)
    if not isinstance(subject, OneOfKey):
        return found
    held = partition.allocations.of(application)
    longer = [key for key in held if key != subject.key and key.startswith(subject.key)]
    if longer:
        patch.fires()
    return (*found, *(held[key] for key in longer))


@mutant(
    "withdrawn-by-the-beginning-of-a-key",
    "A release by key also withdraws the pending asks whose keys begin with that key.",
    breaks=("SI-REL-027",),
    revision="2024-10",
)
@instead_of(releases.pending_meant)
def _(patch: Patch, original: Callable[..., Any], application: Any, subject: Any) -> Any:
    found = original(application, subject)
    if not isinstance(subject, OneOfKey):
        return found
    asked = application.pending
    longer = [key for key in asked if key != subject.key and key.startswith(subject.key)]
    if longer:
        patch.fires()
    return (*found, *(asked[key] for key in longer))
