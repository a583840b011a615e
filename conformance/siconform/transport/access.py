"""How a scheduler is reached: with TLS or without, and what metadata goes with every call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc

from siconform.transport.channels import OPTIONS

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM, which were read once and found fit (``tls_files``).

    Without ``authorities`` those count that gRPC comes with. ``name`` is what the scheduler's
    certificate has to be for, "" for the host of its address.
    """

    authorities: Path | None = None
    certificate: Path | None = None  # the RM's, with its key
    key: Path | None = None
    name: str = ""

    def credentials(self) -> grpc.ChannelCredentials:
        """As gRPC takes them."""
        return grpc.ssl_channel_credentials(
            *map(_data, (self.authorities, self.key, self.certificate))
        )


@dataclass(frozen=True, slots=True)
class Access:
    """``metadata`` may hold secrets, and is shown nowhere."""

    tls: Tls | None = None
    metadata: Metadata = field(default=(), repr=False)

    def channel(self, address: str) -> grpc.Channel:
        """A channel of its own to HOST:PORT; every call and stream on it carries the metadata."""
        channel = self._channel(address)
        if not self.metadata:
            return channel
        return grpc.intercept_channel(channel, _Carries(self.metadata))

    def _channel(self, address: str) -> grpc.Channel:
        if self.tls is None:
            return grpc.insecure_channel(address, options=OPTIONS)
        name = self.tls.name
        named = (("grpc.ssl_target_name_override", name),) if name else ()
        return grpc.secure_channel(address, self.tls.credentials(), options=(*OPTIONS, *named))


OPEN: Final = Access()
"""Neither TLS nor metadata."""


@dataclass(frozen=True, slots=True)
class _Call(grpc.ClientCallDetails):
    """A call that is about to be made, as gRPC wants it told."""

    method: str
    timeout: float | None
    metadata: Metadata
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _Carries(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Adds the metadata to calls of the two kinds there are: of the SI, extension, reflection."""

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


def _data(file: Path | None) -> bytes | None:
    return None if file is None else file.read_bytes()
