"""2023-08: nodes are created draining; existing allocations come after their node."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from siwire import REVISIONS
from siwire.r2023_08 import si_pb2 as si

from sirm.codec import callbacks, parts, r2023_04
from sirm.codec.codec import Writer
from sirm.core import model as m

NODE_ACTIONS: Final[Mapping[m.NodeAction, int]] = {
    **r2023_04.NODE_ACTIONS,
    m.NodeAction.CREATE_DRAIN: si.NodeInfo.CREATE_DRAIN,
}


def allocation(identity: str, update: m.ReportAllocation, request: Any) -> None:
    """Write an existing Allocation."""
    r2023_04.allocation(identity, update, request.allocations.add())


def allocation_events(identity: str, response: Any) -> Iterator[m.FromScheduler]:
    """Read an AllocationResponse; existing allocations may be rejected."""
    for one in response.rejectedAllocations:
        yield parts.rejected_request(one)
    yield from r2023_04.allocation_events(identity, response)


WRITERS: Final[Mapping[type, Writer]] = {
    **r2023_04.WRITERS,
    m.ReportNode: Writer("UpdateNode", lambda _: "nodes", partial(r2023_04.node, NODE_ACTIONS)),
    m.ReportAllocation: Writer(
        "UpdateAllocation", lambda _: "allocations", partial(allocation, "UUID")
    ),
}
CODEC: Final = replace(
    r2023_04.CODEC,
    revision=REVISIONS["2023-08"],
    rules=replace(r2023_04.RULES, create_draining=True, allocations_with_node=False),
    writers=WRITERS,
    readers={
        **r2023_04.READERS,
        "UpdateAllocation": partial(allocation_events, "UUID"),
    },
    callbacks=callbacks.of(si),
)
