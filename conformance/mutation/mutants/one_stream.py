"""Mutants of the messages of 2021-02, which has one stream for everything."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si

from mutation.mutant import mutant, row
from mutation.parts import Elements, Payloads

_NODES: Final = Elements(si.UpdateRequest, "updatedNodes")
_RELEASES: Final = Elements(si.UpdateRequest, "releases.allocationsToRelease")
_ALLOCATIONS: Final = Elements(si.UpdateResponse, "newAllocations")
_EVENTS: Final = Payloads(ext.EVENT_BATCH, si.EventRecord)
_UNDEFINED_ACTION: Final = 7
_mutant: Final = partial(mutant, revision="2021-02")
_row: Final = partial(row, __file__, "2021-02")


_row(
    "unset-action-does-nothing",
    "An unset node action is ignored.",
    _NODES.only(lambda node: node.action != si.UpdateNodeInfo.UPDATE),
    breaks=("SI-WIRE-009",),
)


@_mutant(
    "first-priority-counts",
    "The value of a priority counts instead of its name.",
    breaks=("SI-WIRE-012",),
)
def _(request: si.UpdateRequest) -> None:
    for ask in request.asks:
        if ask.priority.HasField("priorityClassName"):
            ask.priority.priorityValue = 7


@_mutant(
    "unknown-commands",
    "The action field carries other commands than RESYNC.",
    breaks=("SI-CONN-012",),
)
def _(response: si.UpdateResponse) -> None:
    response.MergeFromString(bytes([8, _UNDEFINED_ACTION]))


@_mutant(
    "nodes-created-or-updated",
    "A request that creates a node updates none.",
    breaks=("SI-CONN-017",),
)
def _(request: si.UpdateRequest) -> None:
    if request.newSchedulableNodes:
        del request.updatedNodes[:]


@_mutant(
    "applications-added-or-removed",
    "A request that adds an application removes none.",
    breaks=("SI-CONN-017",),
)
def _(request: si.UpdateRequest) -> None:
    if request.newApplications:
        del request.removeApplications[:]


@_mutant(
    "existing-allocations-without-tags",
    "The tags of existing allocations are ignored.",
    breaks=("SI-PLACE-007",),
)
def _(request: si.UpdateRequest) -> None:
    for node in request.newSchedulableNodes:
        for allocation in node.existingAllocations:
            allocation.allocationTags.clear()


_row(
    "uuids-repeated",
    "Allocations share a UUID.",
    _ALLOCATIONS.copy("applicationID", to="UUID"),
    breaks=("SI-ALLOC-004",),
)
_row(
    "queue-not-named",
    "An allocation does not name its queue.",
    _ALLOCATIONS.without("queueName"),
    breaks=("SI-ALLOC-006",),
)


@_mutant(
    "chosen-queue-not-named",
    "An allocation does not name a queue that policy chose.",
    breaks=("SI-ALLOC-006",),
)
def _(response: si.UpdateResponse) -> None:
    for allocation in response.newAllocations:
        if allocation.queueName.startswith("root.namespaces."):
            allocation.queueName = ""


_row(
    "queue-of-another",
    "An allocation names another queue than its own.",
    _ALLOCATIONS.put(queueName="root.another"),
    breaks=("SI-ALLOC-006",),
)
_row(
    "untyped-release-ignored",
    "A release without type does nothing.",
    _RELEASES.only(lambda release: release.terminationType),
    breaks=("SI-REL-006", "SI-WIRE-009"),
)
_row(
    "events-without-group",
    "Events do not name the group.",
    _EVENTS.put(groupID="other-group"),
    breaks=("SI-EVT-003",),
)


@_mutant(
    "state-or-released-asks",
    "Asks that end with a state are not listed with it or later.",
    breaks=("SI-GANG-033",),
)
def _(response: si.UpdateResponse) -> None:
    if response.updatedApplications:
        del response.releasedAllocationAsks[:]
