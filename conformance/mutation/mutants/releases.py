"""Mutants of releases and their confirmations."""

from functools import partial
from typing import Final

from mutation import held_keys
from mutation.lists import RELEASED, RELEASES
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, keep, mutant, row

_AREAS: Final = ("REL", "GANG", "PRE", "ASK")
_OF_SCHEDULER: Final = (si.TIMEOUT, si.PREEMPTED_BY_SCHEDULER, si.PLACEHOLDER_REPLACED)
_UNDEFINED: Final = 99
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "undefined-termination-type",
    "The end of an allocation released by the RM has an undefined termination type.",
    RELEASED.where(lambda release: release.terminationType == si.STOPPED_BY_RM).put(
        terminationType=_UNDEFINED
    ),
    breaks=("SI-WIRE-006",),
)
_row(
    "release-ignored",
    "Releases by the RM are ignored.",
    RELEASES.only(lambda release: release.terminationType in _OF_SCHEDULER),
    breaks=("SI-REL-001",),
    areas=(*_AREAS, "CONN"),
)


@_mutant(
    "release-confirmed-twice",
    "A release is confirmed twice.",
    *_AREAS,
    "APP",
    breaks=(
        "SI-REL-002",
        "SI-ALLOC-009",
    ),
)
def _(response: si.AllocationResponse) -> None:
    stopped = [one for one in response.released if one.terminationType == si.STOPPED_BY_RM]
    response.released.extend(stopped)


_row(
    "release-of-all",
    "The release of one allocation releases all of its application.",
    RELEASES.where(lambda release: release.terminationType not in _OF_SCHEDULER).without(
        "allocationKey"
    ),
    breaks=("SI-REL-013", "SI-REL-027"),
)
_row(
    "release-of-one",
    "A release of all of an application is ignored.",
    RELEASES.only(lambda release: bool(release.allocationKey)),
    breaks=("SI-REL-003", "SI-REL-029"),
)
_row(
    "release-in-any-partition",
    "The partition of a release is ignored.",
    RELEASES.put(partitionName="default"),
    breaks=("SI-REL-005",),
)
_row(
    "release-without-type-ignored",
    "A release without type is ignored.",
    RELEASES.only(lambda release: bool(release.terminationType)),
    breaks=("SI-REL-007",),
    areas=(*_AREAS, "WIRE"),
)
_row(
    "confirmed-as-timeout",
    "A stop by the RM is confirmed as a timeout.",
    RELEASED.turn("terminationType", {si.STOPPED_BY_RM: si.TIMEOUT}),
    breaks=("SI-REL-001", "SI-REL-002"),
    areas=(*_AREAS, "WIRE"),
)
_row(
    "released-by-another-key",
    "A release names an unknown key.",
    RELEASED.change("allocationKey", lambda key: f"{key}-x"),
    breaks=("SI-REL-023",),
)
_row(
    "released-without-application",
    "A release does not name its application.",
    RELEASED.without("applicationID"),
    breaks=("SI-REL-023",),
)
_row(
    "released-without-key",
    "A release does not name the key.",
    RELEASED.without("allocationKey"),
    breaks=("SI-REL-002",),
)
_row(
    "timeouts-name-no-partition",
    "A release for a timeout does not name the partition.",
    RELEASED.where(lambda release: release.terminationType == si.TIMEOUT).without("partitionName"),
    breaks=("SI-REL-023",),
    areas=("GANG",),
)
_row(
    "released-without-partition",
    "A release does not name its partition.",
    RELEASED.without("partitionName"),
    breaks=("SI-REL-002",),
)
_row(
    "released-without-type",
    "A release has no type.",
    RELEASED.without("terminationType"),
    breaks=("SI-WIRE-010",),
    areas=(*_AREAS, "NODE"),
)


@_mutant(
    "confirmation-answered",
    "A confirmation by the RM is answered.",
    *_AREAS,
    breaks=("SI-REL-009",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for release in request.releases.allocationsToRelease:
        if release.terminationType in _OF_SCHEDULER:
            wire.to_rm(si.AllocationResponse(released=[release]))


_row(
    "confirmation-lost",
    "Confirmations by the RM are ignored.",
    RELEASES.only(lambda release: release.terminationType not in _OF_SCHEDULER),
    breaks=("SI-PRE-002", "SI-GANG-021"),
)


@_mutant(
    "confirmation-of-any-type",
    "A confirmation of any type confirms a release.",
    *_AREAS,
    breaks=("SI-GANG-058", "SI-GANG-070"),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    open_ones = wire.memory["open"] or {}
    for release in response.released:
        if release.terminationType in _OF_SCHEDULER:
            open_ones[release.allocationKey] = release.terminationType
    wire.memory["open"] = open_ones


any_type = _


@any_type.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for release in request.releases.allocationsToRelease:
        open_ones = wire.memory["open"] or {}
        if release.allocationKey in open_ones:
            release.terminationType = open_ones[release.allocationKey]


_row(
    "timeouts-not-reported",
    "The end of an allocation by timeout is not reported.",
    RELEASED.only(lambda release: release.terminationType != si.TIMEOUT),
    breaks=("SI-GANG-032",),
)


@_mutant(
    "asks-end-silently",
    "The end of a pending ask is not reported.",
    *_AREAS,
    breaks=("SI-GANG-033",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    by_the_rm = si.STOPPED_BY_RM
    gone = [one for one in response.released if one.terminationType != by_the_rm]
    gone = [one for one in gone if not held_keys.is_held(one, wire)]
    held_keys.announced(response, wire)
    keep(response.released, lambda one: one not in gone)


_.also(held_keys.reported)


@_mutant(
    "asks-end-untyped",
    "The end of a pending ask has no type.",
    *_AREAS,
    breaks=("SI-GANG-033",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    for one in response.released:
        if not held_keys.is_held(one, wire):
            one.ClearField("terminationType")
    held_keys.announced(response, wire)


_.also(held_keys.reported)


_row(
    "ends-with-the-node-not-reported",
    "The end of allocations with their node is not reported.",
    RELEASED.only(lambda release: "node" not in release.message),
    breaks=("SI-NODE-032", "SI-CONN-014"),
    areas=("NODE", "CONN", "GANG"),
)
