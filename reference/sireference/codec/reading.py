"""Reading shared by all revisions: parts of requests to records of the core."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from google.protobuf.message import Message
from siwire import constants

from sireference.codec import messages
from sireference.core.model import (
    AllocationRecord,
    Ask,
    NewApplication,
    NodeInfo,
    RemoveApplication,
    partition_name,
)
from sireference.core.resources import Resource, SharedResource
from sireference.core.states import NodeAction

Record = TypeVar("Record", Ask, NewApplication)

# Most asks have one of few sizes: reading a size once saves a third of the time to read an ask
_MOST_SHARED: Final = 1024  # resources
_LONGEST_SHARED: Final = 256  # bytes; names of resource types may be long


class Copied(NamedTuple):
    """A scalar that a record only copies: it names the field of the message itself."""

    name: str  # in the record
    field: str  # in the message
    divided_by: int


def copied(record: type[Record], message: type[Message]) -> tuple[Copied, ...]:
    """Return the scalars that this record copies from this message (see `copied_from`)."""
    has = message.DESCRIPTOR.fields_by_name
    return tuple(
        Copied(one.name, one.metadata["copied_from"], one.metadata["divided_by"])
        for one in fields(record)
        if one.metadata and one.metadata["copied_from"] in has
    )


def completed(record: Record, scalars: tuple[Copied, ...], message: Any) -> Record:
    """Return the record with the scalars it copies from the message."""
    for name, field, divided_by in scalars:
        value = getattr(message, field)
        if value:  # rarely
            record = replace(record, **{name: value / divided_by if divided_by > 1 else value})
    return record


def resource(message: messages.Resource) -> Resource:
    """Read a Resource message; equal messages of an ordinary length share one record."""
    sent = message.SerializeToString()
    if len(sent) > _LONGEST_SHARED:
        return Resource(_amounts(message))
    return _shared(type(message), sent)  # type: ignore[arg-type]  # a class is hashable


@lru_cache(_MOST_SHARED)
def _shared(kind: type[messages.Resource], sent: bytes) -> Resource:
    return SharedResource(_amounts(kind.FromString(sent)))


def _amounts(message: messages.Resource) -> dict[str, int]:
    quantities = message.resources
    return {name: quantities[name].value for name in quantities}


def strings(given: Mapping[str, str]) -> dict[str, str]:
    """Return tags or attributes; lookup by name takes a third of the time of ``dict``."""
    return {name: given[name] for name in given} if given else {}


def node(message: messages.Node, action: NodeAction) -> NodeInfo:
    """Read a node; its partition is a node attribute."""
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
    """Read a node with occupied resources and existing allocations."""
    is_sent = message.HasField("occupiedResource")
    return replace(
        node(message, action),
        occupied=resource(message.occupiedResource) if is_sent else None,
        allocations=tuple(allocations),
    )


def application(message: messages.NewApplication) -> NewApplication:
    """Read an AddApplicationRequest without the scalars that the record copies."""
    has_gang = message.HasField("placeholderAsk")
    return NewApplication(
        application_id=message.applicationID,
        queue=message.queueName,
        partition=partition_name(message.partitionName),
        user=message.ugi.user,
        groups=tuple(message.ugi.groups),
        tags=strings(message.tags),
        placeholder_ask=resource(message.placeholderAsk) if has_gang else None,
    )


def removal(message: messages.Removal) -> RemoveApplication:
    """Read a RemoveApplicationRequest."""
    return RemoveApplication(message.applicationID, partition_name(message.partitionName))
