"""The gRPC server of the simulated scheduler: one for all tests of a run."""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Protocol

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from siconform.transport.channels import OPTIONS

_EXTENSION: Final = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
_REGISTERS: Final = "/RegisterResourceManager"
_CALLS: Final = 64  # open at a time, streams included
_UNSENT: Final = 0.2  # seconds for messages sent before the server stops
_TO_STOP: Final = 5.0


class ServedStream:
    """One open call of an RM, of raw bytes or of the extension's messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dropped = False  # with its connection, by the server
        self.half_closed = False  # by the RM, which can still be sent to
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended = threading.Event()

    @property
    def open(self) -> bool:
        """Whether neither side has ended it."""
        return not self._ended.is_set()

    def send(self, message: Any) -> None:
        """Queue one message; the transport sends it in order."""
        self._outgoing.put(message)

    def abort(self, status: grpc.StatusCode, details: str) -> None:
        """End it with a status, after what was queued before."""
        self._ended.set()
        self._outgoing.put((status, details))

    def end(self) -> None:
        """Note that the RM has cut it; nothing can be sent any more."""
        self._ended.set()
        self._outgoing.put(None)

    def outgoing(self, context: grpc.ServicerContext) -> Iterator[Any]:
        """Yield what is to be sent until the stream ends."""
        while (item := self._outgoing.get()) is not None:
            if isinstance(item, tuple):
                context.abort(*item)
            yield item


class Served(Protocol):
    """Handles what RMs send, on the threads of their calls."""

    def registers(self, data: bytes) -> bytes | tuple[grpc.StatusCode, str]:
        """Return the response to a registration, or the status that refuses it."""

    def received(self, stream: ServedStream, data: bytes) -> None:
        """Handle a message on an update stream."""

    def ended(self, stream: ServedStream, status: str) -> None:
        """Handle the end of an update stream by the RM: OK, or CANCELLED."""

    def describes(self) -> ext.Facets:
        """Return the facets of the extension."""

    def offered(self, stream: ServedStream, message: ext.FromRm) -> None:
        """Handle a message on a callback stream, first the offer."""


class SchedulerServer:
    """Serves si.v1.Scheduler, the extension's Describe and Callbacks, and health, without TLS.

    ``address`` is where it listens; port 0 takes a free one, which it keeps. ``unserved`` are the
    paths of other methods that an RM called, which are UNIMPLEMENTED.
    """

    def __init__(self, methods: Any, served: Served, listen: str = "127.0.0.1:0") -> None:
        self.address = listen
        self.unserved: list[str] = []
        self._methods = methods
        self._served = served
        self._server: grpc.Server | None = None
        self._streams: list[ServedStream] = []

    def starts(self) -> None:
        """Listen, on the same port as before; OSError if that is impossible."""
        server = grpc.server(
            ThreadPoolExecutor(_CALLS, "serves"), options=(("grpc.so_reuseport", 0), *OPTIONS[:2])
        )
        server.add_generic_rpc_handlers((self._scheduler(), self._extension()))
        servicer = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        for name in (health.OVERALL_HEALTH, rpc.SERVICE, _EXTENSION.full_name):
            servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
        server.add_generic_rpc_handlers((_Unserved(self.unserved),))
        try:
            port = server.add_insecure_port(self.address)
        except RuntimeError:
            raise OSError(f"cannot listen on {self.address}") from None
        self.address = f"{self.address.rpartition(':')[0]}:{port}"
        server.start()
        self._server = server

    def stops(self) -> None:
        """End all streams and connections, and listen no more."""
        if self._server is None:
            return
        for stream in self._streams:
            stream.dropped = True
        stopped = self._server.stop(grace=_UNSENT)
        for stream in self._streams:
            stream.end()
        stopped.wait(_TO_STOP)
        self._streams.clear()
        self._server = None

    def drops_connections(self) -> None:
        """Drop every connection and listen again at once."""
        self.stops()
        self.starts()

    def unserved_registration(self) -> str:
        """Return the path of a registration of another service that an RM called, or ""."""
        return next((one for one in self.unserved if one.endswith(_REGISTERS)), "")

    def _scheduler(self) -> grpc.GenericRpcHandler:
        handlers: dict[str, Any] = {
            name: grpc.stream_stream_rpc_method_handler(self._updates(name))
            if method.client_streaming
            else grpc.unary_unary_rpc_method_handler(self._registers)
            for name, method in self._methods.items()
        }
        return grpc.method_handlers_generic_handler(rpc.SERVICE, handlers)

    def _extension(self) -> grpc.GenericRpcHandler:
        behaviours = {
            "Describe": lambda _query, _context: self._served.describes(),
            "Callbacks": self._callbacks,
        }
        return rpc.handlers(_EXTENSION, behaviours)

    def _registers(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        answer = self._served.registers(data)
        if isinstance(answer, bytes):
            return answer
        return context.abort(*answer)

    def _updates(self, name: str) -> Callable[..., Iterator[bytes]]:
        def serve(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
            stream = self._opened(name, context)

            def listen() -> None:
                status = "CANCELLED"
                with suppress(grpc.RpcError):
                    for data in requests:
                        self._served.received(stream, data)
                    status = "OK"
                if not stream.dropped:
                    self._served.ended(stream, status)

            threading.Thread(target=listen, name=f"hears {name}", daemon=True).start()
            return stream.outgoing(context)

        return serve

    def _callbacks(
        self, sent: Iterator[ext.FromRm], context: grpc.ServicerContext
    ) -> Iterator[ext.ToRm]:
        stream = self._opened("Callbacks", context)
        context.send_initial_metadata(())

        def listen() -> None:
            with suppress(grpc.RpcError):
                for message in sent:
                    self._served.offered(stream, message)

        threading.Thread(target=listen, name="hears Callbacks", daemon=True).start()
        return stream.outgoing(context)

    def _opened(self, name: str, context: grpc.ServicerContext) -> ServedStream:
        stream = ServedStream(name)
        self._streams.append(stream)
        context.add_callback(stream.end)
        return stream


class _Unserved(grpc.GenericRpcHandler):
    """Notes the paths of methods that nothing serves."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> None:
        self._paths.append(handler_call_details.method)
