"""Channels, with or without TLS, that add the same metadata to every call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc

from siconform.transport.channels import OPTIONS

Metadata = tuple[tuple[str, str | bytes], ...]


def opened(
    address: str,
    metadata: Metadata,
    credentials: grpc.ChannelCredentials | None = None,
    name: str = "",
) -> grpc.Channel:
    """Open a channel to HOST:PORT; ``name`` is the expected certificate name, "" the host."""
    channel = _channel(address, credentials, name)
    return grpc.intercept_channel(channel, _Carries(metadata)) if metadata else channel


def _channel(address: str, credentials: grpc.ChannelCredentials | None, name: str) -> grpc.Channel:
    if credentials is None:
        return grpc.insecure_channel(address, options=OPTIONS)
    named = (("grpc.ssl_target_name_override", name),) if name else ()
    return grpc.secure_channel(address, credentials, options=(*OPTIONS, *named))


@dataclass(frozen=True, slots=True)
class _Call(grpc.ClientCallDetails):
    """The details of a call, as gRPC expects them."""

    method: str
    timeout: float | None
    metadata: Metadata
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _Carries(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Adds the metadata to the two kinds of calls used: of the SI, extension and reflection."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata

    def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        return continuation(self._with(client_call_details), request)

    def intercept_stream_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        return continuation(self._with(client_call_details), request_iterator)

    def _with(self, call: Any) -> _Call:
        return _Call(
            call.method,
            call.timeout,
            (*(call.metadata or ()), *self._metadata),
            call.credentials,
            call.wait_for_ready,
            call.compression,
        )
