"""Mutants that mix up the two partitions of an RM."""

from functools import partial
from typing import Any, Final

from mutation.lists import ALLOCATIONS, RELEASED
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row

_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)

_THE_USUAL: Final = "default"


def _submitted(request: si.ApplicationRequest, wire: Wire) -> None:
    """Note the partition of each application."""
    for one in request.new:
        wire.memory[one.partitionName].add(one.applicationID)


def _to_its_partition(elements: Any, wire: Wire) -> None:
    """Replace the name of a partition with that of the application, if both are used."""
    used = [name for name, applications in wire.memory.items() if applications]
    for one in elements:
        for name in used if one.partitionName in used else ():
            if one.applicationID in wire.memory[name]:
                one.partitionName = name


@_mutant(
    "removed-in-any-partition",
    "An application is removed although the message names another partition.",
    breaks=("SI-APP-019",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    _submitted(request, wire)
    _to_its_partition(request.remove, wire)


@_mutant(
    "asks-in-any-partition",
    "An ask that names another partition is one of that of its application.",
    breaks=("SI-ASK-009",),
)
def asks_in_any_partition(request: si.ApplicationRequest, wire: Wire) -> None:
    """Note where applications are."""
    _submitted(request, wire)


@asks_in_any_partition.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    _to_its_partition(request.allocations, wire)


_row(
    "allocated-in-the-usual-partition",
    "Every allocation names the default partition.",
    ALLOCATIONS.put(partitionName=_THE_USUAL),
    breaks=("SI-ALLOC-003",),
)
_row(
    "released-in-the-usual-partition",
    "Every release names the default partition.",
    RELEASED.put(partitionName=_THE_USUAL),
    breaks=("SI-REL-002",),
)
