"""Random histories of RMs that take callbacks: what they receive agrees with the state."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis_profiles import examples
from sireference.core.model import (
    Callback,
    ChangeDetail,
    ChangeType,
    EventRecord,
    RecordType,
    SentEvents,
    SyncedCache,
)
from sireference.core.state.partition import Partition
from tests.driving import of
from tests.histories import Player
from tests.history_moves import Answer, asked_histories, histories
from tests.quiescence import answer_everything, remove_everything
from tests.serving import nothing_fits
from tests.test_histories import INVARIANTS, nothing_is_left

ALL = frozenset(Callback)
RECEIVED = frozenset({Callback.EVENTS, Callback.CACHE_SYNC})
COMES_OR_GOES = {ChangeType.ADD: 1, ChangeType.REMOVE: -1}
Pairs = Counter[tuple[str, str]]


@given(asked_histories)
@settings(max_examples=examples(60))
def test_accounting_balances_while_questions_are_open(history: list[object]) -> None:
    Player(callbacks=ALL).plays(history, *INVARIANTS)


@given(asked_histories)
@settings(max_examples=examples(60))
def test_nothing_is_left_after_all_answers_and_removals(history: list[object]) -> None:
    player = Player(callbacks=ALL).plays(history)

    remove_everything(player)

    nothing_is_left(player)


@given(asked_histories)
@settings(max_examples=examples(60))
def test_agreeing_rm_gets_every_possible_allocation(history: list[object]) -> None:
    player = Player(callbacks=ALL)
    for move in history:
        player.play(replace(move, suits=True) if isinstance(move, Answer) else move)

    answer_everything(player)

    for partition in player.partitions:
        assert not partition.proposals
        nothing_fits(partition)


class Reader(Player):
    """Collects everything received by callback and compares it with the state."""

    def __init__(self) -> None:
        super().__init__(callbacks=RECEIVED)

    @property
    def records(self) -> list[EventRecord]:
        sent = [one for step in self.effects for one in of(step, SentEvents)]
        return [record for one in sent for record in one.records]

    def open(self, kind: RecordType, *details: ChangeDetail) -> Pairs:
        """Return object and reference of what the records say was added and not removed."""
        pairs: Pairs = Counter()
        for record in self.records:
            if record.type is kind and record.detail in details:
                pair = (record.object_id, record.reference_id)
                pairs[pair] += COMES_OR_GOES.get(record.change, 0)
        return Counter({pair: count for pair, count in pairs.items() if count})

    def cached(self) -> set[str]:
        """Return the keys that were assumed and not forgotten; a key is forgotten as a whole."""
        keys: set[str] = set()
        for sync in (one for step in self.effects for one in of(step, SyncedCache)):
            assumed = {key for key, _ in sync.assumed}
            assert keys >= set(sync.forgotten)
            assert not assumed & set(sync.forgotten)
            keys = (keys | assumed) - set(sync.forgotten)
        return keys


@given(histories)
@settings(max_examples=examples(40))
def test_assumed_and_not_forgotten_allocations_are_live(history: list[object]) -> None:
    reader = Reader().plays(history)

    live = [one for partition in reader.partitions for one in partition.allocations.all.values()]
    assert reader.cached() == {one.record.ask.key for one in live}


def allocations_by(partition: Partition, place: str) -> Pairs:
    places = {
        "node": lambda one: one.node.node_id,
        "application": lambda one: one.application.application_id,
        "queue": lambda one: one.application.leaf.name,
    }
    return Counter(
        (places[place](live), live.record.identity) for live in partition.allocations.all.values()
    )


@given(histories)
@settings(max_examples=examples(40))
def test_event_records_agree_with_allocations_on_nodes(history: list[object]) -> None:
    reader = Reader().plays(history)

    for kind, detail, place in (
        (RecordType.NODE, ChangeDetail.NODE_ALLOC, "node"),
        (RecordType.APP, ChangeDetail.APP_ALLOC, "application"),
        (RecordType.QUEUE, ChangeDetail.QUEUE_ALLOC, "queue"),
    ):
        by_place: Pairs = Counter()
        for partition in reader.partitions:
            by_place += allocations_by(partition, place)
        assert reader.open(kind, detail) == by_place


@given(histories)
@settings(max_examples=examples(40))
def test_event_records_agree_with_pending_and_reserved_asks(history: list[object]) -> None:
    reader = Reader().plays(history)

    applications = [a for p in reader.partitions for a in p.applications.values()]
    assert reader.open(RecordType.APP, ChangeDetail.APP_REQUEST) == Counter(
        (one.application_id, key) for one in applications for key in one.pending
    )
    assert reader.open(RecordType.QUEUE, ChangeDetail.QUEUE_APP) == Counter(
        (one.leaf.name, one.application_id) for one in applications
    )
    assert reader.open(RecordType.NODE, ChangeDetail.NODE_RESERVATION) == Counter(
        (preemption.node.node_id, preemption.pending.ask.key)
        for partition in reader.partitions
        for preemption in partition.preemptions.open
    )


@given(histories)
@settings(max_examples=examples(40))
def test_event_records_agree_with_nodes_and_queues(history: list[object]) -> None:
    reader = Reader().plays(history)

    whole = (ChangeDetail.DETAILS_NONE, ChangeDetail.NODE_DECOMISSION)
    assert reader.open(RecordType.NODE, *whole) == Counter(
        (node_id, "") for partition in reader.partitions for node_id in partition.nodes
    )
    configured = (ChangeDetail.QUEUE_CONFIG, ChangeDetail.QUEUE_DYNAMIC)
    assert reader.open(RecordType.QUEUE, *configured) == Counter(
        (queue.name, "") for partition in reader.partitions for queue in partition.root.all()
    )
