"""Preemption predicates and state dumps over the extension: calls, answers, no answers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from sireference.clock import VirtualClock
from sireference.shell.options import Limits
from siwire import REVISIONS, Revision
from siwire.ext import extension_pb2 as ext
from tests.configuring import tree
from tests.test_callbacks import THREE_STREAMS, over_the_wire, read
from tests.wire import Callbacks, Stream, Wire, busy_streams, served

QUEUES = tree(
    "{name: default}",
    "{name: entitled, resources: {guaranteed: {memory: 5}}}",
    root="properties: {preemption.delay: 1ms}",
)

VICTIMS = {f"v{number}" for number in range(10)}
Answering = Callable[[Callbacks, ext.ToRm], Awaitable[object]]


async def claims(wire: Wire) -> tuple[Callbacks, Stream]:
    """Send the ask k1, which claims 2 of the memory that ten victims have 1 of each."""
    await wire.registers(config=QUEUES)
    callbacks = await wire.offers(ext.EVICTION_CHECK)
    _, applications, allocations = await busy_streams(wire)
    await applications.send(new=[wire.application("a2", "root.entitled")])
    await applications.receives()
    victims = [wire.ask(key, memory=1) for key in VICTIMS]
    claim = wire.ask("k1", "a2", memory=2)
    for victim in victims:
        victim.preemptionPolicy.allowPreemptSelf = True
    claim.preemptionPolicy.allowPreemptOther = True
    await allocations.asks(*victims)
    assert len((await allocations.receives()).new) == 10
    await allocations.asks(claim)
    return callbacks, allocations


def response(wire: Wire, index: int, *, success: bool = True) -> Any:
    return wire.si.PreemptionPredicatesResponse(success=success, index=index)


# requirement: SI-CB-005, SI-CB-007
@pytest.mark.parametrize("revision", THREE_STREAMS, ids=str)
async def test_rm_chooses_the_victims(revision: Revision) -> None:
    async with served(revision) as wire:
        callbacks, allocations = await claims(wire)

        call = await callbacks.receives()
        await callbacks.answers(call, payload=response(wire, 2))

        assert (call.kind, call.answer_expected) == (ext.EVICTION_CHECK, True)
        (args,) = read(wire, call)
        assert (args.allocationKey, args.nodeID, args.startIndex) == ("k1", "n1", 1)
        assert set(args.preemptAllocationKeys) == VICTIMS
        assert len((await allocations.receives()).released) == 3


async def _silence(_callbacks: Callbacks, _call: ext.ToRm) -> None:
    pass


async def _no_payload(callbacks: Callbacks, call: ext.ToRm) -> None:
    await callbacks.answers(call)


async def _refusal(callbacks: Callbacks, call: ext.ToRm) -> None:
    payload = REVISIONS["2023-12"].si.PreemptionPredicatesResponse(success=True, index=1)
    await callbacks.answers(call, ok=False, text="busy", payload=payload)


async def _another_message(callbacks: Callbacks, call: ext.ToRm) -> None:
    policy = REVISIONS["2023-12"].si.PreemptionPolicy
    payload = policy(allowPreemptSelf=True, allowPreemptOther=True)  # the same bytes as consent
    await callbacks.answers(call, payload=payload)


async def _broken_bytes(callbacks: Callbacks, call: ext.ToRm) -> None:
    payload = ext.SiPayload(full_name="si.v1.PreemptionPredicatesResponse", data=b"\xff")
    answer = ext.FromRm.Answer(call_id=call.call_id, ok=True, payload=payload)
    await callbacks.call.write(ext.FromRm(answer=answer))


async def in_time(wire: Wire, callbacks: Callbacks) -> ext.ToRm:
    """Return the next call, advancing virtual time until it comes."""
    reading = asyncio.ensure_future(callbacks.receives())
    while not reading.done():
        await wire.calls("AdvanceClock", milliseconds=100)
    return await reading


# requirement: SI-CB-007
@pytest.mark.parametrize(
    "answer",
    [_silence, _no_payload, _refusal, _another_message, _broken_bytes],
    ids=lambda one: one.__name__,
)
async def test_answer_other_than_consent_preempts_no_victim(answer: Answering) -> None:
    limits = Limits(callback_timeout=0.1)
    async with served(clock=VirtualClock(), limits=limits) as wire:
        callbacks, allocations = await claims(wire)

        await answer(callbacks, await in_time(wire, callbacks))
        again = await in_time(wire, callbacks)
        await callbacks.answers(again, payload=response(wire, 1))

        assert len((await allocations.receives()).released) == 2, "of the second answer"


# requirement: SI-CB-004
@over_the_wire
async def test_closed_callback_stream_consents_to_the_necessary_victims(wire: Wire) -> None:
    callbacks, allocations = await claims(wire)
    await callbacks.receives()

    callbacks.call.cancel()

    assert len((await allocations.receives()).released) == 2


async def snapshot_of(wire: Wire) -> Any:
    sent = (await wire.calls("Snapshot", rm_id="rm")).raw_json
    return json.loads(sent) if sent else None


@pytest.mark.parametrize(
    ("ok", "text", "shown"),
    [(True, '{"pods": 3}', {"pods": 3}), (False, "busy", {"error": "busy"})],
    ids=["a document", "an error"],
)
async def test_snapshot_includes_the_state_dump_of_the_rm(
    *, ok: bool, text: str, shown: object
) -> None:
    async with served() as wire:
        await wire.registers()
        callbacks = await offers_dump(wire)
        asked = asyncio.create_task(snapshot_of(wire))

        call = await callbacks.receives()
        await callbacks.answers(call, ok=ok, text=text)

        assert (call.kind, list(call.payloads)) == (ext.RM_STATE_DUMP, [])
        assert await asked == {"resource_manager": shown}


async def offers_dump(wire: Wire) -> Callbacks:
    """Offer state dumps only; the headers confirm it."""
    callbacks = await wire.opens_callbacks()
    offer = ext.FromRm.Offer(rm_id="rm", kinds=[ext.RM_STATE_DUMP])
    await callbacks.call.write(ext.FromRm(offer=offer))
    await callbacks.call.initial_metadata()
    return callbacks


@over_the_wire
async def test_invalid_json_state_dump_has_a_reason(wire: Wire) -> None:
    await wire.registers()
    callbacks = await offers_dump(wire)
    asked = asyncio.create_task(snapshot_of(wire))

    await callbacks.answers(await callbacks.receives(), text="{")

    assert "not JSON" in (await asked)["resource_manager"]["error"]


@over_the_wire
async def test_missing_state_dump_is_not_waited_for(wire: Wire) -> None:
    await wire.registers()
    await offers_dump(wire)

    shown = await snapshot_of(wire)

    assert "did not answer" in shown["resource_manager"]["error"]


@over_the_wire
async def test_closed_callback_stream_has_no_state_dump(wire: Wire) -> None:
    await wire.registers()
    callbacks = await offers_dump(wire)
    asked = asyncio.create_task(snapshot_of(wire))
    await callbacks.receives()

    await callbacks.call.done_writing()

    assert (await callbacks.ends())[0] is grpc.StatusCode.OK
    assert await asked is None
