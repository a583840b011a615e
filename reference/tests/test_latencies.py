"""Latencies of messages until their effects are sent, and of scheduling passes."""

from prometheus_client import CollectorRegistry
from sireference.shell.latencies import Latencies
from sireference.shell.outbox import Outbox
from sireference.shell.streams import OpenStream, StreamTable
from tests.wire import (
    Wire,
    busy_streams,
    over_the_wire,
    until,
)

ANSWERS = "sireference_answer_seconds"
PASSES = "sireference_scheduling_pass_seconds"


def measured(wire: Wire) -> CollectorRegistry:
    registry = CollectorRegistry()
    wire.server.engine.measure(Latencies(registry))
    return registry


def count(registry: CollectorRegistry, method: str) -> float:
    """Return how many messages of this method were answered."""
    return registry.get_sample_value(f"{ANSWERS}_count", {"method": method}) or 0.0


@over_the_wire
async def test_every_answered_message_counts_once_under_its_method(wire: Wire) -> None:
    registry = measured(wire)
    await wire.registers()
    *_, allocations = await busy_streams(wire)
    await allocations.asks(wire.ask(memory=1))
    await allocations.receives()

    assert count(registry, "RegisterResourceManager") == 1
    for method in ("UpdateNode", "UpdateApplication", "UpdateAllocation"):
        # one is the greeting, which is not answered; a client has an answer before it is counted
        await until(lambda: count(registry, method) >= 2)  # noqa: B023  # at once
        assert count(registry, method) == 2
        total = registry.get_sample_value(f"{ANSWERS}_sum", {"method": method})
        assert total is not None
        assert total > 0
    passes = registry.get_sample_value(f"{PASSES}_count")
    assert passes is not None
    assert passes >= 6


@over_the_wire
async def test_refusal_is_not_an_answer(wire: Wire) -> None:
    registry = measured(wire)
    stream = await wire.opens("UpdateNode")
    await stream.ends()

    assert count(registry, "UpdateNode") == 0


@over_the_wire
async def test_nothing_is_measured_without_a_reader(wire: Wire) -> None:
    assert wire.server.engine.received("UpdateNode") is None


async def test_all_is_sent_when_the_last_message_is_written_on_every_stream() -> None:
    table, received = StreamTable(), list[str]()
    streams = [OpenStream("UpdateNode"), OpenStream("UpdateApplication")]
    for stream in streams:
        table.bind(stream, "rm")
        table.deliver("rm", stream.method, [b"one", b"two"])

    table.once_written("rm", lambda: received.append("both"))
    table.deliver("rm", "UpdateNode", [b"later"])
    for stream in streams:
        for message in (b"one", b"two"):
            assert received == []
            assert stream.outbox.first() == message
            stream.outbox.written(stream.outbox.first())
    assert received == ["both"]

    streams[0].outbox.written(streams[0].outbox.first())
    table.once_written("rm", lambda: received.append("at once"))
    assert received == ["both", "at once"]


def test_dropped_message_is_never_sent() -> None:
    outbox, received = Outbox(), list[str]()
    outbox.put([b"one", b"two"])
    outbox.once_written(lambda: received.append("all"))

    outbox.rest()
    outbox.written(outbox.first())
    outbox.put([b"three"])
    outbox.written(outbox.first())

    assert received == []
