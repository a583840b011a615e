"""Server reflection: what a scheduler says of its own service, held against its revision's text."""

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
"""Numbers no text declares and none reserves; the requirement about reserved numbers names them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How one method streams."""

    client_streams: bool
    server_streams: bool


@dataclass(frozen=True)
class Description:
    """The service and the types behind it as the scheduler describes them."""

    revision: Revision
    methods: Mapping[str, Shape]
    messages: Mapping[str, DescriptorProto]  # by name inside the package: "NodeInfo"
    enums: Mapping[str, EnumDescriptorProto]  # the same: "NodeInfo.ActionFromRM"

    def implemented(self) -> frozenset[str]:
        """Names of the revisions whose service, and all its messages, are described just so."""
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
        """The service has these methods, each streaming as given; it may have more."""
        differences = [f"no method {name}" for name in methods if name not in self.methods]
        for name, shape in self.methods.items():
            if name in methods and shape != methods[name]:
                differences.append(f"{name} streams otherwise: {shape}")
        _none(differences, f"{', '.join(methods)}")

    def names_fields_as_the_text_does(self) -> None:
        """Every number the text gives a field has that name, in proto and in JSON."""
        differences = [
            f"{message}: {number} is {field.name}, in JSON {_json_name(field)}"
            for message, number, field in self._fields()
            if (text := self._text_field(message, number)) is not None
            and (text.name, text.json_name) != (field.name, _json_name(field))
        ]
        _none(differences, "every field under the name the text gives its number")

    def uses_nothing_reserved(self) -> None:
        """No field has a number or a name that the text reserves in its message."""
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
        """Every enum of the text has its full name, and the fields of the text use it.

        What belongs to messages that are not described is not looked for: those of the callbacks
        are no part of the service.
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
        _none(differences, "the enums of the text, where it declares them")

    def _fields(self) -> Iterator[tuple[str, int, FieldDescriptorProto]]:
        for name, message in self.messages.items():
            for field in message.field:
                yield name, field.number, field

    def _text_messages(self) -> Iterator[tuple[str, Descriptor]]:
        """The messages both the text and the scheduler have, nested ones included."""
        pool = self.revision.si.POOL
        for name in self.messages:
            try:
                yield name, pool.FindMessageTypeByName(f"si.v1.{name}")
            except KeyError:
                continue  # the scheduler's own

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
    """Ask by both versions of the protocol; None where neither is served.

    NotForThisTarget if reflection, which nobody has to offer, does not describe ``service``.
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
    """The file of the service and all it imports."""
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
                    f"the target's server reflection knows no {service}:"
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
    """The messages of its package that go through its methods, by name, with all inside of them."""
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
    """As described, or by proto3's rule where the description leaves it out."""
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
