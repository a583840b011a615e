"""The scheduler over gRPC: registrations, streams and the scheduling loop."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from siwire import REVISIONS
from siwire.r2023_12 import si_pb2
from siwire.rpc import scheduler_handlers

from mutation.independent import applications, asks, nodes, passes, recovery, releases, timers
from mutation.independent.outbox import ALLOCATION, APPLICATION, NODE, Outbox
from mutation.independent.queues import BadConfigurationError, partitions
from mutation.independent.state import RMState

_TIMERS: Final = {"placeholder": 10.0, "waiting": 3.0, "connection_loss": 3.0}
_FLUSH: Final = 0.03
_TICK: Final = 1.0
_SETTLING: Final = 0.05  # how long after its end a stream may still turn out to be broken

Request = si_pb2.AllocationRequest | si_pb2.ApplicationRequest | si_pb2.NodeRequest


@dataclass(frozen=True)
class Ending:
    """How a stream ends."""

    status: grpc.StatusCode
    why: str = ""


@dataclass(eq=False)
class Stream:
    """An open stream and its outgoing messages."""

    outgoing: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)


@dataclass(eq=False)
class Client:
    """A registered RM: its state and its open streams."""

    rm: RMState
    streams: dict[str, Stream] = field(default_factory=dict)
    broken: bool = False
    lost_since: float | None = None


class Service:
    """Serves any number of RMs, each with separate state."""

    def __init__(self, strategies: frozenset[str], interval: float) -> None:
        """Take the seconds between scheduling passes as ``interval``."""
        self._strategies = strategies
        self._beat = interval
        self._clients: dict[str, Client] = {}
        self._configurations: dict[str, str] = {}  # by policy group

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler for a gRPC server."""
        behaviours = {name: self._behaviour(name) for name in (ALLOCATION, APPLICATION, NODE)}
        return scheduler_handlers(
            REVISIONS["2023-12"], {"RegisterResourceManager": self._register, **behaviours}
        )

    async def go_on(self) -> None:
        """Run passes, timers and deliveries until cancelled."""
        await asyncio.gather(
            self._every(self._beat, self._pass),
            self._every(_TICK, self._tick),
            self._every(_FLUSH, self._flush_unless_batched),
        )

    async def _every(self, seconds: float, act: Any) -> None:
        while True:
            await asyncio.sleep(seconds)
            for client in list(self._clients.values()):
                client.rm.now = time.time()
                act(client)

    def _pass(self, client: Client) -> None:
        if client.lost_since is None:
            passes.run(client.rm)
        self._flush(client)

    def _tick(self, client: Client) -> None:
        lost, rm = client.lost_since, client.rm
        if lost is None:
            timers.tick(rm)
        elif rm.now - lost >= rm.timers["connection_loss"]:
            self._clients.pop(rm.name, None)

    def _flush_unless_batched(self, client: Client) -> None:
        if "batched" not in self._strategies:
            self._flush(client)

    def _flush(self, client: Client) -> None:
        for name, stream in client.streams.items():
            for message in client.rm.outbox.collect(name):
                stream.outgoing.put_nowait(message)

    async def _register(
        self,
        request: si_pb2.RegisterResourceManagerRequest,
        context: "grpc.aio.ServicerContext[Any, Any]",
    ) -> si_pb2.RegisterResourceManagerResponse:
        if not request.rmID:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "an RM needs an id")
        config = request.config or self._configurations.get(request.policyGroup, "")
        policy = "fair" if "fair-by-default" in self._strategies else ""
        try:
            found = partitions(config, policy)
            limits = self._timers(request)
        except BadConfigurationError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        self._configurations[request.policyGroup] = config
        outbox = Outbox(bare="bare" in self._strategies, merged="merged" in self._strategies)
        rm = RMState(request.rmID, found, self._strategies, limits, outbox, now=time.time())
        client = self._clients.setdefault(request.rmID, Client(rm))
        client.rm, client.lost_since = rm, None
        for stream in client.streams.values():
            _drop_news(stream.outgoing)
        return si_pb2.RegisterResourceManagerResponse()

    def _timers(self, request: si_pb2.RegisterResourceManagerRequest) -> dict[str, float]:
        if "own-timers" in self._strategies:
            return dict(_TIMERS)
        try:
            return {
                name: float(request.extraConfig.get(f"siconform.timers.{name}", usual))
                for name, usual in _TIMERS.items()
            }
        except ValueError as error:
            raise BadConfigurationError(str(error)) from error

    def _behaviour(self, name: str) -> Any:
        async def serve(
            requests: AsyncIterator[Request], context: "grpc.aio.ServicerContext[Any, Any]"
        ) -> None:
            await context.send_initial_metadata(())
            stream = Stream()
            reader = asyncio.create_task(self._read(name, stream, requests))
            ended = False
            try:
                while not isinstance(sent := await stream.outgoing.get(), Ending):
                    await context.write(sent)
                ended = True
            finally:
                reader.cancel()
                self._leaves(name, stream, broken=not ended)
            if sent.status is not grpc.StatusCode.OK:
                await context.abort(sent.status, sent.why)

        return serve

    async def _read(self, name: str, stream: Stream, requests: AsyncIterator[Request]) -> None:
        client: Client | None = None
        ending = Ending(grpc.StatusCode.OK)
        async for request in requests:
            known = self._clients.get(request.rmID)
            if known is None:
                unnamed = Ending(grpc.StatusCode.FAILED_PRECONDITION, "a stream needs an rmID")
                again = Ending(grpc.StatusCode.UNAVAILABLE, f"{request.rmID} has to register")
                ending = again if request.rmID else unnamed
                break
            if client is not None and known is not client:
                why = f"this stream belongs to {client.rm.name}"
                ending = Ending(grpc.StatusCode.FAILED_PRECONDITION, why)
                break
            if client is None:
                client = known
                self._opens(client, name, stream)
            client.rm.now = time.time()
            if not _take(client.rm, request) and "stream-errors" in self._strategies:
                self._flush(client)
                ending = Ending(grpc.StatusCode.FAILED_PRECONDITION, "a node action failed")
                break
        if ending.status is grpc.StatusCode.OK:
            await asyncio.sleep(_SETTLING)
            if client is not None and client.streams.get(name) is stream:
                self._flush(client)
        stream.outgoing.put_nowait(ending)

    def _opens(self, client: Client, name: str, stream: Stream) -> None:
        former = client.streams.get(name)
        if former is not None:
            why = "another stream of this kind was opened"
            former.outgoing.put_nowait(Ending(grpc.StatusCode.ABORTED, why))
        if not client.streams:
            client.broken = False
        client.streams[name] = stream
        client.lost_since = None

    def _leaves(self, name: str, stream: Stream, *, broken: bool) -> None:
        for client in list(self._clients.values()):
            if client.streams.get(name) is not stream:
                continue
            del client.streams[name]
            client.broken = client.broken or broken
            if client.streams:
                continue
            if client.broken:
                client.lost_since = time.time()
            else:
                self._clients.pop(client.rm.name, None)


def _drop_news(outgoing: asyncio.Queue[Any]) -> None:
    """Drop queued items of the RM's earlier registration, except stream endings."""
    kept = []
    while not outgoing.empty():
        sent = outgoing.get_nowait()
        if isinstance(sent, Ending):
            kept.append(sent)
    for sent in kept:
        outgoing.put_nowait(sent)


def _take(rm: RMState, request: Request) -> bool:
    if isinstance(request, si_pb2.NodeRequest):
        return nodes.take(rm, request)
    if isinstance(request, si_pb2.ApplicationRequest):
        applications.take(rm, request)
        return True
    for existing in request.allocations:
        recovery.adopt(rm, existing)
    for release in request.releases.allocationsToRelease:
        releases.take(rm, release)
    for ask_release in request.releases.allocationAsksToRelease:
        asks.withdraw(rm, ask_release)
    for wish in request.asks:
        asks.take(rm, wish)
    return True
