"""A scheduler with one fault: the reference, behind a proxy that changes what passes.

Run as ``python -m proof.proxy FAULT --listen HOST:PORT``; all calls, those of the extension too, go
to a reference this process starts for itself, on virtual time. The fault "none" changes nothing.
"""

import argparse
import asyncio
import re
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from siwire import DEFAULT_REVISION, rpc
from siwire.ext import extension_pb2 as ext

from proof.fault import FAULTS, Fault, Wire
from proof.faults import load

_SERVE: Final = (
    *("-P", "-m", "sireference", "serve", "--listen", "127.0.0.1:0", "--virtual-clock"),
    *("--placeholder-timeout", "1.5", "--completing-timeout", "1.5"),
    *("--connection-loss-timeout", "2"),
)
_LISTENING: Final = re.compile(rb"listening on (\S+)")
_NONE: Final = Fault("none", "Nothing is wrong.", ())


def main() -> None:
    """Serve until the process is ended."""
    load()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fault", choices=[_NONE.name, *FAULTS])
    parser.add_argument("--listen", required=True, metavar="HOST:PORT")
    given = parser.parse_args()
    asyncio.run(_serve(FAULTS.get(given.fault, _NONE), given.listen))


async def _serve(fault: Fault, listen: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *_SERVE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    found = _LISTENING.search(await process.stdout.readline())
    if found is None:
        sys.exit("the reference does not start: see above")
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    server = grpc.aio.server()
    async with grpc.aio.insecure_channel(found.group(1).decode()) as channel:
        server.add_generic_rpc_handlers((Proxy(channel, fault),))
        server.add_insecure_port(listen)
        await server.start()
        print(f"listening on {listen}", flush=True)  # noqa: T201  # how the kit finds it
        await ended.wait()
    process.terminate()
    await process.wait()


class Proxy(grpc.GenericRpcHandler):
    """Every call, of whatever service, becomes one of the same path at the reference."""

    def __init__(self, channel: grpc.aio.Channel, fault: Fault) -> None:
        self._channel = channel
        self._fault = fault
        self._memory: defaultdict[str, Any] = defaultdict(set)
        extension = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
        known = [*rpc.methods(DEFAULT_REVISION).values(), *rpc.methods_of(extension).values()]
        self._kinds = {method.path: (method.request, method.response) for method in known}

    def service(self, details: Any) -> Any:
        """On the wire a call with one message is a stream of one."""
        return grpc.stream_stream_rpc_method_handler(partial(self._call, details.method))

    async def _call(
        self, path: str, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        call: Any = self._channel.stream_stream(path)()
        asked, told = self._kinds.get(path, (None, None))
        answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        more: list[Message] = []  # for the scheduler
        wire = Wire(
            lambda message: answers.put_nowait(message.SerializeToString()),
            more.append,
            self._memory,
        )

        async def up() -> None:
            async for data in requests:
                await call.write(self._changed(asked, data, wire))
                await add()
            await call.done_writing()

        async def down() -> None:
            try:
                async for data in call:
                    answers.put_nowait(self._changed(told, data, wire))
                    await add()
            finally:
                answers.put_nowait(None)

        async def add() -> None:
            while more:
                await call.write(more.pop(0).SerializeToString())

        tasks = [asyncio.create_task(_quietly(way())) for way in (up, down)]
        try:
            while (data := await answers.get()) is not None:
                yield data
            if (code := await call.code()) is not grpc.StatusCode.OK:
                await context.abort(code, await call.details())
        finally:
            for task in tasks:
                task.cancel()
            call.cancel()

    def _changed(self, kind: Any, data: bytes, wire: Wire) -> bytes:
        if not self._fault.touches(kind):
            return data
        message: Message = kind.FromString(data)
        self._fault.change(message, wire)
        return message.SerializeToString()


async def _quietly(way: Any) -> None:
    """The status of the call says what went wrong with it."""
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await way


if __name__ == "__main__":
    main()
