"""Every revision's descriptor matches the schema tables exactly."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    MethodDescriptor,
)
from siwire import REVISIONS, Revision

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "schema"
SCALARS = {
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_STRING: "string",
}

each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)


@cache
def table(revision: Revision) -> Mapping[str, Any]:
    text = (GOLDEN / f"{revision}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def descriptor_of(revision: Revision) -> FileDescriptor:
    file = revision.si.DESCRIPTOR
    assert isinstance(file, FileDescriptor)
    return file


def messages_in(scope: FileDescriptor | Descriptor) -> Iterator[Descriptor]:
    """Return all messages, nested ones too, without protobuf's map entries."""
    if isinstance(scope, FileDescriptor):
        messages = list(scope.message_types_by_name.values())
    else:
        messages = list(scope.nested_types)
    for message in messages:
        if not message.GetOptions().map_entry:
            yield message
            yield from messages_in(message)


def enums_in(file: FileDescriptor) -> Iterator[EnumDescriptor]:
    yield from file.enum_types_by_name.values()
    for message in messages_in(file):
        yield from message.enum_types


def short(described: Descriptor | EnumDescriptor) -> str:
    return described.full_name.removeprefix("si.v1.")


def type_of(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return short(field.enum_type)
    if field.message_type is None:
        return SCALARS[field.type]
    if field.message_type.GetOptions().map_entry:
        entry = field.message_type.fields_by_name
        return f"map<{type_of(entry['key'])}, {type_of(entry['value'])}>"
    return short(field.message_type)


def cell(field: FieldDescriptor) -> str:
    """Return the field in the notation of the tables: "number type (oneof name)"."""
    kind = type_of(field)
    label = "repeated " if field.is_repeated and not kind.startswith("map<") else ""
    member = f" (oneof {field.containing_oneof.name})" if field.containing_oneof else ""
    return f"{field.number} {label}{kind}{member}"


def call(method: MethodDescriptor) -> str:
    request = ("stream " if method.client_streaming else "") + short(method.input_type)
    response = ("stream " if method.server_streaming else "") + short(method.output_type)
    return f"{request} -> {response}"


def proto_of(message: Descriptor) -> descriptor_pb2.DescriptorProto:
    proto = descriptor_pb2.DescriptorProto()
    message.CopyToProto(proto)
    return proto


def enum_proto_of(enum: EnumDescriptor) -> descriptor_pb2.EnumDescriptorProto:
    proto = descriptor_pb2.EnumDescriptorProto()
    enum.CopyToProto(proto)
    return proto


@each_revision
def test_file_is_proto3_in_package_si_v1_with_its_go_package(revision: Revision) -> None:
    proto = descriptor_pb2.FileDescriptorProto()
    descriptor_of(revision).CopyToProto(proto)

    sent = (proto.syntax, proto.package, proto.options.go_package)

    golden = table(revision)
    assert sent == (golden["syntax"], golden["package"], golden["go_package"])


@each_revision
def test_si_secret_extends_field_options_under_its_number(revision: Revision) -> None:
    extensions = descriptor_of(revision).extensions_by_name

    assert list(extensions) == ["si_secret"]
    assert cell(extensions["si_secret"]) == table(revision)["option_si_secret"]
    extended = extensions["si_secret"].containing_type
    assert extended is not None
    assert extended.full_name == "google.protobuf.FieldOptions"


@each_revision
def test_no_field_has_the_secret_or_another_option(revision: Revision) -> None:
    marked = [
        field.full_name
        for message in messages_in(descriptor_of(revision))
        for field in message.fields
        if field.GetOptions().SerializeToString()
    ]

    assert marked == []


@each_revision
def test_scheduler_is_the_only_service_and_has_the_methods_of_the_table(revision: Revision) -> None:
    services = descriptor_of(revision).services_by_name

    assert list(services) == ["Scheduler"]
    sent = {method.name: call(method) for method in services["Scheduler"].methods}
    assert sent == table(revision)["methods"]


# requirement: SI-WIRE-006
@each_revision
def test_messages_and_fields_are_those_of_the_table(revision: Revision) -> None:
    sent = {
        short(message): {field.name: cell(field) for field in message.fields}
        for message in messages_in(descriptor_of(revision))
    }

    assert sent == table(revision)["messages"]


@each_revision
def test_no_oneof_is_empty_or_synthetic(revision: Revision) -> None:
    oneofs = {
        (short(message), oneof.name)
        for message in messages_in(descriptor_of(revision))
        for oneof in message.oneofs
    }
    in_table = {
        (message, text.partition("(oneof ")[2].rstrip(")"))
        for message, fields in table(revision)["messages"].items()
        for text in fields.values()
        if "(oneof " in text
    }

    assert oneofs == in_table


# requirement: SI-WIRE-008
@each_revision
def test_reserved_numbers_and_names_are_those_of_the_table(revision: Revision) -> None:
    sent = {}
    for message in messages_in(descriptor_of(revision)):
        proto = proto_of(message)
        numbers = [n for span in proto.reserved_range for n in range(span.start, span.end)]
        if numbers or proto.reserved_name:
            sent[short(message)] = {
                "numbers": sorted(numbers),
                "names": sorted(proto.reserved_name),
            }
    for enum in enums_in(descriptor_of(revision)):
        values = enum_proto_of(enum)
        spans = [range(span.start, span.end + 1) for span in values.reserved_range]  # closed
        if spans or values.reserved_name:
            sent[short(enum)] = {
                "numbers": sorted(number for span in spans for number in span),
                "names": sorted(values.reserved_name),
            }

    assert sent == table(revision)["reserved"]


# requirement: SI-WIRE-015
@each_revision
def test_enums_and_their_values_are_those_of_the_table(revision: Revision) -> None:
    sent = {
        short(enum): {value.name: value.number for value in enum.values}
        for enum in enums_in(descriptor_of(revision))
    }

    assert sent == table(revision)["enums"]


@each_revision
def test_no_enum_has_two_names_for_one_number(revision: Revision) -> None:
    for enum in enums_in(descriptor_of(revision)):
        assert not enum_proto_of(enum).options.allow_alias, enum.full_name


@each_revision
def test_table_has_the_specified_number_of_entries(revision: Revision) -> None:
    golden = table(revision)
    counted = {
        "methods": len(golden["methods"]),
        "messages": len(golden["messages"]),
        "fields": sum(map(len, golden["messages"].values())),
        "enums": len(golden["enums"]),
        "enum_values": sum(map(len, golden["enums"].values())),
    }

    assert counted == golden["counts"]


def test_every_revision_has_a_table_and_vice_versa() -> None:
    tables = {path.stem for path in GOLDEN.glob("*.yaml")} - {"constants"}

    assert tables == set(REVISIONS)
    for revision in REVISIONS.values():
        assert table(revision)["revision"] == revision.name
