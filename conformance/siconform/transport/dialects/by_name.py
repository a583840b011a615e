"""Copies a message into another schema's, matching fields and enum values by name.

A field without a counterpart of that name and shape is lost and reported. All integers have one
shape, regardless of width and encoding: code that sets one sets the other.
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
_UNDEFINED: Final = 99  # stands for a value without a name in the other schema

Losses = dict[str, str]
"""Full name of what is lost to why: `si.v1.NodeInfo.nodeID` to `there is no such field`."""


def copied(source: Message, target: Message, *, unknown: bool = False) -> Losses:
    """Copy `source` into `target`; return what is lost.

    `unknown` fields are copied as bytes.
    """
    losses: Losses = {}
    _Copying(losses, unknown=unknown).copies(source, target)
    return losses


def lost_by(source: Descriptor, target: Descriptor) -> Losses:
    """Return what a message of one type could lose as one of the other, at any depth."""
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
            except ValueError as error:  # a number that is too large
                self._losses[field.full_name] = f"{value} does not fit there: {error}"
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
        """Return the value, or the other enum's number of the same name."""
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
    """Return the field of that name and shape, or None and the reason."""
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
    """Return the entry message of a map."""
    entry = field.message_type
    assert entry is not None  # noqa: S101  # a map has one
    return entry


def _is_taken(place: FieldDescriptor, target: Message) -> str:
    """Return why the field cannot be set: another one of its oneof is set."""
    oneof = place.containing_oneof
    if oneof is None:
        return ""
    sent = target.WhichOneof(oneof.name)
    return f"it cannot be set together with {sent} there" if sent not in (None, place.name) else ""


@cache
def _unset_otherwise(one: Descriptor, other: Descriptor) -> tuple[tuple[Any, Any], ...]:
    """Return the enum fields whose unset values differ in meaning."""
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
    """Return the bytes of fields unknown to the schema."""
    rest = type(message)()
    rest.CopyFrom(message)
    for field, _ in message.ListFields():
        rest.ClearField(field.name)
    return rest.SerializeToString()
