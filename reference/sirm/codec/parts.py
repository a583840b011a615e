"""Parts of messages that several revisions share."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from sirm import __version__
from sirm.codec.codec import Identity
from sirm.core import model as m

MILLISECONDS: Final = 1000  # of one second


def registration(identity: Identity, message: Any) -> None:
    """Fill a registration; every instance of the RM has the same rmID (SI-REG-010)."""
    plain_registration(identity, message)
    message.config = identity.config
    message.buildInfo["instance"] = str(identity.instance)


def plain_registration(identity: Identity, message: Any) -> None:
    """Fill a registration without configuration."""
    message.rmID = identity.rm_id
    message.version = __version__
    message.policyGroup = identity.policy_group


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


def removed(update: m.RemoveApplication, request: Any) -> None:
    """Write the end of an application."""
    removal(update, request.remove.add())


def removal(update: m.RemoveApplication, message: Any) -> None:
    """Fill a RemoveApplicationRequest."""
    message.applicationID = update.application_id
    message.partitionName = update.partition


def ask(record: m.ContainerRecord, message: Any) -> None:
    """Fill an AllocationAsk of one allocation (SI-GANG-029), without its priority."""
    message.allocationKey = record.key
    message.applicationID = record.application_id
    message.partitionName = record.partition
    message.tags.update(record.tags)
    amounts(record.resource, message.resourceAsk)
    message.maxAllocations = 1
    message.taskGroupName = record.task_group
    message.placeholder = record.placeholder


def allocation(record: m.ContainerRecord, message: Any) -> None:
    """Fill an Allocation, without priority, node and identity."""
    message.allocationKey = record.key
    message.applicationID = record.application_id
    message.partitionName = record.partition
    message.allocationTags.update(record.tags)
    amounts(record.resource, message.resourcePerAlloc)
    message.taskGroupName = record.task_group
    message.placeholder = record.placeholder


def node_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read verdicts on nodes."""
    yield from verdicts(
        response.accepted, response.rejected, m.AcceptedNode, m.RejectedNode, "nodeID"
    )


def application_events(response: Any) -> Iterator[m.FromScheduler]:
    """Read verdicts on applications, then changes of their states."""
    yield from verdicts(
        response.accepted,
        response.rejected,
        m.AcceptedApplication,
        m.RejectedApplication,
        "applicationID",
    )
    for one in response.updated:
        yield updated_application(one)


def verdicts(
    accepted: Iterable[Any],
    rejected: Iterable[Any],
    acceptance: Callable[[str], m.FromScheduler],
    rejection: Callable[[str, str], m.FromScheduler],
    name: str,
) -> Iterator[m.FromScheduler]:
    """Read lists of verdicts; ``name`` is the field with the id."""
    for one in accepted:
        yield acceptance(getattr(one, name))
    for one in rejected:
        yield rejection(getattr(one, name), one.reason)


def updated_application(message: Any) -> m.UpdatedApplication:
    """Read an UpdatedApplication."""
    return m.UpdatedApplication(message.applicationID, message.state, message.message)


def allocated(message: Any, identity: str) -> m.Allocated:
    """Read a new Allocation."""
    return m.Allocated(message.allocationKey, message.applicationID, message.nodeID, identity)


def rejected_request(message: Any) -> m.RejectedRequest:
    """Read the rejection of a request or an allocation."""
    return m.RejectedRequest(message.allocationKey, message.applicationID, message.reason)
