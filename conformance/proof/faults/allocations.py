"""Faults about what is said of a new allocation."""

from typing import Final

from siwire.r2023_04 import si_pb2 as si_2023_04
from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault

_AREAS: Final = ("ALLOC", "ASK", "GANG", "CONN")


@fault(
    "allocated-twice",
    "Every allocation is told of twice.",
    *_AREAS,
    "NODE",
    breaks=("SI-ALLOC-008",),
)
def _(response: si.AllocationResponse) -> None:
    response.new.extend(list(response.new))


@fault(
    "allocated-again",
    "For every allocation there is another one.",
    *_AREAS,
    "NODE",
    breaks=("SI-ASK-005", "SI-NODE-006"),
)
def _(response: si.AllocationResponse) -> None:
    for one in list(response.new):
        again = response.new.add()
        again.CopyFrom(one)
        again.allocationID += "-2"


@fault(
    "allocations-lost",
    "Nothing is said of an allocation.",
    *_AREAS,
    "NODE",
    "APP",
    "WIRE",
    breaks=("SI-ASK-001", "SI-NODE-010", "SI-GANG-002"),
)
def _(response: si.AllocationResponse) -> None:
    del response.new[:]


@fault(
    "identities-repeated",
    "Allocations of one application share an identity.",
    *_AREAS,
    breaks=("SI-ASK-006", "SI-ALLOC-005"),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationID = one.applicationID


@fault(
    "uuid-of-the-application",
    "Allocations of one application share a UUID (2023-04).",
    breaks=("SI-ALLOC-004",),
    revision="2023-04",
)
def _(response: si_2023_04.AllocationResponse) -> None:
    for one in response.new:
        one.UUID = one.applicationID


@fault(
    "identity-missing", "An allocation has no identity.", *_AREAS, "WIRE", breaks=("SI-ALLOC-005",)
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationID = ""


@fault(
    "allocated-elsewhere",
    "An allocation names a node nobody knows.",
    *_AREAS,
    "NODE",
    breaks=("SI-ALLOC-001",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.nodeID += "-x"


@fault(
    "allocated-on-an-earlier-node",
    "Allocations name the first node.",
    *_AREAS,
    "NODE",
    breaks=("SI-ALLOC-001",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    for one in response.new:
        first = wire.memory["first node"] or {}
        one.nodeID = first.setdefault(one.applicationID.partition("-")[0], one.nodeID)
        wire.memory["first node"] = first


@fault(
    "application-missing",
    "An allocation does not name its application.",
    *_AREAS,
    breaks=("SI-ALLOC-002",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.applicationID = ""


@fault(
    "resource-missing",
    "An allocation does not say how much it is.",
    *_AREAS,
    breaks=("SI-ALLOC-002",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.ClearField("resourcePerAlloc")


@fault(
    "resource-of-all",
    "An allocation says as much as the ask as a whole.",
    *_AREAS,
    "RES",
    breaks=("SI-ALLOC-002",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        for quantity in one.resourcePerAlloc.resources.values():
            quantity.value *= 2


@fault(
    "allocation-without-priority",
    "The priority of an ask is lost.",
    *_AREAS,
    breaks=("SI-ALLOC-003",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.priority = 0


@fault(
    "allocation-without-partition",
    "An allocation does not name its partition.",
    *_AREAS,
    breaks=("SI-ALLOC-003",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.partitionName = ""


@fault(
    "allocation-without-policy",
    "The preemption policy of an ask is lost.",
    *_AREAS,
    "PRE",
    breaks=("SI-ALLOC-007",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.ClearField("preemptionPolicy")


@fault(
    "allocation-without-originator",
    "The flag of an originator is lost.",
    *_AREAS,
    breaks=("SI-ALLOC-007",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.originator = False


@fault(
    "policy-ignored",
    "Nobody may preempt and be preempted as they say.",
    "PRE",
    "CONST",
    breaks=("SI-PRE-003",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.preemptionPolicy.allowPreemptSelf = not ask.preemptionPolicy.allowPreemptSelf


@fault(
    "everybody-preempts",
    "Every ask may preempt others, and is fair game.",
    "PRE",
    breaks=("SI-PRE-004",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.preemptionPolicy.allowPreemptOther = True
        ask.preemptionPolicy.allowPreemptSelf = True


@fault(
    "policy-the-wrong-way-round",
    "An allocation says that it may preempt where it may be preempted, and so on.",
    *_AREAS,
    breaks=("SI-ALLOC-007",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        policy = one.preemptionPolicy
        itself, others = policy.allowPreemptSelf, policy.allowPreemptOther
        policy.allowPreemptSelf, policy.allowPreemptOther = others, itself
