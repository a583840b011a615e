"""gRPC server: scheduler, extension, health and reflection on one address."""

import asyncio
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from sireference.clock import Clock, SystemClock
from sireference.codec import Codec
from sireference.core.model import Settings
from sireference.shell import reflection
from sireference.shell.addresses import UNIX, CannotListenError, check
from sireference.shell.engine import Engine
from sireference.shell.extension.callback_service import CallbackService
from sireference.shell.extension.service import SERVICE, ExtensionService
from sireference.shell.interceptor import CallInterceptor
from sireference.shell.options import DEFAULT_ACCESS, DEFAULT_LIMITS, Access, Limits, keepalive
from sireference.shell.service import SchedulerService
from sireference.shell.stream_limit import StreamLimit
from sireference.shell.streams import Ending, StreamTable
from sireference.shell.unexpected import in_event_loop

_GOING_DOWN: Final = Ending(grpc.StatusCode.UNAVAILABLE, "the scheduler is shutting down")


class Server:
    """A running reference scheduler; ``address`` is where it listens."""

    def __init__(
        self,
        codec: Codec,
        settings: Settings,
        clock: Clock | None = None,
        limits: Limits = DEFAULT_LIMITS,
        access: Access = DEFAULT_ACCESS,
    ) -> None:
        revision = codec.revision
        self._streams = StreamTable()
        self.engine = Engine(codec, settings, clock or SystemClock(), self._streams, limits)
        self._places = places = StreamLimit(limits.streams, limits.streams_per_rm)
        service = SchedulerService(codec, self.engine, self._streams, places, access)
        callbacks = CallbackService(self.engine, places, limits)
        extension = ExtensionService(self.engine, callbacks, access)
        self._names = (*rpc.full_names(revision), SERVICE.full_name)
        self._calls = CallInterceptor(frozenset(self._names), access.permissions)
        self._server = grpc.aio.server(
            interceptors=(self._calls,),
            options=(
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", limits.message_bytes),
                *keepalive(settings.connection_loss_timeout),
            ),
        )
        self._server.add_generic_rpc_handlers(
            (
                rpc.scheduler_handlers(revision, service.behaviours()),
                rpc.handlers(SERVICE, extension.behaviours()),
            )
        )
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.serve(
            self._server,
            (*self._names, health.SERVICE_NAME),
            (revision.si.POOL, ext.DESCRIPTOR.pool),
        )
        self.address = ""

    async def start(self, listen: str, credentials: grpc.ServerCredentials | None = None) -> None:
        """Listen on ``listen``, with TLS if there are ``credentials``.

        ``listen`` is ``host:port`` (port 0 takes a free one) or ``unix:path``. Raises
        CannotListenError if that is impossible, for example if another server listens there.
        """
        asyncio.get_running_loop().set_exception_handler(in_event_loop)
        check(listen)
        try:
            if credentials is None:
                port = self._server.add_insecure_port(listen)
            else:
                port = self._server.add_secure_port(listen, credentials)
        except RuntimeError:
            problem = "gRPC failed; set GRPC_VERBOSITY=debug for details"
            raise CannotListenError(listen, problem) from None
        await self._server.start()
        for name in (health.OVERALL_HEALTH, *self._names):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self.engine.is_serving = True
        is_path = listen.startswith(UNIX)
        self.address = listen if is_path else f"{listen.rpartition(':')[0]}:{port}"

    async def stop(self) -> None:
        """End every stream with a reason, then stop listening."""
        self.engine.is_serving = False
        await self._health.enter_graceful_shutdown()
        for stream in self._streams.all():
            stream.end(_GOING_DOWN)
        for rm_stream in self.engine.callbacks.all():
            rm_stream.end(_GOING_DOWN)
        await self._server.stop(grace=0.5)
        await self._calls.ended()
        self.engine.stop()
