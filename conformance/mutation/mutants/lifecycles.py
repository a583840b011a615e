"""Mutants of the lifecycle of applications and registrations, and of its events."""

from functools import partial
from typing import Final

from siwire.r2023_04 import si_pb2 as si_2023_04

from mutation.lists import EVENTS
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row

_DETAIL: Final = si.EventRecord
_UNKNOWN: Final = "99.0"  # an unknown version
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)


@_mutant(
    "negative-timeout-fails",
    "An application with a negative timeout is reported as failed.",
    breaks=("SI-APP-013",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    wire.memory["negative"].update(
        one.applicationID for one in request.new if one.executionTimeoutMilliSeconds < 0
    )


negative = _


@negative.also
def _(response: si.ApplicationResponse, wire: Wire) -> None:
    for update in response.updated:
        if update.applicationID in wire.memory["negative"] and update.state == "Running":
            update.state = "Failed"


@_mutant(
    "no-user-two-verdicts",
    "An application without user is rejected, and then accepted.",
    breaks=("SI-APP-004",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    for one in request.new:
        if not one.ugi.user:
            rejected = si.RejectedApplication(applicationID=one.applicationID, reason="no user")
            wire.to_rm(si.ApplicationResponse(rejected=[rejected]))


@_mutant(
    "unknown-version-hangs",
    "A registration with an unknown version is never answered.",
    breaks=("SI-REG-002",),
)
def _(request: si.RegisterResourceManagerRequest, wire: Wire) -> None:
    wire.is_dropped = request.version == _UNKNOWN


@_mutant(
    "policy-group-dropped",
    "The policy group of a registration is ignored.",
    breaks=("SI-REG-012",),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.policyGroup = ""


_row(
    "events-tell-failures",
    "A running application is reported by the event of a failed one.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.APP_RUNNING: _DETAIL.APP_FAILED}),
    breaks=("SI-EVT-007",),
)
_row(
    "events-tell-resumed-gangs",
    "A failing gang is reported by the event of a resuming one.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.APP_FAILING: _DETAIL.APP_RESUMING}),
    breaks=("SI-EVT-007",),
)


@_mutant(
    "tag-outweighs-policy",
    "The preemption tag of an ask overrides its policy (2023-04).",
    breaks=("SI-CONST-010",),
    revision="2023-04",
)
def _(request: si_2023_04.AllocationRequest) -> None:
    for ask in request.asks:
        tag = ask.tags.get("yunikorn.apache.org/allowPreemption", "")
        if tag:
            ask.preemptionPolicy.allowPreemptSelf = tag == "true"
