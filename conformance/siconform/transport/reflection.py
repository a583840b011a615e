"""Server reflection: compares a scheduler's description of its service with the schema."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf.descriptor import Descriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from grpc_reflection.v1alpha import reflection_pb2  # type: ignore[import-untyped]  # it has no types
from siwire import REVISIONS, Revision, rpc

from siconform.outcomes import ConformanceFailure, NotForThisTarget

_PATHS: Final = tuple(
    f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    for version in ("v1", "v1alpha")
)
_UNDECLARED_GAPS: Final = {"Allocation": {4}}
"""Numbers neither declared nor reserved in any revision; the requirement names them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The streaming of one method."""

    client_streams: bool
    server_streams: bool


@dataclass(frozen=True)
class Description:
    """The service and its types, as the scheduler describes them."""

    revision: Revision
    methods: Mapping[str, Shape]
    messages: Mapping[str, DescriptorProto]  # by name inside the package: "NodeInfo"
    enums: Mapping[str, EnumDescriptorProto]  # likewise: "NodeInfo.ActionFromRM"

    def implemented(self) -> frozenset[str]:
        """Return the revisions whose service and messages match the description exactly."""
        return frozenset(
            revision.name for revision in REVISIONS.values() if self._is_the_service_of(revision)
        )

    def _is_the_service_of(self, revision: Revision) -> bool:
        service = revision.si.DESCRIPTOR.services_by_name[rpc.SERVICE.rpartition(".")[2]]
        return set(self.methods) == set(service.methods_by_name) and all(
            name in self.messages
            and {(field.number, field.name) for field in self.messages[name].field}
            == {(field.number, field.name) for field in message.fields}
            for name, message in _exchanged(service).items()
        )

    def has_the_methods(self, methods: Mapping[str, Shape]) -> None:
        """Check that the service has these methods with this streaming; more are allowed."""
        differences = [f"no method {name}" for name in methods if name not in self.methods]
        for name, shape in self.methods.items():
            if name in methods and shape != methods[name]:
                differences.append(f"{name} streams differently: {shape}")
        _none(differences, f"{', '.join(methods)}")

    def names_fields_as_the_text_does(self) -> None:
        """Check that fields have the proto and JSON names of their numbers in the schema."""
        differences = [
            f"{message}: {number} is {field.name}, in JSON {_json_name(field)}"
            for message, number, field in self._fields()
            if (text := self._text_field(message, number)) is not None
            and (text.name, text.json_name) != (field.name, _json_name(field))
        ]
        _none(differences, "every field under the name its number has in the schema")

    def uses_nothing_reserved(self) -> None:
        """Check that no field has a number or name that the schema reserves in its message."""
        differences = []
        for message, text in self._text_messages():
            reserved = DescriptorProto()
            text.CopyToProto(reserved)
            names = set(reserved.reserved_name)
            numbers = {n for r in reserved.reserved_range for n in range(r.start, r.end)}
            numbers |= _UNDECLARED_GAPS.get(message, set())
            differences += [
                f"{message}: {field.name} = {field.number}"
                for field in self.messages[message].field
                if field.number in numbers or field.name in names or _json_name(field) in names
            ]
        _none(differences, "no field with a reserved number or name")

    def places_enums_where_the_text_does(self) -> None:
        """Check that every enum of the schema has its full name, and its fields use it.

        Messages that are not described are skipped: those of callbacks are not part of the service.
        """
        differences = [
            f"there is no enum {name}" for name in self._text_enums() if name not in self.enums
        ]
        for message, number, field in self._fields():
            text = self._text_field(message, number)
            if text is not None and text.enum_type is not None:
                wanted = f".{text.enum_type.full_name}"
                if field.type_name != wanted:
                    differences.append(f"{message}.{field.name} is {field.type_name or 'no enum'}")
        _none(differences, "the enums of the schema, where it declares them")

    def _fields(self) -> Iterator[tuple[str, int, FieldDescriptorProto]]:
        for name, message in self.messages.items():
            for field in message.field:
                yield name, field.number, field

    def _text_messages(self) -> Iterator[tuple[str, Descriptor]]:
        """Yield the messages in both the schema and the description, including nested ones."""
        pool = self.revision.si.POOL
        for name in self.messages:
            try:
                yield name, pool.FindMessageTypeByName(f"si.v1.{name}")
            except KeyError:
                continue  # specific to the scheduler

    def _text_field(self, message: str, number: int) -> Any:
        try:
            text = self.revision.si.POOL.FindMessageTypeByName(f"si.v1.{message}")
        except KeyError:
            return None
        return text.fields_by_number.get(number)

    def _text_enums(self) -> Iterator[str]:
        file = self.revision.si.DESCRIPTOR
        yield from file.enum_types_by_name
        for message in file.message_types_by_name.values():
            if message.name in self.messages:
                yield from (f"{message.name}.{name}" for name in message.enum_types_by_name)


def describe(
    channel: grpc.Channel, revision: Revision, service: str, timeout: float
) -> Description | None:
    """Ask with both versions of the protocol; return None if neither is served.

    NotForThisTarget if reflection, which is optional, does not describe ``service``.
    """
    for path in _PATHS:
        try:
            files = list(_files(channel, path, service, timeout))
        except grpc.RpcError as error:
            code = error.code() if isinstance(error, grpc.Call) else None
            if code is not grpc.StatusCode.UNIMPLEMENTED:
                raise NotForThisTarget(f"the target's server reflection fails: {code}") from error
        else:
            return _description(revision, service, files)
    return None


def _files(
    channel: grpc.Channel, path: str, service: str, timeout: float
) -> Iterator[FileDescriptorProto]:
    """Yield the file of the service and all its imports."""
    call = channel.stream_stream(
        path,
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    wanted = [reflection_pb2.ServerReflectionRequest(file_containing_symbol=service)]
    seen: set[str] = set()
    while wanted:
        answers = call(iter([wanted.pop()]), timeout=timeout)
        for answer in answers:
            if not answer.HasField("file_descriptor_response"):
                raise NotForThisTarget(
                    f"the target's server reflection does not know {service}:"
                    f" {answer.error_response.error_message}"
                )
            for data in answer.file_descriptor_response.file_descriptor_proto:
                file = FileDescriptorProto.FromString(data)
                if file.name in seen:
                    continue
                seen.add(file.name)
                yield file
                wanted += [
                    reflection_pb2.ServerReflectionRequest(file_by_filename=name)
                    for name in file.dependency
                    if name not in seen and not name.startswith("google/protobuf/")
                ]


def _description(revision: Revision, service: str, files: list[FileDescriptorProto]) -> Description:
    package, _, name = service.rpartition(".")
    messages: dict[str, DescriptorProto] = {}
    enums: dict[str, EnumDescriptorProto] = {}
    methods: dict[str, Shape] = {}
    for file in (f for f in files if f.package == package):
        enums |= {e.name: e for e in file.enum_type}
        for message in file.message_type:
            messages |= dict(_nested("", message))
        for described in (s for s in file.service if s.name == name):
            methods = {
                m.name: Shape(m.client_streaming, m.server_streaming) for m in described.method
            }
    for path, message in messages.items():
        enums |= {f"{path}.{e.name}": e for e in message.enum_type}
    return Description(revision, methods, messages, enums)


def _nested(inside: str, message: DescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    path = f"{inside}{message.name}"
    yield path, message
    for inner in message.nested_type:
        yield from _nested(f"{path}.", inner)


def _exchanged(service: ServiceDescriptor) -> dict[str, Descriptor]:
    """Return the messages of its package that its methods use, at any depth, by name."""
    package = service.file.package
    found: dict[str, Descriptor] = {}
    left = [one for method in service.methods for one in (method.input_type, method.output_type)]
    while left:
        message = left.pop()
        name = message.full_name.removeprefix(f"{package}.")
        if name not in found and message.file.package == package:
            found[name] = message
            left += [field.message_type for field in message.fields if field.message_type]
    return found


def _json_name(field: FieldDescriptorProto) -> str:
    """Return the described JSON name, or the one by proto3's rule if it is omitted."""
    if field.json_name:
        return field.json_name
    head, *tail = field.name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def _none(differences: list[str], expected: str) -> None:
    if differences:
        more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
        raise ConformanceFailure(
            f"{differences[0]}{more}", expected=expected, happened="; ".join(differences)
        )
