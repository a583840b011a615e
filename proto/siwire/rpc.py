"""The RPC methods of a revision, read from its descriptor, for clients and servers.

The method paths are ``/si.v1.Scheduler/...`` in every revision, so a caller has to know the
revision of the other side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from siwire.revisions import Revision

SERVICE = "si.v1.Scheduler"

Serializer = Callable[[Any], bytes]
Deserializer = Callable[[bytes], Any]


@dataclass(frozen=True)
class Method:
    """One method of a service: its path and its messages."""

    name: str
    path: str
    client_streaming: bool
    server_streaming: bool
    request: type[Message]
    response: type[Message]

    @property
    def kind(self) -> str:
        """Return ``unary_unary``, ``stream_stream`` and so on, as gRPC spells it."""
        client = "stream" if self.client_streaming else "unary"
        server = "stream" if self.server_streaming else "unary"
        return f"{client}_{server}"


def methods_of(service: ServiceDescriptor) -> Mapping[str, Method]:
    """Return every method of ``service`` by name, in the order of the specification."""
    return {
        m.name: Method(
            name=m.name,
            path=f"/{service.full_name}/{m.name}",
            client_streaming=m.client_streaming,
            server_streaming=m.server_streaming,
            request=message_factory.GetMessageClass(m.input_type),
            response=message_factory.GetMessageClass(m.output_type),
        )
        for m in service.methods
    }


def methods(revision: Revision) -> Mapping[str, Method]:
    """Return the methods of ``si.v1.Scheduler`` in this revision."""
    return methods_of(revision.si.DESCRIPTOR.services_by_name["Scheduler"])


def callable_for(
    channel: grpc.Channel | grpc.aio.Channel,
    method: Method,
    *,
    serializer: Serializer | None = None,
    deserializer: Deserializer | None = None,
) -> Any:
    """Return a gRPC multi-callable for ``method``; pass identity functions for raw bytes."""
    make = getattr(channel, method.kind)
    return make(
        method.path,
        request_serializer=serializer or method.request.SerializeToString,
        response_deserializer=deserializer or method.response.FromString,
    )


def handlers(
    service: ServiceDescriptor, behaviours: Mapping[str, Callable[..., Any]]
) -> grpc.GenericRpcHandler:
    """Return the handlers with which a gRPC server (threaded or aio) serves ``service``.

    ``behaviours`` go by method name; gRPC answers UNIMPLEMENTED for a method without one. Their
    answers may already be serialized. Raises LookupError for a name the service does not have.
    """
    table: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
    known = methods_of(service)
    for name, behaviour in behaviours.items():
        if name not in known:
            raise LookupError(f"{service.full_name} has no method {name}.")
        method = known[name]
        make = getattr(grpc, f"{method.kind}_rpc_method_handler")
        table[name] = make(
            behaviour,
            request_deserializer=method.request.FromString,
            response_serializer=_serializer(method.response),
        )
    return grpc.method_handlers_generic_handler(service.full_name, table)


def _serializer(kind: type[Message]) -> Serializer:
    serialize: Serializer = kind.SerializeToString

    def as_bytes(answer: Any) -> bytes:
        return answer if isinstance(answer, bytes) else serialize(answer)

    return as_bytes


def scheduler_handlers(
    revision: Revision, behaviours: Mapping[str, Callable[..., Any]]
) -> grpc.GenericRpcHandler:
    """Return ``handlers`` for ``si.v1.Scheduler`` of this revision."""
    return handlers(revision.si.DESCRIPTOR.services_by_name["Scheduler"], behaviours)


def full_names(revision: Revision) -> list[str]:
    """Return the names of the services to list in server reflection."""
    return [s.full_name for s in revision.si.DESCRIPTOR.services_by_name.values()]
