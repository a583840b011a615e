"""The lists of elements in messages of 2023-12, and its messages that callbacks carry."""

from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2023_12 import si_pb2 as si

from proof.parts import Elements, Payloads

CREATED_APPLICATIONS: Final = Elements(si.ApplicationRequest, "new")
REMOVED_APPLICATIONS: Final = Elements(si.ApplicationRequest, "remove")
ACCEPTED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "accepted")
REJECTED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "rejected")
UPDATED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "updated")

ASKS: Final = Elements(si.AllocationRequest, "asks")
EXISTING: Final = Elements(si.AllocationRequest, "allocations")
RELEASES: Final = Elements(si.AllocationRequest, "releases.allocationsToRelease")
ASK_RELEASES: Final = Elements(si.AllocationRequest, "releases.allocationAsksToRelease")
ALLOCATIONS: Final = Elements(si.AllocationResponse, "new")
RELEASED: Final = Elements(si.AllocationResponse, "released")
RELEASED_ASKS: Final = Elements(si.AllocationResponse, "releasedAsks")
REJECTED_ASKS: Final = Elements(si.AllocationResponse, "rejected")
REJECTED_EXISTING: Final = Elements(si.AllocationResponse, "rejectedAllocations")

NODES: Final = Elements(si.NodeRequest, "nodes")
EXISTING_ON_NODES: Final = Elements(si.NodeRequest, "nodes.existingAllocations")
ACCEPTED_NODES: Final = Elements(si.NodeResponse, "accepted")
REJECTED_NODES: Final = Elements(si.NodeResponse, "rejected")

EVENTS: Final = Payloads(ext.EVENT_BATCH, si.EventRecord)
PLACEMENT_CHECKS: Final = Payloads(ext.PLACEMENT_CHECK, si.PredicatesArgs)
EVICTION_CHECKS: Final = Payloads(ext.EVICTION_CHECK, si.PreemptionPredicatesArgs)
CONTAINER_STATES: Final = Payloads(ext.CONTAINER_STATE, si.UpdateContainerSchedulingStateRequest)
