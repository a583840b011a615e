"""Realistic, distinguishable values for the fields of a message."""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

_DEPTH: Final = 3  # nesting of messages: enough to recognise them, and recursion ends
_BIG: Final = 2**33 + 7  # more than 32 bits, and not zero in the lower ones
_BELOW_THE_TOP: Final = -5  # from the maximum of an unsigned number, so that the sign bit is set
_ENTRIES: Final = 2  # of a repeated field: enough to detect a lost one

_TEXTS: Final[Mapping[str, str]] = {
    "applicationID": "app-1",
    "nodeID": "node-1",
    "partitionName": "default",
    "queueName": "root.default",
    "rmID": "rm-1",
    "state": "Running",
    "taskGroupName": "tg-1",
    "user": "alice",
}
_INTEGERS_OF_64: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_SFIXED64,
    }
)
_UNSIGNED: Final = {
    FieldDescriptor.TYPE_UINT32: 2**32,
    FieldDescriptor.TYPE_FIXED32: 2**32,
    FieldDescriptor.TYPE_UINT64: 2**64,
    FieldDescriptor.TYPE_FIXED64: 2**64,
}
_SIGNED: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_SFIXED32,
        FieldDescriptor.TYPE_SFIXED64,
    }
)


def samples(field: FieldDescriptor) -> list[Any]:
    """Return single values for `field`, the most usual first; messages are left to `put`."""
    if field.type == FieldDescriptor.TYPE_STRING:
        usual = _TEXTS.get(field.name, f"{field.name}-1")
        return [usual, f"{usual[:-1]}2"]
    if field.type == FieldDescriptor.TYPE_BYTES:
        return [b"bytes-1", b"\xff\xfe"]
    if field.type == FieldDescriptor.TYPE_BOOL:
        return [True]
    if field.enum_type is not None:
        return _numbers(field.enum_type)
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return [5.5]
    last = [-5] if field.type in _SIGNED else [_UNSIGNED[field.type] + _BELOW_THE_TOP]
    wide = [_BIG] if field.type in _INTEGERS_OF_64 else []
    return [5, *wide, *last]


def put(message: Message, field: FieldDescriptor, which: int = 0, depth: int = _DEPTH) -> None:
    """Set `field` of `message` to sample number `which`, or to the last one if there are fewer."""
    if _is_map(field):
        _put_entry(message, field, which, depth)
    elif field.is_repeated:
        for entry in range(which, which + _ENTRIES):
            target = getattr(message, field.name)
            if field.message_type is not None:
                _fill(target.add(), entry, depth - 1)
            else:
                target.append(_pick(field, entry))
    elif field.message_type is not None:
        target = getattr(message, field.name)
        target.SetInParent()
        _fill(target, which, depth - 1)
    else:
        setattr(message, field.name, _pick(field, which))


def how_many(field: FieldDescriptor) -> int:
    """Return how many samples `field` has."""
    return 1 if field.message_type is not None else len(samples(field))


def _put_entry(message: Message, field: FieldDescriptor, which: int, depth: int) -> None:
    assert field.message_type is not None  # noqa: S101 - a map is a message
    key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    text = "memory" if value.message_type is not None else f"{field.name}-key"
    name = text if key.type == FieldDescriptor.TYPE_STRING else _pick(key, which)
    target = getattr(message, field.name)
    if value.message_type is not None:
        _fill(target[name], which, depth - 1)
    else:
        target[name] = _pick(value, which)


def _fill(message: Message, which: int, depth: int) -> None:
    chosen: set[str] = set()
    fields: Any = message.DESCRIPTOR.fields  # the stubs have two kinds of descriptors
    for field in fields:
        within = field.containing_oneof
        if (within is not None and within.name in chosen) or (
            depth <= 0 and field.message_type is not None
        ):
            continue
        if within is not None:
            chosen.add(within.name)
        put(message, field, which, depth)


def _pick(field: FieldDescriptor, which: int) -> Any:
    values = samples(field)
    return values[min(which, len(values) - 1)]


def _numbers(enum: EnumDescriptor) -> list[int]:
    """Return the numbers of an enum except zero, which is not sent."""
    return [value.number for value in enum.values if value.number] or [0]


def _is_map(field: FieldDescriptor) -> bool:
    entry = field.message_type
    return field.is_repeated and entry is not None and entry.GetOptions().map_entry
