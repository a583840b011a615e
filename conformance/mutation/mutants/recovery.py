"""Mutants of existing allocations that the RM reports."""

from functools import partial
from typing import Final

from mutation.lists import ALLOCATIONS, EXISTING, exists
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, keep, mutant, row

_AREAS: Final = ("REC", "CONN", "CONST")
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "existing-ignored",
    "Existing allocations are not recovered.",
    EXISTING.none(),
    breaks=("SI-REC-007", "SI-REC-016"),
)
_row(
    "existing-announced",
    "An existing allocation is announced as new.",
    EXISTING.none(),
    ALLOCATIONS.twice(),
    breaks=("SI-ALLOC-008",),
)


@_mutant(
    "half-of-the-gang-data-refused",
    "An existing allocation with only a task group or only the placeholder flag is rejected.",
    breaks=("SI-REC-012",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for one in keep(request.allocations, _is_whole):
        refused = si.RejectedAllocation(
            allocationKey=one.allocationKey,
            applicationID=one.applicationID,
            reason="a task group or the placeholder flag is missing",
        )
        wire.to_rm(si.AllocationResponse(rejectedAllocations=[refused]))


def _is_whole(one: si.Allocation) -> bool:
    return not exists(one) or bool(one.taskGroupName) == one.placeholder


_row(
    "existing-is-not-a-placeholder",
    "Existing placeholders are recovered as real allocations.",
    EXISTING.without("placeholder"),
    breaks=("SI-REC-011", "SI-REC-019"),
)
_row(
    "existing-is-small",
    "Existing allocations count as almost nothing.",
    EXISTING.amounts("resourcePerAlloc", lambda _: 1),
    breaks=("SI-REC-007",),
)


@_mutant(
    "existing-twice", "An existing allocation is recovered twice.", *_AREAS, breaks=("SI-REC-007",)
)
def _(request: si.AllocationRequest) -> None:
    for one in list(filter(exists, request.allocations)):
        again = request.allocations.add()
        again.CopyFrom(one)
        again.allocationKey += "-2"
