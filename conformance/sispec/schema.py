"""The shapes of a schema: messages, enums and methods by their SI names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.unknown_fields import UnknownFieldSet
from siwire import REVISIONS

_SCALARS = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}
_REFERENCES = (
    FieldDescriptorProto.TYPE_MESSAGE,
    FieldDescriptorProto.TYPE_ENUM,
    FieldDescriptorProto.TYPE_GROUP,
)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message, or an extension."""

    name: str
    number: int
    type: str  # `string`, `Allocation`, `map<string, Quantity>`
    cardinality: str = ""  # "", `optional` or `repeated`; maps have none
    oneof: str = ""
    json_name: str = ""
    options: str = ""  # such as `deprecated: true`; they affect neither bytes nor JSON

    @property
    def held(self) -> str:
        """Return its type, or the type of the values of a map."""
        return self.type.removeprefix("map<").removesuffix(">").rpartition(", ")[2]

    def __str__(self) -> str:
        within = f" (oneof {self.oneof})" if self.oneof else ""
        return (
            f"{self.number} {self.cardinality + ' ' if self.cardinality else ''}{self.type}{within}"
        )


@dataclass(frozen=True, slots=True)
class Reserved:
    """Numbers and names that a message or an enum reserves."""

    ranges: frozenset[tuple[int, int]] = frozenset()  # both ends included
    names: frozenset[str] = frozenset()

    def holds(self, number: int) -> bool:
        """Whether `number` is reserved."""
        return any(low <= number <= high for low, high in self.ranges)

    def without(self, other: "Reserved") -> "Reserved":
        """Return what is reserved here and not in `other`."""
        ranges: list[tuple[int, int]] = []
        for low, high in self.ranges:
            free = low
            for taken_low, taken_high in sorted(other.ranges):
                if free < taken_low <= high:
                    ranges.append((free, taken_low - 1))
                if taken_low <= high:
                    free = max(free, taken_high + 1)
            if free <= high:
                ranges.append((free, high))
        return Reserved(frozenset(ranges), self.names - other.names)

    def __str__(self) -> str:
        numbers = [str(a) if a == b else f"{a} to {b}" for a, b in sorted(self.ranges)]
        return ", ".join([*numbers, *(f'"{name}"' for name in sorted(self.names))])


@dataclass(frozen=True, slots=True)
class Message:
    """A message by its name inside the package, such as `NodeInfo`."""

    name: str
    fields: Mapping[str, Field]
    reserved: Reserved = field(default_factory=Reserved)

    @property
    def members(self) -> str:
        """List its fields in one line."""
        return ", ".join(f"{f.name} {f}" for f in self.fields.values()) or "no fields"

    def owner(self, number: int) -> Field | None:
        """Return the field that has `number`."""
        return next((f for f in self.fields.values() if f.number == number), None)


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enum by its name inside the package, such as `NodeInfo.ActionFromRM`."""

    name: str
    values: Mapping[str, int]
    reserved: Reserved = field(default_factory=Reserved)

    @property
    def members(self) -> str:
        """List its values in one line."""
        return ", ".join(f"{name} {number}" for name, number in self.values.items())

    def named(self, number: int) -> str:
        """Return the first name of `number`, or "" if it has none."""
        return next((name for name, n in self.values.items() if n == number), "")


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service, `Scheduler.UpdateNode`."""

    name: str
    input: str
    output: str
    client_streams: bool
    server_streams: bool

    @property
    def shape(self) -> str:
        """Return its types with streaming: `(stream NodeRequest) returns (stream NodeResponse)`."""
        return (
            f"({'stream ' if self.client_streams else ''}{self.input}) returns "
            f"({'stream ' if self.server_streams else ''}{self.output})"
        )


@dataclass(frozen=True)
class Schema:
    """Everything a file declares, in the order of the file."""

    package: str
    messages: Mapping[str, Message]
    enums: Mapping[str, Enumeration]
    services: tuple[str, ...]
    methods: Mapping[str, Method]
    extensions: Mapping[str, Field]

    def options_sent(self, options: str) -> str:
        """Return the options of a field, those defined by the SI by name: `si_secret: true`."""
        for extension in self.extensions.values():
            by_number, by_name = f"({extension.number}): ", f"{extension.name}: "
            if extension.type == "bool":
                options = options.replace(f"{by_number}1", f"{by_name}true")
                options = options.replace(f"{by_number}0", f"{by_name}false")
            options = options.replace(by_number, by_name)
        return options

    def elements(self) -> dict[str, str]:
        """Map every declared name to its declaration: number, type, label."""
        found = dict.fromkeys(self.services, "service")
        found |= {method.name: method.shape for method in self.methods.values()}
        for message in self.messages.values():
            fields = {f"{message.name}.{f.name}": str(f) for f in message.fields.values()}
            found |= {message.name: "message", **fields}
        for enum in self.enums.values():
            values = {f"{enum.name}.{name}": str(number) for name, number in enum.values.items()}
            found |= {enum.name: "enum", **values}
        return found

    def reachable(self, names: Iterable[str]) -> set[str]:
        """Return the messages of `names` and all that their fields hold, recursively."""
        seen: set[str] = set()
        waiting = [name for name in names if name in self.messages]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                held = (field.held for field in self.messages[name].fields.values())
                waiting += [one for one in held if one in self.messages]
        return seen

    def full(self, name: str) -> str:
        """Return the full name of `name` inside the package."""
        return f"{self.package}.{name}" if self.package else name


@cache
def revision_file(name: str) -> FileDescriptorProto:
    """Return the file descriptor of a known revision."""
    file = FileDescriptorProto()
    REVISIONS[name].si.DESCRIPTOR.CopyToProto(file)
    return file


@cache
def revision_schema(name: str) -> Schema:
    """Return the shapes of a known revision."""
    return schema_of(revision_file(name))


def schema_of(file: FileDescriptorProto) -> Schema:
    """Return the shapes that `file` declares."""
    messages: dict[str, Message] = {}
    enums: dict[str, Enumeration] = {}
    for enum in file.enum_type:
        enums[enum.name] = _enumeration(enum.name, enum)
    for message in file.message_type:
        _collect(message.name, message, file.package, messages, enums)
    methods = {
        f"{service.name}.{m.name}": Method(
            f"{service.name}.{m.name}",
            _inside(m.input_type, file.package),
            _inside(m.output_type, file.package),
            m.client_streaming,
            m.server_streaming,
        )
        for service in file.service
        for m in service.method
    }
    services = tuple(service.name for service in file.service)
    extensions = {e.name: _field(e, file.package, {}, ()) for e in file.extension}
    return Schema(file.package, messages, enums, services, methods, extensions)


def _collect(
    name: str,
    message: DescriptorProto,
    package: str,
    messages: dict[str, Message],
    enums: dict[str, Enumeration],
) -> None:
    entries = {
        f".{package}.{name}.{n.name}" if package else f".{name}.{n.name}": n
        for n in message.nested_type
        if n.options.map_entry
    }
    oneofs = tuple(o.name for o in message.oneof_decl)
    fields = {f.name: _field(f, package, entries, oneofs) for f in message.field}
    ranges = frozenset((r.start, r.end - 1) for r in message.reserved_range)
    messages[name] = Message(name, fields, Reserved(ranges, frozenset(message.reserved_name)))
    for enum in message.enum_type:
        enums[f"{name}.{enum.name}"] = _enumeration(f"{name}.{enum.name}", enum)
    for nested in message.nested_type:
        if not nested.options.map_entry:
            _collect(f"{name}.{nested.name}", nested, package, messages, enums)


def _enumeration(name: str, enum: EnumDescriptorProto) -> Enumeration:
    ranges = frozenset((r.start, r.end) for r in enum.reserved_range)
    values = {v.name: v.number for v in enum.value}
    return Enumeration(name, values, Reserved(ranges, frozenset(enum.reserved_name)))


def _field(
    f: FieldDescriptorProto,
    package: str,
    entries: Mapping[str, DescriptorProto],
    oneofs: Iterable[str],
) -> Field:
    entry = entries.get(f.type_name)
    repeated = f.label == FieldDescriptorProto.LABEL_REPEATED and entry is None
    if entry is not None:
        key, value = (_type(e, package) for e in entry.field)
        type_ = f"map<{key}, {value}>"
    else:
        type_ = _type(f, package)
    within = tuple(oneofs)[f.oneof_index] if f.HasField("oneof_index") else ""
    cardinality = "repeated" if repeated else "optional" if f.proto3_optional else ""
    return Field(
        f.name,
        f.number,
        type_,
        cardinality,
        "" if f.proto3_optional else within,
        f.json_name or json_name(f.name),
        _options_sent(f),
    )


def _options_sent(f: FieldDescriptorProto) -> str:
    """Return the options of a field; those defined by the SI by number."""
    unknown: Any = UnknownFieldSet(f.options)  # the stubs do not allow iteration
    own = (f"({one.field_number}): {one.data}" for one in unknown)
    return " ".join([*str(f.options).split(), *own])


def _type(f: FieldDescriptorProto, package: str) -> str:
    return _inside(f.type_name, package) if f.type in _REFERENCES else _SCALARS[f.type]


def _inside(type_name: str, package: str) -> str:
    return type_name.removeprefix(".").removeprefix(f"{package}." if package else "")


def json_name(name: str) -> str:
    """Return the JSON name of a field whose declaration has none."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)
