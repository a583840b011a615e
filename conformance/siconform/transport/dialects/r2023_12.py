"""The dialect of 2023-12: adds the allocationID, and originator and policy of allocations."""

from dataclasses import replace
from typing import Final

from siwire.r2023_12 import si_pb2 as si

from siconform.protocol.notifications import Allocated, Fact, Released, UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest, NodeRequest, ReleaseRequest
from siconform.protocol.subjects import OneAllocation
from siconform.transport.dialects import r2023_04, r2023_08
from siconform.transport.dialects.tables import FactWriter


def node(request: si.NodeRequest, sent: NodeRequest) -> None:
    """Write a node with its action and existing allocations."""
    message = request.nodes.add()
    r2023_04.write_node(message, sent)
    for existing in sent.existing:
        write_existing(message.existingAllocations.add(), existing)


def existing_allocation(request: si.AllocationRequest, sent: ExistingAllocationRequest) -> None:
    """Write an existing allocation."""
    write_existing(request.allocations.add(), sent.allocation)


def write_existing(message: si.Allocation, sent: Allocated) -> None:
    """Write an existing allocation by its allocationID."""
    r2023_04.write_allocation(message, sent)
    message.allocationID = sent.identity
    message.originator = sent.originator
    r2023_04.write_policy(message.preemptionPolicy, sent.preemption_policy)


def release(request: si.AllocationRequest, sent: ReleaseRequest) -> None:
    """Write a release by allocationID, or of everything of the application without one."""
    message = request.releases.allocationsToRelease.add()
    r2023_04.write_release(message, sent)
    if isinstance(sent.subject, OneAllocation):
        message.allocationID = sent.subject.identity


def read_node(received: si.NodeInfo) -> NodeRequest:
    """Read a node with its action and existing allocations."""
    return replace(
        r2023_04.read_occupied_node(received),
        existing=tuple(map(allocated, received.existingAllocations)),
    )


def read_existing(received: si.Allocation) -> ExistingAllocationRequest:
    """Read an existing allocation."""
    return ExistingAllocationRequest(allocated(received))


def read_release(received: si.AllocationRelease) -> ReleaseRequest:
    """Read a release by allocationID, or of everything of the application without one."""
    return r2023_04.release_of(received, received.allocationID)


def write_released(message: si.AllocationRelease, sent: Released) -> None:
    """Write the end of an allocation, or of everything of an application."""
    r2023_04.write_keyed_release(message, sent)
    message.allocationID = sent.identity


def allocated(received: si.Allocation) -> Allocated:
    """Read a new allocation."""
    return replace(
        r2023_04.read_allocation(received),
        identity=received.allocationID,
        originator=received.originator,
        preemption_policy=r2023_04.read_policy(received),
    )


def released(received: si.AllocationRelease) -> Fact:
    """Read the end of an allocation, or of everything of an application."""
    return replace(r2023_04.read_release(received), identity=received.allocationID)


_BEFORE: Final = r2023_08.TABLES
_ALLOCATIONS: Final = _BEFORE.readers[UpdateKind.ALLOCATIONS]
_REQUESTS: Final = _BEFORE.request_readers[UpdateKind.ALLOCATIONS]

TABLES: Final = replace(
    _BEFORE,
    writers={
        **_BEFORE.writers,
        NodeRequest: node,
        ExistingAllocationRequest: existing_allocation,
        ReleaseRequest: release,
    },
    readers={
        **_BEFORE.readers,
        UpdateKind.ALLOCATIONS: {**_ALLOCATIONS, "new": allocated, "released": released},
    },
    request_readers={
        **_BEFORE.request_readers,
        UpdateKind.NODES: {"nodes": read_node},
        UpdateKind.ALLOCATIONS: {
            **_REQUESTS,
            "allocations": read_existing,
            "releases.allocationsToRelease": read_release,
        },
    },
    fact_writers={
        **_BEFORE.fact_writers,
        Allocated: FactWriter("new", write_existing),
        Released: FactWriter("released", write_released),
    },
)
