"""Server reflection for the served services and their types, in v1 and v1alpha.

The library has v1alpha. v1 uses the same messages under other names, so it is served by the same
code with its own description.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2  # type: ignore[import-untyped]  # it has no types

_METHOD: Final = "ServerReflectionInfo"
_ALPHA: Final = "grpc.reflection.v1alpha"
_V1: Final = "grpc.reflection.v1"
_FILE_OF_V1: Final = "grpc/reflection/v1/reflection.proto"
NAMES: Final = tuple(f"{package}.ServerReflection" for package in (_V1, _ALPHA))


def serve(
    server: grpc.aio.Server,
    services: Iterable[str],
    pools: Iterable[descriptor_pool.DescriptorPool],
) -> None:
    """Describe ``services``, and reflection itself, from ``pools`` and gRPC's own."""
    known = Pools(*pools, _pool_of_v1())
    answering = reflection.aio.ReflectionServicer((*services, *NAMES), pool=known)
    method = grpc.stream_stream_rpc_method_handler(
        answering.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(name, {_METHOD: method}) for name in NAMES)
    )


def _pool_of_v1() -> descriptor_pool.DescriptorPool:
    """Return a pool with the description of v1: that of v1alpha in the package of v1."""
    file = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    file.name, file.package = _FILE_OF_V1, _V1
    file.ClearField("options")  # packages of other languages, which differ in v1
    for message in file.message_type:
        for field in message.field:
            if field.type_name:
                field.type_name = _in_v1(field.type_name)
    for service in file.service:
        for method in service.method:
            method.input_type = _in_v1(method.input_type)
            method.output_type = _in_v1(method.output_type)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _in_v1(name: str) -> str:
    return name.replace(f".{_ALPHA}.", f".{_V1}.")


class Pools:
    """The pools of the served services, followed by gRPC's own."""

    def __init__(self, *own: descriptor_pool.DescriptorPool) -> None:
        self._own: tuple[Any, ...] = own
        self._shared: Any = descriptor_pool.Default()

    def __getattr__(self, name: str) -> Any:
        look_ups = [getattr(pool, name) for pool in self._own]
        last_resort = getattr(self._shared, name)

        def look_up(*arguments: Any) -> Any:
            for one in look_ups:
                with suppress(KeyError):
                    return one(*arguments)
            return last_resort(*arguments)

        return look_up
