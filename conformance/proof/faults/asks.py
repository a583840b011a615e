"""Faults about asks."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_AREAS: Final = ("ASK", "ALLOC", "CONST")


@fault(
    "ask-rejection-missing",
    "A rejected ask is not told of.",
    *_AREAS,
    "CONN",
    "APP",
    breaks=("SI-ASK-008",),
)
def _(response: si.AllocationResponse) -> None:
    del response.rejected[:]


@fault(
    "ask-rejected-without-reason", "A rejected ask gets no reason.", *_AREAS, breaks=("SI-ASK-026",)
)
def _(response: si.AllocationResponse) -> None:
    for one in response.rejected:
        one.reason = ""


@fault(
    "ask-rejection-nameless",
    "The rejection of an ask does not name it.",
    *_AREAS,
    breaks=("SI-ASK-022",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.rejected:
        one.allocationKey = ""


@fault(
    "ask-rejection-without-application",
    "A rejection names no application.",
    *_AREAS,
    breaks=("SI-ASK-022",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.rejected:
        one.applicationID = ""


@fault(
    "served-and-rejected",
    "An ask that is served is rejected, too.",
    *_AREAS,
    breaks=("SI-ASK-019", "SI-ASK-022"),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        named = {"allocationKey": one.allocationKey, "applicationID": one.applicationID}
        response.rejected.add(**named, reason="no")


@fault(
    "ask-served-once-more",
    "An ask yields one allocation more than it wants.",
    *_AREAS,
    breaks=("SI-ASK-005",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        if ask.maxAllocations > 0:
            ask.maxAllocations += 1


@fault(
    "ask-for-nothing-served",
    "An ask for no allocation yields one.",
    *_AREAS,
    breaks=("SI-ASK-007",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.maxAllocations = max(ask.maxAllocations, 1)


@fault(
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


@fault(
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


@fault("keys-cut", "Long keys are cut.", *_AREAS, breaks=("SI-ASK-002",))
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationKey = one.allocationKey[:255]


@fault(
    "priority-ignored", "All asks have the same priority.", *_AREAS, "PRE", breaks=("SI-ASK-012",)
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.priority = 0


@fault(
    "ask-timeout-ignored",
    "The execution timeout of an ask is not kept.",
    *_AREAS,
    breaks=("SI-ASK-014",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.executionTimeoutMilliSeconds = 0


@fault(
    "ask-timeout-for-all", "Allocations without timeout end, too.", *_AREAS, breaks=("SI-ASK-015",)
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        if ask.executionTimeoutMilliSeconds <= 0:
            ask.executionTimeoutMilliSeconds = 400


@fault(
    "ask-timeout-early", "Allocations end long before their time.", *_AREAS, breaks=("SI-ASK-014",)
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.executionTimeoutMilliSeconds //= 5


@fault(
    "ask-partition-ignored", "The partition of an ask is not read.", *_AREAS, breaks=("SI-ASK-009",)
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.partitionName = "default"


@fault(
    "ask-size-ignored",
    "An ask gets as much as all others.",
    *_AREAS,
    "RES",
    breaks=("SI-RES-002", "SI-RES-003", "SI-ALLOC-002"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        for quantity in ask.resourceAsk.resources.values():
            quantity.value = min(quantity.value, 1)


@fault(
    "negative-ask-served",
    "An ask with a negative amount is served.",
    *_AREAS,
    "RES",
    breaks=("SI-ASK-010",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        for quantity in ask.resourceAsk.resources.values():
            quantity.value = max(1, quantity.value) if quantity.value < 0 else quantity.value


@fault(
    "withdrawal-not-confirmed",
    "The withdrawal of an ask is not confirmed.",
    *_AREAS,
    "REL",
    breaks=("SI-REL-019",),
)
def _(response: si.AllocationResponse) -> None:
    keep(response.releasedAsks, lambda one: one.terminationType != si.STOPPED_BY_RM)


@fault(
    "withdrawal-of-all",
    "With one ask all of its application go.",
    *_AREAS,
    "REL",
    breaks=("SI-REL-015",),
)
def _(request: si.AllocationRequest) -> None:
    for release in request.releases.allocationAsksToRelease:
        release.allocationKey = ""


@fault("tags-judged", "An ask with tags is rejected.", *_AREAS, breaks=("SI-ASK-001",))
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        if ask.tags:
            ask.partitionName = "nowhere"


@fault(
    "originator-twice",
    "The ask of an originator is served twice.",
    *_AREAS,
    breaks=("SI-ASK-005", "SI-ASK-024"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.maxAllocations += ask.Originator


@fault(
    "asks-not-taken",
    "Only the first ask of a message is taken.",
    "CONN",
    *_AREAS,
    breaks=("SI-CONN-017",),
)
def _(request: si.AllocationRequest) -> None:
    del request.asks[1:]


@fault(
    "keys-folded",
    "Keys come back without what surrounds them, and in lower case.",
    *_AREAS,
    breaks=("SI-ASK-002",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationKey = one.allocationKey.strip().lower()


@fault(
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


@fault(
    "asks-released-in-any-partition",
    "The partition of an ask release is not read.",
    *_AREAS,
    breaks=("SI-REL-018",),
)
def _(request: si.AllocationRequest) -> None:
    for one in request.releases.allocationAsksToRelease:
        one.partitionName = "default"
