"""Server reflection, in both versions: services and their types."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc  # type: ignore[import-untyped]  # no types
from siwire import REVISIONS
from tests.wire import Wire, over_the_wire, served

V1 = "grpc.reflection.v1"
V1ALPHA = "grpc.reflection.v1alpha"
SERVED = {
    "si.v1.Scheduler",
    "siconform.ext.v1.SchedulerExtension",
    "grpc.health.v1.Health",
    f"{V1}.ServerReflection",
    f"{V1ALPHA}.ServerReflection",
}


async def described(wire: Wire, symbol: str) -> list[FileDescriptorProto]:
    """Return the files in which the server finds ``symbol``, by v1alpha."""
    stub = reflection_pb2_grpc.ServerReflectionStub(wire.channel)
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
    (answer,) = [one async for one in stub.ServerReflectionInfo(iter([request]))]
    return [
        FileDescriptorProto.FromString(file)
        for file in answer.file_descriptor_response.file_descriptor_proto
    ]


async def messages_of_v1(wire: Wire) -> tuple[Any, Any]:
    """Return request and response of v1, built only from the server's descriptors."""
    (file,) = await described(wire, f"{V1}.ServerReflection")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    (method,) = pool.FindServiceByName(f"{V1}.ServerReflection").methods
    assert method.full_name == f"{V1}.ServerReflection.ServerReflectionInfo"
    assert (method.client_streaming, method.server_streaming) == (True, True)
    request, response = map(
        message_factory.GetMessageClass, (method.input_type, method.output_type)
    )
    return request, response


async def asked(
    wire: Wire, package: str, request: Any, response: Any, *queries: dict[str, Any]
) -> list[Any]:
    """Return the answers of one call of the version in ``package``."""
    call = wire.channel.stream_stream(
        f"/{package}.ServerReflection/ServerReflectionInfo",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )

    async def requests() -> AsyncIterator[Any]:
        for query in queries:
            yield request(**query)

    return [answer async for answer in call(requests())]


@pytest.mark.parametrize("package", [V1, V1ALPHA])
async def test_scheduler_of_the_revision_is_listed(package: str) -> None:
    async with served() as wire:
        request: Any = reflection_pb2.ServerReflectionRequest
        response: Any = reflection_pb2.ServerReflectionResponse
        if package == V1:
            request, response = await messages_of_v1(wire)

        services, si, health, file, unknown, nothing = await asked(
            wire,
            package,
            request,
            response,
            {"list_services": ""},
            {"file_containing_symbol": "si.v1.Scheduler"},
            {"file_containing_symbol": "grpc.health.v1.Health"},
            {"file_by_filename": "google/protobuf/descriptor.proto"},
            {"file_containing_symbol": "unknown.Symbol", "host": "here"},
            {},
        )

        assert {one.name for one in services.list_services_response.service} == SERVED
        text = b"".join(si.file_descriptor_response.file_descriptor_proto)
        assert b"allocationKey" in text
        assert health.file_descriptor_response.file_descriptor_proto
        assert file.file_descriptor_response.file_descriptor_proto
        assert unknown.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
        assert unknown.original_request.host == "here"
        assert nothing.error_response.error_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]


@over_the_wire
async def test_v1_describes_itself_under_its_own_names(wire: Wire) -> None:
    (file,) = await described(wire, f"{V1}.ServerReflection")

    assert (file.name, file.package) == ("grpc/reflection/v1/reflection.proto", V1)
    assert V1ALPHA not in str(file)


@over_the_wire
async def test_servers_of_several_revisions_run_in_one_process(wire: Wire) -> None:
    async def shown(wire: Wire) -> bytes:
        (si, *_) = await described(wire, "si.v1.Scheduler")
        return si.SerializeToString()

    async with served(REVISIONS["2023-12"]) as older:
        assert await shown(older) != await shown(wire)
