"""Registration: the first, repeated, several RMs, connection loss and shutdown."""

from collections import Counter

import pytest
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    ConnectionLost,
    Effect,
    Event,
    Refused,
    Registered,
    RejectedApplication,
    RejectedNode,
    Settings,
    ShutDown,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.scheduler import Scheduler
from sireference.core.state.timers import Timers
from sireference.core.states import RMState
from tests.driving import RM, STOPPED, identities, keys, of, released

ONE = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: one}]}]}]"
TWO = ONE.replace("one", "two")


def state(rm: RM) -> RMState:
    known = rm.scheduler.rms.known(rm.rm_id)
    assert known is not None
    return known.state


# requirement: SI-REG-001, SI-CONN-001
def test_registering_makes_the_rm_running(rm: RM) -> None:
    assert state(rm) is RMState.RUNNING
    assert rm.registers() == [Registered("rm")]
    assert rm.creates("n1") == [AcceptedNode("rm", "n1")]


# requirement: SI-REG-003
def test_registration_without_id_is_refused() -> None:
    nameless = RM(rm_id="")

    (refused,) = of(nameless.registers(), Refused)
    assert "rmID" in refused.reason
    assert nameless.scheduler.rms.all() == []


# requirement: SI-CONN-002
@pytest.mark.parametrize("event", [UpdateNodes, UpdateApplications, UpdateAllocations, ShutDown])
@pytest.mark.parametrize("rm_id", ["", "unknown"])
def test_unregistered_rm_is_refused(event: type[Event], rm_id: str) -> None:
    scheduler = Scheduler()

    (refused,) = of(scheduler.handle(event(rm_id), 0), Refused)  # type: ignore[call-arg]

    assert refused.rm_id == rm_id
    assert refused.reason


# requirement: SI-REG-004, SI-REG-005, SI-REG-006, SI-REG-007
def test_registering_again_drops_all_state(busy: RM) -> None:
    (old,) = identities(busy.asks("k1", memory=10))
    busy.asks("k2", memory=10)

    assert busy.registers() == [Registered("rm")]

    assert busy.scheduler.next_deadline() is None
    assert busy.creates("n1", memory=10) == [AcceptedNode("rm", "n1")]
    assert busy.submits("a1") == [AcceptedApplication("rm", "a1")]
    assert keys(busy.asks("k3", memory=10)) == ["k3"]
    assert busy.releases(old) == []


# requirement: SI-REG-008, SI-REG-013, SI-CONN-003, SI-CONN-004, SI-CONN-005
def test_resource_managers_are_isolated(busy: RM) -> None:
    other = RM(scheduler=busy.scheduler, rm_id="other")
    (mine,) = identities(busy.asks("k1", memory=10))
    assert of(other.decommissions("n1"), RejectedNode)
    assert other.removes("a1") == []
    assert other.releases(mine) == []
    assert other.registers() == [Registered("other")]

    assert other.creates("n1", memory=1) == [AcceptedNode("other", "n1")]
    assert other.submits("a1") == [AcceptedApplication("other", "a1")]
    effects = other.asks("k9", memory=1)
    assert {effect.rm_id for effect in effects} == {"other"}

    assert of(busy.creates("n1"), RejectedNode)
    assert released(busy.releases(mine)) == [(mine, STOPPED)]


# requirement: SI-REG-012, SI-REG-014, SI-REG-018
def test_latest_configuration_applies() -> None:
    rm = RM(queues=ONE)
    assert of(rm.submits("a1", "root.one"), AcceptedApplication)
    assert of(rm.submits("a2", "root.two"), RejectedApplication)

    rm.registers(TWO)

    assert of(rm.submits("a1", "root.one"), RejectedApplication)
    assert of(rm.submits("a2", "root.two"), AcceptedApplication)


# requirement: SI-CONN-006, SI-CONN-007, SI-CONN-009, SI-CONN-010
def test_lost_rm_is_paused_then_stopped() -> None:
    rm = RM(settings=Settings(connection_loss_timeout=60.0))
    rm.submits("a1")
    rm.creates("n1", memory=1)
    rm.asks("k1", memory=1, more={"execution_timeout": 10.0})
    rm.asks("k2", memory=1)

    assert rm.scheduler.handle(ConnectionLost("rm"), rm.now) == []

    assert state(rm) is RMState.PAUSED
    assert len(rm.partition.allocations.all) == 1
    assert "Paused" in of(rm.creates("n2", memory=1), Refused)[0].reason
    assert rm.waits(59) == []
    assert state(rm) is RMState.PAUSED
    assert rm.waits(1) == []
    assert state(rm) is RMState.STOPPED
    assert rm.scheduler.rms.all()[0].partitions == {}


def test_stopped_rm_is_remembered_for_a_while_and_then_forgotten() -> None:
    rm = RM(settings=Settings(stopped_retention=100.0))
    rm.scheduler.handle(ShutDown("rm"), rm.now)

    rm.waits(99)
    assert "Stopped" in of(rm.creates("n1"), Refused)[0].reason

    rm.waits(1)
    assert "not registered" in of(rm.creates("n1"), Refused)[0].reason
    assert rm.scheduler.rms.all() == []
    assert rm.scheduler.next_deadline() is None


def test_rm_registered_again_after_it_was_stopped_is_not_forgotten() -> None:
    rm = RM(settings=Settings(stopped_retention=100.0))
    rm.scheduler.handle(ShutDown("rm"), rm.now)
    rm.registers()

    rm.waits(1000)

    assert of(rm.creates("n1"), AcceptedNode)


def test_cost_of_an_event_is_independent_of_past_registrations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scheduler = Scheduler()
    looks = Counter[str]()
    next_deadline = Timers.next_deadline

    def counted(timers: Timers) -> float | None:
        looks["timers"] += 1
        return next_deadline(timers)

    for number in range(1000):
        RM(scheduler=scheduler, rm_id=f"rm-{number}")
    rm = RM(scheduler=scheduler)
    monkeypatch.setattr(Timers, "next_deadline", counted)
    scheduler.next_deadline()
    looks.clear()

    rm.creates("n1", memory=1)
    scheduler.next_deadline()
    scheduler.handle_timeout(rm.now)

    assert looks["timers"] <= 2


# requirement: SI-CONN-008, SI-CONN-010
def test_rm_that_leaves_is_stopped_at_once(busy: RM) -> None:
    assert busy.scheduler.handle(ShutDown("rm"), busy.now) == []

    assert state(busy) is RMState.STOPPED
    assert "Stopped" in of(busy.creates("n2"), Refused)[0].reason
    busy.registers()
    assert busy.creates("n1") == [AcceptedNode("rm", "n1")]


def test_paused_rm_runs_again_by_registering(busy: RM) -> None:
    busy.scheduler.handle(ConnectionLost("rm"), busy.now)
    busy.registers()

    assert state(busy) is RMState.RUNNING
    assert busy.waits(1000) == []
    assert state(busy) is RMState.RUNNING


def test_each_rm_has_its_own_deadlines(busy: RM) -> None:
    other = RM(scheduler=busy.scheduler, rm_id="other")
    busy.asks("k1", memory=1, more={"execution_timeout": 5.0})
    other.submits("a1")
    other.creates("n1", memory=1)
    other.asks("k1", memory=1, more={"execution_timeout": 3.0})

    received: list[Effect] = busy.waits(4)
    assert {effect.rm_id for effect in received} == {"other"}
    received = busy.waits(2)
    assert {effect.rm_id for effect in received} == {"rm"}
