"""The table of open streams: routing of messages, and queues of unsent ones."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

import grpc
import pytest
from patience import patient
from sireference.shell import streams
from sireference.shell.outbox import Outbox
from sireference.shell.streams import Ending, OpenStream, StreamTable

NODE = "UpdateNode"
P = ParamSpec("P")


ONE, TWO, THREE, FOUR = b"one", b"two", b"three", b"four"


def in_a_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), patient()))

    return run


class Context:
    """Records what is written, or fails."""

    def __init__(self, *, breaks_after: int = 99) -> None:
        self.written: list[bytes] = []
        self._breaks_after = breaks_after

    async def write(self, message: bytes) -> None:
        await asyncio.sleep(0)
        if len(self.written) >= self._breaks_after:
            raise ConnectionError
        self.written.append(message)


class SlowReader(Context):
    """Blocks on the second message until released."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def write(self, message: bytes) -> None:
        if self.written:
            self.has_begun.set()
            await self.goes_on.wait()
        await super().write(message)

    def breaks(self) -> None:
        """Make the pending write fail."""
        self._breaks_after = len(self.written)
        self.goes_on.set()


def begins_writing(stream: OpenStream, context: Context) -> None:
    """Start writing, and retrieve the outcome although nothing awaits it."""
    writing = stream.begin_writing(context)
    writing.add_done_callback(lambda task: task.cancelled() or task.exception())


def received(table: StreamTable, *messages: bytes) -> None:
    table.deliver("rm", NODE, list(messages))


async def stuck(table: StreamTable) -> tuple[OpenStream, SlowReader]:
    """Return a stream that has written ONE, is writing TWO, and has THREE queued."""
    stream, context = OpenStream(NODE), SlowReader()
    table.bind(stream, "rm")
    begins_writing(stream, context)
    received(table, ONE, TWO, THREE)
    await context.has_begun.wait()
    return stream, context


async def all_written(stream: OpenStream, context: Context) -> list[bytes]:
    """Return what is written from now on, once FOUR is queued and the stream ended."""
    writing = stream.begin_writing(context)
    stream.put([FOUR])
    stream.end(Ending())
    await writing
    return context.written


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
async def test_another_registration_drops_unsent_messages() -> None:
    table = StreamTable()
    stream = OpenStream(NODE)
    table.bind(stream, "rm")
    table.deliver("rm", NODE, [ONE])
    table.deliver("rm", "UpdateAllocation", [THREE])

    table.restart_history("rm")

    later = OpenStream("UpdateAllocation")
    table.bind(later, "rm")
    assert stream.outbox.empty() == later.outbox.empty() == []


@in_a_loop
async def test_messages_a_broken_stream_could_not_write_go_to_the_next() -> None:
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
async def test_end_of_a_replaced_stream_is_not_a_connection_loss() -> None:
    table = StreamTable()
    first, second = OpenStream(NODE), OpenStream(NODE)
    table.bind(first, "rm")
    table.bind(second, "rm")

    assert (await first.ending).code is grpc.StatusCode.ABORTED
    assert not table.lose(first)
    assert not table.has_lost("rm")
    assert table.of("rm") == [second]


@in_a_loop
async def test_queued_messages_go_to_the_replacement_after_the_one_in_progress() -> None:
    table = StreamTable()
    _, context = await stuck(table)
    second, taken = OpenStream(NODE), Context()
    table.bind(second, "rm")
    context.goes_on.set()

    assert await all_written(second, taken) == [THREE, FOUR]
    assert context.written == [ONE, TWO]


@in_a_loop
async def test_message_that_fails_with_its_stream_comes_first_on_the_next() -> None:
    table = StreamTable()
    first, context = await stuck(table)
    second, taken = OpenStream(NODE), Context()
    table.bind(second, "rm")
    context.breaks()
    assert not table.lose(first)

    assert await all_written(second, taken) == [TWO, THREE, FOUR]
    assert context.written == [ONE]


@in_a_loop
async def test_last_of_several_replacements_writes_everything() -> None:
    table = StreamTable()
    _, context = await stuck(table)
    second, between = OpenStream(NODE), Context()
    table.bind(second, "rm")
    writing = second.begin_writing(between)
    await asyncio.sleep(0)  # it waits for the first
    third, taken = OpenStream(NODE), Context()
    table.bind(third, "rm")
    context.breaks()

    assert await all_written(third, taken) == [TWO, THREE, FOUR]
    await writing
    assert (context.written, between.written) == ([ONE], [])


@in_a_loop
async def test_queued_messages_of_a_replacement_wait_for_the_next() -> None:
    table = StreamTable()
    _, context = await stuck(table)
    second = OpenStream(NODE)
    table.bind(second, "rm")
    writing = second.begin_writing(Context())
    await asyncio.sleep(0)
    writing.cancel()
    assert table.lose(second)
    context.breaks()

    third, taken = OpenStream(NODE), Context()
    table.bind(third, "rm")
    assert await all_written(third, taken) == [TWO, THREE, FOUR]


@in_a_loop
async def test_queued_messages_are_counted_once() -> None:
    table = StreamTable()
    await stuck(table)
    waits = len(TWO) + len(THREE)
    assert table.waiting("rm") == waits

    table.bind(OpenStream(NODE), "rm")

    assert table.waiting("rm") == waits


@in_a_loop
async def test_message_after_the_last_write_waits_for_the_next_stream() -> None:
    """The writer is done, and the end of the stream is not known yet."""
    table = StreamTable()
    first = OpenStream(NODE)
    table.bind(first, "rm")
    first.end(Ending())
    await first.begin_writing(Context())
    received(table, ONE)
    assert table.leave(first)

    second = OpenStream(NODE)
    table.bind(second, "rm")
    assert second.outbox.empty() == [ONE]


@in_a_loop
async def test_rm_that_left_leaves_nothing() -> None:
    table = StreamTable()
    for number in range(1000):
        rm_id = f"rm{number}"
        table.deliver(rm_id, "UpdateAllocation", [ONE])
        broken, again = OpenStream(NODE), OpenStream(NODE)
        table.bind(broken, rm_id)
        table.lose(broken)
        table.bind(again, rm_id)
        table.restart_history(rm_id)
        table.deliver(rm_id, NODE, [])
        table.leave(again)
        table.deliver(rm_id, NODE, [])

    assert (table.open_streams, table._held, table.broken) == ({}, {}, {})


@in_a_loop
async def test_unread_message_goes_to_the_replacement_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streams, "LAST_WORDS", 0.01)
    table = StreamTable()
    first, context = await stuck(table)
    second, taken = OpenStream(NODE), Context()
    table.bind(second, "rm")
    begins_writing(second, taken)
    received(table, FOUR)
    while len(taken.written) < 3:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0)

    assert taken.written == [TWO, THREE, FOUR]
    assert context.written == [ONE]
    assert first.is_broken_off


@in_a_loop
async def test_ended_stream_writes_its_queue_and_stops() -> None:
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


def test_outbox_reports_its_queue_length() -> None:
    outbox = Outbox()
    outbox.put([ONE, THREE])
    assert (len(outbox), outbox.size) == (2, len(ONE) + len(THREE))

    outbox.written(outbox.first())
    assert (outbox.first(), outbox.size) == (THREE, len(THREE))

    assert outbox.empty() == [THREE]
    outbox.written(THREE)
    assert (len(outbox), outbox.size) == (0, 0)
