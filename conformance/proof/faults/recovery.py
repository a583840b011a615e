"""Faults about allocations the RM brings along."""

from functools import partial
from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep, row
from proof.lists import ALLOCATIONS, EXISTING, EXISTING_ON_NODES, REJECTED_ASKS, REJECTED_EXISTING

_AREAS: Final = ("REC", "CONN", "CONST")
_fault: Final = partial(fault, revision="2023-12")
_row: Final = partial(row, __file__, "2023-12", areas=_AREAS)


_row(
    "existing-of-node-ignored",
    "Existing allocations of a node are not taken over.",
    EXISTING_ON_NODES.none(),
    breaks=("SI-REC-001", "SI-REC-016"),
)
_row(
    "existing-ignored",
    "Existing allocations are not taken over.",
    EXISTING.none(),
    breaks=("SI-REC-007",),
)
_row(
    "existing-announced",
    "An existing allocation is announced as new.",
    EXISTING_ON_NODES.none(),
    ALLOCATIONS.twice(),
    breaks=("SI-ALLOC-008",),
)


@_fault(
    "half-of-the-gang-data-refused",
    "A node is refused for an allocation that has a group or the flag, and not both.",
    breaks=("SI-REC-012",),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    for node in request.nodes:
        if not _is_whole(node):
            reason = "what exists there is half of a placeholder"
            refusal = si.RejectedNode(nodeID=node.nodeID, reason=reason)
            wire.to_rm(si.NodeResponse(rejected=[refusal]))
    keep(request.nodes, _is_whole)


def _is_whole(node: si.NodeInfo) -> bool:
    return all(bool(one.taskGroupName) == one.placeholder for one in node.existingAllocations)


_row(
    "existing-rejection-missing",
    "A rejected existing allocation is not told of.",
    REJECTED_EXISTING.none(),
    breaks=("SI-REC-008",),
)
_row(
    "existing-rejected-without-reason",
    "A rejected allocation gets no reason.",
    REJECTED_EXISTING.without("reason"),
    breaks=("SI-REC-022",),
)
_row(
    "existing-is-not-a-placeholder",
    "Existing placeholders are ordinary allocations.",
    EXISTING_ON_NODES.without("placeholder"),
    EXISTING.without("placeholder"),
    breaks=("SI-REC-011", "SI-REC-019"),
)
_row(
    "existing-is-small",
    "Existing allocations count as almost nothing.",
    EXISTING_ON_NODES.amounts("resourcePerAlloc", lambda _: 1),
    EXISTING.amounts("resourcePerAlloc", lambda _: 1),
    breaks=("SI-REC-001", "SI-REC-007"),
)
_row(
    "existing-of-nobody-taken",
    "Existing allocations of unknown applications vanish.",
    REJECTED_EXISTING.none(),
    REJECTED_ASKS.none(),
    breaks=("SI-REC-008",),
)


@_fault(
    "existing-twice", "An existing allocation is taken over twice.", *_AREAS, breaks=("SI-REC-007",)
)
def _(request: si.AllocationRequest) -> None:
    for one in list(request.allocations):
        again = request.allocations.add()
        again.CopyFrom(one)
        again.allocationID += "-2"


_row(
    "existing-rejection-nameless",
    "The rejection of an existing allocation does not name it.",
    REJECTED_EXISTING.without("allocationKey"),
    breaks=("SI-REC-017",),
)
