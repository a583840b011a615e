"""The lists of elements in messages of the main revision, and its messages that callbacks carry."""

from typing import Any, Final

from siwire.ext import extension_pb2 as ext

from mutation.main_revision import si
from mutation.parts import Elements, Payloads

_FOREIGN: Final = "foreign"  # the tag of an allocation of somebody else


def is_ask(one: Any) -> bool:
    """Whether an element of a request asks for a node, or says anew what is asked for."""
    return not one.nodeID and _FOREIGN not in one.allocationTags


def exists(one: Any) -> bool:
    """Whether an element of a request tells of an allocation of the RM that has its node."""
    return bool(one.nodeID) and _FOREIGN not in one.allocationTags


def is_foreign(one: Any) -> bool:
    """Whether an element of a request tells of an allocation of somebody else."""
    return _FOREIGN in one.allocationTags


CREATED_APPLICATIONS: Final = Elements(si.ApplicationRequest, "new")
REMOVED_APPLICATIONS: Final = Elements(si.ApplicationRequest, "remove")
ACCEPTED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "accepted")
REJECTED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "rejected")
UPDATED_APPLICATIONS: Final = Elements(si.ApplicationResponse, "updated")

ADDED: Final = Elements(si.AllocationRequest, "allocations")
ASKS: Final = ADDED.where(is_ask)
EXISTING: Final = ADDED.where(exists)
FOREIGN: Final = ADDED.where(is_foreign)
RELEASES: Final = Elements(si.AllocationRequest, "releases.allocationsToRelease")
ALLOCATIONS: Final = Elements(si.AllocationResponse, "new")
RELEASED: Final = Elements(si.AllocationResponse, "released")
REJECTED: Final = Elements(si.AllocationResponse, "rejectedAllocations")

NODES: Final = Elements(si.NodeRequest, "nodes")
ACCEPTED_NODES: Final = Elements(si.NodeResponse, "accepted")
REJECTED_NODES: Final = Elements(si.NodeResponse, "rejected")

EVENTS: Final = Payloads(ext.EVENT_BATCH, si.EventRecord)
PLACEMENT_CHECKS: Final = Payloads(ext.PLACEMENT_CHECK, si.PredicatesArgs)
EVICTION_CHECKS: Final = Payloads(ext.EVICTION_CHECK, si.PreemptionPredicatesArgs)
CONTAINER_STATES: Final = Payloads(ext.CONTAINER_STATE, si.UpdateContainerSchedulingStateRequest)
