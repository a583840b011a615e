"""A client for tests of the shell: raw messages of one revision on separate streams."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import wraps
from typing import Any

import grpc
from patience import patient
from sireference.clock import Clock
from sireference.codec import Policies, codec_for
from sireference.core.model import Settings
from sireference.shell.extension.service import SERVICE
from sireference.shell.http_page import HttpPage
from sireference.shell.options import DEFAULT_ACCESS, DEFAULT_LIMITS, Access, Limits
from sireference.shell.server import Server
from siwire import DEFAULT_REVISION, Revision, rpc
from siwire.ext import extension_pb2 as ext
from tests.coding import resource
from tests.fields import asked

TIMEOUT = patient()  # seconds
QUIET = 0.05  # the server runs in the same loop and is otherwise idle


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that has no event."""
    async with asyncio.timeout(TIMEOUT):
        while not is_so():  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.005)


class Stream:
    """One update stream."""

    def __init__(self, call: Any, request: Any, rm_id: str) -> None:
        self.call = call
        self._request = request
        self._rm_id = rm_id

    async def send(self, **fields: Any) -> None:
        await self.call.write(self._request(**{"rmID": self._rm_id, **fields}))

    async def asks(self, *asks: Any) -> None:
        """Send asks made by `Wire.ask`."""
        is_apart = "asks" in self._request.DESCRIPTOR.fields_by_name
        await self.send(**{"asks" if is_apart else "allocations": asks})

    async def receives(self) -> Any:
        message = await asyncio.wait_for(self.call.read(), TIMEOUT)
        assert message is not grpc.aio.EOF, "the stream has ended"
        return message

    async def receives_nothing(self) -> None:
        reading = asyncio.ensure_future(self.call.read())
        done, _ = await asyncio.wait({reading}, timeout=QUIET)
        assert not done, reading.result()
        # the pending read keeps running; such tests do not read the stream again

    async def ends(self) -> tuple[grpc.StatusCode, str]:
        """Return how the server ends the stream, dropping earlier messages."""
        try:
            while await asyncio.wait_for(self.call.read(), TIMEOUT) is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError:
            pass
        code = await asyncio.wait_for(self.call.code(), TIMEOUT)
        return code, await self.call.details() or ""

    async def half_closes(self) -> None:
        await self.call.done_writing()


class Callbacks:
    """The stream on which an RM takes callbacks."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def receives(self) -> ext.ToRm:
        message = await asyncio.wait_for(self.call.read(), TIMEOUT)
        assert message is not grpc.aio.EOF, "the stream has ended"
        assert isinstance(message, ext.ToRm)
        return message

    async def answers(
        self, call: ext.ToRm, *, ok: bool = True, text: str = "", payload: Any = None
    ) -> None:
        answer = ext.FromRm.Answer(call_id=call.call_id, ok=ok, text=text)
        if payload is not None:
            name = payload.DESCRIPTOR.full_name
            answer.payload.CopyFrom(ext.SiPayload(full_name=name, data=payload.SerializeToString()))
        await self.call.write(ext.FromRm(answer=answer))

    async def ends(self) -> tuple[grpc.StatusCode, str]:
        """Return how the server ends the stream, dropping earlier messages."""
        return await Stream(self.call, None, "").ends()


class Wire:
    """A channel to its own server."""

    def __init__(self, channel: Any, revision: Revision, server: Server) -> None:
        self.channel = channel
        self.server = server
        self.revision = revision
        self.si = revision.si
        self._methods = rpc.methods(revision)

    async def registers(self, rm_id: str = "rm", **fields: Any) -> Any:
        method = self._methods["RegisterResourceManager"]
        call = rpc.callable_for(self.channel, method)
        return await call(method.request(rmID=rm_id, **fields), timeout=TIMEOUT)

    async def opens(self, name: str, rm_id: str = "rm", *, greets: bool = True) -> Stream:
        method = self._methods[name]
        stream = Stream(rpc.callable_for(self.channel, method)(), method.request, rm_id)
        if greets:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await stream.send()  # unless the server has ended it already: see `ends`
        return stream

    async def offers(self, *kinds: "ext.CallbackKind.ValueType", rm_id: str = "rm") -> Callbacks:
        """Open the callback stream; the offer has been handled when this returns."""
        stream = await self.opens_callbacks()
        await stream.call.write(ext.FromRm(offer=ext.FromRm.Offer(rm_id=rm_id, kinds=kinds)))
        taken = set(kinds) & set(self.server.engine.callbacks.kinds)
        await until(lambda: len(self.taken_by(rm_id)) == len(taken))
        return stream

    async def opens_callbacks(self) -> Callbacks:
        call = rpc.callable_for(self.channel, rpc.methods_of(SERVICE)["Callbacks"])()
        return Callbacks(call)

    def taken_by(self, rm_id: str = "rm") -> frozenset[Any]:
        """Return the callbacks that the core believes this RM takes."""
        rm = self.server.engine.scheduler.rms.known(rm_id)
        return frozenset() if rm is None else rm.callbacks.offered

    async def has_streams(self, count: int, rm_id: str = "rm") -> None:
        """Wait until the server has that many open streams of the RM."""
        await until(lambda: len(self.server._streams.of(rm_id)) == count)

    async def calls(self, name: str, **fields: Any) -> Any:
        """Make one extension call with one answer."""
        method = rpc.methods_of(SERVICE)[name]
        call = rpc.callable_for(self.channel, method)
        return await call(method.request(**fields), timeout=TIMEOUT)

    def resource(self, **amounts: int) -> Any:
        return resource(self.si, **amounts)

    def node(self, node_id: str = "n1", action: str = "CREATE", /, **amounts: int) -> Any:
        info = self.si.NodeInfo
        return info(
            nodeID=node_id,
            action=info.ActionFromRM.Value(action),
            schedulableResource=self.resource(**amounts) if amounts else None,
        )

    def application(self, application_id: str = "a1", queue: str = "root.default") -> Any:
        return self.si.AddApplicationRequest(applicationID=application_id, queueName=queue)

    def ask(
        self,
        key: str = "k1",
        application_id: str = "a1",
        tags: Mapping[str, str] | None = None,
        **amounts: int,
    ) -> Any:
        sent = {"allocationKey": key, "applicationID": application_id, "tags": tags or {}}
        _, ask = asked(self.revision, self.resource(**amounts), **sent)
        return ask


@asynccontextmanager
async def served(
    revision: Revision = DEFAULT_REVISION,
    settings: Settings | None = None,
    clock: Clock | None = None,
    policies: Policies | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    access: Access = DEFAULT_ACCESS,
) -> AsyncIterator[Wire]:
    """A server and a channel to it."""
    server = Server(codec_for(revision, policies), settings or Settings(), clock, limits, access)
    await server.start("127.0.0.1:0")
    async with grpc.aio.insecure_channel(server.address) as channel:
        try:
            yield Wire(channel, revision, server)
        finally:
            await server.stop()


@asynccontextmanager
async def http_page(wire: Wire, access: Access = DEFAULT_ACCESS) -> AsyncIterator[HttpPage]:
    """The HTTP pages of the server."""
    page = HttpPage(wire.server.engine, "127.0.0.1:0", access)
    try:
        yield page
    finally:
        await asyncio.to_thread(page.stop)


Scenario = Callable[[Wire], Awaitable[None]]
Test = Callable[[], Awaitable[None]]


def against(server: Callable[[], AbstractAsyncContextManager[Wire]]) -> Callable[[Scenario], Test]:
    """Decorate a test that runs against a server of its own."""

    def decorate(scenario: Scenario) -> Test:
        @wraps(scenario)
        async def test() -> None:
            async with server() as wire:
                await scenario(wire)

        del test.__wrapped__  # pytest would look for "wire"
        return test

    return decorate


over_the_wire = against(served)


async def all_streams(wire: Wire, rm_id: str = "rm") -> tuple[Stream, Stream, Stream]:
    nodes = await wire.opens("UpdateNode", rm_id)
    applications = await wire.opens("UpdateApplication", rm_id)
    allocations = await wire.opens("UpdateAllocation", rm_id)
    return nodes, applications, allocations


async def busy_streams(wire: Wire, **amounts: int) -> tuple[Stream, Stream, Stream]:
    """Open all streams, and add node n1 with these amounts (memory 10) and application a1."""
    nodes, applications, allocations = await all_streams(wire)
    await accepted_node(wire, nodes, "n1", **amounts)
    await accepted_application(wire, applications)
    return nodes, applications, allocations


async def accepted_node(wire: Wire, nodes: Stream, node_id: str = "n1", **amounts: int) -> None:
    await nodes.send(nodes=[wire.node(node_id, **amounts or {"memory": 10})])
    assert [node.nodeID for node in (await nodes.receives()).accepted] == [node_id]


async def accepted_application(wire: Wire, applications: Stream) -> None:
    await applications.send(new=[wire.application()])
    assert [a.applicationID for a in (await applications.receives()).accepted] == ["a1"]
