"""Callbacks over the extension: offers, calls, answers, and the end of the stream."""

import asyncio
from typing import Any

import grpc
import pytest
from sireference.core.model import Settings
from sireference.shell.options import Limits
from siwire import REVISIONS, Capability, Revision
from siwire.ext import extension_pb2 as ext
from tests.wire import (
    QUIET,
    Callbacks,
    Stream,
    Wire,
    accepted_node,
    against,
    busy_streams,
    served,
    until,
)

CHECK, EVENTS = ext.PLACEMENT_CHECK, ext.EVENT_BATCH
THREE_STREAMS = [r for r in REVISIONS.values() if r.can(Capability.THREE_UPDATE_STREAMS)]


over_the_wire = against(
    lambda: served(settings=Settings(longest_name=1 << 20), limits=Limits(callback_timeout=0.2))
)


async def ready(wire: Wire) -> Stream:
    """Add nodes n1 and n2 with memory 10 and application a1; return the allocation stream."""
    nodes, _, allocations = await busy_streams(wire, memory=10, vcore=1)
    await accepted_node(wire, nodes, "n2")
    return allocations


def read(wire: Wire, call: ext.ToRm) -> list[Any]:
    """Return the SI messages in a call."""
    return [
        getattr(wire.si, payload.full_name.removeprefix("si.v1.")).FromString(payload.data)
        for payload in call.payloads
    ]


async def allocated(allocations: Stream) -> list[tuple[str, str]]:
    return [(new.allocationKey, new.nodeID) for new in (await allocations.receives()).new]


# requirement: SI-CB-002, SI-CB-003
@over_the_wire
async def test_node_is_checked_before_it_is_used(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(CHECK)
    allocations = await ready(wire)
    await allocations.asks(wire.ask("k1", memory=3))

    first = await callbacks.receives()
    await callbacks.answers(first, ok=False, text="too hot")
    second = await callbacks.receives()
    await callbacks.answers(second)

    assert (first.kind, first.answer_expected) == (CHECK, True)
    assert 0 not in {first.call_id, second.call_id}
    assert first.call_id != second.call_id
    (args,) = read(wire, first)
    assert (args.allocationKey, args.nodeID, args.allocate) == ("k1", "n1", True)
    assert read(wire, second)[0].nodeID == "n2"
    assert await allocated(allocations) == [("k1", "n2")]


@over_the_wire
async def test_no_answer_is_a_refusal(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(CHECK)
    allocations = await ready(wire)
    await allocations.asks(wire.ask("k1", memory=3))

    first = await callbacks.receives()
    second = await callbacks.receives()
    await callbacks.answers(first)
    await callbacks.answers(second)

    assert [read(wire, call)[0].nodeID for call in (first, second)] == ["n1", "n2"]
    assert await allocated(allocations) == [("k1", "n2")], "what comes too late does not count"


# requirement: SI-CB-004
@over_the_wire
async def test_without_an_offer_nothing_is_checked(wire: Wire) -> None:
    await wire.registers()
    await wire.offers(EVENTS)
    allocations = await ready(wire)

    await allocations.asks(wire.ask("k1", memory=3))

    assert await allocated(allocations) == [("k1", "n1")]


# requirement: SI-CB-001
@over_the_wire
async def test_another_registration_ends_the_stream(wire: Wire) -> None:
    await wire.registers()
    first = await wire.offers(CHECK)

    await wire.registers()

    code, message = await first.ends()
    assert (code, "registration" in message) == (grpc.StatusCode.ABORTED, True)
    second = await wire.offers(CHECK)
    allocations = await ready(wire)
    await allocations.asks(wire.ask("k1", memory=3))
    call = await second.receives()
    await second.answers(call)
    assert await allocated(allocations) == [("k1", "n1")]


@over_the_wire
async def test_second_callback_stream_replaces_the_first_and_its_questions(wire: Wire) -> None:
    await wire.registers()
    first = await wire.offers(CHECK)
    allocations = await ready(wire)
    await allocations.asks(wire.ask("k1", memory=3))
    asked = await first.receives()

    second = await wire.offers(CHECK)

    assert (await first.ends())[0] is grpc.StatusCode.ABORTED
    again = await second.receives()
    assert again.payloads == asked.payloads
    await second.answers(again)
    assert await allocated(allocations) == [("k1", "n1")]


@pytest.mark.parametrize("end", ["cancel", "done_writing"])
async def test_losing_the_callback_stream_is_not_a_connection_loss(end: str) -> None:
    async with served() as wire:
        await wire.registers()
        callbacks = await wire.offers(CHECK)
        allocations = await ready(wire)
        await allocations.asks(wire.ask("k1", memory=3))
        await callbacks.receives()

        result = getattr(callbacks.call, end)()
        if end == "done_writing":
            await result
            assert (await callbacks.ends())[0] is grpc.StatusCode.OK

        assert await allocated(allocations) == [("k1", "n1")], "no client to ask"
        assert wire.taken_by() == frozenset()
        await allocations.asks(wire.ask("k2", memory=3))
        assert await allocated(allocations) == [("k2", "n2")]


@pytest.mark.parametrize(
    ("first", "code"),
    [
        (ext.FromRm(answer=ext.FromRm.Answer(call_id=1)), grpc.StatusCode.INVALID_ARGUMENT),
        (ext.FromRm(), grpc.StatusCode.INVALID_ARGUMENT),
        (ext.FromRm(offer=ext.FromRm.Offer(rm_id="unknown")), grpc.StatusCode.FAILED_PRECONDITION),
        (None, grpc.StatusCode.INVALID_ARGUMENT),
    ],
    ids=["answer", "empty", "stranger", "nothing"],
)
async def test_stream_without_an_offer_first_is_refused(
    first: ext.FromRm | None, code: grpc.StatusCode
) -> None:
    async with served() as wire:
        await wire.registers()
        callbacks = await wire.opens_callbacks()
        if first is not None:
            await callbacks.call.write(first)
        await callbacks.call.done_writing()
        assert (await callbacks.ends())[0] is code


@over_the_wire
async def test_second_offer_ends_the_stream(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(CHECK)

    await callbacks.call.write(ext.FromRm(offer=ext.FromRm.Offer(rm_id="rm")))

    assert (await callbacks.ends())[0] is grpc.StatusCode.INVALID_ARGUMENT


@over_the_wire
async def test_answers_without_a_question_are_ignored(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(CHECK)
    for call_id in (0, 1, 2**64 - 1):
        await callbacks.answers(ext.ToRm(call_id=call_id), ok=False)
    allocations = await ready(wire)

    await allocations.asks(wire.ask("k1", memory=3))
    call = await callbacks.receives()
    await callbacks.answers(call)
    await callbacks.answers(call, ok=False)

    assert await allocated(allocations) == [("k1", "n1")]


@over_the_wire
async def test_shutdown_ends_the_stream(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(CHECK)
    nodes = await wire.opens("UpdateNode")
    await nodes.half_closes()
    await nodes.ends()

    assert (await callbacks.ends())[0] is grpc.StatusCode.ABORTED


async def test_server_shutdown_ends_the_stream_with_a_message() -> None:
    async with served() as wire:
        await wire.registers()
        callbacks = await wire.offers(CHECK)
        await wire.server.stop()
        code, message = await callbacks.ends()
        assert (code, "shutting down" in message) == (grpc.StatusCode.UNAVAILABLE, True)


async def test_stream_that_is_not_read_is_abandoned() -> None:
    async with served(limits=Limits(outbox_bytes=1 << 20)) as wire:
        await wire.registers()
        lazy = await wire.offers(EVENTS)
        nodes = await wire.opens("UpdateNode")
        sent = 0
        while wire.taken_by():
            name = f"{sent}{'n' * 1000}"
            actions = ("CREATE", "DRAIN_NODE", "DECOMISSION")
            await nodes.send(nodes=[wire.node(name, action) for action in actions])
            assert (await nodes.receives()).accepted
            sent += 1
            assert sent < 10_000, "all of it waits somewhere"

        assert (await lazy.ends())[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
        await accepted_node(wire, nodes)


@over_the_wire
async def test_every_rm_has_its_own_callbacks(wire: Wire) -> None:
    for rm_id in ("rm", "other"):
        await wire.registers(rm_id)
    others = await wire.offers(CHECK, rm_id="other")
    own = await wire.offers(CHECK)
    allocations = await ready(wire)
    await allocations.asks(wire.ask("k1", memory=3))

    await own.answers(await own.receives())

    assert await allocated(allocations) == [("k1", "n1")]
    reading = asyncio.ensure_future(others.call.read())
    done, _ = await asyncio.wait({reading}, timeout=QUIET)
    assert not done


async def batch(callbacks: Callbacks) -> ext.ToRm:
    call = await callbacks.receives()
    assert (call.kind, call.answer_expected) == (EVENTS, False)
    return call


# requirement: SI-EVT-001, SI-EVT-002, SI-EVT-004, SI-EVT-005
@pytest.mark.parametrize("revision", THREE_STREAMS, ids=str)
async def test_event_records_come_in_batches(revision: Revision) -> None:
    async with served(revision) as wire:
        await wire.registers()
        callbacks = await wire.offers(EVENTS)
        nodes = await wire.opens("UpdateNode")
        before = wire.server.engine.clock.now() * 1e9
        await nodes.send(nodes=[wire.node("n1", memory=10)])
        records = read(wire, await batch(callbacks))
        after = wire.server.engine.clock.now() * 1e9

        kinds = wire.si.EventRecord
        assert [(r.type, r.objectID) for r in records] == [(kinds.NODE, "n1")] * 2
        assert [r.eventChangeType for r in records] == [kinds.ADD, kinds.SET]
        assert all(before - 1e6 <= record.timestampNano <= after + 1e6 for record in records)
        assert all(record.message for record in records)


# requirement: SI-EVT-001
@over_the_wire
async def test_large_batch_is_split(wire: Wire) -> None:
    await wire.registers()
    callbacks = await wire.offers(EVENTS)
    nodes = await wire.opens("UpdateNode")
    names = [f"{number}{'n' * 100_000}" for number in range(30)]
    await nodes.send(nodes=[wire.node(name) for name in names])

    seen: list[str] = []
    while len(seen) < 2 * len(names):
        call = await batch(callbacks)
        assert call.ByteSize() < 2 << 20
        seen += [record.objectID for record in read(wire, call)]

    assert seen == [name for name in names for _ in range(2)]


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
async def test_describe_lists_the_supported_callbacks(revision: Revision) -> None:
    async with served(revision, limits=Limits(callback_timeout=1.5)) as wire:
        facets = await wire.calls("Describe")
        kinds = set(facets.callbacks)
        assert {CHECK, EVENTS, ext.CONTAINER_STATE} <= kinds
        assert (ext.EVICTION_CHECK in kinds) is (revision in THREE_STREAMS)
        assert (ext.CACHE_SYNC in kinds) is (revision not in THREE_STREAMS)
        assert (ext.RM_STATE_DUMP in kinds) is (revision in THREE_STREAMS)
        assert facets.timers.callback_answer == 1500


# requirement: SI-CB-009
@pytest.mark.parametrize("revision", THREE_STREAMS, ids=str)
async def test_container_state_names_application_and_key(revision: Revision) -> None:
    async with served(revision) as wire:
        await wire.registers()
        callbacks = await wire.offers(ext.CONTAINER_STATE)
        allocations = await ready(wire)

        await allocations.asks(wire.ask("k1", memory=50))
        call = await callbacks.receives()

        assert (call.kind, call.answer_expected) == (ext.CONTAINER_STATE, False)
        (state,) = read(wire, call)
        application = state.DESCRIPTOR.fields_by_number[1].name  # misspelled before 2023-12
        assert (state.allocationKey, getattr(state, application)) == ("k1", "a1")
        assert state.state == state.FAILED


# requirement: SI-CB-011
def test_cache_is_synchronised_and_a_refusal_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        async with served(REVISIONS["2021-02"]) as wire:
            await wire.registers()
            callbacks = await wire.offers(ext.CACHE_SYNC)
            updates = await wire.opens("Update")
            node = wire.si.NewNodeInfo(nodeID="n1", schedulableResource=wire.resource(memory=9))
            asks = [wire.ask(key, memory=3) for key in ("k1", "k2")]
            for ask in asks:
                await updates.send(
                    newSchedulableNodes=[node], newApplications=[wire.application()], asks=[ask]
                )
            for key in ("k1", "k2"):
                call = await callbacks.receives()
                (cache,) = read(wire, call)
                (assumed,) = cache.assumedAllocations
                assert (assumed.allocationKey, assumed.nodeID) == (key, "n1")
                await callbacks.answers(call, ok=key == "k1", text="full")
            await until(lambda: "not synchronised" in caplog.text)

    asyncio.run(play())

    (warning,) = [one for one in caplog.records if "not synchronised" in one.message]
    assert warning.fields == {"reason": "full"}  # type: ignore[attr-defined]  # of the logger
