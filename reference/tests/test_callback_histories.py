"""Random histories of RMs with callbacks: the callbacks agree with the state."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis_profiles import examples
from sireference.core.model import (
    Callback,
    ChangeDetail,
    ChangeType,
    EventRecord,
    NodeInfo,
    RecordType,
    RemoveApplication,
    SentEvents,
    SyncedCache,
)
from sireference.core.resources import NOTHING
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction
from tests.driving import of
from tests.histories import Player
from tests.history_moves import Answer, asked_histories, histories
from tests.serving import nothing_fits
from tests.test_histories import (
    accounting_balances,
    applications_make_sense,
    gangs_make_sense,
    preemptions_make_sense,
)

ALL = frozenset(Callback)
RECEIVED = frozenset({Callback.EVENTS, Callback.CACHE_SYNC})
COMES_OR_GOES = {ChangeType.ADD: 1, ChangeType.REMOVE: -1}
Pairs = Counter[tuple[str, str]]


@given(asked_histories)
@settings(max_examples=examples(60))
def test_accounting_balance_while_the_rm_is_asked(history: list[object]) -> None:
    player = Player(callbacks=ALL)
    for move in history:
        player.play(move)
        for partition in player.partitions:
            accounting_balances(partition)
            applications_make_sense(partition)
            gangs_make_sense(partition)
            preemptions_make_sense(partition)


@given(asked_histories)
@settings(max_examples=examples(60))
def test_nothing_is_left_when_everything_is_answered_and_taken_away(history: list[object]) -> None:
    player = Player(callbacks=ALL)
    for move in history:
        player.play(move)
    for partition in player.partitions:
        for application_id in list(partition.applications):
            player.play(RemoveApplication(application_id, partition.name))
        for node_id in list(partition.nodes):
            player.play(NodeInfo(node_id, NodeAction.DECOMMISSION))
    while player.open_questions:
        player.play(Answer(suits=True, index=-1, is_observed=True))

    player.play(1e7)

    (rm,) = player.scheduler.rms.all()
    assert rm.timers.next_deadline() is None
    for partition in player.partitions:
        accounting_balances(partition)
        assert not partition.proposals
        assert not partition.preemptions.open
        assert partition.root.used == NOTHING


@given(asked_histories)
@settings(max_examples=examples(60))
def test_consenting_rm_gets_everything_that_can_be_served(history: list[object]) -> None:
    player = Player(callbacks=ALL)
    for move in history:
        player.play(replace(move, suits=True) if isinstance(move, Answer) else move)

    while player.open_questions:
        player.play(Answer(suits=True, index=-1, is_observed=True))

    for partition in player.partitions:
        assert not partition.proposals
        nothing_fits(partition)


class Reader(Player):
    """Reads all callbacks and compares them with the state."""

    def __init__(self) -> None:
        super().__init__(callbacks=RECEIVED)

    @property
    def records(self) -> list[EventRecord]:
        sent = [one for step in self.effects for one in of(step, SentEvents)]
        return [record for one in sent for record in one.records]

    def open(self, kind: RecordType, *details: ChangeDetail) -> Pairs:
        """Return object and reference of additions without removal in the records."""
        pairs: Pairs = Counter()
        for record in self.records:
            if record.type is kind and record.detail in details:
                pair = (record.object_id, record.reference_id)
                pairs[pair] += COMES_OR_GOES.get(record.change, 0)
        return Counter({pair: count for pair, count in pairs.items() if count})

    def cached(self) -> set[str]:
        """Return the keys to assume and not to forget; a key is forgotten as a whole."""
        keys: set[str] = set()
        for sync in (one for step in self.effects for one in of(step, SyncedCache)):
            assumed = {key for key, _ in sync.assumed}
            assert keys >= set(sync.forgotten)
            assert not assumed & set(sync.forgotten)
            keys = (keys | assumed) - set(sync.forgotten)
        return keys


def read(history: list[object]) -> Reader:
    reader = Reader()
    for move in history:
        reader.play(move)
    return reader


@given(histories)
@settings(max_examples=examples(40))
def test_what_is_to_be_assumed_and_not_forgotten_is_what_lives(history: list[object]) -> None:
    reader = read(history)

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
def test_event_records_report_what_is_where(history: list[object]) -> None:
    reader = read(history)

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
def test_event_records_report_what_waits_and_what_is_reserved(history: list[object]) -> None:
    reader = read(history)

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
def test_event_records_report_which_nodes_and_queues_there_are(history: list[object]) -> None:
    reader = read(history)

    whole = (ChangeDetail.DETAILS_NONE, ChangeDetail.NODE_DECOMISSION)
    assert reader.open(RecordType.NODE, *whole) == Counter(
        (node_id, "") for partition in reader.partitions for node_id in partition.nodes
    )
    configured = (ChangeDetail.QUEUE_CONFIG, ChangeDetail.QUEUE_DYNAMIC)
    assert reader.open(RecordType.QUEUE, *configured) == Counter(
        (queue.name, "") for partition in reader.partitions for queue in partition.root.all()
    )
