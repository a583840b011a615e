"""Faults in the messages of 2021-02, where everything travels on one stream."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si

from proof.fault import fault, keep

_fault: Final = partial(fault, revision="2021-02")
_UNDEFINED_ACTION: Final = 7


@_fault(
    "unset-action-does-nothing",
    "A node action that is not set is none.",
    breaks=("SI-WIRE-009",),
)
def _(request: si.UpdateRequest) -> None:
    keep(request.updatedNodes, lambda node: node.action != si.UpdateNodeInfo.UPDATE)


@_fault(
    "first-priority-counts",
    "The value of a priority counts, not the name after it.",
    breaks=("SI-WIRE-012",),
)
def _(request: si.UpdateRequest) -> None:
    for ask in request.asks:
        if ask.priority.HasField("priorityClassName"):
            ask.priority.priorityValue = 7


@_fault(
    "unknown-commands",
    "The action field carries other commands than RESYNC.",
    breaks=("SI-CONN-012",),
)
def _(response: si.UpdateResponse) -> None:
    response.MergeFromString(bytes([8, _UNDEFINED_ACTION]))


@_fault("uuids-repeated", "Allocations share a UUID.", breaks=("SI-ALLOC-004",))
def _(response: si.UpdateResponse) -> None:
    for one in response.newAllocations:
        one.UUID = one.applicationID


@_fault("queue-not-named", "An allocation does not name its queue.", breaks=("SI-ALLOC-006",))
def _(response: si.UpdateResponse) -> None:
    for one in response.newAllocations:
        one.queueName = ""


@_fault(
    "queue-of-another",
    "An allocation names another queue than its own.",
    breaks=("SI-ALLOC-006",),
)
def _(response: si.UpdateResponse) -> None:
    for one in response.newAllocations:
        one.queueName = "root.another"


@_fault(
    "untyped-release-ignored",
    "A release without type does nothing.",
    breaks=("SI-REL-006", "SI-WIRE-009"),
)
def _(request: si.UpdateRequest) -> None:
    keep(request.releases.allocationsToRelease, lambda release: release.terminationType)


@_fault("events-without-group", "Events do not name the group.", breaks=("SI-EVT-003",))
def _(told: ext.ToRm) -> None:
    if told.kind == ext.EVENT_BATCH:
        for payload in told.payloads:
            record = si.EventRecord.FromString(payload.data)
            record.groupID = "nobody"
            payload.data = record.SerializeToString()


@_fault(
    "state-or-released-asks",
    "A message that tells a state does not tell which asks end with it, and none does later.",
    breaks=("SI-GANG-033",),
)
def _(response: si.UpdateResponse) -> None:
    if response.updatedApplications:
        del response.releasedAllocationAsks[:]
