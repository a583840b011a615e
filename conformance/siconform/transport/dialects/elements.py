"""What all revisions say alike, in the fields that no text has changed."""

from collections.abc import Iterator
from typing import Final

from siconform.protocol.callbacks import PlacementCheck, Scheduling, SchedulingReported
from siconform.protocol.events import Detail, EventChange, EventTold, Subject
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    Termination,
)
from siconform.protocol.requests import ApplicationRequest, AskRequest, NodeRequest, StreamOpening
from siconform.transport.dialects import messages
from siconform.transport.dialects.amounts import read_amounts, write_amounts
from siconform.transport.dialects.enums import read_enum
from siconform.transport.dialects.tables import NoWords

UNKNOWN_FIELD_500: Final = b"\xa2\x1f\x03new"  # field 500, length-delimited, "new"
_APPLICATION: Final = 1  # number of the field whose name is misspelled in some revisions


def open_stream(_request: object, _said: StreamOpening) -> None:
    """Nothing but the rmID, which every request has."""


def write_node(message: messages.AnyNode, said: NodeRequest) -> None:
    """Everything but the action, and what only some revisions have."""
    if said.legacy_fields is not None:
        raise NoWords
    message.nodeID = said.node
    message.attributes.update(said.attributes)
    write_amounts(message.schedulableResource, said.capacity)
    if said.unknown_field:
        message.MergeFromString(UNKNOWN_FIELD_500)


def write_application(message: messages.AddApplicationRequest, said: ApplicationRequest) -> None:
    """Everything but the gang's style."""
    message.applicationID = said.application
    message.queueName = said.queue
    message.partitionName = said.partition
    message.tags.update(said.tags)
    message.executionTimeoutMilliSeconds = said.timeout_ms
    if said.user is not None:
        message.ugi.user = said.user
        message.ugi.groups.extend(said.groups)
    write_amounts(message.placeholderAsk, said.placeholder_ask)


def write_ask(message: messages.AllocationAsk, said: AskRequest) -> None:
    """Everything but the priority and what only some revisions have."""
    message.allocationKey = said.key
    message.applicationID = said.application
    message.partitionName = said.partition
    message.maxAllocations = said.max_allocations
    message.executionTimeoutMilliSeconds = said.timeout_ms
    message.tags.update(said.tags)
    message.taskGroupName = said.task_group
    message.placeholder = said.placeholder
    write_amounts(message.resourceAsk, said.resource)


def write_allocation(message: messages.Allocation, said: Allocated) -> None:
    """Everything but the priority, the identity and what only some revisions have."""
    message.allocationKey = said.key
    message.applicationID = said.application
    message.nodeID = said.node
    message.partitionName = said.partition
    message.taskGroupName = said.task_group
    message.placeholder = said.placeholder
    message.allocationTags.update(said.tags)
    write_amounts(message.resourcePerAlloc, said.resource)


def node_rejected(told: messages.RejectedNode) -> Fact:
    """A node that is refused, or an action on it."""
    return NodeRejected(told.nodeID, told.reason)


def node_accepted(told: messages.AcceptedNode) -> Fact:
    """A node that is taken."""
    return NodeAccepted(told.nodeID)


def application_rejected(told: messages.RejectedApplication) -> Fact:
    """An application that is refused."""
    return ApplicationRejected(told.applicationID, told.reason)


def application_accepted(told: messages.AcceptedApplication) -> Fact:
    """An application that is taken."""
    return ApplicationAccepted(told.applicationID)


def application_updated(told: messages.UpdatedApplication) -> Fact:
    """A new state."""
    return ApplicationUpdated(
        told.applicationID, told.state, told.stateTransitionTimestamp, told.message
    )


def read_allocation(told: messages.Allocation) -> Allocated:
    """Everything but the priority and the identity; what only some revisions have is as unsaid."""
    return Allocated(
        key=told.allocationKey,
        application=told.applicationID,
        node=told.nodeID,
        identity="",
        resource=read_amounts(told.resourcePerAlloc),
        task_group=told.taskGroupName,
        placeholder=told.placeholder,
        priority=0,
        priority_class="",
        tags=dict(told.allocationTags),
        partition=told.partitionName,
        originator=False,
        preemption_policy=None,
        queue="",
    )


def read_release(told: messages.AllocationRelease) -> Released:
    """Everything but the identity and the key."""
    return Released(
        key="",
        application=told.applicationID,
        identity="",
        termination=read_enum(Termination, told, "terminationType"),
        message=told.message,
        partition=told.partitionName,
    )


def ask_rejected(told: messages.RejectedAllocationAsk | messages.RejectedAllocation) -> Fact:
    """An ask that is refused."""
    return AskRejected(told.allocationKey, told.applicationID, told.reason)


def placement_check(told: messages.PredicatesArgs, offer: int) -> Iterator[Fact]:
    """Whether an ask may go on a node."""
    yield PlacementCheck(told.allocationKey, told.nodeID, told.allocate, offer)


def scheduling(told: messages.SchedulingState, offer: int) -> Iterator[Fact]:
    """How the scheduling of an ask goes."""
    application = told.DESCRIPTOR.fields_by_number[_APPLICATION].name
    yield SchedulingReported(
        told.allocationKey,
        getattr(told, application),
        read_enum(Scheduling, told, "state"),
        told.reason,
        offer,
    )


def read_event(told: messages.EventRecord, offer: int) -> EventTold:
    """What, when and about whom; what only some revisions have is as unsaid."""
    return EventTold(
        about=told.objectID,
        subject=read_enum(Subject, told, "type"),
        change=EventChange.NONE,
        detail=Detail.NONE,
        reference="",
        resource=None,
        message=told.message,
        time=told.timestampNano,
        group="",
        reason="",
        offer=offer,
    )
