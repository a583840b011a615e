"""Elements of responses that have the same fields in every revision."""

from typing import Any, Final

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

_NANOSECONDS: Final = 1_000_000_000


def accepted_node(answer: AcceptedNode, message: Any) -> None:
    """An AcceptedNode."""
    message.nodeID = answer.node_id


def rejected_node(answer: RejectedNode, message: Any) -> None:
    """A RejectedNode."""
    message.nodeID = answer.node_id
    message.reason = answer.reason


def accepted_application(answer: AcceptedApplication, message: Any) -> None:
    """An AcceptedApplication."""
    message.applicationID = answer.application_id


def rejected_application(answer: RejectedApplication, message: Any) -> None:
    """A RejectedApplication."""
    message.applicationID = answer.application_id
    message.reason = answer.reason


def updated_application(answer: UpdatedApplication, message: Any) -> None:
    """An UpdatedApplication; the time in nanoseconds (C-17)."""
    message.applicationID = answer.application_id
    message.state = answer.state.value
    message.stateTransitionTimestamp = int(answer.at * _NANOSECONDS)
    message.message = answer.message


def rejected_request(answer: RejectedAsk | RejectedAllocation, message: Any) -> None:
    """A RejectedAllocationAsk or a RejectedAllocation."""
    message.allocationKey = answer.key
    message.applicationID = answer.application_id
    message.reason = answer.reason


def amounts(resource: Resource, message: Any) -> None:
    """A Resource."""
    resources = message.resources
    for name, amount in resource.amounts.items():
        resources[name].value = amount
