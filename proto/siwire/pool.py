"""Loading of a revision's descriptor set into a separate descriptor pool.

All revisions use the package ``si.v1`` and the file ``si.proto``. In protobuf's default pool the
second one would collide with the first; in separate pools they coexist, and protobuf refuses a
message of one in place of another (TypeError).
"""

from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation, enum_type_wrapper

SI_FILE = "si.proto"


def load(package: str, file_name: str = SI_FILE, data_name: str = "si.binpb") -> dict[str, Any]:
    """Return the contents of a generated module: messages, enums, extensions, DESCRIPTOR, POOL.

    ``package`` holds the serialized FileDescriptorSet ``data_name``, imports first. Raises
    RuntimeError where protobuf runs in pure Python: it is 60 to 180 times slower, too slow to test
    deadlines fairly.
    """
    if api_implementation.Type() == "python":
        message = (
            "protobuf runs in its pure-Python implementation, which is too slow here: "
            "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION or install a protobuf wheel"
        )
        raise RuntimeError(message)
    return contents(resources.files(package).joinpath(data_name).read_bytes(), file_name)


def contents(data: bytes, file_name: str = SI_FILE) -> dict[str, Any]:
    """Return the same from a serialized FileDescriptorSet, imports first, in a new pool.

    Raises DecodeError for invalid bytes, TypeError where its files do not fit together.
    """
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
    descriptor = pool.FindFileByName(file_name)
    found: dict[str, Any] = {"DESCRIPTOR": descriptor, "POOL": pool}
    for name, message_type in descriptor.message_types_by_name.items():
        found[name] = message_factory.GetMessageClass(message_type)
    for name, enum in descriptor.enum_types_by_name.items():
        found[name] = enum_type_wrapper.EnumTypeWrapper(enum)
        found.update({value.name: value.number for value in enum.values})
    for name, extension in descriptor.extensions_by_name.items():
        found[name] = extension
        found[f"{name.upper()}_FIELD_NUMBER"] = extension.number
    return found
