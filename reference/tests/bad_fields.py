"""Every field of a message, one at a time: missing, empty, unknown, huge, odd, repeated often.

Messages are built from the descriptors, so fields of a new revision are included automatically.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from siwire import Revision, rpc

VERY_MANY: Final = 10_000
_ALL: Final = slice(None)
_DEPTH: Final = 6  # of nested messages; one message of 2021-02 contains itself
_INT32: Final = 2**31 - 1
_INT64: Final = 2**63 - 1
_ODD_TEXTS: Final = ("nope", "\x00", "ä/€ 😀\u2028", "a.b..c", "%s{}", "1" * 40, "m" * 1_000_000)
_ODD_KEYS: Final = ("", *_ODD_TEXTS, "yunikorn.apache.org/requiredNode", "si/node-partition")

_USUAL: Final[Mapping[str, Any]] = {
    "rmID": "rm",
    "allocationKey": "k1",
    "allocationkey": "k1",
    "partitionName": "default",
    "queueName": "root.default",
    "taskGroupName": "tg",
    "attributes": "default",
    "scope": "zone",
    "gangSchedulingStyle": "Hard",
    "config": "",
    "minCardinality": 0,
}
_KEYS: Final = {"resources": "memory", "attributes": "zone"}
_TAGS: Final = ("tags", "allocationTags")  # their keys may be among the names

Names = Mapping[str, Any]
Path = tuple[tuple[str, Any], ...]  # the field, and its index or key
Spoil = Callable[[Any], None]


class Spoilt(NamedTuple):
    """A request with one bad field."""

    what: str
    message: Message


def requests(revision: Revision, names: Names) -> Iterator[tuple[str, Message]]:
    """Yield each kind of request element in its own request, with every field set.

    ``names`` are field values to use before the defaults.
    """
    for name, method in rpc.methods(revision).items():
        for field in method.request.DESCRIPTOR.fields:
            if method.client_streaming and field.message_type is not None:
                message: Any = method.request(rmID="rm")
                _fill_field(message, field, {**_USUAL, **names}, _DEPTH)
                yield name, message


def registration(revision: Revision) -> Message:
    """Return a registration with every field set."""
    message: Message = rpc.methods(revision)["RegisterResourceManager"].request()
    _fill(message, _USUAL, _DEPTH)
    return message


def spoilt(message: Message, most: int = VERY_MANY, share: slice = _ALL) -> Iterator[Spoilt]:
    """Yield ``message`` with one bad field, for each field at every depth and each kind of defect.

    Repeated fields get up to ``most`` elements. ``share`` selects which of the defects are made.
    """
    ways = [
        (path, field, what, spoil)
        for path, field in _places(message, ())
        for what, spoil in _spoils(field, most)
    ]
    for path, field, what, spoil in ways[share]:
        copy: Any = type(message)()
        copy.CopyFrom(message)
        spoil(_follow(copy, path))
        where = ".".join(name for name, _ in (*path, (field.name, None)))
        yield Spoilt(f"{where} {what}", copy)


def _fill(message: Any, names: Names, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if depth:
            _fill_field(message, field, names, depth)


def _fill_field(message: Any, field: Any, names: Names, depth: int) -> None:
    name, inner = field.name, field.message_type
    if _is_map(inner):
        key = names.get(name, _KEYS.get(name, "app")) if name in _TAGS else _KEYS.get(name, "app")
        _put(getattr(message, name), key, inner.fields_by_name["value"], names)
    elif inner is not None and field.is_repeated:
        _fill(getattr(message, name).add(), names, depth - 1)
    elif inner is not None:
        getattr(message, name).SetInParent()
        _fill(getattr(message, name), names, depth - 1)
    elif field.is_repeated:
        getattr(message, name).append(_usual(field, names))
    else:
        setattr(message, name, _usual(field, names))


def _put(into: Any, key: str, value: Any, names: Names) -> None:
    if value.message_type is not None:
        _fill(into[key], names, 1)
    else:
        into[key] = _usual(value, names)


def _usual(field: Any, names: Names) -> Any:
    kind = field.cpp_type
    if field.name in names:
        return names[field.name]
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return "a"
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return field.enum_type.values[min(1, len(field.enum_type.values) - 1)].number
    return True if kind == FieldDescriptor.CPPTYPE_BOOL else 1


def _is_map(kind: Any) -> bool:
    return kind is not None and bool(kind.GetOptions().map_entry)


def _places(message: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for field in message.DESCRIPTOR.fields:
        yield path, field
        inner, held = field.message_type, getattr(message, field.name)
        if _is_map(inner):
            if inner.fields_by_name["value"].message_type is not None:
                for key in held:
                    yield from _places(held[key], (*path, (field.name, key)))
        elif inner is not None and field.is_repeated:
            for index, one in enumerate(held):
                yield from _places(one, (*path, (field.name, index)))
        elif inner is not None and message.HasField(field.name):
            yield from _places(held, (*path, (field.name, None)))


def _follow(message: Any, path: Path) -> Any:
    for name, place in path:
        message = getattr(message, name)
        if place is not None:
            message = message[place]
    return message


def _spoils(field: Any, most: int) -> Iterator[tuple[str, Spoil]]:
    """Yield the possible defects of a field: a name, and a function that applies it."""
    name, inner = field.name, field.message_type
    yield "is missing", partial(_drop, name)
    if _is_map(inner):
        value = inner.fields_by_name["value"]
        for key in _ODD_KEYS:
            yield f"has a key {_shown(key)}", partial(_put_into, name, key, value)
        if value.message_type is None:
            for text in _ODD_TEXTS:
                yield f"has a value {_shown(text)}", partial(_give_all, name, text)
        yield "has very many keys", partial(_put_very_many, name, value, most)
    elif inner is not None and field.is_repeated:
        yield "is listed twice", partial(_copy, name, 1)
        yield "is there very often", partial(_copy, name, most)
        yield "has an empty one", partial(_add_empty, name)
    elif inner is not None:
        yield "is empty", partial(_empty, name)
    elif field.is_repeated:
        yield "is there very often", partial(_copy, name, most)
        for odd in _odd(field):
            yield f"has {_shown(odd)}", partial(_add, name, odd)
    else:
        for odd in _odd(field):
            yield f"is {_shown(odd)}", partial(_give, name, odd)


def _odd(field: Any) -> tuple[Any, ...]:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _ODD_TEXTS
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return (False, True)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return (*(value.number for value in field.enum_type.values), 99, -1, _INT32)
    most = _INT64 if kind == FieldDescriptor.CPPTYPE_INT64 else _INT32
    return (0, -1, most, -most - 1)


def _shown(value: Any) -> str:
    return repr(value[:40] if isinstance(value, str) else value)[:40]


def _drop(name: str, holder: Any) -> None:
    holder.ClearField(name)


def _empty(name: str, holder: Any) -> None:
    holder.ClearField(name)
    getattr(holder, name).SetInParent()


def _give(name: str, value: Any, holder: Any) -> None:
    setattr(holder, name, value)


def _add(name: str, value: Any, holder: Any) -> None:
    getattr(holder, name).append(value)


def _add_empty(name: str, holder: Any) -> None:
    getattr(holder, name).add()


def _copy(name: str, count: int, holder: Any) -> None:
    """Append copies of the first element."""
    items = getattr(holder, name)
    items.extend(items[:1] * count)


def _give_all(name: str, value: str, holder: Any) -> None:
    into = getattr(holder, name)
    for key in list(into):
        into[key] = value


def _put_into(name: str, key: str, value: Any, holder: Any) -> None:
    _put(getattr(holder, name), key, value, {})


def _put_very_many(name: str, value: Any, most: int, holder: Any) -> None:
    for number in range(most):
        _put_into(name, f"t{number}", value, holder)
