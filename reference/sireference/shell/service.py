"""The service ``si.v1.Scheduler`` over gRPC (rules in docs/grpc-binding.md)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from sireference.codec import Codec, NoPolicyError
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import ConnectionLost, ShutDown, quoted
from sireference.shell.engine import Engine
from sireference.shell.logs import LOGGER, fields
from sireference.shell.options import Access
from sireference.shell.redaction import loggable
from sireference.shell.stream_limit import StreamLimit, too_silent
from sireference.shell.streams import Ending, OpenStream, StreamTable
from sireference.shell.unexpected import report_leftovers

# A status travels in HTTP/2 trailers, which are limited to 8 kB by default
_LONGEST_SENTENCE = 4000
# grpc.aio shows a broken stream as half-closed first; seconds until the cancellation of the handler
# has certainly arrived
_CANCELLATION_FOLLOWS = 0.05
_NOT_READ: Final = Ending(
    grpc.StatusCode.DEADLINE_EXCEEDED, "the last messages of this stream were not read in time"
)

Behaviour = Callable[[Any, Any], Awaitable[Any]]


class SchedulerService:
    """The calls of the service."""

    def __init__(
        self,
        codec: Codec,
        engine: Engine,
        streams: StreamTable,
        places: StreamLimit,
        access: Access,
    ) -> None:
        self._codec = codec
        self._engine = engine
        self._streams = streams
        self._places = places
        self._shows_extra_config = access.shows_extra_config
        self._limits = engine.limits

    def behaviours(self) -> dict[str, Behaviour]:
        """Return the methods by name."""
        behaviours: dict[str, Behaviour] = {"RegisterResourceManager": self.register}
        for method in self._codec.update_methods:
            behaviours[method] = partial(self.update, method)
        return behaviours

    async def register(self, request: Any, context: Any) -> Message:
        """Register, or end with what is wrong with the request."""
        self._note("RegisterResourceManager", request)
        answered = self._engine.received("RegisterResourceManager")
        try:
            sent = getattr(request, "config", "")  # 2021-02 does not have it
            async with self._engine.configuration_locks.held_for(request.rmID, sent):
                event = await asyncio.to_thread(self._codec.register, request)
                refused = await self._engine.handle(event)
        except ConfigurationError as why:
            await context.abort(
                grpc.StatusCode.INVALID_ARGUMENT, why.listing(20)[:_LONGEST_SENTENCE]
            )
            raise
        except NoPolicyError as why:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(why))
            raise
        if refused is not None:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, refused.reason)
        await self._engine.ended_streams(event.rm_id)
        response: Message = self._codec.revision.si.RegisterResourceManagerResponse()
        if answered is not None:
            answered()
        return response

    async def update(self, method: str, requests: AsyncIterator[Any], context: Any) -> None:
        """Serve one update stream, from its first message to its end."""
        stream = OpenStream(method)
        try:
            async with self._places.one(context):
                ending = await self._serve(stream, requests, context)
            stream.is_over.set()
            if ending.code is not grpc.StatusCode.OK:  # not read either by a stuck client
                await context.abort(ending.code, ending.problem[:_LONGEST_SENTENCE])
        finally:
            stream.is_over.set()
            if stream.rm_id is not None:
                self._places.give_back(stream.rm_id)

    async def _serve(
        self, stream: OpenStream, requests: AsyncIterator[Any], context: Any
    ) -> Ending:
        """Read and write until the end, and return its kind.

        After the RM has half-closed the stream, it stays open for answers until all streams of the
        RM are half-closed.
        """
        # If the first message is never read, headers would be stuck and no status would follow.
        # Where they cannot be sent, the call is cancelled, which reading shows as well.
        with suppress(grpc.aio.InternalError):
            await context.send_initial_metadata(())
        reader = asyncio.create_task(self._read(stream, requests))
        writer = stream.begin_writing(context)
        try:
            done, _ = await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
            if reader in done:
                await reader  # its error, if there was one
            await writer
        except BaseException:
            if not (stream.is_broken_off and writer.cancelled()):
                self._lost(stream)
                raise
        finally:
            reader.cancel()
            writer.cancel()
            report_leftovers(reader, writer, method=stream.method, rm=stream.rm_id)
        self._streams.leave(stream)
        ending = await stream.ending
        is_cut_short = stream.is_broken_off and ending.code is grpc.StatusCode.OK
        return _NOT_READ if is_cut_short else ending

    async def _read(self, stream: OpenStream, requests: AsyncIterator[Any]) -> None:
        timeout = self._limits.first_message_timeout
        try:
            async with asyncio.timeout(timeout) as until_first:
                async for request in requests:
                    until_first.reschedule(None)
                    if stream.ending.done():
                        return
                    await self.take(stream, request)
        except TimeoutError:
            stream.end(too_silent(timeout))
            return
        await asyncio.sleep(_CANCELLATION_FOLLOWS)
        self._half_closed(stream)

    async def take(self, stream: OpenStream, request: Any) -> None:
        """Handle one message of a stream."""
        self._note(stream.method, request)
        all_sent = self._engine.received(stream.method)
        rm_id = request.rmID
        if stream.rm_id not in (None, rm_id):
            problem = f"this stream belongs to {quoted(stream.rm_id or '')}, not to {quoted(rm_id)}"
            stream.end(Ending(grpc.StatusCode.FAILED_PRECONDITION, problem))
            return
        if stream.rm_id is None and self._engine.serves(rm_id):
            too_many = self._places.take_for(rm_id)
            if too_many is not None:
                stream.end(too_many)
                return
            self._streams.bind(stream, rm_id)
        refused = await self._engine.take(rm_id, self._codec.events(stream.method, request))
        if refused is not None:
            given = self._codec.refusal_messages(refused)
            stream.put([message.SerializeToString() for message in given])
            stream.end(Ending(grpc.StatusCode.FAILED_PRECONDITION, refused.reason))
        elif all_sent is not None:
            self._streams.once_written(rm_id, all_sent)

    def _half_closed(self, stream: OpenStream) -> None:
        stream.is_half_closed = True
        if stream.rm_id is None or stream not in self._streams.of(stream.rm_id):
            stream.end(Ending())
        else:
            self._leave_if_all_over(stream.rm_id)

    def _lost(self, stream: OpenStream) -> None:
        if stream.rm_id is not None and self._streams.lose(stream):
            self._leave_if_all_over(stream.rm_id)

    def _leave_if_all_over(self, rm_id: str) -> None:
        """Handle the last stream of an RM: the RM is lost if one broke, else shut down."""
        streams = self._streams.of(rm_id)
        if all(stream.is_half_closed for stream in streams):
            is_lost = self._streams.has_lost(rm_id)
            self._engine.report(ConnectionLost(rm_id) if is_lost else ShutDown(rm_id))
            for stream in streams:
                stream.end(Ending())

    def _note(self, method: str, request: Message) -> None:
        self._engine.counters.handled[method] += 1
        if LOGGER.isEnabledFor(logging.DEBUG):
            message = loggable(request, shows_extra_config=self._shows_extra_config)
            LOGGER.debug("received", extra=fields(method=method, message=message))
