"""What every revision reads alike: parts of requests as records of the core."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from siwire import constants

from sireference.codec import messages
from sireference.core.model import (
    AllocationRecord,
    NewApplication,
    NodeInfo,
    RemoveApplication,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction

MILLISECONDS: Final = 1000.0  # of one second


def resource(message: messages.Resource) -> Resource:
    """A Resource message as amounts."""
    quantities = message.resources
    return Resource({name: quantities[name].value for name in quantities})


def strings(given: Mapping[str, str]) -> dict[str, str]:
    """Tags or attributes; by name, which costs a third of what ``dict`` does with a map field."""
    return {name: given[name] for name in given}


def node(message: messages.Node, action: NodeAction) -> NodeInfo:
    """What is said of a node; the partition is an attribute of the node."""
    attributes = strings(message.attributes)
    is_sent = message.HasField("schedulableResource")
    return NodeInfo(
        node_id=message.nodeID,
        action=action,
        partition=partition_name(attributes.get(constants.NODE_PARTITION, "")),
        attributes=attributes,
        capacity=resource(message.schedulableResource) if is_sent else None,
    )


def occupied_node(
    message: messages.OccupiedNode,
    action: NodeAction,
    allocations: Iterable[AllocationRecord] = (),
) -> NodeInfo:
    """The same with what others occupy there, and with allocations that exist."""
    is_sent = message.HasField("occupiedResource")
    return replace(
        node(message, action),
        occupied=resource(message.occupiedResource) if is_sent else None,
        allocations=tuple(allocations),
    )


def application(message: messages.NewApplication, gang_style: str) -> NewApplication:
    """An AddApplicationRequest."""
    has_gang = message.HasField("placeholderAsk")
    return NewApplication(
        application_id=message.applicationID,
        queue=message.queueName,
        partition=partition_name(message.partitionName),
        user=message.ugi.user,
        groups=tuple(message.ugi.groups),
        tags=strings(message.tags),
        execution_timeout=message.executionTimeoutMilliSeconds / MILLISECONDS,
        placeholder_ask=resource(message.placeholderAsk) if has_gang else None,
        gang_style=gang_style,
    )


def removal(message: messages.Removal) -> RemoveApplication:
    """A RemoveApplicationRequest."""
    return RemoveApplication(message.applicationID, partition_name(message.partitionName))
