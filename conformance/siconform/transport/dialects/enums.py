"""Enums on the wire, by the names their revision gives the numbers."""

from enum import Enum
from typing import Any, Final, TypeVar

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from siconform.transport.dialects.tables import NoWords

E = TypeVar("E", bound=Enum)
UNDEFINED: Final = 99


def read_enum(kind: type[E], message: Message, field: str) -> E:
    """Return the member with the number's name; UNDEFINED if the revision has no name."""
    names = _enum(message, field).values_by_number
    number = getattr(message, field)
    name = names[number].name if number in names else ""
    members = {str(member.value): member for member in kind}
    return members.get(name, kind["UNDEFINED"])


def write_enum(message: Message, field: str, member: Enum) -> None:
    """Set the field to the number of the member; NoWords if the revision has none."""
    numbers = _enum(message, field).values_by_name
    if member.value not in numbers:
        raise NoWords
    setattr(message, field, numbers[member.value].number)


def write_undefined(message: Message, field: str) -> None:
    """Set the field to a number that no revision defines."""
    setattr(message, field, UNDEFINED)


def _enum(message: Message, field: str) -> EnumDescriptor:
    described: Any = message.DESCRIPTOR.fields_by_name[field].enum_type
    enum: EnumDescriptor = described
    return enum
