"""Faults about releases and their confirmations."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_AREAS: Final = ("REL", "GANG", "PRE", "ASK")
_OF_SCHEDULER: Final = (si.TIMEOUT, si.PREEMPTED_BY_SCHEDULER, si.PLACEHOLDER_REPLACED)


@fault("release-ignored", "What the RM releases stays.", *_AREAS, "CONN", breaks=("SI-REL-001",))
def _(request: si.AllocationRequest) -> None:
    keep(
        request.releases.allocationsToRelease,
        lambda release: release.terminationType in _OF_SCHEDULER,
    )


@fault(
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


@fault(
    "release-of-all",
    "With one allocation all of its application go.",
    *_AREAS,
    breaks=("SI-REL-013",),
)
def _(request: si.AllocationRequest) -> None:
    for release in request.releases.allocationsToRelease:
        if release.terminationType not in _OF_SCHEDULER:
            release.allocationID = ""


@fault(
    "release-of-one",
    "A release of all of an application is ignored.",
    *_AREAS,
    breaks=("SI-REL-003", "SI-REL-004"),
)
def _(request: si.AllocationRequest) -> None:
    keep(request.releases.allocationsToRelease, lambda release: bool(release.allocationID))


@fault(
    "release-in-any-partition",
    "A release is not held to its partition.",
    *_AREAS,
    breaks=("SI-REL-005",),
)
def _(request: si.AllocationRequest) -> None:
    for release in request.releases.allocationsToRelease:
        release.partitionName = "default"


@fault(
    "release-without-type-ignored",
    "A release without type is ignored.",
    *_AREAS,
    "WIRE",
    breaks=("SI-REL-007",),
)
def _(request: si.AllocationRequest) -> None:
    keep(request.releases.allocationsToRelease, lambda release: bool(release.terminationType))


@fault(
    "confirmed-as-timeout",
    "A stop by the RM is confirmed as a timeout.",
    *_AREAS,
    "WIRE",
    breaks=("SI-REL-001", "SI-REL-002"),
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        if release.terminationType == si.STOPPED_BY_RM:
            release.terminationType = si.TIMEOUT


@fault(
    "released-by-key-only", "A release does not name the identity.", *_AREAS, breaks=("SI-REL-023",)
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.allocationID = ""


@fault(
    "released-without-application",
    "A release does not name its application.",
    *_AREAS,
    breaks=("SI-REL-023",),
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.applicationID = ""


@fault("released-without-key", "A release does not name the key.", *_AREAS, breaks=("SI-REL-002",))
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.allocationKey = ""


@fault(
    "released-without-partition",
    "A release does not name its partition.",
    *_AREAS,
    breaks=("SI-REL-002",),
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.partitionName = ""


@fault("released-without-type", "A release has no type.", *_AREAS, "NODE", breaks=("SI-WIRE-010",))
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.terminationType = si.UNKNOWN_TERMINATION_TYPE


@fault(
    "confirmation-answered",
    "A confirmation by the RM is answered.",
    *_AREAS,
    breaks=("SI-REL-009",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for release in request.releases.allocationsToRelease:
        if release.terminationType in _OF_SCHEDULER:
            wire.to_rm(si.AllocationResponse(released=[release]))


@fault(
    "confirmation-lost",
    "Confirmations by the RM are not taken.",
    *_AREAS,
    breaks=("SI-PRE-002", "SI-GANG-021"),
)
def _(request: si.AllocationRequest) -> None:
    keep(
        request.releases.allocationsToRelease,
        lambda release: release.terminationType not in _OF_SCHEDULER,
    )


@fault(
    "confirmation-of-any-type",
    "Any type confirms a release.",
    *_AREAS,
    breaks=("SI-GANG-058", "SI-GANG-070"),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    open_ones = wire.memory["open"] or {}
    for release in response.released:
        if release.terminationType in _OF_SCHEDULER:
            open_ones[release.allocationID] = release.terminationType
    wire.memory["open"] = open_ones


any_type = _


@any_type.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for release in request.releases.allocationsToRelease:
        open_ones = wire.memory["open"] or {}
        if release.allocationID in open_ones:
            release.terminationType = open_ones[release.allocationID]


@fault(
    "timeouts-not-told",
    "The end of an allocation by timeout is not told.",
    *_AREAS,
    breaks=("SI-ASK-014", "SI-GANG-032"),
)
def _(response: si.AllocationResponse) -> None:
    keep(response.released, lambda release: release.terminationType != si.TIMEOUT)


@fault(
    "asks-end-silently", "The end of a pending ask is not told.", *_AREAS, breaks=("SI-GANG-033",)
)
def _(response: si.AllocationResponse) -> None:
    keep(response.releasedAsks, lambda release: release.terminationType == si.STOPPED_BY_RM)


@fault(
    "asks-end-untyped", "The end of a pending ask has no type.", *_AREAS, breaks=("SI-GANG-033",)
)
def _(response: si.AllocationResponse) -> None:
    for release in response.releasedAsks:
        release.terminationType = si.UNKNOWN_TERMINATION_TYPE


@fault(
    "ends-with-the-node-untold",
    "What ends with its node is not told.",
    "NODE",
    "CONN",
    "GANG",
    breaks=("SI-NODE-032", "SI-CONN-014"),
)
def _(response: si.AllocationResponse) -> None:
    keep(response.released, lambda release: "node" not in release.message)
