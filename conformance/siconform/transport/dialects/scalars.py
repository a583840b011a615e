"""Scalars that a request names itself (`sent_as`): written and read without code for each.

A revision has them under the same name or not at all.
"""

from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from siconform.transport.dialects.tables import Inexpressible


class _Scalar(NamedTuple):
    name: str  # in the request
    field: str  # in the message
    default: Any


def write_scalars(message: Message, sent: Any) -> None:
    """Write the scalars of a request; Inexpressible if the message has no field for one."""
    kind: type = type(sent)
    has, lacks = _scalars(kind, message.DESCRIPTOR)
    for one in has:
        setattr(message, one.field, getattr(sent, one.name))
    if any(getattr(sent, one.name) != one.default for one in lacks):
        raise Inexpressible


def read_scalars(kind: type, received: Message) -> dict[str, Any]:
    """Return the scalars of a request of this kind, for its constructor."""
    has, _ = _scalars(kind, received.DESCRIPTOR)
    return {one.name: getattr(received, one.field) for one in has}


@cache
def _scalars(kind: Any, message: Descriptor) -> tuple[list[_Scalar], list[_Scalar]]:
    """Return the scalars for which the message has a field, and those for which it has none."""
    named = [
        _Scalar(one.name, one.metadata["sent_as"], one.default)
        for one in fields(kind)
        if "sent_as" in one.metadata
    ]
    has = [one for one in named if one.field in message.fields_by_name]
    return has, [one for one in named if one not in has]
