"""Open streams: whose they are, what waits to be written, and what their end means."""

import asyncio
from dataclasses import dataclass
from typing import Any

import grpc

from sireference.shell.outbox import Outbox


@dataclass(frozen=True, slots=True)
class Ending:
    """How the server ends a stream: a status, and a sentence unless it is OK."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    says: str = ""


class OpenStream:
    """One stream of an RM, with an outbox of its own."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.rm_id: str | None = None  # None until the first message binds it
        self.is_half_closed = False
        self.is_broken_off = False
        self.outbox = Outbox()
        self.ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._has_mail = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None

    def put(self, messages: list[bytes]) -> None:
        """Write these, serialized, in this order, after what waits already."""
        self.outbox.put(messages)
        self._has_mail.set()

    def end(self, ending: Ending) -> None:
        """End the stream once the outbox is empty; the first ending counts."""
        if not self.ending.done():
            self.ending.set_result(ending)
        self._has_mail.set()

    def break_off(self, ending: Ending) -> None:
        """End the stream now, even while a message is being written that nobody reads."""
        self.is_broken_off = True
        self.outbox.empty()
        self.end(ending)
        if self._writer is not None:
            self._writer.cancel()

    def begin_writing(self, context: Any) -> asyncio.Task[None]:
        """The task that writes what comes in until the stream is to end."""
        self._writer = asyncio.create_task(self._write_to(context))
        return self._writer

    async def _write_to(self, context: Any) -> None:
        outbox = self.outbox
        while outbox or not self.ending.done():
            while outbox:
                message = outbox.first()
                await context.write(message)
                outbox.written(message)
            self._has_mail.clear()
            if not outbox and not self.ending.done():
                await self._has_mail.wait()


class StreamTable:
    """The open streams of every RM, one of a kind each, and messages for kinds not open yet."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, OpenStream]] = {}
        self._held: dict[str, dict[str, Outbox]] = {}
        self._lost: dict[str, set[str]] = {}  # kinds that broke and were not opened again

    def bind(self, stream: OpenStream, rm_id: str) -> None:
        """``stream`` belongs to this RM from now on, in place of an earlier one of its kind."""
        stream.rm_id = rm_id
        streams = self._open.setdefault(rm_id, {})
        earlier = streams.get(stream.method)
        if earlier is not None:
            earlier.end(
                Ending(grpc.StatusCode.ABORTED, f"another {stream.method} stream took its place")
            )
        streams[stream.method] = stream
        self._lost.get(rm_id, set()).discard(stream.method)
        held = self._held.get(rm_id, {}).pop(stream.method, None)
        if held is not None:
            stream.put(held.empty())

    def unbind(self, stream: OpenStream) -> bool:
        """``stream`` is over; whether it was in use until now."""
        streams = self._open.get(stream.rm_id or "", {})
        if streams.get(stream.method) is not stream:
            return False
        del streams[stream.method]
        return True

    def lose(self, stream: OpenStream) -> bool:
        """``stream`` broke; whether it was in use until now.

        What it could not write waits for the next of its kind.
        """
        was_in_use = self.unbind(stream)
        if was_in_use and stream.rm_id is not None:
            self._lost.setdefault(stream.rm_id, set()).add(stream.method)
            self.deliver(stream.rm_id, stream.method, stream.outbox.empty())
        return was_in_use

    def has_lost(self, rm_id: str) -> bool:
        """Whether a stream of this RM broke and was not opened again."""
        return bool(self._lost.get(rm_id))

    def of(self, rm_id: str) -> list[OpenStream]:
        """The streams of this RM."""
        return list(self._open.get(rm_id, {}).values())

    def all(self) -> list[OpenStream]:
        """The streams of everybody."""
        return [stream for streams in self._open.values() for stream in streams.values()]

    def deliver(self, rm_id: str, method: str, messages: list[bytes]) -> None:
        """Hand over serialized messages on the stream of this kind, now or when it is opened."""
        stream = self._open.get(rm_id, {}).get(method)
        if stream is not None:
            stream.put(messages)
        else:
            self._held.setdefault(rm_id, {}).setdefault(method, Outbox()).put(messages)

    def waiting(self, rm_id: str) -> int:
        """How many bytes wait to be read by this RM."""
        held = self._held.get(rm_id, {}).values()
        return sum(one.outbox.size for one in self.of(rm_id)) + sum(one.size for one in held)

    def begin_anew(self, rm_id: str) -> None:
        """A registration is over, and with it what was to be told and what broke."""
        self._lost.pop(rm_id, None)
        self._held.pop(rm_id, None)
        for stream in self.of(rm_id):
            stream.outbox.empty()
