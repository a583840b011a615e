"""Writes a message as it travels, one line per field, the way the golden bytes are kept.

The encoder knows the descriptors and nothing of any protobuf library's encoder, so that golden
bytes check the library as well.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_REMARK_AT: Final = 58  # column of a remark
_PER_LINE: Final = 16  # bytes of a long payload
_WORD: Final = 2**64
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FD = FieldDescriptor
_FIXED: Final[Mapping[int, tuple[int, str]]] = {
    _FD.TYPE_DOUBLE: (_FIXED64, "<d"),
    _FD.TYPE_FIXED64: (_FIXED64, "<Q"),
    _FD.TYPE_SFIXED64: (_FIXED64, "<q"),
    _FD.TYPE_FLOAT: (_FIXED32, "<f"),
    _FD.TYPE_FIXED32: (_FIXED32, "<I"),
    _FD.TYPE_SFIXED32: (_FIXED32, "<i"),
}
_ZIGZAG: Final = frozenset({_FD.TYPE_SINT32, _FD.TYPE_SINT64})


@dataclass(frozen=True, slots=True)
class _Line:
    depth: int
    head: bytes  # tag, and the length of what follows
    payload: bytes  # of this line; none where lines below are the payload
    remark: str

    def __str__(self) -> str:
        indent = "  " * self.depth
        first, rows = self.payload, []
        fits = f"{indent}{self.head.hex(' ')}  {first.hex(' ')}"
        if len(fits) > _REMARK_AT or len(first) > _PER_LINE:
            starts = range(0, len(first), _PER_LINE)
            rows = [first[start : start + _PER_LINE].hex(" ") for start in starts]
            first = b""
        said = f"{indent}{self.head.hex(' ')}" + (f"  {first.hex(' ')}" if first else "")
        lines = [f"{said:<{_REMARK_AT}}# {self.remark}", *(f"{indent}   {row}" for row in rows)]
        return "\n".join(lines)


def wire_lines(message: Message) -> str:
    """The message in hex with remarks, fields by number and entries of maps by key."""
    return "\n".join(map(str, _message(message, 0))) + "\n"


def wire_bytes(lines: str) -> bytes:
    """The bytes that such lines, or those of a golden file, stand for."""
    return bytes.fromhex(" ".join(line.partition("#")[0] for line in lines.splitlines()))


def _message(message: Message, depth: int) -> Iterator[_Line]:
    for field, value in sorted(message.ListFields(), key=lambda one: one[0].number):
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            yield from _map(field, value, depth)
        elif not field.is_repeated:
            yield from _value(field, value, depth)
        elif _is_packed(field):
            packed = b"".join(_scalar(field, one) for one in value)
            said = ", ".join(_said(field, one) for one in value)
            yield _Line(
                depth, _tag(field, _LENGTH) + _varint(len(packed)), packed, f"{field.name} {said}"
            )
        else:
            for one in value:
                yield from _value(field, one, depth)


def _map(field: FieldDescriptor, entries: Mapping[Any, Any], depth: int) -> Iterator[_Line]:
    assert field.message_type is not None  # noqa: S101 - a map is a message
    key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for name in sorted(entries):
        within = [*_value(key, name, depth + 1), *_value(value, entries[name], depth + 1)]
        yield from _enclosed(field, within, depth)


def _value(field: FieldDescriptor, value: Any, depth: int) -> Iterator[_Line]:
    if field.message_type is not None:
        yield from _enclosed(field, list(_message(value, depth + 1)), depth)
    elif field.type in (_FD.TYPE_STRING, _FD.TYPE_BYTES):
        data = value.encode() if isinstance(value, str) else value
        head = _tag(field, _LENGTH) + _varint(len(data))
        yield _Line(depth, head, data, f"{field.name} {value!r}")
    else:
        kind = _FIXED[field.type][0] if field.type in _FIXED else _VARINT
        remark = f"{field.name} {_said(field, value)}"
        yield _Line(depth, _tag(field, kind), _scalar(field, value), remark)


def _enclosed(field: FieldDescriptor, within: list[_Line], depth: int) -> Iterator[_Line]:
    size = sum(len(line.head) + len(line.payload) for line in within)
    yield _Line(depth, _tag(field, _LENGTH) + _varint(size), b"", field.name)
    yield from within


def _said(field: FieldDescriptor, value: Any) -> str:
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named is not None else str(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(field: FieldDescriptor, value: Any) -> bytes:
    if field.type in _FIXED:
        return struct.pack(_FIXED[field.type][1], value)
    number = int(value)
    if field.type in _ZIGZAG:
        number = 2 * number if number >= 0 else -2 * number - 1
    return _varint(number % _WORD)


def _is_packed(field: FieldDescriptor) -> bool:
    is_number = field.message_type is None and field.type not in (_FD.TYPE_STRING, _FD.TYPE_BYTES)
    return is_number and field.is_packed


def _tag(field: FieldDescriptor, kind: int) -> bytes:
    return _varint(field.number << 3 | kind)


def _varint(number: int) -> bytes:
    return bytes(_septets(number))


def _septets(number: int) -> Iterable[int]:
    while number > 0x7F:  # noqa: PLR2004 - seven bits a byte
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
