"""Messages as they are shown: without what is otherwise each time they are sent."""

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message

from mixed.speech import identity_field

_TIMES = frozenset({"stateTransitionTimestamp"})
_A_TIME = 1


def identities(message: Message) -> dict[str, str]:
    """The keys of the allocations in the message by their identities, where those are two."""
    return {
        getattr(part, identity_field(part)): part.allocationKey
        for part in _allocations(message)
        if identity_field(part) != "allocationKey" and getattr(part, identity_field(part))
    }


def shown_identity(key: str) -> str:
    """In place of an identity that the scheduler made up."""
    return f"identity-of-{key}"


def normalised(message: Message, names: Mapping[str, str]) -> Message:
    """A copy with these names in place of others, and with one time for all."""
    copy: Message = type(message)()
    copy.CopyFrom(message)
    for part in _all_messages(copy):
        some: Any = part
        for field, value in part.ListFields():
            if field.name in _TIMES:
                setattr(some, field.name, _A_TIME)
            elif isinstance(value, str) and value in names:
                setattr(some, field.name, names[value])
    return copy


def text(message: Message | None) -> str:
    """A message on one line, what its classes do not know by its numbers."""
    if message is None:
        return "unreadable"
    return text_format.MessageToString(message, as_one_line=True, print_unknown_fields=True)


def _allocations(message: Message) -> Iterator[Any]:
    return (one for one in _all_messages(message) if one.DESCRIPTOR.name == "Allocation")


def _all_messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for one in value if field.is_repeated else [value]:
            yield from _all_messages(one)
