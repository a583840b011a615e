"""Mutants of the types that server reflection describes."""

from collections.abc import Callable
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from sireference.shell import reflection
from siwire import find_revision

from mutation.inside import Patch
from mutation.main_revision import NAME
from mutation.mutant import mutant

_BEFORE: Final = "2023-12"
_OLDEST: Final = "2021-02"


def describes(
    patch: Patch, change: Callable[[FileDescriptorProto], None], revision: str = NAME
) -> None:
    """Let reflection describe another file of the SI than the one served."""
    pool = descriptor_pool.DescriptorPool()
    for name, file in (
        ("google/protobuf/descriptor.proto", descriptor_pb2.DESCRIPTOR),
        ("si.proto", find_revision(revision).si.DESCRIPTOR),
    ):
        described = FileDescriptorProto()
        file.CopyToProto(described)
        if name == "si.proto":
            change(described)
        pool.Add(described)

    def pools(original: Callable[..., None], self: Any, _si: Any, *others: Any) -> None:
        patch.fires()
        original(self, pool, *others)

    patch.instead_of(reflection.Pools.__init__, pools)


def _message(file: FileDescriptorProto, name: str) -> DescriptorProto:
    return next(message for message in file.message_type if message.name == name)


@mutant("method-not-described", "A stream is missing in the service.", breaks=("SI-WIRE-003",))
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        methods = file.service[0].method
        del methods[[method.name for method in methods].index("UpdateApplication")]

    describes(patch, change)


@mutant("stream-is-unary", "A stream takes one request only.", breaks=("SI-WIRE-003",))
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        for method in file.service[0].method:
            if method.name == "UpdateNode":
                method.client_streaming = False

    describes(patch, change)


@mutant(
    "one-stream-is-unary",
    "The stream takes one request only.",
    breaks=("SI-WIRE-002",),
    revision=_OLDEST,
)
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        for method in file.service[0].method:
            method.client_streaming = False

    describes(patch, change, _OLDEST)


@mutant("reserved-name-described", "A reserved field is used.", breaks=("SI-WIRE-008",))
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        allocation = _message(file, "Allocation")
        del allocation.reserved_range[:]
        del allocation.reserved_name[:]
        field = allocation.field.add(name="UUID", number=3, json_name="UUID")
        field.type, field.label = field.TYPE_STRING, field.LABEL_OPTIONAL

    describes(patch, change)


@mutant(
    "names-made-regular",
    "A field has a regular JSON name.",
    breaks=("SI-WIRE-014",),
    revision=_BEFORE,
)
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        for field in _message(file, "AllocationAsk").field:
            if field.name == "Originator":
                field.json_name = "originator"

    describes(patch, change, _BEFORE)


@mutant("names-made-irregular", "A field has an odd JSON name.", breaks=("SI-WIRE-014",))
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        for field in _message(file, "Allocation").field:
            if field.name == "originator":
                field.json_name = "Originator"

    describes(patch, change)


@mutant("termination-types-nested", "TerminationType is nested.", breaks=("SI-WIRE-015",))
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        (kind,) = (enum for enum in file.enum_type if enum.name == "TerminationType")
        release = _message(file, "AllocationRelease")
        release.enum_type.add().CopyFrom(kind)
        file.enum_type.remove(kind)
        for message in file.message_type:
            for field in message.field:
                if field.type_name == ".si.v1.TerminationType":
                    field.type_name = ".si.v1.AllocationRelease.TerminationType"

    describes(patch, change)
