"""2023-12: the identity of an allocation is its allocationID, and it repeats the originator."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from siwire import REVISIONS
from siwire.r2023_12 import si_pb2 as si

from sirm.codec import callbacks, r2023_04, r2023_08
from sirm.codec.codec import Writer
from sirm.core import model as m

_IDENTITY: Final = "allocationID"


def allocation(update: m.ReportAllocation, request: Any) -> None:
    """Write an existing Allocation with the originator flag of its ask."""
    message = request.allocations.add(originator=update.container.originator)
    r2023_04.allocation(_IDENTITY, update, message)


WRITERS: Final[Mapping[type, Writer]] = {
    **r2023_08.WRITERS,
    m.ReportAllocation: Writer("UpdateAllocation", lambda _: "allocations", allocation),
    m.Release: Writer(
        "UpdateAllocation", r2023_04.list_of_release, partial(r2023_04.release, _IDENTITY)
    ),
}
CODEC: Final = replace(
    r2023_08.CODEC,
    revision=REVISIONS["2023-12"],
    writers=WRITERS,
    readers={
        **r2023_08.CODEC.readers,
        "UpdateAllocation": partial(r2023_08.allocation_events, _IDENTITY),
    },
    callbacks=callbacks.of(si),
)
