"""Mutants of asks."""

from functools import partial
from typing import Final

from mutation import held_keys
from mutation.lists import ALLOCATIONS, ASKS, REJECTED, is_ask
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, keep, mutant, row

_AREAS: Final = ("ASK", "ALLOC", "CONST")
_ANOTHER: Final = "~"  # appended to a key to make another one
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "ask-rejection-missing",
    "A rejected ask is not reported.",
    REJECTED.none(),
    breaks=("SI-ASK-008", "SI-REC-008"),
    areas=(*_AREAS, "CONN", "APP", "REC"),
)
_row(
    "ask-rejected-without-reason",
    "A rejected ask gets no reason.",
    REJECTED.without("reason"),
    breaks=("SI-ASK-026", "SI-REC-022"),
)
_row(
    "ask-rejection-nameless",
    "The rejection of an ask does not name it.",
    REJECTED.without("allocationKey"),
    breaks=("SI-ASK-022", "SI-REC-017"),
)
_row(
    "ask-rejection-without-application",
    "A rejection names no application.",
    REJECTED.without("applicationID"),
    breaks=("SI-ASK-022",),
)


@_mutant(
    "served-and-rejected",
    "An ask that is served is also rejected.",
    *_AREAS,
    breaks=("SI-ASK-019", "SI-ASK-022"),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        named = {"allocationKey": one.allocationKey, "applicationID": one.applicationID}
        response.rejectedAllocations.add(**named, reason="no")


@_mutant(
    "same-key-is-another-ask",
    "An ask with a known key is added to the first instead of replacing it.",
    *_AREAS,
    breaks=("SI-ASK-003", "SI-ASK-027"),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for ask in filter(is_ask, request.allocations):
        if ask.allocationKey in wire.memory["known"]:
            ask.allocationKey += _ANOTHER
        wire.memory["known"].add(ask.allocationKey)


same_key = _


@same_key.also
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationKey = one.allocationKey.removesuffix(_ANOTHER)


@_mutant(
    "first-values-stay",
    "A replacing ask has the values of the first.",
    *_AREAS,
    breaks=("SI-ASK-032", "SI-ASK-029"),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    known = wire.memory["asks"] or {}
    for ask in filter(is_ask, request.allocations):
        if ask.allocationKey in known:
            ask.CopyFrom(known[ask.allocationKey])
        known[ask.allocationKey] = si.Allocation.FromString(ask.SerializeToString())
    wire.memory["asks"] = known


_row(
    "keys-cut",
    "Long keys are truncated.",
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
    "ask-partition-ignored",
    "The partition of an ask is ignored.",
    ASKS.put(partitionName="default"),
    breaks=("SI-ASK-009",),
)
_row(
    "ask-size-ignored",
    "All asks get the same resources.",
    ASKS.amounts("resourcePerAlloc", lambda value: min(value, 1)),
    breaks=("SI-RES-002", "SI-RES-003", "SI-ALLOC-002"),
    areas=(*_AREAS, "RES"),
)
_row(
    "negative-ask-served",
    "An ask with a negative amount is served.",
    ASKS.amounts("resourcePerAlloc", lambda value: value if value >= 0 else 1),
    breaks=("SI-ASK-010",),
    areas=(*_AREAS, "RES"),
)


@_mutant(
    "withdrawal-not-confirmed",
    "The withdrawal of an ask is not confirmed.",
    *_AREAS,
    "REL",
    breaks=("SI-REL-019",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    def expect(one: si.AllocationRelease) -> bool:
        return one.terminationType != si.STOPPED_BY_RM or held_keys.is_held(one, wire)

    kept = [one for one in response.released if expect(one)]
    held_keys.announced(response, wire)
    keep(response.released, lambda one: one in kept)


_.also(held_keys.reported)


@_mutant(
    "withdrawal-of-all",
    "The withdrawal of one ask withdraws all of its application.",
    *_AREAS,
    "REL",
    breaks=("SI-REL-015",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    held_keys.reported(request, wire)
    for release in request.releases.allocationsToRelease:
        if not held_keys.is_held(release, wire):
            release.allocationKey = ""


_.also(held_keys.announced)


_row(
    "tagged-asks-rejected",
    "An ask with tags is rejected.",
    ASKS.where(lambda ask: ask.allocationTags).put(partitionName="nowhere"),
    breaks=("SI-ASK-001",),
)


@_mutant(
    "originator-twice",
    "The ask of an originator is served twice.",
    *_AREAS,
    breaks=("SI-ASK-027", "SI-ASK-024"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in list(filter(is_ask, request.allocations)):
        if ask.originator:
            again = request.allocations.add()
            again.CopyFrom(ask)
            again.allocationKey += _ANOTHER


originator = _


@originator.also
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationKey = one.allocationKey.removesuffix(_ANOTHER)


@_mutant(
    "asks-not-taken",
    "Only the first ask of a message is taken.",
    "CONN",
    *_AREAS,
    breaks=("SI-CONN-017",),
)
def _(request: si.AllocationRequest) -> None:
    first = next(filter(is_ask, request.allocations), None)
    keep(request.allocations, lambda one: one == first or not is_ask(one))


_row(
    "keys-folded",
    "Keys come back in lower case and without surrounding space.",
    ALLOCATIONS.change("allocationKey", lambda key: key.strip().lower()),
    breaks=("SI-ASK-002",),
)


@_mutant(
    "asks-of-originators-end-twice",
    "The ask of an originator is allocated and also rejected.",
    *_AREAS,
    breaks=("SI-ASK-024",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        if one.originator:
            named = {"allocationKey": one.allocationKey, "applicationID": one.applicationID}
            response.rejectedAllocations.add(**named, reason="no")


@_mutant(
    "negative-priority-is-zero",
    "A negative priority counts as zero.",
    breaks=("SI-ASK-012",),
)
def _(request: si.AllocationRequest) -> None:
    for allocation in request.allocations:
        allocation.priority = max(allocation.priority, 0)
