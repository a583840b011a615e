"""Mutants of gangs."""

from functools import partial
from typing import Final

from mutation.lists import ALLOCATIONS, ASKS, CREATED_APPLICATIONS, RELEASED, UPDATED_APPLICATIONS
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row

_AREAS: Final = ("GANG", "REC")
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "placeholders-are-ordinary",
    "The placeholder flag of an ask is ignored.",
    ASKS.without("placeholder"),
    breaks=("SI-GANG-012", "SI-GANG-019"),
)


@_mutant(
    "everything-is-a-placeholder",
    "Every ask of a task group is a placeholder.",
    *_AREAS,
    breaks=("SI-GANG-019",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        ask.placeholder = bool(ask.taskGroupName)


_row(
    "task-groups-ignored",
    "Placeholders have no task group.",
    ASKS.without("taskGroupName"),
    breaks=("SI-GANG-012",),
)
_row(
    "one-task-group",
    "All task groups are one.",
    ASKS.where(lambda ask: ask.taskGroupName).put(taskGroupName="group"),
    breaks=("SI-GANG-017",),
)
_row(
    "placeholder-not-marked",
    "An allocation is not marked as a placeholder.",
    ALLOCATIONS.without("placeholder"),
    breaks=("SI-GANG-012",),
)
_row(
    "placeholder-without-group",
    "An allocation does not name its task group.",
    ALLOCATIONS.without("taskGroupName"),
    breaks=("SI-GANG-012",),
)


@_mutant(
    "real-marked-as-placeholder",
    "A real allocation is marked as a placeholder.",
    *_AREAS,
    breaks=("SI-GANG-021",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.placeholder = bool(one.taskGroupName)


_row(
    "placeholder-ask-ignored",
    "The total size of a gang is ignored.",
    CREATED_APPLICATIONS.without("placeholderAsk"),
    breaks=("SI-GANG-003", "SI-GANG-006", "SI-GANG-009"),
    areas=(*_AREAS, "APP"),
)
_row(
    "style-ignored",
    "Every gang is soft.",
    CREATED_APPLICATIONS.put(gangSchedulingStyle="Soft"),
    breaks=("SI-GANG-034", "SI-GANG-037", "SI-GANG-038"),
)
_row(
    "failed-as-completed",
    "A failed application is reported as completed.",
    UPDATED_APPLICATIONS.turn("state", {"Failed": "Completed"}),
    breaks=("SI-GANG-034", "SI-GANG-037", "SI-GANG-038"),
)
_row(
    "every-gang-hard",
    "Every gang is hard.",
    CREATED_APPLICATIONS.put(gangSchedulingStyle="Hard"),
    breaks=("SI-GANG-035",),
)
_row(
    "replaced-as-timeout",
    "The release of a replaced placeholder has the type TIMEOUT.",
    RELEASED.turn("terminationType", {si.PLACEHOLDER_REPLACED: si.TIMEOUT}),
    breaks=("SI-GANG-019",),
)
_row(
    "timed-out-as-replaced",
    "The release of a timed-out placeholder has the type PLACEHOLDER_REPLACED.",
    RELEASED.turn("terminationType", {si.TIMEOUT: si.PLACEHOLDER_REPLACED}),
    breaks=("SI-GANG-032", "SI-GANG-044"),
)
_row(
    "replacement-not-reported",
    "The release of a replaced placeholder is not reported.",
    RELEASED.only(lambda release: release.terminationType != si.PLACEHOLDER_REPLACED),
    breaks=("SI-GANG-019",),
)


@_mutant(
    "real-before-confirmation",
    "The real allocation is announced with the release.",
    *_AREAS,
    breaks=("SI-GANG-020",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    real = wire.memory["real"] or {}
    for one in request.allocations:
        if one.taskGroupName and not one.placeholder:
            real[one.applicationID] = one
    wire.memory["real"] = real


early = _


@early.also
def _(response: si.AllocationResponse, wire: Wire) -> None:
    for release in response.released:
        real = (wire.memory["real"] or {}).get(release.applicationID)
        if release.terminationType == si.PLACEHOLDER_REPLACED and real is not None:
            placeholder = (wire.memory["placeholders"] or {}).get(release.allocationKey)
            if placeholder is not None:
                one = response.new.add()
                one.CopyFrom(placeholder)
                one.placeholder, one.allocationKey = False, real.allocationKey
    known = wire.memory["placeholders"] or {}
    known.update({one.allocationKey: one for one in response.new if one.placeholder})
    wire.memory["placeholders"] = known
