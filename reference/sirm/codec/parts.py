"""Parts of messages that several revisions share."""

from collections.abc import Iterator
from typing import Any, Final

from sirm import __version__
from sirm.codec.codec import Identity
from sirm.core import model as m

MILLISECONDS: Final = 1000  # of one second


def registration(identity: Identity, message: Any) -> Any:
    """Fill a registration; every instance of the RM has the same rmID (SI-REG-010)."""
    plain_registration(identity, message)
    message.config = identity.config
    message.buildInfo["instance"] = str(identity.instance)
    return message


def plain_registration(identity: Identity, message: Any) -> Any:
    """Fill a registration without configuration."""
    message.rmID = identity.rm_id
    message.version = __version__
    message.policyGroup = identity.policy_group
    return message


def amounts(resource: m.Resource, message: Any) -> None:
    """Fill a Resource."""
    message.SetInParent()
    for name, amount in resource.items():
        message.resources[name].value = amount


def node(report: m.ReportNode, message: Any) -> None:
    """Fill a node; without a capacity it is only named."""
    message.nodeID = report.node_id
    message.attributes.update(report.attributes)
    if report.capacity is not None:
        amounts(report.capacity, message.schedulableResource)


def application(update: m.AddApplication, message: Any) -> None:
    """Fill an AddApplicationRequest."""
    message.applicationID = update.application_id
    message.queueName = update.queue
    message.partitionName = update.partition
    message.ugi.user = update.user
    message.executionTimeoutMilliSeconds = round(update.execution_timeout * MILLISECONDS)
    if update.placeholder_ask is not None:
        amounts(update.placeholder_ask, message.placeholderAsk)


def styled_application(update: m.AddApplication, request: Any) -> None:
    """Write an application with its gang style."""
    message = request.new.add(gangSchedulingStyle=update.gang_style)
    application(update, message)


def removal(update: m.RemoveApplication, request: Any) -> None:
    """Write a RemoveApplicationRequest."""
    request.remove.add(applicationID=update.application_id, partitionName=update.partition)


def allocation(record: m.ContainerRecord, message: Any) -> None:
    """Fill an Allocation, without node and identity."""
    message.allocationKey = record.key
    message.applicationID = record.application_id
    message.partitionName = record.partition
    message.allocationTags.update(record.tags)
    amounts(record.resource, message.resourcePerAlloc)
    message.priority = record.priority
    message.taskGroupName = record.task_group
    message.placeholder = record.placeholder


def node_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read verdicts on nodes."""
    for one in response.accepted:
        yield m.AcceptedNode(one.nodeID)
    for one in response.rejected:
        yield m.RejectedNode(one.nodeID, one.reason)


def application_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read verdicts on applications, then changes of their states."""
    for one in response.accepted:
        yield m.AcceptedApplication(one.applicationID)
    for one in response.rejected:
        yield m.RejectedApplication(one.applicationID, one.reason)
    for one in response.updated:
        yield m.UpdatedApplication(one.applicationID, one.state, one.message)


def rejected_request(message: Any) -> m.RejectedRequest:
    """Read the rejection of a request or an allocation."""
    return m.RejectedRequest(message.allocationKey, message.applicationID, message.reason)
