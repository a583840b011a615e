"""2024-10: three streams; requests and allocations share one message, the key identifies both."""

from collections.abc import Iterator
from typing import Any, Final

from siwire import REVISIONS, constants
from siwire.r2024_10 import si_pb2 as si

from sirm.codec import callbacks, parts
from sirm.codec.codec import Codec, Writer
from sirm.core import model as m

NODE_ACTIONS: Final = {
    m.NodeAction.CREATE: si.NodeInfo.CREATE,
    m.NodeAction.UPDATE: si.NodeInfo.UPDATE,
    m.NodeAction.DRAIN_NODE: si.NodeInfo.DRAIN_NODE,
    m.NodeAction.DECOMMISSION: si.NodeInfo.DECOMISSION,
    m.NodeAction.DRAIN_TO_SCHEDULABLE: si.NodeInfo.DRAIN_TO_SCHEDULABLE,
    m.NodeAction.CREATE_DRAIN: si.NodeInfo.CREATE_DRAIN,
}
TERMINATIONS: Final = {
    m.Termination.UNSET: si.UNKNOWN_TERMINATION_TYPE,
    m.Termination.STOPPED_BY_RM: si.STOPPED_BY_RM,
    m.Termination.TIMEOUT: si.TIMEOUT,
    m.Termination.PREEMPTED_BY_SCHEDULER: si.PREEMPTED_BY_SCHEDULER,
    m.Termination.PLACEHOLDER_REPLACED: si.PLACEHOLDER_REPLACED,
}


def node(report: m.ReportNode, request: Any) -> None:
    """Write a NodeInfo."""
    message = request.nodes.add(action=NODE_ACTIONS[report.action])
    parts.node(report, message)


def request(update: m.RequestAllocation, request: Any) -> None:
    """Write a request: an Allocation without node."""
    container(update.container, request.allocations.add())


def allocation(update: m.ReportAllocation, request: Any) -> None:
    """Write an allocation: an Allocation with a node."""
    message = request.allocations.add(nodeID=update.node_id)
    container(update.container, message)


def container(record: m.ContainerRecord, message: Any) -> None:
    """Fill an Allocation."""
    parts.allocation(record, message)
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
    request.releases.allocationsToRelease.add(
        partitionName=update.partition,
        applicationID=update.application_id,
        allocationKey=update.key,
        terminationType=TERMINATIONS[update.termination],
    )


def allocation_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read an AllocationResponse: what began before what ends."""
    for one in response.new:
        yield allocated(one, one.allocationKey)
    for one in response.rejectedAllocations:
        yield parts.rejected_request(one)
    for one in response.released:
        yield m.Released(
            application_id=one.applicationID,
            termination=termination(one.terminationType),
            covered=m.Covered.BOTH,
            key=one.allocationKey,
        )


def allocated(message: Any, identity: str) -> m.Allocated:
    """Read a new Allocation."""
    return m.Allocated(message.allocationKey, message.applicationID, message.nodeID, identity)


def termination(number: int) -> m.Termination:
    """Read a TerminationType; an unknown number is unset."""
    known = (kind for kind, its_number in TERMINATIONS.items() if its_number == number)
    return next(known, m.Termination.UNSET)


WRITERS: Final = {
    m.ReportNode: Writer("UpdateNode", lambda _: "nodes", node),
    m.AddApplication: Writer("UpdateApplication", lambda _: "new", parts.styled_application),
    m.RemoveApplication: Writer("UpdateApplication", lambda _: "remove", parts.removal),
    m.RequestAllocation: Writer("UpdateAllocation", lambda _: "allocations", request),
    m.ReportAllocation: Writer("UpdateAllocation", lambda _: "allocations", allocation),
    m.ReportForeign: Writer("UpdateAllocation", lambda _: "allocations", foreign),
    m.Release: Writer("UpdateAllocation", lambda _: "releases", release),
}
READERS: Final = {
    "UpdateNode": parts.node_events,
    "UpdateApplication": parts.application_events,
    "UpdateAllocation": allocation_events,
}
CODEC: Final = Codec(
    revision=REVISIONS["2024-10"],
    rules=m.Rules(),
    registration=lambda identity: parts.registration(identity, si.RegisterResourceManagerRequest()),
    writers=WRITERS,
    readers=READERS,
    callbacks=callbacks.of(si),
)
