"""The messages of 2021-02 as lax as bytes are: what its schema forbids can be said and seen.

Names, numbers and everything else are those of the text, with two exceptions. Both members of the
priority can be there at once, which no message may have (SI-WIRE-012). And the operator of an
affinity expression is the enum that stands beside it unused, where the text types the field as the
message around it (docs/decisions/0001-wire-as-written.md): an operator goes out as a number.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any, Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorProto as File
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from siwire import Revision

_PRIORITY: Final = "Priority"
_EXPRESSION: Final = "AffinityTargetExpression"
_OPERATORS: Final = ".si.v1.AffinityTargetExpression.AffinityTargetOperator"


@cache
def lax_messages(revision: Revision) -> Any:
    """The message classes of ``revision`` by name, each as an attribute."""
    file = File()
    revision.si.DESCRIPTOR.CopyToProto(file)
    for message in file.message_type:
        if message.name == _PRIORITY:
            _separate(message)
        if message.name == _EXPRESSION:
            _correct(message)
    pool = DescriptorPool()
    for dependency in revision.si.DESCRIPTOR.dependencies:
        imported = File()
        dependency.CopyToProto(imported)
        pool.Add(imported)
    pool.Add(file)
    described = pool.FindFileByName(file.name).message_types_by_name
    return SimpleNamespace(**{name: GetMessageClass(one) for name, one in described.items()})


def _separate(message: DescriptorProto) -> None:
    """Each member of its oneof becomes an optional field of its own."""
    del message.oneof_decl[:]
    for place, field in enumerate(message.field):
        message.oneof_decl.add(name=f"_{field.name}")
        field.oneof_index = place
        field.proto3_optional = True


def _correct(message: DescriptorProto) -> None:
    for field in message.field:
        if field.name == "targetOperator":
            field.type = FieldDescriptorProto.TYPE_ENUM
            field.type_name = _OPERATORS
