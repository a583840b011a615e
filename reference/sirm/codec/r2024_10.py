"""2024-10: requests and allocations share one message and one list; the key identifies both."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from siwire import REVISIONS, constants
from siwire.r2024_10 import si_pb2 as si

from sirm.codec import callbacks, parts, r2023_04, r2023_12
from sirm.codec.codec import Writer
from sirm.core import model as m


def request(update: m.RequestAllocation, request: Any) -> None:
    """Write a request: an Allocation without node (C-44)."""
    container(update.container, request.allocations.add())


def allocation(update: m.ReportAllocation, request: Any) -> None:
    """Write an allocation: an Allocation with a node."""
    container(update.container, request.allocations.add(nodeID=update.node_id))


def container(record: m.ContainerRecord, message: Any) -> None:
    """Fill an Allocation."""
    parts.allocation(record, message)
    message.priority = record.priority
    message.originator = record.originator


def foreign(update: m.ReportForeign, request: Any) -> None:
    """Write a foreign Allocation, marked by its tag."""
    message = request.allocations.add(
        allocationKey=update.key, nodeID=update.node_id, partitionName=update.partition
    )
    static, default = constants.ALLOC_TYPE_STATIC, constants.ALLOC_TYPE_DEFAULT
    message.allocationTags[constants.FOREIGN] = static if update.is_static else default
    parts.amounts(update.resource, message.resourcePerAlloc)


def release(update: m.Release, request: Any) -> None:
    """Write an AllocationRelease, of an allocation or a request, by key."""
    r2023_04.end(update, request.releases.allocationsToRelease.add())


def allocation_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read an AllocationResponse: what began before what ends."""
    for one in response.new:
        yield parts.allocated(one, one.allocationKey)
    for one in response.rejectedAllocations:
        yield parts.rejected_request(one)
    for one in response.released:
        kind = r2023_04.termination(one.terminationType)
        yield m.Released(one.applicationID, kind, m.Covered.BOTH, key=one.allocationKey)


WRITERS: Final[Mapping[type, Writer]] = {
    **r2023_12.WRITERS,
    m.RequestAllocation: Writer("UpdateAllocation", lambda _: "allocations", request),
    m.ReportAllocation: Writer("UpdateAllocation", lambda _: "allocations", allocation),
    m.ReportForeign: Writer("UpdateAllocation", lambda _: "allocations", foreign),
    m.Release: Writer("UpdateAllocation", lambda _: "releases", release),
}
CODEC: Final = replace(
    r2023_12.CODEC,
    revision=REVISIONS["2024-10"],
    rules=m.Rules(),
    writers=WRITERS,
    readers={**r2023_12.CODEC.readers, "UpdateAllocation": allocation_events},
    callbacks=callbacks.of(si),
)
