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
    AskReleased,
    Fact,
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
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.transport.dialects import elements, messages
from siconform.transport.dialects.amounts import write_amounts
from siconform.transport.dialects.enums import read_enum, write_enum, write_undefined
from siconform.transport.dialects.tables import Conversation, Payload, Tables


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
    message = request.new.add()
    elements.write_application(message, sent)
    message.gangSchedulingStyle = sent.gang_style


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


def allocated(received: messages.UuidAllocation) -> Fact:
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
    yield replace(elements.read_event(received, offer), change=change)


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
    payloads={
        ext.PLACEMENT_CHECK: Payload("PredicatesArgs", elements.placement_check),
        ext.EVICTION_CHECK: Payload("PreemptionPredicatesArgs", eviction_check),
        ext.EVENT_BATCH: Payload("EventRecord", event),
        ext.CONTAINER_STATE: Payload("UpdateContainerSchedulingStateRequest", elements.scheduling),
    },
)
