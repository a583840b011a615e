"""Server limits: message size, open streams, unread messages."""

import asyncio

import grpc
import pytest
from sireference.codec import Policies
from sireference.configuration.problems import ConfigurationError
from sireference.shell.options import Limits
from tests.fields import identified, refused_keys
from tests.wire import TIMEOUT, Wire, accepted_application, accepted_node, busy_streams, served

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


async def is_served(wire: Wire) -> bool:
    """Return whether another stream is served now."""
    third = await wire.opens("UpdateAllocation")
    try:
        await third.asks(wire.ask("k1", "unknown", memory=1))
        return bool(refused_keys(await third.receives()))
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return False


async def test_oversized_message_ends_its_stream() -> None:
    async with served(limits=Limits(message_bytes=1000)) as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        applications = await wire.opens("UpdateApplication")
        await accepted_node(wire, nodes, "n" * 900)
        await wire.has_streams(2)
        await nodes.send(nodes=[wire.node("n" * 1000)])

        assert (await nodes.ends())[0] is EXHAUSTED
        await accepted_application(wire, applications)


async def test_oversized_configuration_is_refused_with_a_message() -> None:
    fits = "partitions: [{name: default, queues: [{name: root}]}] # \N{GREEK SMALL LETTER ALPHA}"
    most = len(fits.encode())
    message = f"the configuration has {most + 1} bytes, and no more than {most} are read"

    async with served(policies=Policies(configuration_bytes=most)) as wire:
        await wire.registers(config=fits)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wire.registers("rm2", config=f"{fits}#")
        outcome = await wire.calls("ApplyConfiguration", rm_id="rm", config=f"{fits}#")

        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert message in (refused.value.details() or "")
        assert not outcome.applied
        assert message in outcome.reason


def test_configuration_of_the_kubernetes_maximum_is_accepted() -> None:
    sent = "#" * (1 << 20)
    with pytest.raises(ConfigurationError, match="the text is empty"):
        Policies().configuration("", sent)

    with pytest.raises(ConfigurationError, match="has 1048577 bytes, and no more than 1048576"):
        Policies().configuration("", f"{sent}#")


@pytest.mark.parametrize("megabytes", [5, 20])
async def test_message_of_megabytes_is_accepted(megabytes: int) -> None:
    async with served() as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        large = wire.node("n2")
        large.attributes["note"] = "n" * (megabytes << 20)
        await nodes.send(nodes=[wire.node("n1", "UPDATE"), large])
        assert [node.nodeID for node in (await nodes.receives()).rejected] == ["n1"]
        assert [node.nodeID for node in (await nodes.receives()).accepted] == ["n2"]


async def test_number_of_open_streams_is_limited() -> None:
    async with served(limits=Limits(streams=2)) as wire:
        await wire.registers()
        first = await wire.opens("UpdateNode")
        await accepted_node(wire, first, "n1")
        second = await wire.opens("UpdateApplication")
        await second.send(new=[wire.application()])
        await second.receives()

        code, message = await (await wire.opens("UpdateAllocation")).ends()
        assert code is EXHAUSTED
        assert "2 streams are open" in message
        await accepted_node(wire, first, "n2")
        second.call.cancel()
        await wire.has_streams(1)
        async with asyncio.timeout(TIMEOUT):
            while not await is_served(wire):
                pass


async def test_rm_that_does_not_read_is_lost() -> None:
    """Its answers cannot wait for ever, and none can be left out: it has to register again."""
    async with served(limits=Limits(outbox_bytes=1 << 20)) as wire:
        for rm_id in ("rm", "reader"):
            await wire.registers(rm_id)
        reader = await wire.opens("UpdateNode", "reader")
        await accepted_node(wire, reader, "n1")
        lazy = await wire.opens("UpdateNode")
        other = await wire.opens("UpdateApplication")
        await other.send(new=[wire.application()])
        await other.receives()
        sent = 0
        while wire.server.engine.serves("rm"):
            await lazy.send(nodes=[wire.node("n" * 1000, "UPDATE")] * 10)
            sent += 10
            assert sent < 10_000, "all of it waits somewhere"

        assert (await other.ends())[0] is EXHAUSTED
        code, message = await lazy.ends()
        assert (code, "does not read" in message) == (EXHAUSTED, True)
        snapshot = await wire.calls("Snapshot", rm_id="rm")
        assert snapshot.phase == snapshot.PAUSED
        await accepted_node(wire, reader, "n2")
        await wire.registers()
        again = await wire.opens("UpdateNode")
        await accepted_node(wire, again, "n1")


async def test_rm_that_never_reads_frees_its_stream() -> None:
    async with served(limits=Limits(outbox_bytes=1 << 20, streams=1)) as wire:
        await wire.registers()
        lazy = await wire.opens("UpdateNode")
        while wire.server.engine.serves("rm"):
            await lazy.send(nodes=[wire.node("n" * 1000, "UPDATE")] * 10)
        await wire.registers("other")

        async with grpc.aio.insecure_channel(wire.server.address) as second:
            other = Wire(second, wire.revision, wire.server)
            nodes = await other.opens("UpdateNode", "other")
            await accepted_node(other, nodes, "n1")


async def test_messages_for_a_stream_that_never_opens_count_too() -> None:
    async with served(limits=Limits(outbox_bytes=10_000)) as wire:
        await wire.registers()
        nodes, _, allocations = await busy_streams(wire)
        running = []
        for number in range(20):
            fields = identified(wire.revision, f"{number}{'x' * 1000}")
            running.append(wire.si.Allocation(applicationID="a1", nodeID="n1", **fields))
        await allocations.send(allocations=running)
        await allocations.asks(wire.ask("fence", "unknown"))
        assert refused_keys(await allocations.receives()) == ["fence"]

        await nodes.send(nodes=[wire.node("n1", "DECOMISSION")])

        assert (await nodes.ends())[0] is EXHAUSTED
        assert not wire.server.engine.serves("rm")
