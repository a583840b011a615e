"""The call Callbacks: an RM offers callbacks and answers them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from siwire.ext import extension_pb2 as ext

from sireference.core.model import OfferCallbacks, quoted
from sireference.shell.callback_stream import CallbackStream
from sireference.shell.engine import Engine
from sireference.shell.options import Limits
from sireference.shell.stream_limit import StreamLimit, too_silent
from sireference.shell.streams import Ending
from sireference.shell.unexpected import report_leftovers


class CallbackService:
    """Serves the callback streams of all RMs."""

    def __init__(self, engine: Engine, places: StreamLimit, limits: Limits) -> None:
        self._engine = engine
        self._places = places
        self._limits = limits

    async def callbacks(self, requests: AsyncIterator[ext.FromRm], context: Any) -> None:
        """Serve one stream, from its offer to its end."""
        owner: str | None = None
        try:
            async with self._places.one(context):
                offer = await self._offer(requests, context)
                owner = offer.rm_id
                stream = CallbackStream(owner, offer.kinds, self._limits.callback_timeout)
                ending = await self._serve(stream, requests, context)
            if ending.code is not grpc.StatusCode.OK:
                await context.abort(ending.code, ending.problem)
        finally:
            if owner is not None:
                self._places.give_back(owner)

    async def _offer(self, requests: AsyncIterator[ext.FromRm], context: Any) -> ext.FromRm.Offer:
        """Read the RM's offer; it takes a slot of the stream limit."""
        first = await self._first(requests, context)
        if not first.HasField("offer"):
            problem = "the first message has to be an offer"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
        if not self._engine.serves(first.offer.rm_id):
            problem = f"resource manager {quoted(first.offer.rm_id)} is not registered"
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, problem)
        too_many = self._places.take_for(first.offer.rm_id)
        if too_many is not None:
            await context.abort(too_many.code, too_many.problem)
        return first.offer

    async def _first(self, requests: AsyncIterator[ext.FromRm], context: Any) -> ext.FromRm:
        timeout = self._limits.first_message_timeout
        try:
            async with asyncio.timeout(timeout):
                return await anext(aiter(requests), ext.FromRm())
        except TimeoutError:
            ending = too_silent(timeout)
            await context.abort(ending.code, ending.problem)
            raise

    async def _serve(
        self, stream: CallbackStream, requests: AsyncIterator[ext.FromRm], context: Any
    ) -> Ending:
        self._engine.report(OfferCallbacks(stream.owner, self._engine.callbacks.bind(stream)))
        try:
            await context.send_initial_metadata(())  # the offer is accepted
            await _converse(stream, requests, context)
        finally:
            if self._engine.callbacks.unbind(stream):
                self._engine.report(OfferCallbacks(stream.owner, frozenset()))
        return await stream.ending


async def _converse(
    stream: CallbackStream, requests: AsyncIterator[ext.FromRm], context: Any
) -> None:
    """Send calls and read answers until either side ends the stream."""
    reader = asyncio.create_task(_read(stream, requests))
    writer = stream.begin_writing(context)
    try:
        await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        if reader.done():
            await reader
            stream.end(Ending())
        await writer
    except BaseException:
        if not (stream.is_broken_off and writer.cancelled()):
            raise
    finally:
        reader.cancel()
        writer.cancel()
        report_leftovers(reader, writer, method="Callbacks", rm=stream.owner)


async def _read(stream: CallbackStream, requests: AsyncIterator[ext.FromRm]) -> None:
    async for request in requests:
        if not request.HasField("answer"):
            problem = "after the offer there are answers only"
            stream.end(Ending(grpc.StatusCode.INVALID_ARGUMENT, problem))
            return
        stream.answer(request.answer)
