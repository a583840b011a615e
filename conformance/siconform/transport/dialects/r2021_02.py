"""The dialect of 2021-02: one update stream for everything, and the numbers of that schema.

Its messages are read and written laxly (``lax.py``); messages affected by that have no type here.
Values without a field in this revision (a gang's style, say) are omitted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si

from siconform.outcomes import NotForThisTarget
from siconform.protocol.callbacks import Assumed, Forgotten
from siconform.protocol.matchers import UNSUPPORTED
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRecommended,
    NodeRejected,
    RegistrationWanted,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import QueueConfiguration
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    StreamOpening,
    UtilisationRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk, ask_subject
from siconform.transport.dialects import elements
from siconform.transport.dialects.amounts import read_amounts, read_optional, write_amounts
from siconform.transport.dialects.constraints import read_constraint, write_constraint
from siconform.transport.dialects.enums import read_enum, write_enum, write_undefined
from siconform.transport.dialects.lax import lax_messages
from siconform.transport.dialects.tables import (
    Conversation,
    FactWriter,
    Inexpressible,
    Payload,
    Reader,
    RequestReader,
    Tables,
)

_INEXPRESSIBLE: Final = (Termination.UNKNOWN, Termination.UNDEFINED)  # omitted: zero has a meaning


def register(request: si.RegisterResourceManagerRequest, sent: Registration) -> None:
    """Write the policy group; the scheduler must already have its queue configuration."""
    if not isinstance(sent.config, QueueConfiguration):
        raise NotForThisTarget("SI 2021-02 has no way to send queues: its groups are files")
    request.rmID, request.version, request.policyGroup = sent.rm, sent.version, sent.policy_group


def node(request: si.UpdateRequest, sent: NodeRequest) -> None:
    """Write a creation or an update; existing allocations are for new nodes only."""
    if sent.action is Action.CREATE:
        new = request.newSchedulableNodes.add()
        elements.write_node(new, sent)
        write_amounts(new.occupiedResource, sent.occupied)
        for existing in sent.existing:
            _existing_allocation(new.existingAllocations.add(), existing)
    elif sent.existing:
        raise Inexpressible
    else:
        updated = request.updatedNodes.add()
        elements.write_node(updated, sent)
        write_amounts(updated.occupiedResource, sent.occupied)
        if sent.action is Action.UNDEFINED:
            write_undefined(updated, "action")
        elif sent.action is not Action.UNSET:  # zero is an action
            write_enum(updated, "action", sent.action)


def utilisation(request: si.UpdateRequest, sent: UtilisationRequest) -> None:
    """Write the utilisation of a node or an allocation."""
    write_amounts(request.utilizationReports.add(ID=sent.subject).actualUsedResource, sent.used)


def application(request: si.UpdateRequest, sent: ApplicationRequest) -> None:
    """Write a new application."""
    elements.write_application(request.newApplications.add(), sent)


def removal(request: si.UpdateRequest, sent: ApplicationRemoval) -> None:
    """Write the removal of an application."""
    request.removeApplications.add(applicationID=sent.application, partitionName=sent.partition)


def ask(request: si.UpdateRequest, sent: AskRequest) -> None:
    """Write an ask with its constraint."""
    message = request.asks.add()
    elements.write_ask(message, sent)
    _prioritise(message, sent.priority, sent.priority_class)
    if sent.constraint is not None:
        write_constraint(message.placementConstraint.simpleConstraint, sent.constraint)


def _prioritise(message: Any, number: int, name: str) -> None:
    if number:
        message.priority.priorityValue = number
    if name:
        message.priority.priorityClassName = name


def _existing_allocation(message: si.Allocation, sent: Allocated) -> None:
    elements.write_allocation(message, sent)
    message.UUID = sent.identity
    message.queueName = sent.queue
    _prioritise(message, sent.priority, sent.priority_class)


def release(request: si.UpdateRequest, sent: ReleaseRequest) -> None:
    """Write a release by identity, or of everything of the application without one."""
    message = request.releases.allocationsToRelease.add(
        partitionName=sent.partition,
        applicationID=sent.subject.application,
        message=sent.message,
    )
    if isinstance(sent.subject, OneAllocation):
        message.UUID = sent.subject.identity
    if sent.termination not in _INEXPRESSIBLE:
        write_enum(message, "terminationType", sent.termination)


def ask_release(request: si.UpdateRequest, sent: AskReleaseRequest) -> None:
    """Write a withdrawal by key, or of every ask of the application without one."""
    message = request.releases.allocationAsksToRelease.add(
        partitionName=sent.partition, applicationID=sent.subject.application
    )
    if isinstance(sent.subject, OneAsk):
        message.allocationkey = sent.subject.key


def registration_wanted(action: int) -> RegistrationWanted | None:
    """Read a RESYNC."""
    return RegistrationWanted() if action == si.UpdateResponse.RESYNC else None


def allocated(received: si.Allocation) -> Allocated:
    """Read a new allocation."""
    return replace(
        elements.read_allocation(received),
        identity=received.UUID,
        priority=received.priority.priorityValue,
        priority_class=received.priority.priorityClassName,
        queue=received.queueName,
    )


def released(received: si.AllocationRelease) -> Fact:
    """Read the end of an allocation, whose key has no field here."""
    return replace(elements.read_release(received), identity=received.UUID, key=UNSUPPORTED)


def ask_released(received: si.AllocationAskRelease) -> Fact:
    """Read the end of an ask; the untyped list is for asks whose placeholders timed out."""
    return AskReleased(
        key=received.allocationkey,
        application=received.applicationID,
        termination=Termination.TIMEOUT,
        message=received.message,
        partition=received.partitionName,
    )


def node_recommended(received: si.NodeRecommendation) -> Fact:
    """Read recommended resources of a node."""
    return NodeRecommended(read_amounts(received.recommendedSchedulableResource), received.message)


def event(received: si.EventRecord, offer: int) -> Iterator[Fact]:
    """Read an event with its group and reason."""
    yield elements.read_event(received, offer, group=received.groupID, reason=received.reason)


def synchronisation(received: si.ReSyncSchedulerCacheArgs, offer: int) -> Iterator[Fact]:
    """Read allocations that the RM can assume or forget."""
    for assumed in received.assumedAllocations:
        yield Assumed(assumed.allocationKey, assumed.nodeID, offer)
    for forgotten in received.forgetAllocations:
        yield Forgotten(forgotten.allocationKey, offer)


def read_registration(received: si.RegisterResourceManagerRequest) -> Registration:
    """Read a registration, which has no queue configuration."""
    return Registration(received.rmID, received.version, received.policyGroup, config="")


def read_new_node(received: si.NewNodeInfo) -> NodeRequest:
    """Read a creation with its existing allocations."""
    return replace(
        elements.read_node(received, Action.CREATE),
        occupied=read_optional(received, "occupiedResource"),
        existing=tuple(map(allocated, received.existingAllocations)),
    )


def read_updated_node(received: si.UpdateNodeInfo) -> NodeRequest:
    """Read an update; without an action it is an UPDATE."""
    return replace(
        elements.read_node(received, read_enum(Action, received, "action")),
        occupied=read_optional(received, "occupiedResource"),
    )


def read_utilisation(received: si.UtilizationReport) -> UtilisationRequest:
    """Read the utilisation of a node or an allocation."""
    return UtilisationRequest(received.ID, read_amounts(received.actualUsedResource))


def read_ask(received: si.AllocationAsk) -> AskRequest:
    """Read an ask with its constraint."""
    return replace(
        elements.read_ask(received),
        priority=received.priority.priorityValue,
        priority_class=received.priority.priorityClassName,
        constraint=read_constraint(received.placementConstraint.simpleConstraint)
        if received.HasField("placementConstraint")
        else None,
    )


def read_release(received: si.AllocationRelease) -> ReleaseRequest:
    """Read a release by identity, or of everything of the application without one."""
    return ReleaseRequest(
        OneAllocation(received.applicationID, received.UUID)
        if received.UUID
        else AllOf(received.applicationID),
        read_enum(Termination, received, "terminationType"),
        received.partitionName,
        received.message,
    )


def read_ask_release(received: si.AllocationAskRelease) -> AskReleaseRequest:
    """Read a withdrawal by key, of every ask of the application, or of the partition."""
    subject = ask_subject(received.applicationID, received.allocationkey)
    return AskReleaseRequest(subject, received.partitionName)


def write_allocated(message: si.Allocation, sent: Allocated) -> None:
    """Write a new allocation."""
    _existing_allocation(message, sent)


def write_released(message: si.AllocationRelease, sent: Released) -> None:
    """Write the end of an allocation, without its key."""
    elements.write_release(message, sent)
    message.UUID = sent.identity


def write_ask_released(message: si.AllocationAskRelease, sent: AskReleased) -> None:
    """Write the end of an ask, without a reason."""
    message.partitionName, message.applicationID = sent.partition, sent.application
    message.allocationkey, message.message = sent.key, sent.message


def write_registration_wanted(response: si.UpdateResponse, _sent: RegistrationWanted) -> None:
    """Write a RESYNC."""
    response.action = si.UpdateResponse.RESYNC


def write_recommendation(message: si.NodeRecommendation, sent: NodeRecommended) -> None:
    """Write recommended resources of a node."""
    write_amounts(message.recommendedSchedulableResource, sent.resource)
    message.message = sent.message


_UPDATE: Final = Conversation("Update", "UpdateRequest", "UpdateResponse")
_READERS: Final[Mapping[str, Reader]] = {
    "action": registration_wanted,
    "rejectedNodes": elements.node_rejected,
    "acceptedNodes": elements.node_accepted,
    "rejectedApplications": elements.application_rejected,
    "acceptedApplications": elements.application_accepted,
    "updatedApplications": elements.application_updated,
    "newAllocations": allocated,
    "releasedAllocations": released,
    "releasedAllocationAsks": ask_released,
    "rejectedAllocations": elements.ask_rejected,
    "nodeRecommendations": node_recommended,
}
_REQUEST_READERS: Final[Mapping[str, RequestReader]] = {
    "newSchedulableNodes": read_new_node,
    "updatedNodes": read_updated_node,
    "utilizationReports": read_utilisation,
    "newApplications": elements.read_application,
    "asks": read_ask,
    "releases.allocationsToRelease": read_release,
    "releases.allocationAsksToRelease": read_ask_release,
    "removeApplications": elements.read_removal,
}

TABLES: Final = Tables(
    messages=lax_messages,
    conversations=dict.fromkeys(UpdateKind, _UPDATE),
    foreign_method="UpdateNode",  # one of the three streams of later revisions
    registers=register,
    writers={
        StreamOpening: elements.open_stream,
        NodeRequest: node,
        UtilisationRequest: utilisation,
        ApplicationRequest: application,
        ApplicationRemoval: removal,
        AskRequest: ask,
        ReleaseRequest: release,
        AskReleaseRequest: ask_release,
    },
    readers=dict.fromkeys(UpdateKind, _READERS),
    reads_registration=read_registration,
    request_readers=dict.fromkeys(UpdateKind, _REQUEST_READERS),
    fact_writers={
        RegistrationWanted: FactWriter("", write_registration_wanted),
        NodeRejected: FactWriter("rejectedNodes", elements.write_rejected_node),
        NodeAccepted: FactWriter("acceptedNodes", elements.write_accepted_node),
        ApplicationRejected: FactWriter(
            "rejectedApplications", elements.write_rejected_application
        ),
        ApplicationAccepted: FactWriter(
            "acceptedApplications", elements.write_accepted_application
        ),
        ApplicationUpdated: FactWriter("updatedApplications", elements.write_updated_application),
        Allocated: FactWriter("newAllocations", write_allocated),
        Released: FactWriter("releasedAllocations", write_released),
        AskReleased: FactWriter("releasedAllocationAsks", write_ask_released),
        AskRejected: FactWriter("rejectedAllocations", elements.write_rejected_ask),
        NodeRecommended: FactWriter("nodeRecommendations", write_recommendation),
    },
    payloads={
        ext.PLACEMENT_CHECK: Payload("PredicatesArgs", elements.placement_check),
        ext.EVENT_BATCH: Payload("EventRecord", event),
        ext.CONTAINER_STATE: Payload("UpdateContainerSchedulingStateRequest", elements.scheduling),
        ext.CACHE_SYNC: Payload("ReSyncSchedulerCacheArgs", synchronisation),
    },
    ask_releases_state_why=False,
)
