"""Event records of requests, applications, nodes and queues, with their details."""

from collections.abc import Iterable

import pytest
from sireference.configuration.defaults import default_configuration
from sireference.core.model import (
    Callback,
    Effect,
    EventRecord,
    OfferCallbacks,
    RecordType,
    Register,
    Rules,
    SentEvents,
    Settings,
)
from sireference.core.model.events import ConnectionLost
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction, TerminationType
from tests.driving import RM, identities, of

EVENTS = frozenset({Callback.EVENTS})
QUEUES = """
partitions:
  - name: default
    preemption: {enabled: true}
    placementrules:
      - {name: provided, create: false}
      - {name: user, create: true, parent: {name: fixed, value: users}}
    queues:
      - name: root
        submitacl: "*"
        properties: {preemption.delay: 1s}
        queues:
          - {name: default}
          - {name: entitled, resources: {guaranteed: {memory: 5}}}
          - {name: users, parent: true}
"""

Received = tuple[str, str, str, str, str]  # type, object, change, detail, reference


def records(effects: Iterable[Effect]) -> list[EventRecord]:
    return [record for batch in of(effects, SentEvents) for record in batch.records]


def received(effects: Iterable[Effect]) -> list[Received]:
    return [
        (r.type.name, r.object_id, r.change.name, r.detail.name, r.reference_id)
        for r in records(effects)
    ]


class Watched(RM):
    """An RM that takes event records once node n1 and application a1 are set up."""

    def __init__(
        self,
        *,
        queues: str = QUEUES,
        settings: Settings | None = None,
        rules: Rules | None = None,
    ) -> None:
        super().__init__(queues=queues, settings=settings, rules=rules)
        self.creates("n1", memory=10)
        self.submits("a1")
        assert self.watches() == []

    def watches(self) -> list[Effect]:
        return self.scheduler.handle(OfferCallbacks(self.rm_id, EVENTS), self.now)


@pytest.fixture
def rm() -> Watched:
    return Watched()


# requirement: SI-EVT-001, SI-CB-004
def test_no_record_is_written_without_a_listener(busy: RM) -> None:
    effects = busy.creates("n2", memory=1) + busy.asks("k1", memory=1) + busy.removes("a1")

    assert of(effects, SentEvents) == []


def test_no_record_is_written_once_the_listener_has_gone(rm: Watched) -> None:
    assert received(rm.submits("a2"))

    rm.scheduler.handle(OfferCallbacks("rm", frozenset()), rm.now)

    assert received(rm.submits("a3")) == []


# requirement: SI-EVT-002, SI-EVT-001
def test_one_batch_has_all_records_of_an_event_in_order(rm: Watched) -> None:
    rm.now = 1234.5

    effects = rm.asks("k1", memory=3)

    (batch,) = of(effects, SentEvents)
    assert effects[-1] is batch
    assert {record.at for record in batch.records} == {1234.5}
    assert all(record.message for record in batch.records)
    (identity,) = identities(effects)
    assert received(effects) == [
        ("APP", "a1", "ADD", "APP_REQUEST", "k1"),
        ("APP", "a1", "SET", "APP_ACCEPTED", ""),
        ("REQUEST", "k1", "ADD", "REQUEST_ALLOC", identity),
        ("APP", "a1", "REMOVE", "APP_REQUEST", "k1"),
        ("APP", "a1", "ADD", "APP_ALLOC", identity),
        ("NODE", "n1", "ADD", "NODE_ALLOC", identity),
        ("QUEUE", "root.default", "ADD", "QUEUE_ALLOC", identity),
        ("APP", "a1", "SET", "APP_STARTING", ""),
    ]


# requirement: SI-EVT-011
def test_records_of_amount_changes_include_the_amount(rm: Watched) -> None:
    taken = Resource({"memory": 3})
    made = records(rm.asks("k1", memory=3))
    grown = records(rm.updates("n1", memory=20))

    with_amounts = {r.detail.name for r in made if r.resource == taken}
    assert with_amounts == {
        "APP_REQUEST",
        "REQUEST_ALLOC",
        "APP_ALLOC",
        "NODE_ALLOC",
        "QUEUE_ALLOC",
    }
    (capacity,) = grown
    assert (capacity.detail.name, capacity.resource) == ("NODE_CAPACITY", Resource({"memory": 20}))


# requirement: SI-EVT-003
def test_record_of_a_request_refers_to_its_application_and_that_to_its_queue(rm: Watched) -> None:
    groups = {(r.type, r.group_id) for r in records(rm.asks("k1", memory=3)) if r.group_id}

    assert groups == {(RecordType.REQUEST, "a1"), (RecordType.APP, "root.default")}


# requirement: SI-EVT-008, SI-EVT-012
def test_release_by_the_rm_is_a_cancellation(rm: Watched) -> None:
    (identity,) = identities(rm.asks("k1", memory=3))

    assert received(rm.releases(identity)) == [
        ("APP", "a1", "REMOVE", "APP_ALLOC", identity),
        ("NODE", "n1", "REMOVE", "NODE_ALLOC", identity),
        ("QUEUE", "root.default", "REMOVE", "QUEUE_ALLOC", identity),
        ("APP", "a1", "REMOVE", "ALLOC_CANCEL", identity),
        ("APP", "a1", "SET", "APP_COMPLETING", ""),
    ]


def test_replaced_ask_is_a_change_not_a_cancellation(rm: Watched) -> None:
    rm.asks("k1", memory=11)

    assert received(rm.asks("k1", memory=12)) == [("APP", "a1", "SET", "APP_REQUEST", "k1")]


def test_rejected_ask_has_no_detail(rm: Watched) -> None:
    (record,) = records(rm.asks("k1", memory=-1))

    assert (record.type.name, record.object_id, record.change.name) == ("REQUEST", "k1", "NONE")
    assert (record.detail.name, record.reference_id) == ("DETAILS_NONE", "a1")
    assert "negative" in record.message
    assert records(rm.asks("", memory=1)) == [], "a record has to name its object"


# requirement: SI-EVT-008
def test_execution_timeout_is_a_timeout(rm: Watched) -> None:
    (identity,) = identities(rm.asks("k1", memory=3, more={"execution_timeout": 5.0}))
    assert received(rm.waits(5.0)) == [], "it has not ended before the RM has confirmed"

    confirmed = received(rm.releases(identity, termination=TerminationType.TIMEOUT))

    assert ("APP", "a1", "REMOVE", "ALLOC_TIMEOUT", identity) in confirmed


# requirement: SI-EVT-005, SI-EVT-009
def test_node_lifecycle_records(rm: Watched) -> None:
    came = received(rm.creates("n2", memory=4))
    drained = received(rm.drains("n2"))
    again = received(rm.drains("n2"))
    back = received(rm.undrains("n2"))
    same = received(rm.updates("n2", memory=4))

    assert came == [
        ("NODE", "n2", "ADD", "DETAILS_NONE", ""),
        ("NODE", "n2", "SET", "NODE_SCHEDULABLE", ""),
    ]
    assert drained == back == [("NODE", "n2", "SET", "NODE_SCHEDULABLE", "")]
    assert again == same == []


# requirement: SI-EVT-009
def test_node_update_records(rm: Watched) -> None:
    action = NodeAction.UPDATE
    occupied = records(rm.send_node_action("n1", action, occupied={"memory": 1}))
    ready = records(rm.send_node_action("n1", action, attributes={"ready": "false", "x": "y"}))
    other = records(rm.send_node_action("n1", action, attributes={"ready": "false", "x": "z"}))
    created = rm.send_node_action(
        "n2", NodeAction.CREATE, {"memory": 1}, attributes={"ready": "true"}
    )

    assert [(r.detail.name, r.resource) for r in occupied] == [
        ("NODE_OCCUPIED", Resource({"memory": 1}))
    ]
    assert [(r.detail.name, r.message) for r in ready] == [("NODE_READY", "ready: false")]
    assert other == []
    assert ("NODE", "n2", "SET", "NODE_READY", "") in received(created)


# requirement: SI-EVT-008, SI-EVT-009
def test_removed_node_records_include_its_allocations(rm: Watched) -> None:
    (identity,) = identities(rm.asks("k1", memory=3))

    sent = received(rm.decommissions("n1"))

    assert ("APP", "a1", "REMOVE", "ALLOC_NODEREMOVED", identity) in sent
    assert not [t for t in sent if t[3] in ("ALLOC_CANCEL", "NODE_SCHEDULABLE")]
    assert sent[-1] == ("NODE", "n1", "REMOVE", "NODE_DECOMISSION", "")


# requirement: SI-EVT-007
def test_application_lifecycle_records() -> None:
    rm = Watched(settings=Settings(completing_timeout=30.0, retention=100.0))
    submitted = received(rm.submits("a2"))
    sent = rm.asks("k1", "a2", memory=1) + rm.asks("k2", "a2", memory=1)
    for identity in identities(sent):
        sent += rm.releases(identity, "a2")
    over = received(rm.waits(30.0))
    forgotten = rm.waits(100.0)

    assert submitted == [
        ("APP", "a2", "ADD", "APP_NEW", ""),
        ("QUEUE", "root.default", "ADD", "QUEUE_APP", "a2"),
    ]
    states = [t[3] for t in received(sent) if t[2] == "SET"]
    assert states == ["APP_ACCEPTED", "APP_STARTING", "APP_RUNNING", "APP_COMPLETING"]
    assert over == [
        ("APP", "a2", "SET", "APP_COMPLETED", ""),
        ("QUEUE", "root.default", "REMOVE", "QUEUE_APP", "a2"),
    ]
    assert received(forgotten) == [("APP", "a2", "REMOVE", "APP_EXPIRED", "")]
    assert records(forgotten)[0].at == rm.now


# requirement: SI-EVT-007
def test_rejected_application_records(rm: Watched) -> None:
    (record,) = records(rm.submits("a2", "root.nowhere"))

    assert (record.type.name, record.object_id, record.change.name) == ("APP", "a2", "SET")
    assert (record.detail.name, "root.nowhere" in record.message) == ("APP_REJECT", True)
    assert records(rm.submits("")) == []


def test_removed_application_records(rm: Watched) -> None:
    rm.asks("k1", memory=11)

    assert received(rm.removes("a1")) == [
        ("APP", "a1", "REMOVE", "APP_REQUEST", "k1"),
        ("REQUEST", "k1", "REMOVE", "REQUEST_CANCEL", "a1"),
        ("QUEUE", "root.default", "REMOVE", "QUEUE_APP", "a1"),
        ("APP", "a1", "REMOVE", "DETAILS_NONE", ""),
    ]


# requirement: SI-EVT-010
def test_listener_from_the_start_receives_the_queues() -> None:
    register = Register("rm", default_configuration(), callbacks=EVENTS)

    effects = Scheduler().handle(register, 1.0)

    assert records(effects)[0].at == 1.0
    assert received(effects) == [
        ("QUEUE", "root", "ADD", "QUEUE_CONFIG", ""),
        ("QUEUE", "root.default", "ADD", "QUEUE_CONFIG", ""),
    ]


# requirement: SI-EVT-010
def test_removed_queue_records(rm: Watched) -> None:
    rm.submits("a2", "", user="ann")
    rm.removes("a2")

    assert received(rm.waits(60)) == [("QUEUE", "root.users.ann", "REMOVE", "QUEUE_DYNAMIC", "")]


# requirement: SI-EVT-010
def test_queues_are_recorded_as_removed_with_their_partition(rm: Watched) -> None:
    second = "  - {name: second, queues: [{name: root, queues: [{name: only}]}]}"
    rm.reconfigures(QUEUES + second)

    assert received(rm.reconfigures(QUEUES)) == [
        ("QUEUE", "root.only", "REMOVE", "QUEUE_CONFIG", ""),
        ("QUEUE", "root", "REMOVE", "QUEUE_CONFIG", ""),
    ]


# requirement: SI-EVT-010
def test_configuration_update_records(rm: Watched) -> None:
    rm.submits("a2", "", user="ann")
    other = QUEUES.replace("{name: users, parent: true}", "{name: users, queues: [{name: ann}]}")
    other = other.replace("guaranteed: {memory: 5}", "guaranteed: {memory: 6}, max: {memory: 9}")
    other = other.replace("- {name: default}", "- {name: new}")
    other += "  - {name: second, queues: [{name: root}]}"

    sent = records(rm.reconfigures(other))

    assert [(r.object_id, r.change.name, r.detail.name, r.resource) for r in sent] == [
        ("root.new", "ADD", "QUEUE_CONFIG", None),
        ("root.entitled", "SET", "QUEUE_MAX", Resource({"memory": 9})),
        ("root.entitled", "SET", "QUEUE_GUARANTEED", Resource({"memory": 6})),
        ("root.users.ann", "SET", "QUEUE_CONFIG", None),
        ("root", "ADD", "QUEUE_CONFIG", None),
    ]
    rm.removes("a2")
    last = QUEUES.replace(", parent: true}", "}")
    last = last.replace(
        "- {name: user, create: true, parent: {name: fixed, value: users}}", "- {name: user}"
    )
    assert received(rm.reconfigures(last))[-4:] == [
        ("QUEUE", "root.users", "SET", "QUEUE_TYPE", ""),
        ("QUEUE", "root.users.ann", "REMOVE", "QUEUE_CONFIG", ""),
        ("QUEUE", "root.new", "REMOVE", "QUEUE_CONFIG", ""),
        ("QUEUE", "root", "REMOVE", "QUEUE_CONFIG", ""),  # of the second partition
    ]


# requirement: SI-EVT-006
def test_detail_is_of_the_kind_of_its_record(rm: Watched) -> None:
    blocks = {RecordType.REQUEST: 1, RecordType.APP: 2, RecordType.NODE: 3, RecordType.QUEUE: 4}
    everything = rm.creates("n2", memory=4) + rm.asks("k1", memory=3) + rm.asks("k2", memory=99)
    everything += rm.decommissions("n1") + rm.removes("a1") + rm.submits("a9", "", user="ann")

    seen = {(record.type, record.detail.value // 100) for record in records(everything)}

    assert {block for kind, block in seen if block not in (0, 5, blocks[kind])} == set()
    assert {kind for kind, _ in seen} == set(RecordType) - {RecordType.USERGROUP}  # later


def test_lost_rm_receives_no_records_about_itself(rm: Watched) -> None:
    assert received(rm.scheduler.handle(ConnectionLost("rm"), rm.now)) == []
