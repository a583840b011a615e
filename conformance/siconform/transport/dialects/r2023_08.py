"""The dialect of 2023-08: adds separate existing allocations and detailed events."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2023_08 import si_pb2 as si

from siconform.protocol.events import Detail, EventChange
from siconform.protocol.notifications import AllocationRejected, Fact, UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest
from siconform.transport.dialects import elements, messages, r2023_04
from siconform.transport.dialects.amounts import read_amounts
from siconform.transport.dialects.enums import read_enum
from siconform.transport.dialects.tables import FactWriter, Payload


def existing_allocation(request: si.AllocationRequest, sent: ExistingAllocationRequest) -> None:
    """Write an existing allocation."""
    r2023_04.write_existing(request.allocations.add(), sent.allocation)


def read_existing(received: si.Allocation) -> ExistingAllocationRequest:
    """Read an existing allocation."""
    return ExistingAllocationRequest(r2023_04.allocated(received))


def allocation_rejected(received: messages.RejectedAllocation) -> Fact:
    """Read the rejection of an existing allocation."""
    return AllocationRejected(received.allocationKey, received.applicationID, received.reason)


def event(received: messages.DetailedEventRecord, offer: int) -> Iterator[Fact]:
    """Read an event with its detail, referenced object and resource."""
    yield elements.read_event(
        received,
        offer,
        change=read_enum(EventChange, received, "eventChangeType"),
        detail=read_enum(Detail, received, "eventChangeDetail"),
        reference=received.referenceID,
        resource=read_amounts(received.resource) if received.HasField("resource") else None,
    )


_BEFORE: Final = r2023_04.TABLES
_ALLOCATIONS: Final = _BEFORE.readers[UpdateKind.ALLOCATIONS]
_REQUESTS: Final = _BEFORE.request_readers[UpdateKind.ALLOCATIONS]

TABLES: Final = replace(
    _BEFORE,
    writers={**_BEFORE.writers, ExistingAllocationRequest: existing_allocation},
    readers={
        **_BEFORE.readers,
        UpdateKind.ALLOCATIONS: {**_ALLOCATIONS, "rejectedAllocations": allocation_rejected},
    },
    request_readers={
        **_BEFORE.request_readers,
        UpdateKind.ALLOCATIONS: {"allocations": read_existing, **_REQUESTS},
    },
    fact_writers={
        **_BEFORE.fact_writers,
        AllocationRejected: FactWriter("rejectedAllocations", elements.write_rejected_ask),
    },
    payloads={**_BEFORE.payloads, ext.EVENT_BATCH: Payload("EventRecord", event)},
)
