"""Puts a message into another schema's: each field, and each value of an enum, under its name.

What has no place of that name there, or one of another shape, is lost and told. Integers are of
one shape, whatever their width and coding: code that sets one sets the other.
"""

from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

_FLOATS: Final = frozenset({FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT})
_OTHERS: Final = {
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_ENUM: "enum",
    FieldDescriptor.TYPE_MESSAGE: "message",
    FieldDescriptor.TYPE_GROUP: "message",
}
_UNDEFINED: Final = 99  # stands for a value the other schema has no name for

Losses = dict[str, str]
"""Full name of what has no place to why: `si.v1.NodeInfo.nodeID` to `there is no such field`."""


def copied(source: Message, target: Message, *, unknown: bool = False) -> Losses:
    """Put what `source` says into `target`; what has no place there.

    `unknown` fields go along as the bytes they are.
    """
    losses: Losses = {}
    _Copying(losses, unknown=unknown).copies(source, target)
    return losses


def lost_by(source: Descriptor, target: Descriptor) -> Losses:
    """What a message of the one kind could lose as one of the other, in any field below it."""
    losses: Losses = {}
    seen: set[tuple[str, str]] = set()

    def look(one: Descriptor, other: Descriptor) -> None:
        if (one.full_name, other.full_name) in seen:
            return
        seen.add((one.full_name, other.full_name))
        for field in one.fields:
            place, why = _place(field, other)
            if place is None:
                losses[field.full_name] = why
            elif field.enum_type is not None:
                names = place.enum_type.values_by_name
                gone = (v.name for v in field.enum_type.values if v.name not in names)
                losses.update(_lost_value(field.enum_type, name) for name in gone)
            elif field.message_type is not None:
                look(field.message_type, place.message_type)

    look(source, target)
    return losses


class _Copying:
    def __init__(self, losses: Losses, *, unknown: bool) -> None:
        self._losses = losses
        self._unknown = unknown

    def copies(self, source: Message, target: Message) -> None:
        for field, value in source.ListFields():
            place, why = _place(field, target.DESCRIPTOR)
            if place is not None:
                why = why or _is_taken(place, target)
            if place is None or why:
                self._losses[field.full_name] = why
                continue
            try:
                self._puts(field, value, place, target)
            except ValueError as error:  # a number that is too large for it
                self._losses[field.full_name] = f"{value} has no room there: {error}"
        for field, place in _unset_otherwise(source.DESCRIPTOR, target.DESCRIPTOR):
            if not getattr(source, field.name):
                self._puts_one(field, 0, place, target)
        if self._unknown and len(UnknownFieldSet(source)):
            target.MergeFromString(_unknown_bytes(source))

    def _puts(
        self, field: FieldDescriptor, value: Any, place: FieldDescriptor, target: Message
    ) -> None:
        if _is_map(field):
            self._puts_entries(field, value, place, getattr(target, place.name))
        elif not field.is_repeated:
            self._puts_one(field, value, place, target)
        elif field.message_type is not None:
            for element in value:
                self.copies(element, getattr(target, place.name).add())
        else:
            numbers = [self._scalar(field, element, place) for element in value]
            getattr(target, place.name).extend(numbers)

    def _puts_entries(
        self, field: FieldDescriptor, entries: Any, place: FieldDescriptor, target: Any
    ) -> None:
        one, other = _value_of(field), _value_of(place)
        for key, value in entries.items():
            if one.message_type is not None:
                self.copies(value, target[key])
            else:
                target[key] = self._scalar(one, value, other)

    def _puts_one(
        self, field: FieldDescriptor, value: Any, place: FieldDescriptor, target: Message
    ) -> None:
        if field.message_type is not None:
            inner = getattr(target, place.name)
            inner.SetInParent()
            self.copies(value, inner)
        else:
            setattr(target, place.name, self._scalar(field, value, place))

    def _scalar(self, field: FieldDescriptor, value: Any, place: FieldDescriptor) -> Any:
        """The value, or the number that has the name of this one."""
        theirs = place.enum_type
        if field.enum_type is None or theirs is None:
            return value
        own = field.enum_type.values_by_number
        if value in own:
            name = own[value].name
            if name in theirs.values_by_name:
                return theirs.values_by_name[name].number
            self._losses.update([_lost_value(field.enum_type, name)])
        return _UNDEFINED if value in theirs.values_by_number else value


@cache
def _place(field: FieldDescriptor, message: Descriptor) -> tuple[Any, str]:
    """The field of that name and shape, or None and why there is none."""
    place = message.fields_by_name.get(field.name)
    if place is None:
        return None, "there is no such field"
    if _shape(field) != _shape(place):
        return None, f"it is {_shape(place)} there, not {_shape(field)}"
    return place, ""


def _shape(field: FieldDescriptor) -> str:
    if _is_map(field):
        key = _entry(field).fields_by_name["key"]
        return f"map<{_kind(key)}, {_kind(_value_of(field))}>"
    return f"{'repeated ' if field.is_repeated else ''}{_kind(field)}"


def _kind(field: FieldDescriptor) -> str:
    if field.type in _FLOATS:
        return "float"
    return _OTHERS.get(field.type, "integer")


def _is_map(field: FieldDescriptor) -> bool:
    message = field.message_type
    return message is not None and message.GetOptions().map_entry


def _value_of(field: FieldDescriptor) -> FieldDescriptor:
    return _entry(field).fields_by_name["value"]


def _entry(field: FieldDescriptor) -> Descriptor:
    """The message of which a map is a list."""
    entry = field.message_type
    assert entry is not None  # noqa: S101  # a map has one
    return entry


def _is_taken(place: FieldDescriptor, target: Message) -> str:
    """Why it cannot be said beside what is said already: a oneof holds one of them."""
    oneof = place.containing_oneof
    if oneof is None:
        return ""
    sent = target.WhichOneof(oneof.name)
    return f"it cannot be said beside {sent} there" if sent not in (None, place.name) else ""


@cache
def _unset_otherwise(one: Descriptor, other: Descriptor) -> tuple[tuple[Any, Any], ...]:
    """The enum fields that mean something else in the two where nothing is said of them."""
    found = []
    for field in one.fields:
        place, _ = _place(field, other)
        if place is None or field.enum_type is None or field.is_repeated or field.has_presence:
            continue
        unset = field.enum_type.values_by_number[0].name
        if place.enum_type.values_by_number[0].name != unset:
            found.append((field, place))
    return tuple(found)


def _lost_value(enum: EnumDescriptor, name: str) -> tuple[str, str]:
    return f"{enum.full_name}.{name}", "there is no such value"


def _unknown_bytes(message: Message) -> bytes:
    """What it carries in fields its schema does not know."""
    rest = type(message)()
    rest.CopyFrom(message)
    for field, _ in message.ListFields():
        rest.ClearField(field.name)
    return rest.SerializeToString()
