"""A proxy in front of the reference that applies one change to the messages.

Run as ``python -m siconform.doctor.proxy NAME``; all calls, including those of the extension, go to
a reference that this process starts, on virtual time. It picks a port and prints it.
"""

import asyncio
import re
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from siwire import Revision, find_revision, rpc
from siwire.ext import extension_pb2 as ext

from siconform.doctor.change import Change, Wire
from siconform.doctor.changes import CHANGES
from siconform.protocol.timers import SHORT
from siconform.targets.embedded import embedded

ANYWHERE: Final = "127.0.0.1:0"
_LISTENING: Final = re.compile(rb"listening on (\S+)")
_REFUSED: Final = 5.0  # seconds until a call without messages counts as refused
Changes = Callable[[bytes], Awaitable[list[bytes]]]
"""The messages that replace one message."""


def main(arguments: list[str]) -> None:
    """Serve until the process is ended."""
    if len(arguments) != 1 or arguments[0] not in CHANGES:
        names = [f'"{name}"' for name in arguments if not name.startswith("-")]
        unknown = f"unknown mutant {' '.join(names)}; " if names else ""
        sys.exit(f"{unknown}give the name of a mutant: {', '.join(sorted(CHANGES))}")
    change = CHANGES[arguments[0]]
    revision = find_revision(change.revision)
    asyncio.run(serve(change, revision, embedded(revision, SHORT, real_clock=False).command))


def _nothing() -> None:
    """Ignore reports of changes."""


async def serve(
    change: Change,
    revision: Revision,
    command: Sequence[str],
    listen: str = ANYWHERE,
    fires: Callable[[], None] = _nothing,
) -> None:
    """Serve what ``command`` serves, changed; call ``fires`` for each change."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    found = _LISTENING.search(await process.stdout.readline())
    if found is None:
        sys.exit("the reference did not start: see above")
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    server = grpc.aio.server()
    async with grpc.aio.insecure_channel(found.group(1).decode()) as channel:
        server.add_generic_rpc_handlers((Proxy(channel, change, revision, fires),))
        port = server.add_insecure_port(listen)
        await server.start()
        print(f"listening on 127.0.0.1:{port}", flush=True)  # noqa: T201  # how the kit finds it
        await ended.wait()
    process.terminate()
    await process.wait()


class Proxy(grpc.GenericRpcHandler):
    """Forwards every call of any service to the same path at the reference."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        change: Change,
        revision: Revision,
        fires: Callable[[], None],
    ) -> None:
        self._fires = fires
        self._channel = channel
        self._change = change
        self._memory: defaultdict[str, Any] = defaultdict(set)
        extension = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
        known = [*rpc.methods(revision).values(), *rpc.methods_of(extension).values()]
        self._kinds = {method.path: (method.request, method.response) for method in known}

    def service(self, details: Any) -> Any:
        """Handle every call as streaming: on the wire, a unary call is a stream of one message."""
        return grpc.stream_stream_rpc_method_handler(partial(self._call, details.method))

    async def _call(
        self, path: str, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        call = _Call(self._channel.stream_stream(path)(), self._memory, self._fires)
        asked, received = self._kinds.get(path, (None, None))
        up = call.up(requests, lambda data: self._changed(asked, data, call.wire))
        down = call.down(lambda data: self._changed(received, data, call.wire))
        tasks = [asyncio.create_task(_quietly(way)) for way in (up, down)]
        try:
            while (data := await call.answers.get()) is not None:
                yield data
            if (code := await call.of.code()) is not grpc.StatusCode.OK:
                if code is grpc.StatusCode.INTERNAL and path not in self._kinds:
                    code = await self._status_of(path)
                await context.abort(code, await call.of.details())
        finally:
            for task in tasks:
                task.cancel()
            call.of.cancel()

    async def _status_of(self, path: str) -> grpc.StatusCode:
        """Return the status of a call without messages.

        If such a call is refused while it is written to, grpc raises an internal error instead.
        """
        code: grpc.StatusCode = await self._channel.stream_stream(path)(timeout=_REFUSED).code()
        return code

    async def _changed(self, kind: Any, data: bytes, wire: Wire) -> list[bytes]:
        """Return what replaces a message: the changed message, or nothing."""
        if not self._change.touches(kind):
            return [data]
        message: Message = kind.FromString(data)
        before = kind.FromString(data)
        wire.pause, wire.is_dropped = 0.0, False
        self._change.change(message, wire)
        pause, is_dropped = wire.pause, wire.is_dropped
        if pause or is_dropped or _plain(message) != _plain(before):
            self._fires()
        if pause:
            await asyncio.sleep(pause)
        return [] if is_dropped else [message.SerializeToString()]


class _Call:
    """A call at the reference, with the messages added to it."""

    def __init__(self, of: Any, memory: defaultdict[str, Any], fires: Callable[[], None]) -> None:
        self._fires = fires
        self.of = of
        self.answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._more: list[Message] = []  # for the scheduler
        self._held: list[Message] = []  # the same, until the cycle is over
        self._writing = asyncio.Lock()  # grpc ends a call on concurrent writes
        self.wire = Wire(self._to_rm, self._more.append, self._hold, memory)

    async def up(self, requests: AsyncIterator[bytes], changed: Changes) -> None:
        """Forward the RM's messages to the scheduler, changed."""
        async for data in requests:
            for message in await changed(data):
                await self._write(message)
            await self._add()
        await self.of.done_writing()

    async def down(self, changed: Changes) -> None:
        """Forward the scheduler's messages to the RM, changed."""
        try:
            async for data in self.of:
                for message in await changed(data):
                    self.answers.put_nowait(message)
                await self._add()
        finally:
            self.answers.put_nowait(None)

    def _to_rm(self, message: Message) -> None:
        self._fires()
        self.answers.put_nowait(message.SerializeToString())

    def _hold(self, message: Message, cycle: float) -> None:
        loop = asyncio.get_running_loop()
        if not self._held:
            loop.call_later(cycle - loop.time() % cycle, self._let_go)
        self._held.append(message)

    def _let_go(self) -> None:
        self._more += self._held
        self._held = []
        self._letting_go = asyncio.create_task(_quietly(self._add()))

    async def _add(self) -> None:
        while self._more:
            self._fires()
            await self._write(self._more.pop(0).SerializeToString())

    async def _write(self, data: bytes) -> None:
        async with self._writing:
            await self.of.write(data)


def _plain(message: Message) -> bytes:
    """Serialise a message, including unknown fields."""
    return message.SerializeToString(deterministic=True)


async def _quietly(way: Any) -> None:
    """Ignore errors: the status of the call reports them."""
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await way


if __name__ == "__main__":
    main(sys.argv[1:])
