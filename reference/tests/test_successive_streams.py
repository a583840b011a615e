"""Successive streams: of the same kind, or of a new registration."""

import asyncio
import contextlib

import grpc
import pytest
from sireference.shell import streams
from sireference.shell.streams import OpenStream
from siwire import REVISIONS
from tests.wire import (
    TIMEOUT,
    Stream,
    Wire,
    accepted_application,
    accepted_node,
    all_streams,
    busy_streams,
    over_the_wire,
    served,
    until,
)

REFUSED = grpc.StatusCode.FAILED_PRECONDITION
THREE_STREAMS = [REVISIONS[name] for name in ("2023-04", "2023-08", "2023-12")]


async def sends_on_an_ended_stream(wire: Wire, stream: Stream, node: str) -> None:
    """Send a node on a stream that the server has begun to abort, and see it aborted.

    If the client already knows of the end, gRPC refuses to send and may forget the status.
    """
    try:
        await stream.send(nodes=[wire.node(node)])
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return
    assert (await stream.ends())[0] is grpc.StatusCode.ABORTED


@over_the_wire
async def test_second_stream_of_a_kind_replaces_the_first(wire: Wire) -> None:
    await wire.registers()
    first = await wire.opens("UpdateNode")
    await accepted_node(wire, first, "n1")

    second = await wire.opens("UpdateNode")
    await accepted_node(wire, second, "n2")

    code, message = await first.ends()
    assert code is grpc.StatusCode.ABORTED
    assert "took its place" in message
    await accepted_node(wire, second, "n3")


# requirement: SI-REG-005, SI-REG-007
@over_the_wire
async def test_registering_again_ends_the_streams_and_drops_all_state(wire: Wire) -> None:
    await wire.registers()
    earlier = await all_streams(wire)
    await accepted_node(wire, earlier[0])
    await accepted_application(wire, earlier[1])

    await wire.registers()

    for stream in earlier:
        code, message = await stream.ends()
        assert (code, "registered again" in message) == (grpc.StatusCode.ABORTED, True)
    *_, allocations = await busy_streams(wire)
    await allocations.asks(wire.ask("k2", memory=1))
    assert (await allocations.receives()).new[0].allocationKey == "k2"


@over_the_wire
async def test_messages_on_streams_of_an_earlier_registration_are_ignored(wire: Wire) -> None:
    await wire.registers()
    earlier = await wire.opens("UpdateNode")
    await accepted_node(wire, earlier, "n1")

    registering = asyncio.ensure_future(wire.registers())
    (stream,) = wire.server._streams.of("rm")
    await asyncio.wait_for(asyncio.shield(stream.ending), TIMEOUT)
    await sends_on_an_ended_stream(wire, earlier, "n2")

    await registering
    snapshot = await wire.calls("Snapshot", rm_id="rm")
    assert (snapshot.phase, list(snapshot.nodes)) == (snapshot.RUNNING, [])


@over_the_wire
async def test_messages_on_a_replaced_stream_are_ignored(wire: Wire) -> None:
    await wire.registers()
    first = await wire.opens("UpdateNode")
    await accepted_node(wire, first, "n1")
    (replaced,) = wire.server._streams.of("rm")
    wire.server._streams.bind(OpenStream(replaced.method), "rm")

    await sends_on_an_ended_stream(wire, first, "n2")

    snapshot = await wire.calls("Snapshot", rm_id="rm")
    assert [node.node_id for node in snapshot.nodes] == ["n1"]


@over_the_wire
async def test_streams_of_another_rm_survive_a_registration(wire: Wire) -> None:
    for rm_id in ("rm", "other"):
        await wire.registers(rm_id)
    others = await wire.opens("UpdateNode", "other")
    await accepted_node(wire, others, "n1")

    await wire.registers("rm")

    await accepted_node(wire, others, "n2")


@over_the_wire
async def test_refused_registration_keeps_the_streams(wire: Wire) -> None:
    await wire.registers()
    nodes = await wire.opens("UpdateNode")
    await accepted_node(wire, nodes, "n1")

    with pytest.raises(grpc.aio.AioRpcError):
        await wire.registers(config="::no")

    await accepted_node(wire, nodes, "n2")


async def keys_reported(allocations: Stream) -> list[str]:
    """Return everything allocated on the stream until the last key or the end of the stream."""
    received: list[str] = []
    with contextlib.suppress(AssertionError, grpc.aio.AioRpcError):
        while not received or not received[-1].startswith("last"):
            received += [new.allocationKey for new in (await allocations.receives()).new]
    return received


async def with_much_to_read(wire: Wire) -> tuple[Stream, list[str]]:
    """Return a stream that is never read, and the keys allocated on it."""
    await wire.registers()
    *_, allocations = await busy_streams(wire, memory=10_000)
    keys = [f"{number:04}{'k' * 1000}" for number in range(2000)]
    for begin in range(0, len(keys), 100):
        await allocations.asks(*[wire.ask(key, memory=1) for key in keys[begin : begin + 100]])
    received = wire.server.engine.counters.reported
    await until(lambda: received["NewAllocation"] >= len(keys))
    return allocations, keys


@over_the_wire
async def test_reader_of_both_streams_receives_everything_once_and_in_order(wire: Wire) -> None:
    first, keys = await with_much_to_read(wire)

    second = await wire.opens("UpdateAllocation")
    await second.asks(wire.ask("last", memory=1))

    before, after = await asyncio.gather(keys_reported(first), keys_reported(second))
    assert (await first.ends())[0] is grpc.StatusCode.ABORTED
    assert before
    assert before + after == [*keys, "last"]


@pytest.mark.parametrize("end", ["is cancelled", "stays open, unread"])
async def test_unsent_messages_go_to_the_replacement_stream(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LAST_WORDS", 0.1)
    window_stays_small = (("grpc.http2.bdp_probe", 0),)

    async with served() as wire:
        address = wire.server.address
        async with grpc.aio.insecure_channel(address, options=window_stays_small) as channel:
            first, keys = await with_much_to_read(Wire(channel, wire.revision, wire.server))
            (earlier,) = (one for one in wire.server._streams.of("rm") if one.outbox)
            second = await wire.opens("UpdateAllocation")
            await second.asks(wire.ask("last", memory=1))
            await asyncio.wait_for(asyncio.shield(earlier.ending), TIMEOUT)
            if end == "is cancelled":
                first.call.cancel()

            received = await keys_reported(second)

            assert received == [*keys, "last"][-len(received) :]
            assert len(received) > 1500
            if end != "is cancelled":
                assert (await first.ends())[0] is grpc.StatusCode.ABORTED
