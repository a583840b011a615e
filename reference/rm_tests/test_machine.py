"""The machine without a scheduler: what waits for its changes can be cancelled at any moment."""

import asyncio
from typing import NoReturn

import pytest
from rm_tests.driving import BIG
from sirm.codec import codec_for
from sirm.codec.codec import Identity
from sirm.core.model import AddNode
from sirm.core.state import Settings
from sirm.shell.machine import Machine
from siwire import DEFAULT_REVISION

LONG = 60.0
TURNS = 8  # of the event loop: more than a task that waits needs to go on


def _machine() -> Machine:
    return Machine(
        codec_for(DEFAULT_REVISION), Identity("rm", "", ""), Settings(), _no_channel, lambda _: None
    )


def _no_channel() -> NoReturn:
    pytest.fail("not started, so there is nothing to connect to")


async def _waits(machine: Machine, limit: float) -> None:
    while True:
        await machine.changed(limit)


async def _turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.mark.parametrize("turns", range(TURNS))
def test_cancellation_around_a_change_ends_the_wait(turns: int) -> None:
    async def play() -> bool:
        machine = _machine()
        waiting = asyncio.ensure_future(_waits(machine, LONG))
        await _turns(TURNS)

        machine.act(AddNode("n1", BIG))
        await _turns(turns)
        waiting.cancel()
        await _turns(TURNS)

        return waiting.cancelled()

    assert asyncio.run(play())


@pytest.mark.parametrize("turns", range(TURNS))
def test_cancellation_around_the_limit_ends_the_wait(turns: int) -> None:
    async def play() -> bool:
        waiting = asyncio.ensure_future(_waits(_machine(), 0.0))
        await _turns(turns)

        waiting.cancel()
        await _turns(TURNS)

        return waiting.cancelled()

    assert asyncio.run(play())
