"""The lists of elements in messages of the main revision, and the messages callbacks carry."""

from typing import Any, Final

from siwire.ext import extension_pb2 as ext

from mutation.main_revision import si
from mutation.parts import Elements, Payloads

_FOREIGN: Final = "foreign"  # the tag of a foreign allocation


def is_ask(one: Any) -> bool:
    """Return whether an element of a request is an ask, new or updated."""
    return not one.nodeID and _FOREIGN not in one.allocationTags


def exists(one: Any) -> bool:
    """Return whether an element of a request is an allocation of the RM with a node."""
    return bool(one.nodeID) and _FOREIGN not in one.allocationTags


def is_foreign(one: Any) -> bool:
    """Return whether an element of a request is a foreign allocation."""
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
