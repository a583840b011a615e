"""Loads one revision's descriptor set into a descriptor pool of its own.

All revisions call themselves ``si.v1`` and their file ``si.proto``. In protobuf's default pool
the second one would collide with the first; in private pools they live side by side, and a
message of one never passes for a message of another (protobuf raises TypeError).
"""

from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation, enum_type_wrapper

SI_FILE = "si.proto"


def load(package: str, file_name: str = SI_FILE, data_name: str = "si.binpb") -> dict[str, Any]:
    """Contents of a generated module: messages, enums, values, extensions, DESCRIPTOR, POOL.

    ``package`` holds the serialized FileDescriptorSet ``data_name``, imports first. Raises
    RuntimeError where protobuf runs in pure Python: 60 to 180 times slower, too slow to judge
    a deadline fairly.
    """
    if api_implementation.Type() == "python":
        message = (
            "protobuf runs in its pure-Python implementation, which is too slow here: "
            "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION or install a protobuf wheel"
        )
        raise RuntimeError(message)
    data = resources.files(package).joinpath(data_name).read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
    descriptor = pool.FindFileByName(file_name)
    contents: dict[str, Any] = {"DESCRIPTOR": descriptor, "POOL": pool}
    for name, message_type in descriptor.message_types_by_name.items():
        contents[name] = message_factory.GetMessageClass(message_type)
    for name, enum in descriptor.enum_types_by_name.items():
        contents[name] = enum_type_wrapper.EnumTypeWrapper(enum)
        contents.update({value.name: value.number for value in enum.values})
    for name, extension in descriptor.extensions_by_name.items():
        contents[name] = extension
        contents[f"{name.upper()}_FIELD_NUMBER"] = extension.number
    return contents
