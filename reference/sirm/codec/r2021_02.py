"""2021-02: one stream for everything, RESYNC, and zero values that mean something."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from siwire import REVISIONS
from siwire.r2021_02 import si_pb2 as si

from sirm.codec import callbacks, parts
from sirm.codec.codec import Codec, Writer
from sirm.core import model as m

_UPDATE: Final = "Update"
_CREATE: Final = m.NodeAction.CREATE

NODE_ACTIONS: Final[Mapping[m.NodeAction, Any]] = {
    m.NodeAction.UPDATE: si.UpdateNodeInfo.UPDATE,
    m.NodeAction.DRAIN_NODE: si.UpdateNodeInfo.DRAIN_NODE,
    m.NodeAction.DECOMMISSION: si.UpdateNodeInfo.DECOMISSION,
    m.NodeAction.DRAIN_TO_SCHEDULABLE: si.UpdateNodeInfo.DRAIN_TO_SCHEDULABLE,
}
TERMINATIONS: Final[Mapping[m.Termination, Any]] = {
    m.Termination.STOPPED_BY_RM: si.AllocationRelease.STOPPED_BY_RM,
    m.Termination.TIMEOUT: si.AllocationRelease.TIMEOUT,
    m.Termination.PREEMPTED_BY_SCHEDULER: si.AllocationRelease.PREEMPTED_BY_SCHEDULER,
    m.Termination.PLACEHOLDER_REPLACED: si.AllocationRelease.PLACEHOLDER_REPLACED,
}
RULES: Final = m.Rules(
    create_draining=False,
    allocations_with_node=True,
    reports_foreign=False,
    key_is_identity=False,
    updates_running=False,
)


def list_of_node(report: m.ReportNode) -> str:
    """Return the list of a node: new ones have their own."""
    return "new" if report.action is _CREATE else "updated"


def node(report: m.ReportNode, request: si.UpdateRequest) -> None:
    """Write a NewNodeInfo with its existing allocations, or an UpdateNodeInfo."""
    if report.action is not _CREATE:
        update = request.updatedNodes.add(action=NODE_ACTIONS[report.action])
        parts.node(report, update)
        return
    message = request.newSchedulableNodes.add()
    parts.node(report, message)
    for one in report.allocations:
        allocation(one, message.existingAllocations.add())


def application(update: m.AddApplication, request: si.UpdateRequest) -> None:
    """Write an AddApplicationRequest, which has no gang style."""
    parts.application(update, request.newApplications.add())


def removal(update: m.RemoveApplication, request: si.UpdateRequest) -> None:
    """Write a RemoveApplicationRequest."""
    parts.removal(update, request.removeApplications.add())


def ask(update: m.RequestAllocation, request: si.UpdateRequest) -> None:
    """Write an AllocationAsk; its priority is a number."""
    message = request.asks.add()
    parts.ask(update.container, message)
    message.priority.priorityValue = update.container.priority


def allocation(update: m.ReportAllocation, message: si.Allocation) -> None:
    """Fill an existing Allocation."""
    parts.allocation(update.container, message)
    message.priority.priorityValue = update.container.priority
    message.nodeID = update.node_id
    message.UUID = update.identity


def list_of_release(update: m.Release) -> str:
    """Return the list of a release: without identity it is that of an ask."""
    return "allocations" if update.identity else "asks"


def release(update: m.Release, request: si.UpdateRequest) -> None:
    """Write an AllocationRelease, or an AllocationAskRelease, which has no type."""
    if not update.identity:
        request.releases.allocationAsksToRelease.add(
            partitionName=update.partition,
            applicationID=update.application_id,
            allocationkey=update.key,
        )
        return
    request.releases.allocationsToRelease.add(
        partitionName=update.partition,
        applicationID=update.application_id,
        UUID=update.identity,
        terminationType=TERMINATIONS[update.termination],
    )


def events(response: si.UpdateResponse) -> Iterator[m.FromScheduler]:
    """Read a response; recommendations are suggestions, and ignored (SI-NREC-001)."""
    if response.action == si.UpdateResponse.RESYNC:
        yield m.ResyncRequested()
        return
    yield from parts.verdicts(
        response.acceptedNodes, response.rejectedNodes, m.AcceptedNode, m.RejectedNode, "nodeID"
    )
    yield from parts.verdicts(
        response.acceptedApplications,
        response.rejectedApplications,
        m.AcceptedApplication,
        m.RejectedApplication,
        "applicationID",
    )
    for made in response.newAllocations:
        yield parts.allocated(made, made.UUID)
    for rejected in response.rejectedAllocations:
        yield parts.rejected_request(rejected)
    yield from released(response)
    for updated in response.updatedApplications:
        yield parts.updated_application(updated)


def released(response: si.UpdateResponse) -> Iterator[m.Released]:
    """Read released asks, then released allocations (SI-GANG-040)."""
    for withdrawn in response.releasedAllocationAsks:
        yield m.Released(
            withdrawn.applicationID,
            m.Termination.UNSET,
            m.Covered.REQUESTS,
            key=withdrawn.allocationkey,
        )
    for ended in response.releasedAllocations:
        kind = termination(ended.terminationType)
        yield m.Released(ended.applicationID, kind, m.Covered.ALLOCATIONS, identity=ended.UUID)


def termination(number: int) -> m.Termination:
    """Read a TerminationType, whose zero is STOPPED_BY_RM (SI-WIRE-009)."""
    known = (kind for kind, its_number in TERMINATIONS.items() if its_number == number)
    return next(known, m.Termination.UNSET)


WRITERS: Final[Mapping[type, Writer]] = {
    m.ReportNode: Writer(_UPDATE, list_of_node, node),
    m.AddApplication: Writer(_UPDATE, lambda _: "new applications", application),
    m.RemoveApplication: Writer(_UPDATE, lambda _: "removed applications", removal),
    m.RequestAllocation: Writer(_UPDATE, lambda _: "new asks", ask),
    m.Release: Writer(_UPDATE, list_of_release, release),
}
CODEC: Final = Codec(
    revision=REVISIONS["2021-02"],
    rules=RULES,
    registration=parts.plain_registration,
    writers=WRITERS,
    readers={_UPDATE: events},
    callbacks=callbacks.of_2021(si),
)
