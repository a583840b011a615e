"""Enums on the wire, by the names their revision gives the numbers."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message

from siconform.transport.dialects.tables import Inexpressible

E = TypeVar("E", bound=Enum)
UNDEFINED: Final = 99


def read_enum(kind: type[E], message: Message, field: str) -> E:
    """Return the member with the number's name; UNDEFINED if the revision has no name."""
    known = _members(kind, message.DESCRIPTOR, field).get(getattr(message, field))
    return kind["UNDEFINED"] if known is None else known


@cache
def _members(kind: type[E], descriptor: Descriptor, field: str) -> Mapping[int, E]:
    """Return the members by the numbers that the revision gives their names."""
    described: Any = descriptor.fields_by_name[field].enum_type
    members = {str(member.value): member for member in kind}
    return {
        value.number: members[value.name] for value in described.values if value.name in members
    }


def write_enum(message: Message, field: str, member: Enum) -> None:
    """Set the field to the number of the member; Inexpressible if the revision has none."""
    numbers = _enum(message, field).values_by_name
    if member.value not in numbers:
        raise Inexpressible
    setattr(message, field, numbers[member.value].number)


def write_undefined(message: Message, field: str) -> None:
    """Set the field to a number that no revision defines."""
    setattr(message, field, UNDEFINED)


def _enum(message: Message, field: str) -> EnumDescriptor:
    described: Any = message.DESCRIPTOR.fields_by_name[field].enum_type
    enum: EnumDescriptor = described
    return enum
