"""Faults about allocations the RM brings along."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_AREAS: Final = ("REC", "CONN", "CONST")


@fault(
    "existing-of-node-ignored",
    "Existing allocations of a node are not taken over.",
    *_AREAS,
    breaks=("SI-REC-001", "SI-REC-016"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        del node.existingAllocations[:]


@fault(
    "existing-ignored", "Existing allocations are not taken over.", *_AREAS, breaks=("SI-REC-007",)
)
def _(request: si.AllocationRequest) -> None:
    del request.allocations[:]


@fault(
    "existing-announced",
    "An existing allocation is announced as new.",
    *_AREAS,
    breaks=("SI-ALLOC-008",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        del node.existingAllocations[:]


announced = _


@announced.also
def _(response: si.AllocationResponse) -> None:
    response.new.extend(list(response.new))


@fault(
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


@fault(
    "existing-rejection-missing",
    "A rejected existing allocation is not told of.",
    *_AREAS,
    breaks=("SI-REC-008",),
)
def _(response: si.AllocationResponse) -> None:
    del response.rejectedAllocations[:]


@fault(
    "existing-rejected-without-reason",
    "A rejected allocation gets no reason.",
    *_AREAS,
    breaks=("SI-REC-022",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.rejectedAllocations:
        one.reason = ""


@fault(
    "existing-is-not-a-placeholder",
    "Existing placeholders are ordinary allocations.",
    *_AREAS,
    breaks=("SI-REC-011", "SI-REC-019"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        for one in node.existingAllocations:
            one.placeholder = False


existing = _


@existing.also
def _(request: si.AllocationRequest) -> None:
    for one in request.allocations:
        one.placeholder = False


@fault(
    "existing-is-small",
    "Existing allocations count as almost nothing.",
    *_AREAS,
    breaks=("SI-REC-001", "SI-REC-007"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        for one in node.existingAllocations:
            for quantity in one.resourcePerAlloc.resources.values():
                quantity.value = 1


small = _


@small.also
def _(request: si.AllocationRequest) -> None:
    for one in request.allocations:
        for quantity in one.resourcePerAlloc.resources.values():
            quantity.value = 1


@fault(
    "existing-of-nobody-taken",
    "Existing allocations of unknown applications vanish.",
    *_AREAS,
    breaks=("SI-REC-008",),
)
def _(response: si.AllocationResponse) -> None:
    del response.rejectedAllocations[:]
    del response.rejected[:]


@fault(
    "existing-twice", "An existing allocation is taken over twice.", *_AREAS, breaks=("SI-REC-007",)
)
def _(request: si.AllocationRequest) -> None:
    for one in list(request.allocations):
        again = request.allocations.add()
        again.CopyFrom(one)
        again.allocationID += "-2"


@fault(
    "existing-rejection-nameless",
    "The rejection of an existing allocation does not name it.",
    *_AREAS,
    breaks=("SI-REC-017",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.rejectedAllocations:
        one.allocationKey = ""
