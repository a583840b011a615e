"""Mutants of requirements that end with 2023-12: its asks, and occupied resources."""

from functools import partial
from typing import Any, Final

from siwire.r2023_12 import si_pb2 as si

from mutation.mutant import Wire, mutant, row
from mutation.parts import Elements

_NAME: Final = "2023-12"
_UPDATE: Final = si.NodeInfo.UPDATE
_ASKS: Final = Elements(si.AllocationRequest, "asks")
_RELEASES: Final = Elements(si.AllocationRequest, "releases.allocationsToRelease")
_ASK_RELEASES: Final = Elements(si.AllocationRequest, "releases.allocationAsksToRelease")
_ALLOCATIONS: Final = Elements(si.AllocationResponse, "new")
_RELEASED: Final = Elements(si.AllocationResponse, "released")
_RELEASED_ASKS: Final = Elements(si.AllocationResponse, "releasedAsks")
_NODES: Final = Elements(si.NodeRequest, "nodes")
_EXISTING_ON_NODES: Final = Elements(si.NodeRequest, "nodes.existingAllocations")
_mutant: Final = partial(mutant, revision=_NAME)
_row: Final = partial(row, __file__, _NAME)


_row(
    "ask-served-once-more",
    "An ask gets one allocation more than requested.",
    _ASKS.change("maxAllocations", lambda most: most + 1 if most > 0 else most),
    breaks=("SI-ASK-005",),
)
_row(
    "ask-for-nothing-served",
    "An ask for no allocation gets one.",
    _ASKS.change("maxAllocations", lambda most: max(most, 1)),
    breaks=("SI-ASK-007",),
)


@_mutant(
    "first-values-of-an-ask-stay",
    "A replacing ask has the values of the first.",
    breaks=("SI-ASK-004",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    known = wire.memory["asks"] or {}
    for ask in request.asks:
        if ask.allocationKey in known:
            ask.CopyFrom(known[ask.allocationKey])
        known[ask.allocationKey] = si.AllocationAsk.FromString(ask.SerializeToString())
    wire.memory["asks"] = known


@_mutant(
    "one-end-of-a-key",
    "Of the ends of allocations in a message that have the same key only the first is reported.",
    breaks=("SI-NODE-032", "SI-APP-035"),
)
def _(response: si.AllocationResponse) -> None:
    of_each = {one.allocationKey: one for one in reversed(response.released)}
    if len(of_each) < len(response.released):
        kept = [si.AllocationRelease.FromString(o.SerializeToString()) for o in of_each.values()]
        del response.released[:]
        response.released.extend(kept)


@_mutant(
    "first-of-added-allocations-only",
    "Of the existing allocations that a request adds, all but the first are ignored.",
    breaks=("SI-REC-007",),
)
def _(request: si.AllocationRequest) -> None:
    del request.allocations[1:]


@_mutant(
    "ask-releases-beside-releases-ignored",
    "The asks to release of a request that also releases allocations are ignored.",
    breaks=("SI-REL-015",),
)
def _(request: si.AllocationRequest) -> None:
    if request.releases.allocationsToRelease:
        del request.releases.allocationAsksToRelease[:]


@_mutant(
    "withdrawal-of-a-rest-unconfirmed",
    "The withdrawal of an ask that was allocated in part is not confirmed.",
    breaks=("SI-REL-019",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    served = wire.memory["served"] or set()
    served |= {one.allocationKey for one in response.new}
    wire.memory["served"] = served
    kept = [one for one in response.releasedAsks if one.allocationKey not in served]
    del response.releasedAsks[:]
    response.releasedAsks.extend(kept)


_row(
    "ask-timeout-of-32-bits",
    "The execution timeout of an ask is cut to 32 bits.",
    _ASKS.change("executionTimeoutMilliSeconds", lambda timeout: timeout % 2**32),
    breaks=("SI-ASK-014",),
)
_row(
    "ask-timeout-ignored",
    "The execution timeout of an ask is ignored.",
    _ASKS.without("executionTimeoutMilliSeconds"),
    breaks=("SI-ASK-014",),
)
_row(
    "ask-timeout-for-all",
    "Allocations without timeout end, too.",
    _ASKS.change("executionTimeoutMilliSeconds", lambda limit: limit if limit > 0 else 400),
    breaks=("SI-ASK-015",),
)
_row(
    "ask-timeout-early",
    "Allocations end long before their timeout.",
    _ASKS.change("executionTimeoutMilliSeconds", lambda limit: limit // 5),
    breaks=("SI-ASK-014",),
)
_row(
    "asks-released-in-any-partition",
    "The partition of an ask release is ignored.",
    _ASK_RELEASES.put(partitionName="default"),
    breaks=("SI-REL-018",),
)
_row(
    "ask-releases-ignored",
    "A withdrawn ask is served.",
    _ASK_RELEASES.none(),
    breaks=("SI-REL-016", "SI-REL-015"),
)
_row(
    "asks-of-an-application-stay",
    "Only one ask can be withdrawn at a time.",
    _ASK_RELEASES.only(lambda release: bool(release.allocationKey)),
    breaks=("SI-REL-016",),
)
_row(
    "ask-releases-without-partition",
    "The end of an ask names no ask.",
    _RELEASED_ASKS.without("partitionName"),
    breaks=("SI-REL-020",),
)
_row(
    "identities-repeated",
    "Allocations of one application share an identity.",
    _ALLOCATIONS.copy("applicationID", to="allocationID"),
    breaks=("SI-ASK-006", "SI-ALLOC-005"),
)
_row(
    "identity-missing",
    "An allocation has no identity.",
    _ALLOCATIONS.without("allocationID"),
    breaks=("SI-ALLOC-005",),
)
_row(
    "release-without-identity-ignored",
    "A release of all of an application is ignored.",
    _RELEASES.only(lambda release: bool(release.allocationID)),
    breaks=("SI-REL-004",),
)
_row(
    "released-by-key-only",
    "A release does not name the identity.",
    _RELEASED.without("allocationID"),
    breaks=("SI-REL-023",),
)
_row(
    "occupied-ignored",
    "The occupied resources of a node are not counted.",
    _NODES.without("occupiedResource"),
    breaks=("SI-NODE-007",),
)
_row(
    "occupied-only-ignored",
    "An update of the occupied resources has no effect.",
    _NODES.where(lambda node: node.action == _UPDATE).without("occupiedResource"),
    breaks=("SI-NODE-021",),
)


@_mutant(
    "growing-occupied-ignored",
    "The occupied resources of a node only ever shrink.",
    breaks=("SI-NODE-021", "SI-NODE-007"),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    wire.memory["occupied"] = occupied = wire.memory["occupied"] or {}
    for node in request.nodes:
        if not node.HasField("occupiedResource"):
            continue
        resources = node.occupiedResource.resources
        memory = resources["memory"].value if "memory" in resources else 0
        if node.action == _UPDATE and memory > occupied.get(node.nodeID, 0):
            node.ClearField("occupiedResource")
        else:
            occupied[node.nodeID] = memory


_row(
    "occupied-alone-ignored",
    "The occupied amount of an update counts only with a capacity.",
    _NODES.where(
        lambda node: node.action == _UPDATE and not node.HasField("schedulableResource")
    ).without("occupiedResource"),
    breaks=("SI-NODE-021", "SI-NODE-007"),
)


@_mutant(
    "comes-back-as-occupied-as-it-was",
    "A node that is created again without occupied resources has those it had before.",
    breaks=("SI-NODE-030", "SI-NODE-010"),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    wire.memory["occupied"] = occupied = wire.memory["occupied"] or {}
    for node in request.nodes:
        if node.HasField("occupiedResource"):
            occupied[node.nodeID] = si.Resource.FromString(
                node.occupiedResource.SerializeToString()
            )
        elif node.action == si.NodeInfo.CREATE and node.nodeID in occupied:
            node.occupiedResource.CopyFrom(occupied[node.nodeID])


@_mutant(
    "occupied-types-stay",
    "An update of the occupied resources keeps the amounts of types that it leaves out.",
    breaks=("SI-NODE-021",),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    wire.memory["occupied"] = occupied = wire.memory["occupied"] or {}
    for node in request.nodes:
        resources = node.occupiedResource.resources
        known = occupied.setdefault(node.nodeID, {})
        if node.action == _UPDATE and node.HasField("occupiedResource"):
            for name in known.keys() - resources.keys():
                resources[name].value = known[name]
        known.update({name: quantity.value for name, quantity in resources.items()})


@_mutant(
    "duplicate-wipes-occupied",
    "A rejected duplicate clears the occupied resources.",
    breaks=("SI-NODE-003",),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    for node in list(request.nodes):
        is_known = node.nodeID in wire.memory["nodes"]
        if node.action not in (si.NodeInfo.CREATE, si.NodeInfo.CREATE_DRAIN):
            continue
        wire.memory["nodes"].add(node.nodeID)
        if is_known:
            update: Any = request.nodes.add(nodeID=node.nodeID, action=_UPDATE)
            update.occupiedResource.resources["memory"].value = 0


@_mutant(
    "left-out-is-nothing-occupied",
    "An update without occupied resources clears them.",
    breaks=("SI-NODE-022",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == _UPDATE and not node.HasField("occupiedResource"):
            node.occupiedResource.resources["memory"].value = 0


_row(
    "existing-of-node-ignored",
    "Existing allocations of a node are not recovered.",
    _EXISTING_ON_NODES.none(),
    breaks=("SI-REC-001", "SI-REC-016"),
)
_row(
    "existing-of-node-is-small",
    "Existing allocations of a node count as almost nothing.",
    _EXISTING_ON_NODES.amounts("resourcePerAlloc", lambda _: 1),
    breaks=("SI-REC-001",),
)
