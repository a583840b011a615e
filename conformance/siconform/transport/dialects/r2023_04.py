"""The dialect of 2023-04: a stream per kind of object, typed releases, changes in events.

Its functions also serve later revisions that do not change them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import EvictionCheck
from siconform.protocol.events import EventChange
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    PreemptionPolicy,
    Released,
    Termination,
    UpdateKind,
)
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
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk, ask_subject
from siconform.transport.dialects import elements, messages
from siconform.transport.dialects.amounts import read_optional, write_amounts
from siconform.transport.dialects.enums import read_enum, write_enum, write_undefined
from siconform.transport.dialects.tables import Conversation, FactWriter, Payload, Tables


def register(request: messages.RegisterResourceManagerRequest, sent: Registration) -> None:
    """Write a registration with its queue configuration."""
    request.rmID, request.version, request.policyGroup = sent.rm, sent.version, sent.policy_group
    request.config = sent.config
    request.buildInfo.update(sent.build_info)
    request.extraConfig.update(sent.extra_config)


def node(request: messages.UuidNodeRequest, sent: NodeRequest) -> None:
    """Write a node with its action and existing allocations."""
    message = request.nodes.add()
    write_node(message, sent)
    for existing in sent.existing:
        write_existing(message.existingAllocations.add(), existing)


def write_node(message: messages.OccupiedNode, sent: NodeRequest) -> None:
    """Write everything but the existing allocations."""
    elements.write_node(message, sent)
    write_amounts(message.occupiedResource, sent.occupied)
    write_action(message, sent)


def write_action(message: messages.NodeInfo, sent: NodeRequest) -> None:
    """Write the action of a node."""
    if sent.action is Action.UNDEFINED:
        write_undefined(message, "action")
    else:
        write_enum(message, "action", sent.action)


def application(request: messages.ApplicationRequest, sent: ApplicationRequest) -> None:
    """Write a new application."""
    elements.write_application(request.new.add(), sent)


def removal(request: messages.ApplicationRequest, sent: ApplicationRemoval) -> None:
    """Write the removal of an application."""
    request.remove.add(applicationID=sent.application, partitionName=sent.partition)


def ask(request: messages.AllocationRequest, sent: AskRequest) -> None:
    """Write an ask."""
    message = request.asks.add(priority=sent.priority, Originator=sent.originator)
    elements.write_ask(message, sent)
    write_policy(message.preemptionPolicy, sent.preemption_policy)


def write_policy(message: messages.PreemptionPolicy, sent: PreemptionPolicy | None) -> None:
    """Write a complete policy or none."""
    if sent is None:
        return
    message.SetInParent()
    message.allowPreemptSelf = sent.allow_preempt_self
    message.allowPreemptOther = sent.allow_preempt_other


def write_existing(message: messages.UuidAllocation, sent: Allocated) -> None:
    """Write an existing allocation by its UUID."""
    write_allocation(message, sent)
    message.UUID = sent.identity


def write_allocation(message: messages.NumberedAllocation, sent: Allocated) -> None:
    """Write everything but the identity."""
    elements.write_allocation(message, sent)
    message.priority = sent.priority


def release(request: messages.UuidAllocationRequest, sent: ReleaseRequest) -> None:
    """Write a release by UUID, or of everything of the application without one."""
    message = request.releases.allocationsToRelease.add()
    write_release(message, sent)
    if isinstance(sent.subject, OneAllocation):
        message.UUID = sent.subject.identity


def write_release(message: messages.KeyedAllocationRelease, sent: ReleaseRequest) -> None:
    """Write everything but the identity."""
    message.partitionName = sent.partition
    message.applicationID = sent.subject.application
    message.allocationKey = sent.subject.key
    message.message = sent.message
    write_enum(message, "terminationType", sent.termination)


def ask_release(request: messages.AllocationRequest, sent: AskReleaseRequest) -> None:
    """Write a withdrawal by key, or of every ask of the application without one."""
    message = request.releases.allocationAsksToRelease.add(
        partitionName=sent.partition, applicationID=sent.subject.application
    )
    if isinstance(sent.subject, OneAsk):
        message.allocationKey = sent.subject.key
    write_enum(message, "terminationType", sent.termination)


def read_registration(received: messages.RegisterResourceManagerRequest) -> Registration:
    """Read a registration with its queue configuration."""
    return Registration(
        received.rmID,
        received.version,
        received.policyGroup,
        received.config,
        dict(received.buildInfo),
        dict(received.extraConfig),
    )


def read_node(received: messages.UuidNodeInfo) -> NodeRequest:
    """Read a node with its action and existing allocations."""
    return replace(
        read_occupied_node(received), existing=tuple(map(allocated, received.existingAllocations))
    )


def read_occupied_node(received: messages.OccupiedNode) -> NodeRequest:
    """Read everything but the existing allocations."""
    return replace(
        elements.read_node(received, read_enum(Action, received, "action")),
        occupied=read_optional(received, "occupiedResource"),
    )


def read_ask(received: messages.PreemptableAsk) -> AskRequest:
    """Read an ask."""
    return replace(
        elements.read_ask(received),
        priority=received.priority,
        originator=received.Originator,
        preemption_policy=read_policy(received),
    )


def read_policy(received: messages.WithPolicy) -> PreemptionPolicy | None:
    """Read the policy of an ask or allocation; None if there is none."""
    if not received.HasField("preemptionPolicy"):
        return None
    policy = received.preemptionPolicy
    return PreemptionPolicy(policy.allowPreemptSelf, policy.allowPreemptOther)


def read_release_request(received: messages.UuidAllocationRelease) -> ReleaseRequest:
    """Read a release by UUID, or of everything of the application without one."""
    return release_of(received, received.UUID)


def release_of(received: messages.KeyedAllocationRelease, identity: str) -> ReleaseRequest:
    """Read a release of this identity, or of everything of the application without one."""
    application, key = received.applicationID, received.allocationKey
    return ReleaseRequest(
        OneAllocation(application, identity, key) if identity else AllOf(application, key),
        read_enum(Termination, received, "terminationType"),
        received.partitionName,
        received.message,
    )


def read_ask_release(received: messages.AllocationAskRelease) -> AskReleaseRequest:
    """Read a withdrawal by key, of every ask of the application, or of the partition."""
    return AskReleaseRequest(
        ask_subject(received.applicationID, received.allocationKey),
        received.partitionName,
        read_enum(Termination, received, "terminationType"),
    )


def write_released(message: messages.UuidAllocationRelease, sent: Released) -> None:
    """Write the end of an allocation, or of everything of an application."""
    write_keyed_release(message, sent)
    message.UUID = sent.identity


def write_keyed_release(message: messages.KeyedAllocationRelease, sent: Released) -> None:
    """Write everything but the identity."""
    elements.write_release(message, sent)
    message.allocationKey = sent.key


def write_ask_released(message: messages.AllocationAskRelease, sent: AskReleased) -> None:
    """Write the end of an ask, or of all asks of an application."""
    message.partitionName, message.applicationID = sent.partition, sent.application
    message.allocationKey, message.message = sent.key, sent.message
    elements.write_termination(message, sent.termination)


def allocated(received: messages.UuidAllocation) -> Allocated:
    """Read a new allocation."""
    return replace(read_allocation(received), identity=received.UUID)


def read_allocation(received: messages.NumberedAllocation) -> Allocated:
    """Read everything but the identity."""
    return replace(elements.read_allocation(received), priority=received.priority)


def released(received: messages.UuidAllocationRelease) -> Fact:
    """Read the end of an allocation, or of everything of an application."""
    return replace(read_release(received), identity=received.UUID)


def read_release(received: messages.KeyedAllocationRelease) -> Released:
    """Read everything but the identity."""
    return replace(elements.read_release(received), key=received.allocationKey)


def ask_released(received: messages.AllocationAskRelease) -> Fact:
    """Read the end of an ask, or of all asks of an application."""
    return AskReleased(
        key=received.allocationKey,
        application=received.applicationID,
        termination=read_enum(Termination, received, "terminationType"),
        message=received.message,
        partition=received.partitionName,
    )


def eviction_check(received: messages.PreemptionPredicatesArgs, offer: int) -> Iterator[Fact]:
    """Read the question whether an ask fits after evictions."""
    yield EvictionCheck(
        received.allocationKey,
        received.nodeID,
        tuple(received.preemptAllocationKeys),
        received.startIndex,
        offer,
    )


def event(received: messages.ChangeEventRecord, offer: int) -> Iterator[Fact]:
    """Read an event with its change."""
    change = read_enum(EventChange, received, "eventChangeType")
    yield elements.read_event(received, offer, change=change)


TABLES: Final = Tables(
    conversations={
        UpdateKind.NODES: Conversation("UpdateNode", "NodeRequest", "NodeResponse"),
        UpdateKind.APPLICATIONS: Conversation(
            "UpdateApplication", "ApplicationRequest", "ApplicationResponse"
        ),
        UpdateKind.ALLOCATIONS: Conversation(
            "UpdateAllocation", "AllocationRequest", "AllocationResponse"
        ),
    },
    foreign_method="Update",  # the single stream of 2021-02
    registers=register,
    writers={
        StreamOpening: elements.open_stream,
        NodeRequest: node,
        ApplicationRequest: application,
        ApplicationRemoval: removal,
        AskRequest: ask,
        ReleaseRequest: release,
        AskReleaseRequest: ask_release,
    },
    readers={
        UpdateKind.NODES: {
            "rejected": elements.node_rejected,
            "accepted": elements.node_accepted,
        },
        UpdateKind.APPLICATIONS: {
            "rejected": elements.application_rejected,
            "accepted": elements.application_accepted,
            "updated": elements.application_updated,
        },
        UpdateKind.ALLOCATIONS: {
            "new": allocated,
            "released": released,
            "releasedAsks": ask_released,
            "rejected": elements.ask_rejected,
        },
    },
    reads_registration=read_registration,
    request_readers={
        UpdateKind.NODES: {"nodes": read_node},
        UpdateKind.APPLICATIONS: {
            "new": elements.read_application,
            "remove": elements.read_removal,
        },
        UpdateKind.ALLOCATIONS: {
            "asks": read_ask,
            "releases.allocationsToRelease": read_release_request,
            "releases.allocationAsksToRelease": read_ask_release,
        },
    },
    fact_writers={
        NodeRejected: FactWriter("rejected", elements.write_rejected_node),
        NodeAccepted: FactWriter("accepted", elements.write_accepted_node),
        ApplicationRejected: FactWriter("rejected", elements.write_rejected_application),
        ApplicationAccepted: FactWriter("accepted", elements.write_accepted_application),
        ApplicationUpdated: FactWriter("updated", elements.write_updated_application),
        Allocated: FactWriter("new", write_existing),
        Released: FactWriter("released", write_released),
        AskReleased: FactWriter("releasedAsks", write_ask_released),
        AskRejected: FactWriter("rejected", elements.write_rejected_ask),
    },
    payloads={
        ext.PLACEMENT_CHECK: Payload("PredicatesArgs", elements.placement_check),
        ext.EVICTION_CHECK: Payload("PreemptionPredicatesArgs", eviction_check),
        ext.EVENT_BATCH: Payload("EventRecord", event),
        ext.CONTAINER_STATE: Payload("UpdateContainerSchedulingStateRequest", elements.scheduling),
    },
)
