"""Writing shared by all revisions: functions that fill and return elements of responses."""

from typing import Final

from sireference.codec import messages
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    UpdatedApplication,
)
from sireference.core.resources import Resource

NANOSECONDS: Final = 1_000_000_000  # of one second


def accepted_node(answer: AcceptedNode, message: messages.AcceptedNode) -> messages.AcceptedNode:
    """Fill an AcceptedNode."""
    message.nodeID = answer.node_id
    return message


def rejected_node(answer: RejectedNode, message: messages.RejectedNode) -> messages.RejectedNode:
    """Fill a RejectedNode."""
    message.nodeID = answer.node_id
    message.reason = answer.reason
    return message


def accepted_application(
    answer: AcceptedApplication, message: messages.AcceptedApplication
) -> messages.AcceptedApplication:
    """Fill an AcceptedApplication."""
    message.applicationID = answer.application_id
    return message


def rejected_application(
    answer: RejectedApplication, message: messages.RejectedApplication
) -> messages.RejectedApplication:
    """Fill a RejectedApplication."""
    message.applicationID = answer.application_id
    message.reason = answer.reason
    return message


def updated_application(
    answer: UpdatedApplication, message: messages.UpdatedApplication
) -> messages.UpdatedApplication:
    """Fill an UpdatedApplication; the time is in nanoseconds (C-17)."""
    message.applicationID = answer.application_id
    message.state = answer.state.value
    message.stateTransitionTimestamp = int(answer.at * NANOSECONDS)
    message.message = answer.message
    return message


def rejected_request(
    answer: RejectedAsk | RejectedAllocation,
    message: messages.RejectedAsk | messages.RejectedAllocation,
) -> messages.RejectedAsk | messages.RejectedAllocation:
    """Fill a RejectedAllocationAsk or a RejectedAllocation."""
    message.allocationKey = answer.key
    message.applicationID = answer.application_id
    message.reason = answer.reason
    return message


def amounts(resource: Resource, message: messages.Resource) -> None:
    """Fill a Resource."""
    resources = message.resources
    for name, amount in resource.amounts.items():
        resources[name].value = amount
