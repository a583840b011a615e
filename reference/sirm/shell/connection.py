"""Connection: one registration and its streams, until the first of them ends."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from sirm.codec.codec import Codec, Identity

_EXTENSION: Final = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
_CALLBACKS: Final = rpc.methods_of(_EXTENSION)["Callbacks"]
_ANSWER: Final = 10.0  # seconds for a registration
_SHUTDOWN: Final = 1.0  # seconds until the scheduler has ended all streams
_HEADERS: Final = 1.0  # seconds for the confirmation of the offered callbacks

Outbox = asyncio.Queue[Message | None]  # None ends the stream


@dataclass(frozen=True)
class Listener:
    """Who gets what arrives; each is called in the event loop."""

    registered: Callable[[], None]
    received: Callable[[str, Any], None]  # the stream and the message
    called: Callable[[ext.ToRm], ext.FromRm.Answer]
    lost: Callable[[str], None]  # the reason; called once


class Connection:
    """One connection to the scheduler; ``close`` ends it without notice to its listener."""

    def __init__(
        self, channel: grpc.aio.Channel, codec: Codec, identity: Identity, listener: Listener
    ) -> None:
        self._channel = channel
        self._codec = codec
        self._identity = identity
        self._listener = listener
        self._outboxes: dict[str, Outbox] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False
        self.begin(self.register())

    def send(self, method: str, message: Message) -> None:
        """Send a message on an update stream."""
        if method in self._outboxes:
            self._outboxes[method].put_nowait(message)

    async def shut_down(self) -> None:
        """Send what is queued and end all streams, which is a shutdown of the RM (C-23)."""
        self._is_over = True
        for outbox in self._outboxes.values():
            outbox.put_nowait(None)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_SHUTDOWN)

    async def close(self) -> None:
        """End all streams and close the channel."""
        self._is_over = True
        for task in self._tasks:
            task.cancel()
        await self._channel.close()

    async def register(self) -> None:
        """Register, offer callbacks and open the update streams."""
        method = rpc.methods(self._codec.revision)["RegisterResourceManager"]
        call = rpc.callable_for(self._channel, method)
        await call(self._codec.register(self._identity), timeout=_ANSWER)
        await self.offer_callbacks()
        for name in self._codec.readers:
            self.open(name)
        self._listener.registered()

    def open(self, name: str) -> None:
        """Open an update stream by a message with only the rmID."""
        outbox = self._outboxes[name] = Outbox()
        outbox.put_nowait(self._codec.opening(name, self._identity.rm_id))
        method = rpc.methods(self._codec.revision)[name]
        call = rpc.callable_for(self._channel, method)(messages(outbox))
        self.begin(self.read(name, call))

    async def read(self, name: str, call: Any) -> None:
        """Report the messages of a stream until it ends."""
        async for message in call:
            if not self._is_over:
                self._listener.received(name, message)
        self._lost(f"{name} ended")

    async def offer_callbacks(self) -> None:
        """Offer callbacks and wait until the scheduler confirms them, if it does so."""
        outbox = self._outboxes[_CALLBACKS.name] = Outbox()
        offer = ext.FromRm.Offer(rm_id=self._identity.rm_id, kinds=self._codec.callbacks.kinds)
        outbox.put_nowait(ext.FromRm(offer=offer))
        call = rpc.callable_for(self._channel, _CALLBACKS)(messages(outbox))
        self.begin(self._answer(call, outbox))
        headers = asyncio.ensure_future(call.initial_metadata())
        await asyncio.wait({headers}, timeout=_HEADERS)

    async def _answer(self, call: Any, outbox: Outbox) -> None:
        """Answer callbacks; a scheduler that makes none, or no longer, is served without them."""
        try:
            async for message in call:
                answer = self._listener.called(message)
                if message.answer_expected:
                    outbox.put_nowait(ext.FromRm(answer=answer))
        except grpc.aio.AioRpcError:
            return

    def begin(self, work: Any) -> None:
        """Run it as a task of this connection."""
        task = asyncio.get_running_loop().create_task(self._watched(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, work: Any) -> None:
        try:
            await work
        except grpc.aio.AioRpcError as error:
            self._lost(f"{error.code().name}: {error.details()}")
        except Exception as error:  # noqa: BLE001  # an error of the RM itself must not pass silently
            traceback.print_exc()
            self._lost(f"internal error: {error}")

    def _lost(self, reason: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._listener.lost(reason)


async def messages(outbox: Outbox) -> AsyncIterator[Message]:
    """Yield the messages of an outbox until it is closed."""
    while (message := await outbox.get()) is not None:
        yield message
