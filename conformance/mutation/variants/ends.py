"""Permitted variants of how ends are reported: by which message, when, and for which asks."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import application_lifecycle, releases
from sireference.core.model import (
    Effect,
    RejectedAllocation,
    RejectedAsk,
    ReleasedAllocation,
    UpdatedApplication,
    partition_name,
)
from sireference.core.registration import ResourceManagers
from sireference.core.states import ApplicationState, TerminationType

from mutation.inside import Patch
from mutation.inside.releasing import application_of
from mutation.lists import is_ask
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, variant
from mutation.patching import instead_of

_WHILE: Final = 1.2  # seconds
_on_the_wire: Final = partial(variant, revision=NAME)


@variant(
    "earlier-allocations-reported",
    "After a new registration the ends of the earlier allocations are reported.",
    once_failed_by=("SI-REL-023", "SI-ASK-022", "SI-ASK-002"),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Callable[..., Any], known: ResourceManagers, event: Any, now: float
) -> list[Effect]:
    former = known.known(event.rm_id)
    ends = list(_ends(former)) if former is not None else []
    effects: list[Effect] = original(known, event, now)
    if ends:
        patch.fires()
    return [*effects, *ends]


@variant(
    "releases-without-type-are-refused",
    "A release without type is refused for each allocation that it means.",
    once_failed_by=("SI-REL-007", "SI-ASK-019"),
)
@instead_of(releases.release)
def _(
    patch: Patch, original: Callable[..., Any], rm: Any, request: Any, now: float
) -> list[Effect]:
    partition = rm.partitions.get(partition_name(request.partition))
    application = partition and partition.applications.get(application_of(request))
    if application is None or request.termination is not TerminationType.UNSET:
        return list(original(rm, request, now))
    patch.fires()
    meant = releases.meant(partition, application, request.subject)
    keys = [live.record.ask.key for live in meant]
    names = [(rm.rm_id, key, application.application_id) for key in keys]
    return [RejectedAllocation(*name, "a release has to name its type") for name in names]


def _ends(rm: Any) -> Iterator[Effect]:
    for partition in rm.partitions.values():
        for live in partition.allocations.all.values():
            release = live.release(TerminationType.STOPPED_BY_RM, "the RM registered again")
            yield ReleasedAllocation(rm.rm_id, release)
        for application in partition.applications.values():
            for pending in application.pending.values():
                named = (pending.ask.key, pending.ask.application_id)
                yield RejectedAsk(rm.rm_id, *named, "the RM registered again")


@_on_the_wire(
    "replacement-takes-its-time",
    "A placeholder is released 1.2 s after the real ask that is to replace it.",
    once_failed_by=("SI-REL-009", "SI-REL-011", "SI-REC-011", "SI-REC-012", "SI-REC-019"),
    areas=("REL", "REC", "GANG"),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    if any(one.terminationType == si.PLACEHOLDER_REPLACED for one in response.released):
        wire.pause = _WHILE


@_on_the_wire(
    "amounts-are-rounded-up",
    "All resources but memory and vcore are allocated in pairs.",
    once_failed_by=("SI-ALLOC-002", "SI-RES-001", "SI-RES-002", "SI-FOR-002", "SI-ASK-032"),
    areas=("ALLOC", "RES", "FOR", "ASK"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in filter(is_ask, request.allocations):
        for name, amount in ask.resourcePerAlloc.resources.items():
            if name not in ("memory", "vcore"):
                amount.value += amount.value % 2


@_on_the_wire(
    "rejects-no-ask",
    "An ask that cannot be served stays pending instead of being rejected.",
    once_failed_by=("SI-ASK-017", "SI-ASK-022"),
    departs_from=("SI-ASK-008", "SI-ASK-009", "SI-ASK-010"),
    areas=("ASK",),
)
def _(response: si.AllocationResponse) -> None:
    del response.rejectedAllocations[:]


@_on_the_wire(
    "rejects-no-existing-allocation",
    "An existing allocation that cannot be recovered by itself is ignored, not rejected.",
    once_failed_by=("SI-REC-017",),
    departs_from=("SI-REC-004", "SI-REC-008"),
    areas=("REC",),
)
def _(response: si.AllocationResponse) -> None:
    del response.rejectedAllocations[:]


@variant(
    "overdue-applications-end-in-one",
    "At its execution timeout one release without key ends an application, and no state does.",
    once_failed_by=("SI-APP-012", "SI-APP-013"),
    areas=("APP",),
)
def _(patch: Patch) -> None:
    over = (ApplicationState.FAILING, ApplicationState.FAILED)

    def fail(original: Callable[..., Any], partition: Any, application: Any, *rest: Any) -> Any:
        effects: list[Effect] = original(partition, application, *rest)
        ends = [one for one in effects if isinstance(one, ReleasedAllocation)]
        if not ends or partition.gangs.get(application) is not None:
            return effects
        patch.fires()
        whole = replace(ends[0], release=replace(ends[0].release, identity="", key=""))
        return [*(one for one in effects if one not in ends), whole]

    def move(
        original: Callable[..., Any], partition: Any, application: Any, *rest: Any
    ) -> list[Effect]:
        effects: list[Effect] = original(partition, application, *rest)
        if application.state not in over or partition.gangs.get(application) is not None:
            return effects
        return [one for one in effects if not isinstance(one, UpdatedApplication)]

    patch.instead_of(application_lifecycle.fail, fail)
    patch.instead_of(application_lifecycle.move, move)
