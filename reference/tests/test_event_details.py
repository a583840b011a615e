"""Every change with a detail leads to a record with that detail: one scenario each."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import pytest
from sireference.core.model import (
    DETAILS_UNTIL_2023_12,
    ChangeDetail,
    ChangeType,
    Effect,
    PreemptionPolicy,
    Settings,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.driving import identities
from tests.test_event_records import QUEUES, Watched, received

ADD, SET, REMOVE = ChangeType.ADD, ChangeType.SET, ChangeType.REMOVE
_TIMERS: Final = Settings(placeholder_timeout=60.0, completing_timeout=30.0, retention=100.0)
_MEMBER: Final = {"task_group": "tg", "placeholder": True}


class Record(NamedTuple):
    """What a record must contain in addition to its detail."""

    change: ChangeType
    type: str
    object_id: str
    refers_to: str = ""


Scenario = Callable[[Watched], list[Effect]]


def asked(rm: Watched) -> list[Effect]:
    return rm.asks("k1", memory=3)


def asked_twice(rm: Watched) -> list[Effect]:
    return asked(rm) + rm.asks("k2", memory=3)


def withdrawn(rm: Watched) -> list[Effect]:
    rm.asks("k1", memory=11)
    return rm.withdraws("k1")


def half_a_gang(rm: Watched, style: str = "Soft") -> str:
    """The placeholder p1 of application g1; p2 does not fit."""
    rm.submits("g1", gang_style=style, placeholder_ask=Resource({"memory": 10}))
    (identity,) = identities(rm.asks("p1", "g1", memory=8, more=_MEMBER))
    rm.asks("p2", "g1", memory=8, more=_MEMBER)
    return identity


def gang_given_up(rm: Watched) -> list[Effect]:
    half_a_gang(rm)
    return rm.waits(60.0)


def gang_failed(rm: Watched) -> list[Effect]:
    identity = half_a_gang(rm, "Hard")
    return rm.waits(60.0) + rm.releases(identity, "g1", TerminationType.TIMEOUT)


def placeholder_timed_out(rm: Watched) -> list[Effect]:
    identity = half_a_gang(rm)
    rm.waits(60.0)
    return rm.releases(identity, "g1", TerminationType.TIMEOUT)


def replaced(rm: Watched) -> list[Effect]:
    (identity,) = identities(rm.asks("p1", memory=8, more=_MEMBER))
    rm.asks("k1", memory=8, more={"task_group": "tg"})
    return rm.releases(identity, termination=TerminationType.PLACEHOLDER_REPLACED)


def stopped(rm: Watched) -> list[Effect]:
    return rm.releases(identities(asked(rm))[0])


def completed(rm: Watched) -> list[Effect]:
    stopped(rm)
    return rm.waits(30.0)


def expired(rm: Watched) -> list[Effect]:
    completed(rm)
    return rm.waits(100.0)


def victim(rm: Watched) -> str:
    """A victim that has to go for the ask k1."""
    willing = {"preemption_policy": PreemptionPolicy(allow_preempt_self=True)}
    (identity,) = identities(rm.asks("v1", memory=8, more=willing))
    rm.submits("a2", "root.entitled")
    policy = PreemptionPolicy(allow_preempt_other=True)
    rm.asks("k1", "a2", memory=5, more={"preemption_policy": policy})
    return identity


def reserved(rm: Watched) -> list[Effect]:
    victim(rm)
    return rm.waits(1.0)


def preempted(rm: Watched) -> list[Effect]:
    identity = victim(rm)
    rm.waits(1.0)
    return rm.releases(identity, termination=TerminationType.PREEMPTED_BY_SCHEDULER)


def lost_its_node(rm: Watched) -> list[Effect]:
    asked(rm)
    return rm.decommissions("n1")


def readied(rm: Watched) -> list[Effect]:
    return rm.send_node_action("n1", NodeAction.UPDATE, attributes={"ready": "true"})


def occupied(rm: Watched) -> list[Effect]:
    return rm.send_node_action("n1", NodeAction.UPDATE, occupied={"memory": 1})


def made_a_parent(rm: Watched) -> list[Effect]:
    rm.removes("a1")  # a leaf with applications cannot become a parent
    return rm.reconfigures(QUEUES.replace("{name: default}", "{name: default, parent: true}"))


def limited(rm: Watched) -> list[Effect]:
    limits = "guaranteed: {memory: 6}, max: {memory: 9}"
    return rm.reconfigures(QUEUES.replace("guaranteed: {memory: 5}", limits))


def queue_added(rm: Watched) -> list[Effect]:
    return rm.reconfigures(
        QUEUES.replace("- {name: users", "- {name: new}\n          - {name: users")
    )


def placed_by_name(rm: Watched) -> list[Effect]:
    return rm.submits("a2", "", user="ann")


SCENARIOS: Final[Mapping[ChangeDetail, tuple[Scenario, Record]]] = {
    ChangeDetail.REQUEST_CANCEL: (withdrawn, Record(REMOVE, "REQUEST", "k1", "a1")),
    ChangeDetail.REQUEST_ALLOC: (asked, Record(ADD, "REQUEST", "k1", "1")),
    ChangeDetail.REQUEST_TIMEOUT: (gang_given_up, Record(REMOVE, "REQUEST", "p2", "g1")),
    ChangeDetail.APP_ALLOC: (asked, Record(ADD, "APP", "a1", "1")),
    ChangeDetail.APP_REQUEST: (asked, Record(ADD, "APP", "a1", "k1")),
    ChangeDetail.APP_REJECT: (
        lambda rm: rm.submits("a2", "root.nowhere"),
        Record(SET, "APP", "a2"),
    ),
    ChangeDetail.APP_NEW: (lambda rm: rm.submits("a2"), Record(ADD, "APP", "a2")),
    ChangeDetail.APP_ACCEPTED: (asked, Record(SET, "APP", "a1")),
    ChangeDetail.APP_STARTING: (asked, Record(SET, "APP", "a1")),
    ChangeDetail.APP_RUNNING: (asked_twice, Record(SET, "APP", "a1")),
    ChangeDetail.APP_COMPLETING: (stopped, Record(SET, "APP", "a1")),
    ChangeDetail.APP_COMPLETED: (completed, Record(SET, "APP", "a1")),
    ChangeDetail.APP_FAILING: (gang_failed, Record(SET, "APP", "g1")),
    ChangeDetail.APP_FAILED: (gang_failed, Record(SET, "APP", "g1")),
    ChangeDetail.APP_RESUMING: (gang_given_up, Record(SET, "APP", "g1")),
    ChangeDetail.APP_EXPIRED: (expired, Record(REMOVE, "APP", "a1")),
    ChangeDetail.NODE_DECOMISSION: (
        lambda rm: rm.decommissions("n1"),
        Record(REMOVE, "NODE", "n1"),
    ),
    ChangeDetail.NODE_READY: (readied, Record(SET, "NODE", "n1")),
    ChangeDetail.NODE_SCHEDULABLE: (lambda rm: rm.drains("n1"), Record(SET, "NODE", "n1")),
    ChangeDetail.NODE_ALLOC: (asked, Record(ADD, "NODE", "n1", "1")),
    ChangeDetail.NODE_CAPACITY: (lambda rm: rm.updates("n1", memory=9), Record(SET, "NODE", "n1")),
    ChangeDetail.NODE_OCCUPIED: (occupied, Record(SET, "NODE", "n1")),
    ChangeDetail.NODE_RESERVATION: (reserved, Record(ADD, "NODE", "n1", "k1")),
    ChangeDetail.QUEUE_CONFIG: (queue_added, Record(ADD, "QUEUE", "root.new")),
    ChangeDetail.QUEUE_DYNAMIC: (placed_by_name, Record(ADD, "QUEUE", "root.users.ann")),
    ChangeDetail.QUEUE_TYPE: (made_a_parent, Record(SET, "QUEUE", "root.default")),
    ChangeDetail.QUEUE_MAX: (limited, Record(SET, "QUEUE", "root.entitled")),
    ChangeDetail.QUEUE_GUARANTEED: (limited, Record(SET, "QUEUE", "root.entitled")),
    ChangeDetail.QUEUE_APP: (
        lambda rm: rm.submits("a2"),
        Record(ADD, "QUEUE", "root.default", "a2"),
    ),
    ChangeDetail.QUEUE_ALLOC: (asked, Record(ADD, "QUEUE", "root.default", "1")),
    ChangeDetail.ALLOC_CANCEL: (stopped, Record(REMOVE, "APP", "a1", "1")),
    ChangeDetail.ALLOC_PREEMPT: (preempted, Record(REMOVE, "APP", "a1", "1")),
    ChangeDetail.ALLOC_TIMEOUT: (placeholder_timed_out, Record(REMOVE, "APP", "g1", "1")),
    ChangeDetail.ALLOC_REPLACED: (replaced, Record(REMOVE, "APP", "a1", "1")),
    ChangeDetail.ALLOC_NODEREMOVED: (lost_its_node, Record(REMOVE, "APP", "a1", "1")),
}


# requirement: SI-EVT-013
def test_every_detail_has_a_scenario() -> None:
    assert set(SCENARIOS) == DETAILS_UNTIL_2023_12 - {ChangeDetail.DETAILS_NONE}


# requirement: SI-EVT-013
@pytest.mark.parametrize("detail", SCENARIOS, ids=lambda detail: detail.name)
def test_change_leads_to_a_record_with_its_detail(detail: ChangeDetail) -> None:
    scenario, record = SCENARIOS[detail]
    rm = Watched(settings=_TIMERS)

    effects = scenario(rm)

    change = record.change.name
    expected = (record.type, record.object_id, change, detail.name, record.refers_to)
    assert expected in received(effects)


# requirement: SI-EVT-009
def test_reservation_ends_with_a_record() -> None:
    sent = received(preempted(Watched()))

    assert ("NODE", "n1", "REMOVE", "NODE_RESERVATION", "k1") in sent


# requirement: SI-EVT-008
def test_application_whose_gang_is_given_up_is_accepted_again() -> None:
    rm = Watched(settings=_TIMERS)

    sent = received(gang_given_up(rm) + rm.releases("1", "g1", TerminationType.TIMEOUT))

    states = [detail for _, _, change, detail, _ in sent if change == "SET"]
    assert states[:2] == ["APP_RESUMING", "APP_ACCEPTED"]
