"""Mutants of new allocations."""

from functools import partial
from typing import Final

from siwire.r2023_04 import si_pb2 as si_2023_04

from mutation.lists import ALLOCATIONS
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row

_AREAS: Final = ("ALLOC", "ASK", "GANG", "CONN")
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "allocated-twice",
    "Every allocation is reported twice.",
    ALLOCATIONS.twice(),
    breaks=("SI-ALLOC-008",),
    areas=(*_AREAS, "NODE"),
)


@_mutant(
    "allocated-again",
    "For every allocation there is another one.",
    *_AREAS,
    "NODE",
    breaks=("SI-ALLOC-011", "SI-NODE-006"),
)
def _(response: si.AllocationResponse) -> None:
    for one in list(response.new):
        again = response.new.add()
        again.CopyFrom(one)
        again.allocationKey += "-2"


_row(
    "allocations-lost",
    "Allocations are not reported.",
    ALLOCATIONS.none(),
    breaks=("SI-ASK-001", "SI-NODE-010", "SI-GANG-002"),
    areas=(*_AREAS, "NODE", "APP", "WIRE"),
)


_row(
    "keys-of-the-application",
    "Allocations of one application share a key.",
    ALLOCATIONS.copy("applicationID", to="allocationKey"),
    breaks=("SI-ALLOC-011",),
)


@_mutant(
    "uuid-of-the-application",
    "Allocations of one application share a UUID (2023-04).",
    breaks=("SI-ALLOC-004",),
    revision="2023-04",
)
def _(response: si_2023_04.AllocationResponse) -> None:
    for one in response.new:
        one.UUID = one.applicationID


_row(
    "key-missing",
    "An allocation has no key.",
    ALLOCATIONS.without("allocationKey"),
    breaks=("SI-ALLOC-011",),
    areas=(*_AREAS, "WIRE"),
)
_row(
    "allocated-elsewhere",
    "An allocation names an unknown node.",
    ALLOCATIONS.change("nodeID", lambda name: f"{name}-x"),
    breaks=("SI-ALLOC-001",),
    areas=(*_AREAS, "NODE"),
)


@_mutant(
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


_row(
    "application-missing",
    "An allocation does not name its application.",
    ALLOCATIONS.without("applicationID"),
    breaks=("SI-ALLOC-002",),
)
_row(
    "resource-missing",
    "An allocation does not state its resources.",
    ALLOCATIONS.without("resourcePerAlloc"),
    breaks=("SI-ALLOC-002",),
)
_row(
    "resource-of-all",
    "An allocation states the resources of the whole ask.",
    ALLOCATIONS.amounts("resourcePerAlloc", lambda value: 2 * value),
    breaks=("SI-ALLOC-002",),
    areas=(*_AREAS, "RES"),
)
_row(
    "allocation-without-priority",
    "The priority of an ask is lost.",
    ALLOCATIONS.without("priority"),
    breaks=("SI-ALLOC-003",),
)
_row(
    "allocation-without-partition",
    "An allocation does not name its partition.",
    ALLOCATIONS.without("partitionName"),
    breaks=("SI-ALLOC-003",),
)
_row(
    "allocation-without-policy",
    "The preemption policy of an ask is lost.",
    ALLOCATIONS.without("preemptionPolicy"),
    breaks=("SI-ALLOC-007",),
    areas=(*_AREAS, "PRE"),
)
_row(
    "allocation-without-originator",
    "The flag of an originator is lost.",
    ALLOCATIONS.without("originator"),
    breaks=("SI-ALLOC-007",),
)


@_mutant(
    "policy-ignored",
    "Nothing may preempt or be preempted, whatever the asks allow.",
    "PRE",
    "CONST",
    breaks=("SI-PRE-003",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        ask.preemptionPolicy.allowPreemptSelf = not ask.preemptionPolicy.allowPreemptSelf


@_mutant(
    "everybody-preempts",
    "Every ask may preempt others and be preempted.",
    "PRE",
    breaks=("SI-PRE-004",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        ask.preemptionPolicy.allowPreemptOther = True
        ask.preemptionPolicy.allowPreemptSelf = True


@_mutant(
    "priority-of-sixteen-bits",
    "An allocation repeats the lower 16 bits of the priority of its ask.",
    *_AREAS,
    breaks=("SI-ALLOC-003",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.priority = (one.priority + 2**15) % 2**16 - 2**15


@_mutant(
    "policy-the-wrong-way-round",
    "The two flags of the preemption policy are swapped.",
    *_AREAS,
    breaks=("SI-ALLOC-007",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        policy = one.preemptionPolicy
        itself, others = policy.allowPreemptSelf, policy.allowPreemptOther
        policy.allowPreemptSelf, policy.allowPreemptOther = others, itself


@_mutant(
    "tags-without-value-left-out",
    "An allocation does not repeat the tags of its ask that have an empty value.",
    breaks=("SI-ALLOC-003",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        for tag in [tag for tag, value in one.allocationTags.items() if not value]:
            del one.allocationTags[tag]
