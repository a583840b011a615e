"""Faults in the lives of applications and registrations, and in what is told of them."""

from collections.abc import Callable
from typing import Any, Final

from siwire.ext import extension_pb2 as ext
from siwire.r2023_04 import si_pb2 as si_2023_04
from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault

_UNKNOWN: Final = "99.0"  # no version of anything


@fault(
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
        if update.applicationID in wire.memory["negative"] and update.state == "Starting":
            update.state = "Failed"


@fault(
    "no-user-two-verdicts",
    "An application without user is rejected, and then accepted.",
    breaks=("SI-APP-004",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    for one in request.new:
        if not one.ugi.user:
            rejected = si.RejectedApplication(applicationID=one.applicationID, reason="no user")
            wire.to_rm(si.ApplicationResponse(rejected=[rejected]))


@fault(
    "unknown-version-hangs",
    "A registration with an unknown version is never answered.",
    breaks=("SI-REG-002",),
)
def _(request: si.RegisterResourceManagerRequest, wire: Wire) -> None:
    wire.is_dropped = request.version == _UNKNOWN


@fault(
    "policy-group-dropped",
    "The policy group of a registration is not kept.",
    breaks=("SI-REG-012",),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.policyGroup = ""


def _events(told: ext.ToRm, change: Callable[[Any], None]) -> None:
    if told.kind == ext.EVENT_BATCH:
        for payload in told.payloads:
            record = si.EventRecord.FromString(payload.data)
            change(record)
            payload.data = record.SerializeToString()


@fault(
    "events-tell-failures",
    "That an application starts is told as its failure.",
    breaks=("SI-EVT-007",),
)
def _(told: ext.ToRm) -> None:
    def change(record: Any) -> None:
        if record.eventChangeDetail == si.EventRecord.APP_STARTING:
            record.eventChangeDetail = si.EventRecord.APP_FAILED

    _events(told, change)


@fault(
    "events-tell-resumed-gangs",
    "That a gang fails is told as its being resumed.",
    breaks=("SI-EVT-007",),
)
def _(told: ext.ToRm) -> None:
    def change(record: Any) -> None:
        if record.eventChangeDetail == si.EventRecord.APP_FAILING:
            record.eventChangeDetail = si.EventRecord.APP_RESUMING

    _events(told, change)


@fault(
    "tag-outweighs-policy",
    "The preemption tag of an ask counts more than its policy (2023-04).",
    breaks=("SI-CONST-010",),
    revision="2023-04",
)
def _(request: si_2023_04.AllocationRequest) -> None:
    for ask in request.asks:
        tag = ask.tags.get("yunikorn.apache.org/allowPreemption", "")
        if tag:
            ask.preemptionPolicy.allowPreemptSelf = tag == "true"
