"""The messages of 2021-02 without the constraints of the schema: anything encodable.

Names, numbers and the rest are those of the published schema, with two exceptions. Both members of
the priority oneof can be set, which no message may have (SI-WIRE-012). And the operator of an
affinity expression is the enum declared next to it but unused; the published schema gives the field
the type of the enclosing message (docs/decisions/0001-wire-as-written.md). So an operator is sent
as a number.
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
    """Return the message classes of ``revision``, as attributes by name."""
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
    """Make each member of its oneof a separate optional field."""
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
