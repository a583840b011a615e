"""Open streams: their RM, what waits to be written, and their end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import grpc

from sireference.shell.outbox import Outbox

LAST_WORDS: Final = 2.0  # seconds for the RM to read the last messages of a stream that ends

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Ending:
    """How the server ends a stream: a status, and a reason unless it is OK."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    problem: str = ""


class OpenStream:
    """One stream of an RM with its outbox."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.rm_id: str | None = None  # None until the first message binds it
        self.is_half_closed = False
        self.is_broken_off = False
        self.outbox = Outbox()
        self.ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.is_over = asyncio.Event()  # only the status follows
        self.has_mail = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._is_writing = False
        # replaced streams whose last message may not be written yet
        self._earlier: list[OpenStream] = []

    @property
    def waiting(self) -> int:
        """Return the number of bytes that wait here."""
        return self.outbox.size + sum(one.outbox.size for one in self._earlier)

    def put(self, messages: list[bytes]) -> None:
        """Queue serialised messages in order."""
        self.outbox.put(messages)
        self.has_mail.set()

    def take_over(self, earlier: "OpenStream") -> None:
        """Take over what waits in ``earlier``, except a message being written there.

        That message is written here first if it turns out that it was not written there.
        """
        self._earlier, messages = earlier.hand_over()
        self.put(messages)

    def hand_over(self) -> tuple[list["OpenStream"], list[bytes]]:
        """Return the streams that may be writing a last message, with this one, and the backlog."""
        writing = [*self._earlier, self]
        self._earlier = []
        return writing, self.outbox.rest() if self._is_writing else self.outbox.empty()

    def take_unsent(self) -> list[bytes]:
        """Remove and return what waits, including a message that is being written."""
        left = [message for one in self._earlier for message in one.outbox.empty()]
        self._earlier = []
        return left + self.outbox.empty()

    def end(self, ending: Ending) -> None:
        """End the stream once the outbox is empty or the RM does not read; first call wins."""
        if not self.ending.done():
            self.ending.set_result(ending)
            asyncio.get_running_loop().call_later(LAST_WORDS, self._stop_writing)
        self.has_mail.set()

    def break_off(self, ending: Ending) -> None:
        """End the stream now, even during the write of a message that is not read."""
        self.take_unsent()
        self.end(ending)
        self._stop_writing()

    def _stop_writing(self) -> None:
        if self._writer is not None and not self._writer.done():
            self.is_broken_off = True
            self._writer.cancel()

    def begin_writing(self, context: Any) -> asyncio.Task[None]:
        """Start the task that writes messages until the stream is to end."""
        self._writer = asyncio.create_task(self._write_to(context))
        return self._writer

    async def _write_to(self, context: Any) -> None:
        while self.outbox or self._earlier or not self.ending.done():
            await self.has_mail.wait()
            self.has_mail.clear()
            if self._earlier:
                await self._wait_for_earlier()
            while self.outbox:
                message = self.outbox.first()
                self._is_writing = True
                await context.write(message)
                self._is_writing = False
                self.outbox.written(message)

    async def _wait_for_earlier(self) -> None:
        """Wait until writing has stopped there; unwritten messages come first here."""
        for earlier in self._earlier.copy():
            await earlier.stops_writing()  # soon: it is to end
        self.outbox.put(self.take_unsent())

    async def stops_writing(self) -> None:
        """Wait until nothing is written here any more, for whichever reason."""
        if self._writer is not None:
            await asyncio.wait({self._writer})


class StreamTable:
    """The open streams of every RM by kind, and messages for kinds that are not open yet."""

    def __init__(self) -> None:
        self.open_streams: dict[str, dict[str, OpenStream]] = {}
        self._held: dict[str, dict[str, Outbox]] = {}
        self.broken: dict[str, set[str]] = {}  # kinds that broke and were not reopened

    def bind(self, stream: OpenStream, rm_id: str) -> None:
        """Bind ``stream`` to this RM, replacing an earlier one of its kind."""
        stream.rm_id = rm_id
        streams = self.open_streams.setdefault(rm_id, {})
        earlier = streams.get(stream.method)
        streams[stream.method] = stream
        if earlier is not None:
            stream.take_over(earlier)
            earlier.end(
                Ending(grpc.StatusCode.ABORTED, f"another {stream.method} stream took its place")
            )
        self._found(rm_id, stream.method)
        held = _take_out(self._held, rm_id, stream.method)
        if held is not None:
            stream.put(held.empty())

    def unbind(self, stream: OpenStream) -> bool:
        """Stop using a closed stream; return whether it was in use until now."""
        rm_id = stream.rm_id or ""
        if self.open_streams.get(rm_id, {}).get(stream.method) is not stream:
            return False
        _take_out(self.open_streams, rm_id, stream.method)
        return True

    def leave(self, stream: OpenStream) -> bool:
        """Stop using a closed stream; return whether it was in use until now.

        What it did not write waits for the next of its kind.
        """
        was_in_use = self.unbind(stream)
        if was_in_use and stream.rm_id is not None:
            self.deliver(stream.rm_id, stream.method, stream.take_unsent())
        return was_in_use

    def lose(self, stream: OpenStream) -> bool:
        """Handle a broken ``stream``; otherwise as ``leave``."""
        was_in_use = self.leave(stream)
        if was_in_use and stream.rm_id is not None:
            self.broken.setdefault(stream.rm_id, set()).add(stream.method)
        return was_in_use

    def has_lost(self, rm_id: str) -> bool:
        """Return whether a stream of this RM broke and was not reopened."""
        return bool(self.broken.get(rm_id))

    def of(self, rm_id: str) -> list[OpenStream]:
        """Return the streams of this RM."""
        return list(self.open_streams.get(rm_id, {}).values())

    def all(self) -> list[OpenStream]:
        """Return all streams."""
        return [stream for streams in self.open_streams.values() for stream in streams.values()]

    def deliver(self, rm_id: str, method: str, messages: list[bytes]) -> None:
        """Send serialised messages on the stream of this kind, now or when it opens."""
        stream = self.open_streams.get(rm_id, {}).get(method)
        if stream is not None:
            stream.put(messages)
        elif messages:
            self._held.setdefault(rm_id, {}).setdefault(method, Outbox()).put(messages)

    def waiting(self, rm_id: str) -> int:
        """Return the number of bytes that wait for this RM."""
        held = self._held.get(rm_id, {}).values()
        return sum(one.waiting for one in self.of(rm_id)) + sum(one.size for one in held)

    def once_written(self, rm_id: str, then: Callable[[], None]) -> None:
        """Call ``then`` when all that waits now on open streams of this RM is written.

        It is called at once if nothing waits, and never if a stream ends before.
        """
        waiting = [one.outbox for one in self.of(rm_id) if one.outbox]
        if not waiting:
            then()
            return
        left = len(waiting)

        def one_less() -> None:
            nonlocal left
            left -= 1
            if not left:
                then()

        for outbox in waiting:
            outbox.once_written(one_less)

    def restart_history(self, rm_id: str) -> None:
        """Drop undelivered messages and broken streams of an ended registration."""
        self.broken.pop(rm_id, None)
        self._held.pop(rm_id, None)
        for stream in self.of(rm_id):
            stream.take_unsent()

    def end_all(self, rm_id: str, ending: Ending) -> list[OpenStream]:
        """End and return every stream of this RM."""
        ended = self.of(rm_id)
        for stream in ended:
            self.unbind(stream)
            stream.break_off(ending)
        return ended

    def _found(self, rm_id: str, method: str) -> None:
        kinds = self.broken.get(rm_id, set())
        kinds.discard(method)
        if not kinds:
            self.broken.pop(rm_id, None)


def _take_out(table: dict[str, dict[str, Kept]], rm_id: str, method: str) -> Kept | None:
    """Remove and return the entry for RM and kind; keep nothing of an RM without entries."""
    of_rm = table.get(rm_id, {})
    taken = of_rm.pop(method, None)
    if not of_rm:
        table.pop(rm_id, None)
    return taken
