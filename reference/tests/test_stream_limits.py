"""Stream limits: silence, number per RM, and detection of dead clients."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable

import grpc
import pytest
from sireference.core.model import Settings
from sireference.shell import options
from sireference.shell.options import Limits
from siwire.ext import extension_pb2 as ext
from tests.wire import TIMEOUT, Wire, accepted_node, served, until

TOO_LATE = grpc.StatusCode.DEADLINE_EXCEEDED
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
IN_A_MOMENT = Limits(first_message_timeout=0.3)
# A client with an open stream: it reports that, and then does nothing
CLIENT = """
import sys, time
import grpc
from siwire import DEFAULT_REVISION, rpc

method = rpc.methods(DEFAULT_REVISION)["UpdateNode"]
channel = grpc.insecure_channel(sys.argv[1])

def requests():
    yield method.request(rmID="rm")
    time.sleep(600)

answers = rpc.callable_for(channel, method)(requests())
print("open", flush=True)
next(answers)
"""


async def is_free(opens: Callable[[], Awaitable[tuple[grpc.StatusCode, str]]]) -> None:
    """Wait until a stream is accepted."""
    async with asyncio.timeout(TIMEOUT):
        while (await opens())[0] is EXHAUSTED:
            pass


async def test_silent_stream_ends() -> None:
    async with served(limits=IN_A_MOMENT) as wire:
        silent = await wire.opens("UpdateNode", greets=False)
        code, message = await silent.ends()
        assert (code, message) == (
            TOO_LATE,
            "no first message in 0.3 s, so the stream belongs to no resource manager",
        )


async def test_silent_streams_do_not_block_others() -> None:
    async with served(limits=Limits(first_message_timeout=0.3, streams=4)) as wire:
        await wire.registers()
        silent = [await wire.opens("UpdateNode", greets=False) for _ in range(2)]
        without_offer = [await wire.opens_callbacks() for _ in range(2)]
        for stream in silent:
            assert (await stream.ends())[0] is TOO_LATE
        for callbacks in without_offer:
            assert (await callbacks.ends())[0] is TOO_LATE

        await accepted_node(wire, await wire.opens("UpdateNode"), "n1")


async def test_stream_that_has_sent_a_message_may_be_silent() -> None:
    """A silent stream opened later ends, which shows that the time is over."""
    async with served(limits=IN_A_MOMENT) as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        callbacks = await wire.offers(ext.EVENT_BATCH)
        silent = await wire.opens("UpdateApplication", greets=False)
        assert (await silent.ends())[0] is TOO_LATE

        await accepted_node(wire, nodes, "n1")
        assert (await callbacks.receives()).kind == ext.EVENT_BATCH


async def test_one_rm_cannot_take_every_stream() -> None:
    async with served(limits=Limits(streams_per_rm=2)) as wire:
        for rm_id in ("rm", "other"):
            await wire.registers(rm_id)
        nodes = await wire.opens("UpdateNode")
        await accepted_node(wire, nodes, "n1")
        callbacks = await wire.offers(ext.EVENT_BATCH)

        code, message = await (await wire.opens("UpdateAllocation")).ends()
        assert code is EXHAUSTED
        assert message.startswith("resource manager 'rm' has 2 streams, the maximum of one")
        await accepted_node(wire, nodes, "n2")
        await accepted_node(wire, await wire.opens("UpdateNode", "other"), "n1")
        callbacks.call.cancel()
        await is_free(lambda: of_callbacks(wire))


async def of_callbacks(wire: Wire) -> tuple[grpc.StatusCode, str]:
    """Return how a callback stream ends whose offer is followed by nothing."""
    stream = await wire.opens_callbacks()
    await stream.call.write(ext.FromRm(offer=ext.FromRm.Offer(rm_id="rm")))
    await stream.call.done_writing()
    return await stream.ends()


async def test_callback_streams_count_towards_the_limit_of_their_rm() -> None:
    async with served(limits=Limits(streams_per_rm=1)) as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        await accepted_node(wire, nodes, "n1")

        assert (await of_callbacks(wire))[0] is EXHAUSTED
        nodes.call.cancel()
        await wire.has_streams(0)
        await wire.registers()
        await is_free(lambda: of_callbacks(wire))


async def test_lost_rm_takes_no_stream() -> None:
    async with served() as wire:
        for number in range(30):
            rm_id = f"rm{number}"
            await wire.registers(rm_id)
            callbacks = await wire.offers(ext.EVENT_BATCH, rm_id=rm_id)
            nodes = await wire.opens("UpdateNode", rm_id)
            applications = await wire.opens("UpdateApplication", rm_id)
            await accepted_node(wire, nodes, "n1")
            await nodes.half_closes()
            await applications.half_closes()
            for stream in (nodes, applications, callbacks):
                await stream.ends()
        table, places = wire.server._streams, wire.server._places
        assert (table.open_streams, table._held, table.broken) == ({}, {}, {})
        await until(lambda: not (places._taken_by or places._taken))


@pytest.mark.slow("waits for a real timer")
async def test_suspended_client_has_lost_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_ANSWER_AT_LEAST", 1.0)

    async with served(settings=Settings(connection_loss_timeout=2.0)) as wire:
        await wire.registers()
        command = [sys.executable, "-c", CLIENT, wire.server.address]
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        try:
            await wire.has_streams(1)
            os.kill(process.pid, signal.SIGSTOP)
            await wire.has_streams(0)
        finally:
            process.kill()
            await asyncio.wait_for(process.wait(), TIMEOUT)
        snapshot = await wire.calls("Snapshot", rm_id="rm")
        assert snapshot.phase in (snapshot.PAUSED, snapshot.STOPPED)


@pytest.mark.parametrize(
    ("connection_loss_timeout", "quiet", "timeout"),
    [(60.0, 30_000, 15_000), (0.0, 1000, 5000), (4.0, 2000, 5000), (1e9, 7_200_000, 7_200_000)],
)
def test_clients_are_pinged(connection_loss_timeout: float, quiet: int, timeout: int) -> None:
    chosen = dict(options.keepalive(connection_loss_timeout))

    assert chosen["grpc.keepalive_time_ms"] == quiet
    assert chosen["grpc.keepalive_timeout_ms"] == timeout
