"""Elements that all revisions encode alike, in fields that no revision changed."""

from collections.abc import Iterator, Mapping
from typing import Final

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from siconform.protocol.callbacks import PlacementCheck, Scheduling, SchedulingReported
from siconform.protocol.events import Detail, EventChange, EventReceived, Subject
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Fact,
    NodeAccepted,
    NodeRejected,
    PreemptionPolicy,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskRequest,
    NodeRequest,
    StreamOpening,
)
from siconform.transport.dialects import messages
from siconform.transport.dialects.amounts import read_amounts, read_optional, write_amounts
from siconform.transport.dialects.enums import read_enum, write_enum, write_undefined
from siconform.transport.dialects.scalars import read_scalars, write_scalars

UNKNOWN_FIELD_500: Final = b"\xa2\x1f\x03new"  # field 500, length-delimited, "new"
_APPLICATION: Final = 1  # number of the field whose name is misspelled in some revisions


def add_unknown_field(message: Message) -> None:
    """Add a field that no revision declares to a message and to each element of its lists."""
    for field, value in message.ListFields():
        for element in value if field.is_repeated and field.message_type else ():
            element.MergeFromString(UNKNOWN_FIELD_500)
    message.MergeFromString(UNKNOWN_FIELD_500)


def open_stream(_request: object, _sent: StreamOpening) -> None:
    """Write nothing but the rmID, which every request has."""


def write_node(message: messages.AnyNode, sent: NodeRequest) -> None:
    """Write everything but the action and the revision-specific fields."""
    write_scalars(message, sent)
    message.attributes.update(sent.attributes)
    write_amounts(message.schedulableResource, sent.capacity)
    if sent.unknown_field:
        message.MergeFromString(UNKNOWN_FIELD_500)


def write_application(message: messages.AddApplicationRequest, sent: ApplicationRequest) -> None:
    """Write a new application."""
    write_scalars(message, sent)
    message.tags.update(sent.tags)
    if sent.user is not None:
        message.ugi.user = sent.user
        message.ugi.groups.extend(sent.groups)
    write_amounts(message.placeholderAsk, sent.placeholder_ask)


def write_ask(message: messages.AllocationAsk, sent: AskRequest) -> None:
    """Write everything but the priority and the revision-specific fields."""
    write_scalars(message, sent)
    message.tags.update(sent.tags)
    write_amounts(message.resourceAsk, sent.resource)


def write_allocation(message: messages.Allocation, sent: Allocated) -> None:
    """Write everything but the priority, the identity and the revision-specific fields."""
    message.allocationKey = sent.key
    message.applicationID = sent.application
    message.nodeID = sent.node
    message.partitionName = sent.partition
    message.taskGroupName = sent.task_group
    message.placeholder = sent.placeholder
    message.allocationTags.update(sent.tags)
    write_amounts(message.resourcePerAlloc, sent.resource)


def write_release(message: messages.AllocationRelease, sent: Released) -> None:
    """Write everything but the identity and the key."""
    message.partitionName = sent.partition
    message.applicationID = sent.application
    message.message = sent.message
    write_termination(message, sent.termination)


def write_termination(message: Message, termination: Termination) -> None:
    """Write why an allocation or ask ends; UNKNOWN, which means nothing, is omitted."""
    if termination is Termination.UNDEFINED:
        write_undefined(message, "terminationType")
    elif termination is not Termination.UNKNOWN:
        write_enum(message, "terminationType", termination)


def write_accepted_node(message: messages.AcceptedNode, sent: NodeAccepted) -> None:
    """Write the acceptance of a node."""
    message.nodeID = sent.node


def write_rejected_node(message: messages.RejectedNode, sent: NodeRejected) -> None:
    """Write the rejection of a node, or of an action on it."""
    message.nodeID, message.reason = sent.node, sent.reason


def write_accepted_application(
    message: messages.AcceptedApplication, sent: ApplicationAccepted
) -> None:
    """Write the acceptance of an application."""
    message.applicationID = sent.application


def write_rejected_application(
    message: messages.RejectedApplication, sent: ApplicationRejected
) -> None:
    """Write the rejection of an application."""
    message.applicationID, message.reason = sent.application, sent.reason


def write_updated_application(
    message: messages.UpdatedApplication, sent: ApplicationUpdated
) -> None:
    """Write an application state."""
    message.applicationID, message.state = sent.application, sent.state
    message.stateTransitionTimestamp, message.message = sent.timestamp, sent.message


def write_rejected_ask(
    message: messages.RejectedAllocationAsk | messages.RejectedAllocation,
    sent: AskRejected | AllocationRejected,
) -> None:
    """Write the rejection of an ask, an existing allocation or an update."""
    message.allocationKey, message.applicationID = sent.key, sent.application
    message.reason = sent.reason


def read_node(received: messages.AnyNode, action: Action) -> NodeRequest:
    """Read everything but the revision-specific fields."""
    return NodeRequest(
        **read_scalars(NodeRequest, received),
        action=action,
        capacity=read_optional(received, "schedulableResource"),
        attributes=dict(received.attributes),
        unknown_field=len(UnknownFieldSet(received)) > 0,
    )


def read_application(received: messages.AddApplicationRequest) -> ApplicationRequest:
    """Read a new application."""
    return ApplicationRequest(
        **read_scalars(ApplicationRequest, received),
        user=received.ugi.user if received.HasField("ugi") else None,
        groups=tuple(received.ugi.groups),
        tags=dict(received.tags),
        placeholder_ask=read_optional(received, "placeholderAsk"),
    )


def read_removal(received: messages.RemoveApplicationRequest) -> ApplicationRemoval:
    """Read the removal of an application."""
    return ApplicationRemoval(received.applicationID, received.partitionName)


def read_ask(received: messages.AllocationAsk) -> AskRequest:
    """Read everything but the priority and the revision-specific fields."""
    return AskRequest(
        **read_scalars(AskRequest, received),
        resource=read_optional(received, "resourceAsk"),
        tags=dict(received.tags),
    )


def node_rejected(received: messages.RejectedNode) -> Fact:
    """Read the rejection of a node, or of an action on it."""
    return NodeRejected(received.nodeID, received.reason)


def node_accepted(received: messages.AcceptedNode) -> Fact:
    """Read the acceptance of a node."""
    return NodeAccepted(received.nodeID)


def application_rejected(received: messages.RejectedApplication) -> Fact:
    """Read the rejection of an application."""
    return ApplicationRejected(received.applicationID, received.reason)


def application_accepted(received: messages.AcceptedApplication) -> Fact:
    """Read the acceptance of an application."""
    return ApplicationAccepted(received.applicationID)


def application_updated(received: messages.UpdatedApplication) -> Fact:
    """Read a new application state."""
    return ApplicationUpdated(
        received.applicationID, received.state, received.stateTransitionTimestamp, received.message
    )


def read_allocation(
    received: messages.Allocation,
    *,
    identity: str = "",
    priority: int = 0,
    originator: bool = False,
    preemption_policy: PreemptionPolicy | None = None,
) -> Allocated:
    """Read everything but these, which are the priority and the revision-specific fields."""
    return Allocated(
        key=received.allocationKey,
        application=received.applicationID,
        node=received.nodeID,
        identity=identity,
        resource=read_amounts(received.resourcePerAlloc),
        task_group=received.taskGroupName,
        placeholder=received.placeholder,
        priority=priority,
        priority_class="",
        tags=dict(received.allocationTags),
        partition=received.partitionName,
        originator=originator,
        preemption_policy=preemption_policy,
        queue="",
    )


def read_release(
    received: messages.AllocationRelease, *, key: str = "", identity: str = ""
) -> Released:
    """Read everything but the identity and the key."""
    return Released(
        key=key,
        application=received.applicationID,
        identity=identity,
        termination=read_enum(Termination, received, "terminationType"),
        message=received.message,
        partition=received.partitionName,
    )


def ask_rejected(received: messages.RejectedAllocationAsk | messages.RejectedAllocation) -> Fact:
    """Read the rejection of an ask."""
    return AskRejected(received.allocationKey, received.applicationID, received.reason)


def placement_check(received: messages.PredicatesArgs, offer: int) -> Iterator[Fact]:
    """Read the question whether an ask may go on a node."""
    yield PlacementCheck(received.allocationKey, received.nodeID, received.allocate, offer)


def scheduling(received: messages.SchedulingState, offer: int) -> Iterator[Fact]:
    """Read the progress of scheduling an ask."""
    application = received.DESCRIPTOR.fields_by_number[_APPLICATION].name
    yield SchedulingReported(
        received.allocationKey,
        getattr(received, application),
        read_enum(Scheduling, received, "state"),
        received.reason,
        offer,
    )


def read_event(
    received: messages.EventRecord,
    offer: int,
    *,
    change: EventChange = EventChange.NONE,
    detail: Detail = Detail.NONE,
    reference: str = "",
    resource: Mapping[str, int] | None = None,
    group: str = "",
    reason: str = "",
) -> EventReceived:
    """Read the common fields; those of the revision are given."""
    return EventReceived(
        about=received.objectID,
        subject=read_enum(Subject, received, "type"),
        change=change,
        detail=detail,
        reference=reference,
        resource=resource,
        message=received.message,
        time=received.timestampNano,
        group=group,
        reason=reason,
        offer=offer,
    )
