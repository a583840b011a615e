"""The scheduler over gRPC: threads, one lock, and a table for each RM."""

import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from siwire import REVISIONS
from siwire.r2024_10 import si_pb2
from siwire.rpc import scheduler_handlers

from mutation.by_key import handlers, rounds
from mutation.by_key.outbox import ALLOCATION, APPLICATION, NODE, Outbox
from mutation.by_key.queues import ConfigurationError, read
from mutation.by_key.table import Table

_TIMERS: Final = {"placeholder": 10.0, "waiting": 3.0, "connection_loss": 3.0}
_BEAT: Final = 0.05  # how often outgoing items are looked for
_SETTLING: Final = 0.1  # how long after its end a stream may turn out to be broken

Context = grpc.ServicerContext


@dataclass(frozen=True)
class Ending:
    """How a stream ends."""

    status: grpc.StatusCode
    why: str = ""


@dataclass(eq=False)
class Client:
    """An RM and its open streams."""

    table: Table
    streams: "dict[str, queue.SimpleQueue[Any]]" = field(default_factory=dict)
    broken: bool = False
    lost_at: float | None = None


class Service:
    """Serves any number of RMs."""

    def __init__(self, strategies: frozenset[str], interval: float) -> None:
        """Take the seconds between rounds as ``interval``."""
        self._strategies = strategies
        self._interval = interval
        self._lock = threading.Lock()
        self._clients: dict[str, Client] = {}

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler for a gRPC server."""
        behaviours = {name: self._stream(name) for name in (ALLOCATION, APPLICATION, NODE)}
        calls = {"RegisterResourceManager": self._register, **behaviours}
        return scheduler_handlers(REVISIONS["2024-10"], calls)

    def go_on(self, ends: threading.Event) -> None:
        """Run rounds and deliver items until the service ends."""
        following = time.monotonic()
        while not ends.wait(_BEAT):
            with self._lock:
                if time.monotonic() >= following:
                    following = time.monotonic() + self._interval
                    for client in list(self._clients.values()):
                        self._round(client)
                for client in self._clients.values():
                    _flush(client)

    def _round(self, client: Client) -> None:
        table = client.table
        if client.lost_at is None:
            rounds.look_at_the_clock(table)
            rounds.go(table)
        elif time.monotonic() - client.lost_at >= table.timers["connection_loss"]:
            del self._clients[table.rm]

    def _register(
        self, request: si_pb2.RegisterResourceManagerRequest, context: Context
    ) -> si_pb2.RegisterResourceManagerResponse:
        try:
            partitions = read(request.config)
            timers = self._timers(request)
        except (ConfigurationError, ValueError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        if not request.rmID:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "an RM needs an id")
        table = Table(request.rmID, partitions, self._strategies, timers, Outbox(self._strategies))
        with self._lock:
            former = self._clients.pop(request.rmID, None)
            for stream in former.streams.values() if former else ():
                stream.put(Ending(grpc.StatusCode.ABORTED, "the RM registered again"))
            self._clients[request.rmID] = Client(table)
        return si_pb2.RegisterResourceManagerResponse()

    def _timers(self, request: si_pb2.RegisterResourceManagerRequest) -> dict[str, float]:
        if "own-timers" in self._strategies:
            return dict(_TIMERS)
        proposed = request.extraConfig
        return {k: float(proposed.get(f"siconform.timers.{k}", v)) for k, v in _TIMERS.items()}

    def _stream(self, name: str) -> Any:
        def serve(requests: Iterator[handlers.Request], context: Context) -> Iterator[Any]:
            out: queue.SimpleQueue[Any] = queue.SimpleQueue()
            context.add_callback(lambda: out.put(None))
            threading.Thread(target=self._listen, args=(name, out, requests), daemon=True).start()
            ended = False
            try:
                while (sent := out.get()) is not None:
                    if isinstance(sent, Ending):
                        ended = True
                        break
                    yield sent
            finally:
                self._leaves(name, out, broken=not ended)
            if ended and sent.status is not grpc.StatusCode.OK:
                context.abort(sent.status, sent.why)

        return serve

    def _listen(
        self, name: str, out: "queue.SimpleQueue[Any]", requests: Iterator[handlers.Request]
    ) -> None:
        try:
            client: Client | None = None
            for request in requests:
                with self._lock:
                    known = self._clients.get(request.rmID)
                    if known is None or (client is not None and known is not client):
                        out.put(_stranger(request, known))
                        return
                    if client is None:
                        client = known
                        _opens(client, name, out)
                    if client.streams.get(name) is not out:
                        return
                    handlers.observe(client.table, request)
                    _flush(client)
        except grpc.RpcError:
            return
        time.sleep(_SETTLING)
        out.put(Ending(grpc.StatusCode.OK))

    def _leaves(self, name: str, out: "queue.SimpleQueue[Any]", *, broken: bool) -> None:
        with self._lock:
            for client in list(self._clients.values()):
                if client.streams.get(name) is not out:
                    continue
                del client.streams[name]
                client.broken = client.broken or broken
                if client.streams:
                    continue
                if client.broken:
                    client.lost_at = time.monotonic()
                else:
                    del self._clients[client.table.rm]


def _stranger(request: handlers.Request, known: Client | None) -> Ending:
    if request.rmID and known is None:
        return Ending(grpc.StatusCode.UNAVAILABLE, f"{request.rmID} has to register")
    return Ending(grpc.StatusCode.FAILED_PRECONDITION, "a stream needs a registered RM")


def _opens(client: Client, name: str, out: "queue.SimpleQueue[Any]") -> None:
    former = client.streams.get(name)
    if former is not None:
        former.put(Ending(grpc.StatusCode.ABORTED, "there is another stream of this kind"))
    if not client.streams:
        client.broken = False
    client.streams[name] = out
    client.lost_at = None


def _flush(client: Client) -> None:
    for name, out in client.streams.items():
        for message in client.table.news.due(name):
            out.put(message)
