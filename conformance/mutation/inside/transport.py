"""Mutants of the transport: methods, streams and the RM they belong to."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import grpc
from google.protobuf.unknown_fields import UnknownFieldSet
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import SentEvents
from sireference.shell.callback_stream import CallbackStream
from sireference.shell.callback_table import CallbackTable
from sireference.shell.outbox import Outbox
from sireference.shell.server import Server
from sireference.shell.service import SchedulerService
from sireference.shell.streams import OpenStream, StreamTable
from siwire import rpc

from mutation.inside import Patch
from mutation.mutant import mutant


@mutant(
    "registration-not-served",
    "A registration without a name ends as if the method did not exist.",
    breaks=("SI-WIRE-001",),
)
def _(patch: Patch) -> None:
    async def register(original: Callable[..., Any], self: Any, request: Any, context: Any) -> Any:
        if not request.rmID:
            patch.fires()
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")
        return await original(self, request, context)

    patch.instead_of(SchedulerService.register, register)


@mutant(
    "registered-with-an-error",
    "Successful registrations after the first are answered by an error.",
    breaks=("SI-REG-001",),
)
def _(patch: Patch) -> None:
    registered: list[str] = []

    async def register(original: Callable[..., Any], self: Any, request: Any, context: Any) -> Any:
        response = await original(self, request, context)
        registered.append(request.rmID)
        if len(registered) > 1:
            patch.fires()
            await context.abort(grpc.StatusCode.UNKNOWN, "registered")
        return response

    patch.instead_of(SchedulerService.register, register)


@mutant(
    "failed-registration-succeeds",
    "A registration with an invalid configuration gets the empty response.",
    breaks=("SI-REG-002", "SI-REG-015"),
)
def _(patch: Patch) -> None:
    async def register(original: Callable[..., Any], self: Any, request: Any, context: Any) -> Any:
        try:
            self._codec.register(request)
        except ConfigurationError:
            patch.fires()
            return self._codec.revision.si.RegisterResourceManagerResponse()
        return await original(self, request, context)

    patch.instead_of(SchedulerService.register, register)


@mutant(
    "answers-to-requests-only",
    "A stream carries only answers to requests.",
    breaks=("SI-WIRE-005",),
)
def _(patch: Patch) -> None:
    held: defaultdict[OpenStream, list[bytes]] = defaultdict(list)

    def put(_: Any, stream: OpenStream, messages: list[bytes]) -> None:
        held[stream] += messages

    async def take(original: Callable[..., Any], self: Any, stream: Any, request: Any) -> None:
        if held[stream]:
            patch.fires()
        await original(self, stream, request)
        stream.outbox.put(held.pop(stream, []))
        stream.has_mail.set()

    patch.instead_of(OpenStream.put, put)
    patch.instead_of(SchedulerService.take, take)


@mutant("sent-to-all-rms", "Messages to one RM are sent to all RMs.", breaks=("SI-CONN-004",))
def _(patch: Patch) -> None:
    def deliver(
        original: Callable[..., None], self: StreamTable, rm_id: str, method: str, sent: list[bytes]
    ) -> None:
        original(self, rm_id, method, sent)
        for other in [other for other in self.open_streams if other != rm_id]:
            patch.fires()
            original(self, other, method, sent)

    patch.instead_of(StreamTable.deliver, deliver)


@mutant(
    "first-callbacks-stay",
    "Callbacks go to the stream that was opened first.",
    "CB",
    breaks=("SI-CB-001",),
)
def _(patch: Patch) -> None:
    def bind(original: Callable[..., Any], self: CallbackTable, stream: Any) -> Any:
        first = self._streams.get(stream.owner)
        if first is None:
            return original(self, stream)
        patch.fires()
        del self._streams[stream.owner]  # it has not ended
        taken = original(self, stream)
        self._streams[stream.owner] = first
        return taken

    def end(_: Any, _self: Any, _rm_id: str, _message: str) -> None:
        """Do not end the streams at a registration."""

    patch.instead_of(CallbackTable.bind, bind)
    patch.instead_of(CallbackTable.end, end)


def _goes_to(patch: Patch, other: Callable[[CallbackTable, Any], CallbackStream | None]) -> None:
    """Deliver a call on another stream, if there is one for it."""

    def deliver(original: Callable[..., None], self: CallbackTable, call: Any, report: Any) -> None:
        streams, stream = self._streams, other(self, call)
        if stream is None or stream is streams.get(call.rm_id):
            return original(self, call, report)
        patch.fires()
        self._streams = {**streams, call.rm_id: stream}
        try:
            original(self, call, report)
        finally:
            self._streams = streams

    patch.instead_of(CallbackTable.deliver, deliver)


@mutant(
    "callbacks-go-to-the-last-rm",
    "All callbacks go to the RM that offered them last.",
    breaks=("SI-CB-001", "SI-CONN-004"),
)
def _(patch: Patch) -> None:
    _goes_to(patch, lambda table, _call: table.all()[-1] if table.all() else None)


@mutant(
    "events-sent-to-all-rms",
    "Events are sent to all RMs that take them.",
    breaks=("SI-CB-001", "SI-CONN-004"),
)
def _(patch: Patch) -> None:
    def deliver(original: Callable[..., None], self: CallbackTable, call: Any, report: Any) -> None:
        original(self, call, report)
        for stream in self.all() if isinstance(call, SentEvents) else ():
            if stream.owner != call.rm_id:
                patch.fires()
                original(self, replace(call, rm_id=stream.owner), report)

    patch.instead_of(CallbackTable.deliver, deliver)


@mutant(
    "events-stay-on-the-first-callbacks",
    "Events go to the stream that was opened first, other callbacks to the latest.",
    breaks=("SI-CB-001",),
)
def _(patch: Patch) -> None:
    first: dict[str, CallbackStream] = {}

    def bind(original: Callable[..., Any], self: CallbackTable, stream: CallbackStream) -> Any:
        first.setdefault(stream.owner, stream)
        self._streams.pop(stream.owner, None)  # it has not ended
        return original(self, stream)

    def end(_: Any, _self: Any, _rm_id: str, _message: str) -> None:
        """Do not end the streams at a registration."""

    def first_for(_: CallbackTable, call: Any) -> CallbackStream | None:
        return first.get(call.rm_id) if isinstance(call, SentEvents) else None

    patch.quietly().instead_of(CallbackTable.bind, bind)
    patch.quietly().instead_of(CallbackTable.end, end)
    _goes_to(patch, first_for)


@mutant(
    "unknown-fields-refused",
    "A node with an unknown field is ignored.",
    breaks=("SI-WIRE-007",),
)
def _(patch: Patch) -> None:
    async def take(original: Callable[..., Any], self: Any, stream: Any, request: Any) -> None:
        nodes = getattr(request, "nodes", ())
        if any(len(UnknownFieldSet(node)) for node in nodes):
            patch.fires()
            return
        await original(self, stream, request)

    patch.instead_of(SchedulerService.take, take)


class _OtherGeneration(grpc.GenericRpcHandler):
    """Serves the one stream of 2021-02 in addition to the current methods."""

    def __init__(self, serves: Callable[..., Any]) -> None:
        self._serves = serves

    def service(self, details: Any) -> Any:
        """Return the handler of the one stream; None for any other method."""
        if details.method != f"/{rpc.SERVICE}/Update":
            return None
        return grpc.stream_stream_rpc_method_handler(self._serves)


def _also_serves(patch: Patch, serves: Callable[..., Any]) -> None:
    async def start(original: Callable[..., Any], self: Server, *args: Any) -> None:
        self._server.add_generic_rpc_handlers((_OtherGeneration(serves),))
        await original(self, *args)

    patch.instead_of(Server.start, start)


@mutant(
    "other-generation-hangs",
    "The update stream of 2021-02 is opened and stays silent.",
    breaks=("SI-WIRE-004",),
)
def _(patch: Patch) -> None:
    async def serves(_requests: Any, _context: Any) -> None:
        patch.fires()
        await asyncio.get_running_loop().create_future()

    _also_serves(patch, serves)


@mutant(
    "other-generation-guessed",
    "The update stream of 2021-02 is read to its end and answered with success.",
    breaks=("SI-WIRE-004",),
)
def _(patch: Patch) -> None:
    async def serves(requests: Any, _context: Any) -> None:
        patch.fires()
        async for _request in requests:
            pass

    _also_serves(patch, serves)


@mutant(
    "last-message-repeated-on-a-reopened-stream",
    "When a stream is opened again, the last message of the one before is sent again.",
    breaks=("SI-ALLOC-008",),
)
def _(patch: Patch) -> None:
    last: dict[Outbox, bytes] = {}
    of_rm: dict[tuple[str, str], Outbox] = {}

    def written(original: Callable[..., None], outbox: Outbox, message: bytes) -> None:
        original(outbox, message)
        last[outbox] = message

    def bind(
        original: Callable[..., None], table: StreamTable, stream: OpenStream, rm_id: str
    ) -> None:
        original(table, stream, rm_id)
        earlier = of_rm.get((rm_id, stream.method))
        of_rm[rm_id, stream.method] = stream.outbox
        if earlier in last:
            patch.fires()
            stream.put([last[earlier]])

    patch.quietly().instead_of(Outbox.written, written)
    patch.instead_of(StreamTable.bind, bind)
