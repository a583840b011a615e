"""Which capabilities the schema of a text shows."""

from collections.abc import Collection, Mapping
from typing import Final

from siwire.revisions import Capability

DECLARED: Final[Mapping[Capability, tuple[frozenset[str], ...]]] = {
    Capability.ONE_UPDATE_STREAM: (frozenset({"Scheduler.Update"}),),
    Capability.THREE_UPDATE_STREAMS: (
        frozenset(
            {"Scheduler.UpdateAllocation", "Scheduler.UpdateApplication", "Scheduler.UpdateNode"}
        ),
    ),
    Capability.CONFIGURATION_IN_REGISTRATION: (
        frozenset(
            f"RegisterResourceManagerRequest.{name}"
            for name in ("buildInfo", "config", "extraConfig")
        ),
    ),
    Capability.ASKS_APART: (
        frozenset({"AllocationAsk", "AllocationAskRelease", "RejectedAllocationAsk"}),
    ),
    Capability.EXISTING_ALLOCATIONS_WITH_NODE: (
        frozenset({"NewNodeInfo.existingAllocations"}),
        frozenset({"NodeInfo.existingAllocations"}),
    ),
    Capability.OCCUPIED_RESOURCE: (
        frozenset({"NewNodeInfo.occupiedResource"}),
        frozenset({"NodeInfo.occupiedResource"}),
    ),
    Capability.CREATE_DRAIN: (frozenset({"NodeInfo.ActionFromRM.CREATE_DRAIN"}),),
    Capability.GANG_STYLE: (frozenset({"AddApplicationRequest.gangSchedulingStyle"}),),
    Capability.PLACEMENT_CONSTRAINTS: (frozenset({"AllocationAsk.placementConstraint"}),),
    # No message has to do with it: records of users and groups came in the same release line.
    Capability.API_STOP: (frozenset({"EventRecord.Type.USERGROUP"}),),
}
"""What a schema declares that has a capability, each set one way of having it."""


def shown(declared: Collection[str]) -> frozenset[Capability]:
    """The capabilities that these declarations (`NodeInfo.nodeID`) show."""
    return frozenset(
        capability
        for capability, ways in DECLARED.items()
        if any(way <= set(declared) for way in ways)
    )
