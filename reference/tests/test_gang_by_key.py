"""Gangs where the key is the identity: pending and live placeholders end by key."""

from typing import Any

import pytest
from sireference.core.model import (
    Ask,
    AskedAndHeld,
    Effect,
    OneOfKey,
    RejectedAllocation,
    ReleasedAsk,
    ReleaseRequest,
)
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.driving import STOPPED, TIMEOUT, keys, of, placed, released, states
from tests.gangs import PLACEHOLDER_TIMEOUT, REPLACED, Gangs
from tests.keyed import BY_KEY, running


class KeyedGangs(Gangs):
    """Sends asks in one list, and ends them by key."""

    def __init__(self) -> None:
        super().__init__(rules=BY_KEY)

    def send(self, *, asks: tuple[Ask, ...] = (), **more: Any) -> list[Effect]:
        return super().send(**({"entries": asks} if asks else {}), **more)

    def ends(self, key: str, termination: TerminationType = STOPPED) -> list[Effect]:
        subject = OneOfKey("g1", key) if key else AskedAndHeld("g1")
        return self.send(releases=(ReleaseRequest("default", subject, termination),))


@pytest.fixture
def rm() -> KeyedGangs:
    return KeyedGangs()


def given_up(effects: list[Effect]) -> list[tuple[str, TerminationType]]:
    return [(one.release.key, one.release.termination) for one in of(effects, ReleasedAsk)]


# requirement: SI-GANG-032, SI-GANG-033
@pytest.mark.parametrize(("style", "state"), [("hard", "Failing"), ("soft", "Resuming")])
def test_timeout_ends_live_and_pending_placeholders(rm: KeyedGangs, style: str, state: str) -> None:
    assert rm.has_half_a_gang(style=style) == ["p0", "p1"]

    effects = rm.waits(PLACEHOLDER_TIMEOUT)

    assert states(effects) == [state]
    assert released(effects) == [("p0", TIMEOUT), ("p1", TIMEOUT)]
    assert given_up(effects) == [("p2", TIMEOUT)]


# requirement: SI-GANG-040, SI-REL-014
def test_confirmation_for_an_abandoned_placeholder_changes_nothing(rm: KeyedGangs) -> None:
    rm.has_half_a_gang()
    rm.waits(PLACEHOLDER_TIMEOUT)

    assert rm.ends("p2", TIMEOUT) == []
    assert rm.ends("p2", TIMEOUT) == []

    rm.ends("p0", TIMEOUT)
    assert states(rm.ends("p1", TIMEOUT)) == ["Accepted", "Completing"]


def test_late_confirmation_does_not_end_a_new_ask_of_that_key(rm: KeyedGangs) -> None:
    rm.has_half_a_gang()
    rm.waits(PLACEHOLDER_TIMEOUT)
    rm.ends("p0", TIMEOUT)
    rm.ends("p1", TIMEOUT)

    assert placed(rm.asks_member("p2")) == [("p2", "n0")]

    assert rm.ends("p2", TIMEOUT) == []
    assert released(rm.ends("p2")) == [("p2", STOPPED)]


# requirement: SI-GANG-034, SI-GANG-035
def test_without_placeholders_an_application_runs_with_its_first_member(rm: KeyedGangs) -> None:
    rm.has_half_a_gang()
    rm.waits(PLACEHOLDER_TIMEOUT)
    rm.asks_member("r0")
    rm.ends("p0", TIMEOUT)

    effects = rm.ends("p1", TIMEOUT)

    assert states(effects) == ["Accepted", "Running"]
    assert placed(effects) == [("r0", "n0")]


# requirement: SI-GANG-020, SI-GANG-021
def test_placeholder_is_replaced_by_key(rm: KeyedGangs) -> None:
    rm.has_gang()

    assert released(rm.asks_member("r0")) == [("p0", REPLACED)]
    assert placed(rm.ends("p0", REPLACED)) == [("r0", "g1-n0")]
    assert rm.ends("p0", REPLACED) == []


# requirement: SI-GANG-058
def test_placeholder_stopped_by_the_rm_frees_capacity_for_its_ask(rm: KeyedGangs) -> None:
    rm.has_gang()
    rm.asks_member("r0")

    effects = rm.ends("p0")

    assert released(effects) == [("p0", STOPPED)]
    assert placed(effects) == [("r0", "g1-n0")]
    assert rm.ends("p0", REPLACED) == []


# requirement: SI-GANG-059
def test_ask_that_waits_for_its_placeholder_is_withdrawn_by_key(rm: KeyedGangs) -> None:
    rm.has_gang()
    rm.asks_member("r0")
    rm.submits("a2")
    rm.asks("k", "a2", memory=2)

    assert given_up(rm.ends("r0")) == [("r0", STOPPED)]

    assert keys(rm.ends("p0", REPLACED)) == ["k"]
    assert rm.state() == "Completing"


def test_replacement_confirmation_does_not_end_other_allocations(rm: KeyedGangs) -> None:
    rm.has_half_a_gang()

    assert rm.ends("p0", REPLACED) == []
    assert rm.ends("p2", REPLACED) == []
    assert rm.ends("", REPLACED) == []

    assert given_up(rm.ends("p2")) == [("p2", STOPPED)]
    assert released(rm.ends("p0")) == [("p0", STOPPED)]


# requirement: SI-REL-029
def test_release_without_key_ends_the_whole_gang(rm: KeyedGangs) -> None:
    rm.has_gang(2)
    rm.asks_member("r0")
    rm.asks_placeholder("p9")

    effects = rm.ends("")

    assert {key for key, _ in given_up(effects)} == {"r0", "p9"}
    assert {key for key, _ in released(effects)} == {"p0", "p1"}
    assert keys(effects) == []
    assert rm.state() == "Completing"


# requirement: SI-REC-026
def test_allocation_that_ended_with_its_node_may_be_reported_again(rm: KeyedGangs) -> None:
    rm.has_gang()
    rm.creates("n9", memory=9)
    rm.decommissions("g1-n0")
    record = running("p0", "n9", "g1", more={"task_group": "tg", "placeholder": True}, memory=2)

    assert of(rm.send(entries=(record,)), RejectedAllocation) == []

    (held,) = rm.scheduler.snapshot("rm").applications
    assert [(one.identity, one.node_id) for one in held.allocations] == [("p0", "n9")]


def test_key_of_another_application_is_refused_and_changes_nothing(rm: KeyedGangs) -> None:
    rm.has_gang()
    rm.submits("a2")
    before = rm.scheduler.snapshot("rm")
    same = Ask("p0", "a2", resource=Resource({"memory": 1}))

    (refusal,) = of(rm.send(asks=(same,)), RejectedAllocation)

    assert (refusal.key, refusal.application_id) == ("p0", "a2")
    assert refusal.reason
    assert rm.scheduler.snapshot("rm") == before
