"""Large requests are handled in chunks, with the same result as in one piece."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import examples
from sireference.clock import VirtualClock
from sireference.codec import chunks as codec_chunks
from sireference.codec import codec_for
from sireference.configuration.defaults import default_configuration
from sireference.core import chunks
from sireference.core.model import (
    Ask,
    AskedAndHeld,
    ConnectionLost,
    Effect,
    Event,
    NewAllocation,
    NodeInfo,
    Register,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    RemoveApplication,
    Settings,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from sireference.shell.options import Limits
from sireference.shell.streams import StreamTable
from siwire import REVISIONS, Revision
from tests import keyed_moves
from tests.driving import RM, STOPPED, identities, keys, of, of_allocations, of_asks
from tests.fields import asked
from tests.histories import Player
from tests.history_moves import histories
from tests.keyed_histories import KeyedPlayer
from tests.test_histories import accounting_balances
from tests.wire import Wire, accepted_application, accepted_node, all_streams, served, until

EVERY_REVISION = pytest.mark.parametrize("revision", list(REVISIONS.values()), ids=lambda r: r.name)


def waiting(rm: RM, applications: int, asks: int) -> None:
    """Add applications with asks that fit nowhere."""
    for application in range(applications):
        rm.submits(f"a{application}")
        for number in range(asks):
            rm.asks(f"k{number}", f"a{application}", memory=1)


def handled(rm: RM, events: Iterable[Event]) -> list[Effect]:
    return [effect for event in events for effect in rm.scheduler.handle(event, rm.now)]


def one_by_one(
    history: list[Any], event: Event, kind: type[Player] = Player
) -> tuple[Player, Player, list[Effect], list[Effect]]:
    """Return players and effects of the event after a history: in chunks of one, and as a whole."""
    in_chunks, whole = kind().plays(history), kind().plays(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "MOST", 1)
        parts = in_chunks.scheduler.chunks(event)
        sent = [e for p in parts for e in in_chunks.scheduler.handle(p, in_chunks.now)]
    return in_chunks, whole, sent, whole.scheduler.handle(event, whole.now)


@pytest.mark.parametrize(("application", "withdrawn"), [("", 20), ("a1", 10), ("unknown", 0)])
def test_withdrawal_of_many_asks_is_handled_in_chunks(
    monkeypatch: pytest.MonkeyPatch, application: str, withdrawn: int
) -> None:
    monkeypatch.setattr(chunks, "MOST", 3)
    rm = RM()
    waiting(rm, 2, 10)
    event = UpdateAllocations("rm", ask_releases=(of_asks(application),))

    sent = [rm.scheduler.handle(one, rm.now) for one in rm.scheduler.chunks(event)]

    assert sum(len(of(effects, ReleasedAsk)) for effects in sent) == withdrawn
    assert max(len(of(effects, ReleasedAsk)) for effects in sent) <= 3


def test_small_withdrawals_are_handled_along_with_large_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunks, "MOST", 3)
    rm = RM()
    rm.creates("n1", memory=8)
    rm.submits("a0")
    rm.submits("a1")
    rm.asks("held", "a0", memory=1, most=4)
    one, *_ = identities(rm.asks("held", "a1", memory=1, most=4))
    for number in range(10):
        rm.asks(f"k{number}", "a0", memory=1)
        rm.asks(f"k{number}", "a1", memory=1)
    event = UpdateAllocations(
        "rm",
        ask_releases=(of_asks("a0"), of_asks("a1", "k0")),
        releases=(of_allocations("a0"), of_allocations("a1", one)),
    )

    sent = [rm.scheduler.handle(part, rm.now) for part in rm.scheduler.chunks(event)]

    assert sum(len(of(effects, ReleasedAsk)) for effects in sent) == 11
    assert sum(len(of(effects, ReleasedAllocation)) for effects in sent) == 5
    assert keys(sent[-1]) == [f"k{number}" for number in range(1, 6)]


@given(histories, st.sampled_from(["", "a1", "g1"]))
@settings(max_examples=examples(30))
def test_chunks_have_the_same_effects_as_the_whole(history: list[Any], application: str) -> None:
    withdrawal = of_asks(application)
    release = of_allocations(application or "a1")
    event = UpdateAllocations("rm", ask_releases=(withdrawal,), releases=(release,))

    in_chunks, whole, sent, at_once = one_by_one(history, event)

    assert sent == at_once
    assert in_chunks.scheduler.snapshot("rm") == whole.scheduler.snapshot("rm")


# requirement: SI-REL-029
@given(keyed_moves.histories, st.sampled_from(["a1", "g1", "g2"]))
@settings(max_examples=examples(30))
def test_chunked_release_of_asks_and_allocations_has_the_same_effects(
    history: list[Any], application: str
) -> None:
    release = ReleaseRequest("default", AskedAndHeld(application), STOPPED)
    event = UpdateAllocations("rm", releases=(release,))

    in_chunks, whole, sent, at_once = one_by_one(history, event, KeyedPlayer)

    assert sent == at_once
    assert in_chunks.scheduler.snapshot("rm") == whole.scheduler.snapshot("rm")


@given(histories, st.sampled_from(["a1", "b1", "g1", "g2"]))
@settings(max_examples=examples(30))
def test_application_can_be_removed_in_chunks(history: list[Any], application: str) -> None:
    event = UpdateApplications("rm", remove=(RemoveApplication(application),))
    in_chunks, _, sent, at_once = one_by_one(history, event)

    assert of(sent, ReleasedAllocation) == of(at_once, ReleasedAllocation)
    for partition in in_chunks.partitions:
        accounting_balances(partition)
        assert partition.name != "default" or application not in partition.applications


@given(histories, st.sampled_from([("n1",), ("n1", "n2"), ("n2", "n2", "nowhere", "n1")]))
@settings(max_examples=examples(30))
def test_node_can_be_removed_in_chunks(history: list[Any], names: tuple[str, ...]) -> None:
    gone = tuple(NodeInfo(name, NodeAction.DECOMMISSION) for name in names)
    in_chunks, _, sent, at_once = one_by_one(history, UpdateNodes("rm", gone))

    assert of(sent, ReleasedAllocation) == of(at_once, ReleasedAllocation)
    assert of(sent, RejectedNode) == of(at_once, RejectedNode)
    for partition in in_chunks.partitions:
        accounting_balances(partition)
        assert not set(names) & set(partition.nodes)


def test_chunks_never_end_more_than_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST", 3)
    rm = RM()
    rm.submits("a1")
    for number, size in enumerate((10, 1, 1, 2)):
        rm.creates(f"n{number}", memory=size)
    rm.asks("k", "a1", memory=1, most=14)
    gone = tuple(NodeInfo(f"n{number}", NodeAction.DECOMMISSION) for number in range(4))
    event = UpdateNodes("rm", gone)

    sent = [rm.scheduler.handle(one, rm.now) for one in rm.scheduler.chunks(event)]

    assert [len(of(effects, ReleasedAllocation)) for effects in sent] == [3, 3, 3, 1, 1, 1, 2, 0]


def test_error_in_a_large_node_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST", 3)
    rm = RM()
    rm.submits("a1")
    rm.creates("n1", memory=10)
    rm.asks("k", "a1", memory=1, most=10)
    negative = Resource({"memory": -1})
    event = UpdateNodes("rm", (NodeInfo("n1", NodeAction.DECOMMISSION, capacity=negative),))

    sent = handled(rm, rm.scheduler.chunks(event))

    assert [type(effect) for effect in sent] == [RejectedNode]


@EVERY_REVISION
def test_large_message_is_parsed_in_chunks(
    monkeypatch: pytest.MonkeyPatch, revision: Revision
) -> None:
    monkeypatch.setattr(codec_chunks, "MOST", 4)
    codec, si = codec_for(revision), revision.si
    fields = [asked(revision, si.Resource(), allocationKey=f"k{n}") for n in range(10)]
    asks = {fields[0][0]: [ask for _, ask in fields]}
    (method,) = (name for name in codec.update_methods if name in ("Update", "UpdateAllocation"))
    request = si.UpdateRequest if method == "Update" else si.AllocationRequest

    events: list[Any] = list(codec.events(method, request(rmID="rm", **asks)))

    assert [len((*event.asks, *event.entries)) for event in events] == [4, 4, 2]
    assert [event.more_follows for event in events] == [True, True, False]


def test_scheduling_starts_after_the_whole_request() -> None:
    """The ask of higher priority is placed first, wherever it stands in the request."""
    rm = RM(queues=PRIORITIES)
    rm.submits("a1")
    rm.creates("n1", memory=1)
    low = Ask("low", "a1", resource=Resource({"memory": 1}), priority=1)
    first = UpdateAllocations("rm", asks=(low,), more_follows=True)
    second = UpdateAllocations("rm", asks=(replace(low, key="high", priority=2),))

    sent = handled(rm, (first, second))

    assert [new.allocation.ask.key for new in of(sent, NewAllocation)] == ["high"]


PRIORITIES = """
partitions:
  - name: default
    queues: [{name: root, submitacl: "*", queues: [{name: default}]}]
"""


def asks(*keys: str, **more: Any) -> UpdateAllocations:
    need = Resource({"memory": 1})
    return UpdateAllocations("rm", asks=tuple(Ask(k, "a1", resource=need) for k in keys), **more)


async def begun(wire: Wire) -> None:
    """Return two RMs; the first one's requests are handled in chunks."""
    await wire.registers()
    await wire.registers("other")


async def test_other_rms_are_served_between_two_chunks() -> None:
    async with served() as wire:
        await begun(wire)
        engine = wire.server.engine

        many = engine.take("rm", (asks("k1", more_follows=True), asks("k2")))
        own = engine.handle(asks("k3"))
        others = engine.handle(replace(asks("k4"), rm_id="other"))

        assert others.done()
        assert not many.done()
        assert not own.done()
        assert await many is None
        assert await own is None


async def test_lost_connection_is_handled_after_the_last_chunk() -> None:
    async with served() as wire:
        await begun(wire)
        engine = wire.server.engine

        many = engine.take("rm", (asks("k1", more_follows=True), asks("k2")))
        engine.report(ConnectionLost("rm"))

        assert engine.serves("rm")
        await many
        await until(lambda: not engine.serves("rm"))


async def test_chunks_for_an_earlier_registration_are_dropped() -> None:
    async with served() as wire:
        await begun(wire)
        engine = wire.server.engine
        node = UpdateNodes("rm", (NodeInfo("n1", NodeAction.CREATE),))

        many = engine.take("rm", (asks("k1", more_follows=True), asks("k2")))
        again = engine.handle(Register("rm", default_configuration()))
        late = engine.handle(node)
        await asyncio.gather(many, again, late)

        assert (await engine.snapshot("rm")).nodes == ()
        await engine.handle(node)
        assert len((await engine.snapshot("rm")).nodes) == 1


async def test_snapshot_is_consistent_during_chunks() -> None:
    async with served() as wire:
        await begun(wire)
        engine = wire.server.engine
        infos = tuple(NodeInfo(f"n{n}", NodeAction.CREATE) for n in range(3000))
        await engine.handle(UpdateNodes("rm", infos))

        taking = engine.snapshot("rm")
        removal = engine.handle(UpdateNodes("rm", (NodeInfo("n0", NodeAction.DECOMMISSION),)))
        assert not taking.done()
        assert not removal.done()

        assert len((await taking).nodes) == 3000
        await removal
        assert len((await engine.snapshot("rm")).nodes) == 2999


async def test_own_deadlines_wait_for_the_last_chunk() -> None:
    """Deadlines of other RMs do fire."""
    clock = VirtualClock()
    async with served(clock=clock, settings=Settings(connection_loss_timeout=5.0)) as wire:
        await begun(wire)
        scheduler, engine = wire.server.engine.scheduler, wire.server.engine
        for rm_id in ("rm", "other"):
            rm = scheduler.rms.known(rm_id)
            assert rm is not None
            rm.timers.set(clock.now() + 1.0, lambda _: [])
            scheduler.rms.deadlines.changed(rm)

        many = engine.take("rm", (asks("k1", more_follows=True), asks("k2")))
        due = scheduler.rms.deadlines.due(clock.now() + 1.0)
        assert [rm.rm_id for rm in due] == ["other"]
        await many

        due = scheduler.rms.deadlines.due(clock.now() + 1.0)
        assert [rm.rm_id for rm in due] == ["rm", "other"]


async def test_answers_are_counted_before_more_are_produced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One ask for four thousand allocations on a node whose id takes a hundred kilobytes."""
    made = 0
    deliver = StreamTable.deliver

    def counted(self: StreamTable, rm_id: str, method: str, messages: list[bytes]) -> None:
        nonlocal made
        made += sum(map(len, messages))
        deliver(self, rm_id, method, messages)

    limits = Limits(outbox_bytes=10 << 20)
    async with served(settings=Settings(longest_name=1 << 20), limits=limits) as wire:
        await wire.registers()
        nodes, applications, allocations = await all_streams(wire)
        await accepted_node(wire, nodes, "n" * 100_000, memory=4000)
        await accepted_application(wire, applications)
        monkeypatch.setattr(StreamTable, "deliver", counted)
        await allocations.asks(*[wire.ask(f"k{number}", memory=1) for number in range(4000)])

        code, message = await allocations.ends()

        assert "does not read" in message
        assert code.name == "RESOURCE_EXHAUSTED"
        assert made < (10 << 20) + (4 << 20)


def test_item_rejected_in_chunks_is_rejected_once(rm: RM) -> None:
    sent = handled(rm, (asks("k1", more_follows=True), asks("k2")))

    assert [rejected.key for rejected in of(sent, RejectedAsk)] == ["k1", "k2"]
