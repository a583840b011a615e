"""The table of open streams: whose messages go where, and what waits for whom."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import grpc
import pytest
from sireference.shell.outbox import Outbox
from sireference.shell.streams import Ending, OpenStream, StreamTable

NODE = "UpdateNode"


ONE, TWO, THREE = b"one", b"two", b"three"


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 5))

    return run


class Context:
    """Takes what is written, or fails to."""

    def __init__(self, *, breaks_after: int = 99) -> None:
        self.written: list[bytes] = []
        self._breaks_after = breaks_after

    async def write(self, message: bytes) -> None:
        await asyncio.sleep(0)
        if len(self.written) >= self._breaks_after:
            raise ConnectionError
        self.written.append(message)


@in_a_loop
async def test_messages_wait_for_the_stream_of_their_kind() -> None:
    table = StreamTable()
    table.deliver("rm", NODE, [ONE])
    table.deliver("rm", "UpdateAllocation", [THREE])
    stream = OpenStream(NODE)
    table.bind(stream, "rm")
    table.deliver("rm", NODE, [TWO])

    assert stream.outbox.empty() == [ONE, TWO]
    assert stream.outbox.empty() == []


@in_a_loop
async def test_another_registration_drops_what_was_not_told() -> None:
    table = StreamTable()
    stream = OpenStream(NODE)
    table.bind(stream, "rm")
    table.deliver("rm", NODE, [ONE])
    table.deliver("rm", "UpdateAllocation", [THREE])

    table.begin_anew("rm")

    later = OpenStream("UpdateAllocation")
    table.bind(later, "rm")
    assert stream.outbox.empty() == later.outbox.empty() == []


@in_a_loop
async def test_what_a_broken_stream_could_not_write_goes_to_the_next() -> None:
    table = StreamTable()
    first, second = OpenStream(NODE), OpenStream(NODE)
    table.bind(first, "rm")
    table.deliver("rm", NODE, [ONE, TWO, THREE])
    context = Context(breaks_after=1)
    with pytest.raises(ConnectionError):
        await first.begin_writing(context)

    assert table.lose(first)
    assert table.has_lost("rm")
    table.bind(second, "rm")

    assert not table.has_lost("rm")
    assert context.written == [ONE]
    assert second.outbox.empty() == [TWO, THREE]


@in_a_loop
async def test_a_replaced_stream_ends_and_its_end_is_nobodys_loss() -> None:
    table = StreamTable()
    first, second = OpenStream(NODE), OpenStream(NODE)
    table.bind(first, "rm")
    table.bind(second, "rm")

    assert (await first.ending).code is grpc.StatusCode.ABORTED
    assert not table.lose(first)
    assert not table.has_lost("rm")
    assert table.of("rm") == [second]


@in_a_loop
async def test_an_ended_stream_writes_what_waits_and_stops() -> None:
    stream, context = OpenStream(NODE), Context()
    writing = asyncio.ensure_future(stream.begin_writing(context))
    stream.put([ONE])
    await asyncio.sleep(0)
    stream.put([TWO])
    stream.end(Ending())
    stream.end(Ending(grpc.StatusCode.ABORTED, "too late"))

    await writing

    assert context.written == [ONE, TWO]
    assert (await stream.ending).code is grpc.StatusCode.OK


def test_an_outbox_knows_how_much_waits() -> None:
    outbox = Outbox()
    outbox.put([ONE, THREE])
    assert (len(outbox), outbox.size) == (2, len(ONE) + len(THREE))

    outbox.written(outbox.first())
    assert (outbox.first(), outbox.size) == (THREE, len(THREE))

    assert outbox.empty() == [THREE]
    outbox.written(THREE)
    assert (len(outbox), outbox.size) == (0, 0)
