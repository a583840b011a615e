"""Writes the declaration of a revision, proto/si/NAME/si.proto, without anybody's comments."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

from siconform.spec.compiling import with_imports

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_HEADER: Final = """\
// SPDX-License-Identifier: Apache-2.0
//
// The Scheduler Interface (SI) of Apache YuniKorn as its text of {month} {year} declares it.
// Names, numbers, types and reserved entries are those of the text; the comments are this
// project's. Oddities are kept on purpose: docs/decisions/0001-wire-as-written.md.
"""
_SCALARS: Final = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in pb.FieldDescriptorProto.Type.items()
}
_REFERENCES: Final = frozenset(
    {pb.FieldDescriptorProto.TYPE_MESSAGE, pb.FieldDescriptorProto.TYPE_ENUM}
)
_LAST_FIELD: Final = 536870911
_LAST_VALUE: Final = 2**31 - 1
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_INDENT: Final = "  "


def declaration(file: pb.FileDescriptorProto, name: str) -> str:
    """The source of `file` as the declaration of the revision `name`, which is YYYY-MM.

    Compiled, it gives the descriptor again, without source info. What the texts never had and
    this does not write (groups, extension ranges, editions) is for `plan` to notice.
    """
    year, month = name.split("-")
    lines = [_HEADER.format(month=_MONTHS[int(month) - 1], year=year).rstrip()]
    lines += [f'syntax = "{file.syntax or "proto2"}";', f"package {file.package};", ""]
    lines += [*(f'import "{imported}";' for imported in file.dependency), ""]
    return "\n".join([*lines, *_Printer(file).lines()]) + "\n"


class _Printer:
    def __init__(self, file: pb.FileDescriptorProto) -> None:
        self._file = file
        self._pool = DescriptorPool()
        for one in with_imports(file).file:
            self._pool.Add(one)

    def lines(self) -> Iterator[str]:
        options = [f"option {said};" for said in self._options(self._file.options)]
        yield from [*options, ""] if options else []
        for extended, members in _by_extendee(self._file.extension):
            yield from self._block(f"extend {extended.removeprefix('.')}", self._plain(members))
        for service in self._file.service:
            yield from self._block(f"service {service.name}", self._service(service))
        for enum in self._file.enum_type:
            yield from self._block(f"enum {enum.name}", self._enum(enum))
        last = len(self._file.message_type) - 1
        for at, message in enumerate(self._file.message_type):
            block = list(self._block(f"message {message.name}", self._message(message)))
            yield from block[:-1] if at == last else block

    def _block(self, head: str, body: Iterable[str]) -> Iterator[str]:
        """A block of the file with an empty line after it."""
        yield from self._nested(head, body)
        yield ""

    def _nested(self, head: str, body: Iterable[str]) -> Iterator[str]:
        within = [textwrap.indent(line, _INDENT) for line in body]
        yield from [f"{head} {{", *within, "}"] if within else [f"{head} {{}}"]

    def _service(self, service: pb.ServiceDescriptorProto) -> Iterator[str]:
        yield from (f"option {said};" for said in self._options(service.options))
        for method in service.method:
            sides = [
                f"({'stream ' if streams else ''}{self._short(kind)})"
                for streams, kind in (
                    (method.client_streaming, method.input_type),
                    (method.server_streaming, method.output_type),
                )
            ]
            yield f"rpc {method.name} {sides[0]}"
            returned = f"{_INDENT}returns {sides[1]}"
            options = [f"option {said};" for said in self._options(method.options)]
            if options:
                yield f"{returned} {{"
                yield from (f"{_INDENT * 2}{option}" for option in options)
                yield f"{_INDENT}}}"
            else:  # a body without options is another descriptor than none
                yield f"{returned} {{}}" if method.HasField("options") else f"{returned};"

    def _message(self, message: pb.DescriptorProto) -> Iterator[str]:
        yield from (f"option {said};" for said in self._options(message.options))
        entries = {n.name: n for n in message.nested_type if n.options.map_entry}
        for enum in message.enum_type:
            yield from self._nested(f"enum {enum.name}", self._enum(enum))
        for nested in message.nested_type:
            if nested.name not in entries:
                yield from self._nested(f"message {nested.name}", self._message(nested))
        yield from self._fields(message, entries)
        spans = [(span.start, span.end - 1) for span in message.reserved_range]
        yield from _reserved(spans, message.reserved_name, _LAST_FIELD)

    def _fields(
        self, message: pb.DescriptorProto, entries: dict[str, pb.DescriptorProto]
    ) -> Iterator[str]:
        """The fields in their order, a oneof where its first member stands."""
        done: set[int] = set()
        for field in message.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                yield self._field(field, entries)
            elif field.oneof_index not in done:
                done.add(field.oneof_index)
                oneof = message.oneof_decl[field.oneof_index]
                options = [f"option {said};" for said in self._options(oneof.options)]
                members = [
                    self._field(one, entries)
                    for one in message.field
                    if one.HasField("oneof_index") and one.oneof_index == field.oneof_index
                ]
                yield from self._nested(f"oneof {oneof.name}", [*options, *members])

    def _plain(self, fields: Iterable[pb.FieldDescriptorProto]) -> Iterator[str]:
        return (self._field(field, {}) for field in fields)

    def _field(self, field: pb.FieldDescriptorProto, entries: dict[str, pb.DescriptorProto]) -> str:
        entry = entries.get(field.type_name.rpartition(".")[2])
        if entry is not None and field.type_name.endswith(f".{entry.name}"):
            key, value = (self._type(one) for one in entry.field)
            kind = f"map<{key}, {value}>"
        else:
            kind = self._label(field) + self._type(field)
        said = list(self._options(field.options))
        if field.json_name not in ("", _json_name(field.name)):
            said.insert(0, f'json_name = "{field.json_name}"')
        options = f" [{', '.join(said)}]" if said else ""
        return f"{kind} {field.name} = {field.number}{options};"

    def _label(self, field: pb.FieldDescriptorProto) -> str:
        if field.label == pb.FieldDescriptorProto.LABEL_REPEATED:
            return "repeated "
        is_said = self._file.syntax != "proto3" and not field.HasField("oneof_index")
        if field.label == pb.FieldDescriptorProto.LABEL_REQUIRED:
            return "required "
        return "optional " if is_said or field.proto3_optional else ""

    def _type(self, field: pb.FieldDescriptorProto) -> str:
        if field.type in _REFERENCES:
            return self._short(field.type_name)
        return _SCALARS[field.type]

    def _enum(self, enum: pb.EnumDescriptorProto) -> Iterator[str]:
        yield from (f"option {said};" for said in self._options(enum.options))
        for value in enum.value:
            said = list(self._options(value.options))
            options = f" [{', '.join(said)}]" if said else ""
            yield f"{value.name} = {value.number}{options};"
        spans = [(span.start, span.end) for span in enum.reserved_range]
        yield from _reserved(spans, enum.reserved_name, _LAST_VALUE)

    def _options(self, options: Message) -> Iterator[str]:
        """`name = value` for each option, those the file itself defines under their full name."""
        kind = self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
        known = message_factory.GetMessageClass(kind).FromString(options.SerializeToString())
        for field, value in known.ListFields():
            if field.name == "map_entry":
                continue
            name = f"({field.full_name})" if field.is_extension else field.name
            for one in value if field.is_repeated else [value]:
                yield f"{name} = {_value(field, one)}"

    def _short(self, full: str) -> str:
        return full.removeprefix(f".{self._file.package}.")


def _value(field: FieldDescriptor, value: Any) -> str:
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reserved(spans: Iterable[tuple[int, int]], names: Iterable[str], last: int) -> Iterator[str]:
    """One statement for the numbers, one for the names."""
    numbers = [
        str(low) if low == high else f"{low} to {'max' if high == last else high}"
        for low, high in spans
    ]
    quoted = [f'"{name}"' for name in names]
    for entries in (numbers, quoted):
        if entries:
            yield f"reserved {', '.join(entries)};"


def _by_extendee(
    extensions: Iterable[pb.FieldDescriptorProto],
) -> list[tuple[str, list[pb.FieldDescriptorProto]]]:
    found: list[tuple[str, list[pb.FieldDescriptorProto]]] = []
    for extension in extensions:
        if not found or found[-1][0] != extension.extendee:
            found.append((extension.extendee, []))
        found[-1][1].append(extension)
    return found


def _json_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
