"""Configurations are read outside the event loop: others are served, the latest one wins."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # no types
from sireference.codec import Policies
from sireference.configuration.model import Configuration
from siwire.ext import extension_pb2 as ext
from tests.wire import QUIET, TIMEOUT, Wire, served, until

QUEUES = (
    "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: @}]}]}]"
)
SLOW = QUEUES.replace("@", "slow")
LARGE = f"{SLOW} #{'x' * 70_000}"
QUICK = QUEUES.replace("@", "quick")


@dataclass(frozen=True)
class Held(Policies):
    """Reads a slow configuration only when the test allows it."""

    has_begun: threading.Event = field(default_factory=threading.Event)
    may_go_on: threading.Event = field(default_factory=threading.Event)

    def configuration(self, policy_group: str, sent: str = "") -> Configuration:
        if sent in (SLOW, LARGE):
            self.has_begun.set()
            assert self.may_go_on.wait(TIMEOUT / 4), "nothing else happened meanwhile"
        return super().configuration(policy_group, sent)


Scenario = Callable[[Wire, Held], Awaitable[None]]


def with_a_slow_configuration(scenario: Scenario) -> Callable[[], Awaitable[None]]:
    """Run ``scenario`` against a server that reads a slow configuration on command."""

    @wraps(scenario)
    async def test() -> None:
        held = Held()
        async with served(policies=held) as wire:
            try:
                await scenario(wire, held)
            finally:
                held.may_go_on.set()

    del test.__wrapped__  # pytest would look for fixtures
    return test


@asynccontextmanager
async def under_way(held: Held, call: Awaitable[Any]) -> AsyncIterator["asyncio.Future[Any]"]:
    """A call whose configuration is being read until the block ends."""
    calling = asyncio.ensure_future(call)
    assert await asyncio.to_thread(held.has_begun.wait, TIMEOUT)
    yield calling
    held.may_go_on.set()
    if not calling.cancelled():
        await asyncio.wait_for(calling, TIMEOUT)


async def is_healthy(wire: Wire) -> bool:
    check = health_pb2_grpc.HealthStub(wire.channel).Check
    answer = await check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def learns_of(wire: Wire, count: int) -> None:
    """Wait until the server has started that many registrations."""
    handled = wire.server.engine.counters.handled
    await until(lambda: handled["RegisterResourceManager"] >= count)


async def leaves(wire: Wire, rm_id: str = "rm") -> list[str]:
    snapshot = await wire.calls("Snapshot", rm_id=rm_id)
    return [queue.name for queue in snapshot.queues if queue.name != "root"]


@with_a_slow_configuration
async def test_others_are_served_while_a_registration_is_read(wire: Wire, held: Held) -> None:
    async with under_way(held, wire.registers("rm", config=SLOW)):
        assert await is_healthy(wire)
        await wire.registers("rm2", config=QUICK)
        assert await leaves(wire, "rm2") == ["root.quick"]
        assert await leaves(wire) == []

    assert await leaves(wire) == ["root.slow"]


@with_a_slow_configuration
async def test_others_are_served_while_an_update_is_read(wire: Wire, held: Held) -> None:
    await wire.registers("rm", config=QUICK)
    applying = wire.calls("ApplyConfiguration", rm_id="rm", config=SLOW)
    async with under_way(held, applying) as outcome:
        assert await is_healthy(wire)
        assert await leaves(wire) == ["root.quick"]

    assert outcome.result() == ext.ConfigurationOutcome(applied=True)
    assert await leaves(wire) == ["root.slow"]


@with_a_slow_configuration
async def test_later_of_two_registrations_of_an_rm_wins(wire: Wire, held: Held) -> None:
    async with under_way(held, wire.registers("rm", config=SLOW)):
        second = asyncio.ensure_future(wire.registers("rm", config=QUICK))
        await learns_of(wire, 2)
        done, _ = await asyncio.wait({second}, timeout=QUIET)
        assert not done, "it has to wait for its turn"

    await asyncio.wait_for(second, TIMEOUT)
    assert await leaves(wire) == ["root.quick"]


@with_a_slow_configuration
async def test_large_configurations_are_read_one_at_a_time(wire: Wire, held: Held) -> None:
    large = f"{QUICK} #{'x' * 70_000}"
    async with under_way(held, wire.registers("rm", config=LARGE)):
        second = asyncio.ensure_future(wire.registers("rm2", config=large))
        await learns_of(wire, 2)
        done, _ = await asyncio.wait({second}, timeout=QUIET)
        assert not done, "it has to wait for its turn"
        await wire.registers("rm3", config=QUICK)

    await asyncio.wait_for(second, TIMEOUT)
    assert await leaves(wire, "rm2") == ["root.quick"]


@with_a_slow_configuration
async def test_update_waits_for_the_registration_before_it(wire: Wire, held: Held) -> None:
    async with under_way(held, wire.registers("rm", config=SLOW)):
        applying = asyncio.ensure_future(wire.calls("ApplyConfiguration", rm_id="rm", config=QUICK))
        done, _ = await asyncio.wait({applying}, timeout=QUIET)
        assert not done, "it has to wait for its turn"

    outcome = await asyncio.wait_for(applying, TIMEOUT)
    assert outcome == ext.ConfigurationOutcome(applied=True)


@with_a_slow_configuration
async def test_cancelled_registration_is_dropped(wire: Wire, held: Held) -> None:
    async with under_way(held, wire.registers("rm", config=SLOW)) as first:
        first.cancel()
        await asyncio.wait({first}, timeout=TIMEOUT)
        await wire.registers("rm", config=QUICK)  # its turn has come

    _, pending = await asyncio.wait({asyncio.ensure_future(is_healthy(wire))}, timeout=TIMEOUT)
    assert not pending
    assert await leaves(wire) == ["root.quick"]


@with_a_slow_configuration
async def test_error_is_sent_in_turn(wire: Wire, held: Held) -> None:
    async with under_way(held, wire.registers("rm", config=SLOW)):
        second = asyncio.ensure_future(wire.registers("rm", config="quues: []"))
        await learns_of(wire, 2)

    with pytest.raises(grpc.aio.AioRpcError, match="quues"):
        await second
    assert await leaves(wire) == ["root.slow"]
