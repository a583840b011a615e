"""What 2023-12 says anew: allocations have an allocationID, and repeat originator and policy."""

from dataclasses import replace
from typing import Final

from siwire.r2023_12 import si_pb2 as si

from siconform.protocol.notifications import Allocated, Fact, PreemptionPolicy, UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest, NodeRequest, ReleaseRequest
from siconform.protocol.subjects import OneAllocation
from siconform.transport.dialects import r2023_04, r2023_08


def node(request: si.NodeRequest, said: NodeRequest) -> None:
    """A node with its action and what exists on it."""
    message = request.nodes.add()
    r2023_04.write_node(message, said)
    for existing in said.existing:
        write_existing(message.existingAllocations.add(), existing)


def existing_allocation(request: si.AllocationRequest, said: ExistingAllocationRequest) -> None:
    """An allocation from before."""
    write_existing(request.allocations.add(), said.allocation)


def write_existing(message: si.Allocation, said: Allocated) -> None:
    """An allocation from before, by its allocationID."""
    r2023_04.write_allocation(message, said)
    message.allocationID = said.identity
    message.originator = said.originator
    r2023_04.write_policy(message.preemptionPolicy, said.preemption_policy)


def release(request: si.AllocationRequest, said: ReleaseRequest) -> None:
    """By its allocationID; without one it is everything of the application."""
    message = request.releases.allocationsToRelease.add()
    r2023_04.write_release(message, said)
    if isinstance(said.subject, OneAllocation):
        message.allocationID = said.subject.identity


def allocated(told: si.Allocation) -> Fact:
    """A new allocation."""
    return replace(
        r2023_04.read_allocation(told),
        identity=told.allocationID,
        originator=told.originator,
        preemption_policy=_policy(told.preemptionPolicy)
        if told.HasField("preemptionPolicy")
        else None,
    )


def _policy(told: si.PreemptionPolicy) -> PreemptionPolicy:
    return PreemptionPolicy(told.allowPreemptSelf, told.allowPreemptOther)


def released(told: si.AllocationRelease) -> Fact:
    """The end of an allocation, or of all that an application has."""
    return replace(r2023_04.read_release(told), identity=told.allocationID)


_BEFORE: Final = r2023_08.TABLES
_ALLOCATIONS: Final = _BEFORE.readers[UpdateKind.ALLOCATIONS]

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
)
