"""The words of 2023-04: a stream for each kind of thing, typed releases, changes in events.

Its functions serve later revisions, too, where these have nothing new to say.
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
from siconform.transport.dialects.tables import Conversation, NoWords, Payload, Tables


def register(request: messages.RegisterResourceManagerRequest, said: Registration) -> None:
    """Carries the queue configuration."""
    request.rmID, request.version, request.policyGroup = said.rm, said.version, said.policy_group
    request.config = said.config
    request.buildInfo.update(said.build_info)
    request.extraConfig.update(said.extra_config)


def node(request: messages.UuidNodeRequest, said: NodeRequest) -> None:
    """A node with its action and what exists on it."""
    message = request.nodes.add()
    write_node(message, said)
    for existing in said.existing:
        write_existing(message.existingAllocations.add(), existing)


def write_node(message: messages.OccupiedNode, said: NodeRequest) -> None:
    """Everything but the existing allocations."""
    elements.write_node(message, said)
    write_amounts(message.occupiedResource, said.occupied)
    write_action(message, said)


def write_action(message: messages.NodeInfo, said: NodeRequest) -> None:
    """What is to be done with the node."""
    if said.action is Action.UNDEFINED:
        write_undefined(message, "action")
    else:
        write_enum(message, "action", said.action)


def application(request: messages.ApplicationRequest, said: ApplicationRequest) -> None:
    """A new application."""
    message = request.new.add()
    elements.write_application(message, said)
    message.gangSchedulingStyle = said.gang_style


def removal(request: messages.ApplicationRequest, said: ApplicationRemoval) -> None:
    """The end of an application."""
    request.remove.add(applicationID=said.application, partitionName=said.partition)


def ask(request: messages.AllocationRequest, said: AskRequest) -> None:
    """An ask; constraints and the names of priorities are gone."""
    if said.constraint is not None or said.priority_class:
        raise NoWords
    message = request.asks.add(priority=said.priority, Originator=said.originator)
    elements.write_ask(message, said)
    write_policy(message.preemptionPolicy, said.preemption_policy)


def write_policy(message: messages.PreemptionPolicy, said: PreemptionPolicy | None) -> None:
    """Both halves, or nothing."""
    if said is None:
        return
    message.SetInParent()
    message.allowPreemptSelf = said.allow_preempt_self
    message.allowPreemptOther = said.allow_preempt_other


def write_existing(message: messages.UuidAllocation, said: Allocated) -> None:
    """An allocation from before, by its UUID."""
    write_allocation(message, said)
    message.UUID = said.identity


def write_allocation(message: messages.NumberedAllocation, said: Allocated) -> None:
    """Everything but the identity."""
    elements.write_allocation(message, said)
    message.priority = said.priority


def release(request: messages.UuidAllocationRequest, said: ReleaseRequest) -> None:
    """By its UUID; without one it is everything of the application."""
    message = request.releases.allocationsToRelease.add()
    write_release(message, said)
    if isinstance(said.subject, OneAllocation):
        message.UUID = said.subject.identity


def write_release(message: messages.KeyedAllocationRelease, said: ReleaseRequest) -> None:
    """Everything but the identity."""
    message.partitionName = said.partition
    message.applicationID = said.subject.application
    message.allocationKey = said.subject.key
    message.message = said.message
    write_enum(message, "terminationType", said.termination)


def ask_release(request: messages.AllocationRequest, said: AskReleaseRequest) -> None:
    """By its key; without one it is every ask of the application."""
    message = request.releases.allocationAsksToRelease.add(
        partitionName=said.partition, applicationID=said.subject.application
    )
    if isinstance(said.subject, OneAsk):
        message.allocationKey = said.subject.key
    write_enum(message, "terminationType", said.termination)


def allocated(told: messages.UuidAllocation) -> Fact:
    """A new allocation."""
    return replace(read_allocation(told), identity=told.UUID)


def read_allocation(told: messages.NumberedAllocation) -> Allocated:
    """Everything but the identity."""
    return replace(elements.read_allocation(told), priority=told.priority)


def released(told: messages.UuidAllocationRelease) -> Fact:
    """The end of an allocation, or of all that an application has."""
    return replace(read_release(told), identity=told.UUID)


def read_release(told: messages.KeyedAllocationRelease) -> Released:
    """Everything but the identity."""
    return replace(elements.read_release(told), key=told.allocationKey)


def ask_released(told: messages.AllocationAskRelease) -> Fact:
    """The end of an ask, or of all that an application has."""
    return AskReleased(
        key=told.allocationKey,
        application=told.applicationID,
        termination=read_enum(Termination, told, "terminationType"),
        message=told.message,
        partition=told.partitionName,
    )


def eviction_check(told: messages.PreemptionPredicatesArgs, offer: int) -> Iterator[Fact]:
    """Whether an ask fits once some have gone."""
    yield EvictionCheck(
        told.allocationKey,
        told.nodeID,
        tuple(told.preemptAllocationKeys),
        told.startIndex,
        offer,
    )


def event(told: messages.ChangeEventRecord, offer: int) -> Iterator[Fact]:
    """A record with its change."""
    change = read_enum(EventChange, told, "eventChangeType")
    yield replace(elements.read_event(told, offer), change=change)


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
    foreign_method="Update",  # the one stream of 2021-02
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
