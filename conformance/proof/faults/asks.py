"""Faults about asks."""

from functools import partial
from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, row
from proof.lists import ALLOCATIONS, ASK_RELEASES, ASKS, REJECTED_ASKS, RELEASED_ASKS

_AREAS: Final = ("ASK", "ALLOC", "CONST")
_fault: Final = partial(fault, revision="2023-12")
_row: Final = partial(row, __file__, "2023-12", areas=_AREAS)


_row(
    "ask-rejection-missing",
    "A rejected ask is not told of.",
    REJECTED_ASKS.none(),
    breaks=("SI-ASK-008",),
    areas=(*_AREAS, "CONN", "APP"),
)
_row(
    "ask-rejected-without-reason",
    "A rejected ask gets no reason.",
    REJECTED_ASKS.without("reason"),
    breaks=("SI-ASK-026",),
)
_row(
    "ask-rejection-nameless",
    "The rejection of an ask does not name it.",
    REJECTED_ASKS.without("allocationKey"),
    breaks=("SI-ASK-022",),
)
_row(
    "ask-rejection-without-application",
    "A rejection names no application.",
    REJECTED_ASKS.without("applicationID"),
    breaks=("SI-ASK-022",),
)


@_fault(
    "served-and-rejected",
    "An ask that is served is rejected, too.",
    *_AREAS,
    breaks=("SI-ASK-019", "SI-ASK-022"),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        named = {"allocationKey": one.allocationKey, "applicationID": one.applicationID}
        response.rejected.add(**named, reason="no")


_row(
    "ask-served-once-more",
    "An ask yields one allocation more than it wants.",
    ASKS.change("maxAllocations", lambda most: most + 1 if most > 0 else most),
    breaks=("SI-ASK-005",),
)
_row(
    "ask-for-nothing-served",
    "An ask for no allocation yields one.",
    ASKS.change("maxAllocations", lambda most: max(most, 1)),
    breaks=("SI-ASK-007",),
)


@_fault(
    "same-key-is-another-ask",
    "An ask with a known key comes on top of it.",
    *_AREAS,
    breaks=("SI-ASK-003",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for ask in request.asks:
        wants = wire.memory["wants"] or {}
        wants[ask.allocationKey] = wants.get(ask.allocationKey, 0) + ask.maxAllocations
        wire.memory["wants"] = wants
        ask.maxAllocations = wants[ask.allocationKey]


@_fault(
    "first-values-stay",
    "A replacing ask has the values of the first.",
    *_AREAS,
    breaks=("SI-ASK-004",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    known = wire.memory["asks"] or {}
    for ask in request.asks:
        if ask.allocationKey in known:
            ask.CopyFrom(known[ask.allocationKey])
        known[ask.allocationKey] = si.AllocationAsk.FromString(ask.SerializeToString())
    wire.memory["asks"] = known


_row(
    "keys-cut",
    "Long keys are cut.",
    ALLOCATIONS.change("allocationKey", lambda key: key[:255]),
    breaks=("SI-ASK-002",),
)
_row(
    "priority-ignored",
    "All asks have the same priority.",
    ASKS.without("priority"),
    breaks=("SI-ASK-012",),
    areas=(*_AREAS, "PRE"),
)
_row(
    "ask-timeout-ignored",
    "The execution timeout of an ask is not kept.",
    ASKS.without("executionTimeoutMilliSeconds"),
    breaks=("SI-ASK-014",),
)
_row(
    "ask-timeout-for-all",
    "Allocations without timeout end, too.",
    ASKS.change("executionTimeoutMilliSeconds", lambda limit: limit if limit > 0 else 400),
    breaks=("SI-ASK-015",),
)
_row(
    "ask-timeout-early",
    "Allocations end long before their time.",
    ASKS.change("executionTimeoutMilliSeconds", lambda limit: limit // 5),
    breaks=("SI-ASK-014",),
)
_row(
    "ask-partition-ignored",
    "The partition of an ask is not read.",
    ASKS.put(partitionName="default"),
    breaks=("SI-ASK-009",),
)
_row(
    "ask-size-ignored",
    "An ask gets as much as all others.",
    ASKS.amounts("resourceAsk", lambda value: min(value, 1)),
    breaks=("SI-RES-002", "SI-RES-003", "SI-ALLOC-002"),
    areas=(*_AREAS, "RES"),
)
_row(
    "negative-ask-served",
    "An ask with a negative amount is served.",
    ASKS.amounts("resourceAsk", lambda value: value if value >= 0 else 1),
    breaks=("SI-ASK-010",),
    areas=(*_AREAS, "RES"),
)
_row(
    "withdrawal-not-confirmed",
    "The withdrawal of an ask is not confirmed.",
    RELEASED_ASKS.only(lambda one: one.terminationType != si.STOPPED_BY_RM),
    breaks=("SI-REL-019",),
    areas=(*_AREAS, "REL"),
)
_row(
    "withdrawal-of-all",
    "With one ask all of its application go.",
    ASK_RELEASES.without("allocationKey"),
    breaks=("SI-REL-015",),
    areas=(*_AREAS, "REL"),
)
_row(
    "tags-judged",
    "An ask with tags is rejected.",
    ASKS.where(lambda ask: ask.tags).put(partitionName="nowhere"),
    breaks=("SI-ASK-001",),
)


@_fault(
    "originator-twice",
    "The ask of an originator is served twice.",
    *_AREAS,
    breaks=("SI-ASK-005", "SI-ASK-024"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.maxAllocations += ask.Originator


@_fault(
    "asks-not-taken",
    "Only the first ask of a message is taken.",
    "CONN",
    *_AREAS,
    breaks=("SI-CONN-017",),
)
def _(request: si.AllocationRequest) -> None:
    del request.asks[1:]


_row(
    "keys-folded",
    "Keys come back without what surrounds them, and in lower case.",
    ALLOCATIONS.change("allocationKey", lambda key: key.strip().lower()),
    breaks=("SI-ASK-002",),
)


@_fault(
    "asks-of-originators-end-twice",
    "The ask of an originator is allocated, and told as released, too.",
    *_AREAS,
    breaks=("SI-ASK-024",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        if one.originator:
            response.releasedAsks.add(
                partitionName="default",
                applicationID=one.applicationID,
                allocationKey=one.allocationKey,
                terminationType=si.TIMEOUT,
            )


_row(
    "asks-released-in-any-partition",
    "The partition of an ask release is not read.",
    ASK_RELEASES.put(partitionName="default"),
    breaks=("SI-REL-018",),
)
