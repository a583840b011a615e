"""Asks: acceptance, replacement by key, rejection with a reason, withdrawal."""

import pytest
from sireference.core.model import Ask, NewAllocation, RejectedAsk, ReleasedAsk
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.driving import (
    RM,
    TIMEOUT,
    identities,
    keys,
    of,
    of_asks,
    refused_keys,
    released,
    states,
)


def withdrawn(effects: object) -> list[tuple[str, str, TerminationType]]:
    assert isinstance(effects, list)
    releases = [effect.release for effect in of(effects, ReleasedAsk)]
    assert all(release.partition == "default" for release in releases)
    return [(r.application_id, r.key, r.termination) for r in releases]


STOPPED = TerminationType.STOPPED_BY_RM


# requirement: SI-ASK-001, SI-ASK-002
@pytest.mark.parametrize("key", ["k", " spaces in it ", "käfer", "0", "x" * 1024])
def test_ask_that_fits_is_allocated_under_its_key(busy: RM, key: str) -> None:
    assert keys(busy.asks(key, memory=1, more={"tags": {"d/x": "y"}})) == [key]


# requirement: SI-ASK-003
def test_same_key_adds_no_demand(rm: RM) -> None:
    rm.submits("a1")
    for _ in range(3):
        rm.asks("k1", memory=1)

    assert keys(rm.creates("n1", memory=5)) == ["k1"]


# requirement: SI-ASK-004
def test_replacement_takes_the_new_values(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=4)
    rm.asks("k1", memory=8)

    (new,) = of(rm.asks("k1", memory=3, more={"priority": 7}), NewAllocation)

    assert new.allocation.ask == Ask("k1", "a1", resource=Resource({"memory": 3}), priority=7)


def test_replacement_keeps_its_place_in_the_queue(rm: RM) -> None:
    rm.submits("a1")
    for key in ("k1", "k2"):
        rm.asks(key, memory=4)
    rm.asks("k1", memory=3)

    assert keys(rm.creates("n1", memory=4)) == ["k1"]


# requirement: SI-ASK-005, SI-ASK-006
def test_ask_yields_its_maximum_and_no_more(busy: RM) -> None:
    effects = busy.asks("k1", memory=1, most=3)

    assert keys(effects) == ["k1"] * 3
    assert len(set(identities(effects))) == 3


@pytest.mark.parametrize(("most", "more"), [(3, 2), (2, 1), (1, 0), (4, 3)])
def test_allocations_before_a_replacement_count_towards_the_maximum(
    rm: RM, most: int, more: int
) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=1)
    assert keys(rm.asks("k1", memory=1, most=3)) == ["k1"]

    rm.asks("k1", memory=1, most=most)

    assert len(keys(rm.creates("n2", memory=9))) == more


def test_replacement_with_an_exhausted_maximum_ends_the_ask(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=1)
    (identity,) = identities(rm.asks("k1", memory=1, most=3))
    rm.drains("n1")
    rm.releases(identity)

    assert states(rm.asks("k1", memory=1, most=1)) == ["Completing"]


# requirement: SI-ASK-007, SI-ASK-010, SI-ASK-025
@pytest.mark.parametrize(
    ("amounts", "most", "message"),
    [
        ({"memory": 1}, 0, "at most 0"),
        ({"memory": 1}, -1, "at most -1"),
        ({}, 1, "no resource"),
        ({"memory": 0}, 1, "no resource"),
        ({"memory": -1}, 1, "negative: memory"),
        ({"memory": 1, "vcore": -(2**63)}, 1, "negative: vcore"),
    ],
)
def test_impossible_ask_is_rejected(
    busy: RM, amounts: dict[str, int], most: int, message: str
) -> None:
    (verdict,) = busy.asks("k1", most=most, resource=amounts)

    assert isinstance(verdict, RejectedAsk)
    assert (verdict.key, verdict.application_id) == ("k1", "a1")
    assert message in verdict.reason


# requirement: SI-ASK-008, SI-ASK-009, SI-ASK-022, SI-ASK-026, SI-APP-015, SI-APP-023
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (Ask("k1", "aX", resource=Resource({"memory": 1})), "no application 'aX'"),
        (Ask("k1", "a1", "nope", resource=Resource({"memory": 1})), "no partition 'nope'"),
        (Ask("k1", "", resource=Resource({"memory": 1})), "names no application"),
        (Ask("", "a1", resource=Resource({"memory": 1})), "no allocation key"),
    ],
)
def test_ask_for_an_unknown_application_or_partition_is_rejected(
    busy: RM, ask: Ask, message: str
) -> None:
    (verdict,) = busy.send(asks=(ask,))

    assert isinstance(verdict, RejectedAsk)
    assert (verdict.key, verdict.application_id) == (ask.key, ask.application_id)
    assert message in verdict.reason


def test_reason_truncates_a_long_name(busy: RM) -> None:
    (verdict,) = of(busy.asks("k1", "a" * 1_000_000, memory=1), RejectedAsk)

    assert len(verdict.reason) < 200


def test_invalid_ask_does_not_affect_others_in_the_message(busy: RM) -> None:
    one = Resource({"memory": 1})
    effects = busy.send(
        asks=(
            Ask("k1", "a1", resource=one),
            Ask("k2", "aX", resource=one),
            Ask("k3", "a1", resource=one),
        )
    )

    assert refused_keys(effects) == ["k2"]
    assert keys(effects) == ["k1", "k3"]


def test_rejected_replacement_leaves_the_pending_ask(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=3)

    assert refused_keys(rm.asks("k1", memory=-1)) == ["k1"]

    assert keys(rm.creates("n1", memory=9)) == ["k1"]


# requirement: SI-ASK-012
def test_higher_priority_comes_first_then_first_come(rm: RM) -> None:
    rm.submits("a1")
    for key, priority in (("low", -1), ("first", 0), ("high", 10), ("second", 0)):
        rm.asks(key, memory=1, more={"priority": priority})
    rm.asks("bigger", memory=2, more={"priority": 5})

    made = [key for i in range(6) for key in keys(rm.creates(f"n{i}", memory=1 + (i == 1)))]

    assert made == ["high", "bigger", "first", "second", "low"]


def test_priority_counts_across_sizes_within_one_pass(rm: RM) -> None:
    rm.submits("a1")
    for key, size, priority in (("high", 1, 10), ("middle", 2, 5), ("low", 1, 0)):
        rm.asks(key, memory=size, more={"priority": priority})

    assert keys(rm.creates("n1", memory=9)) == ["high", "middle", "low"]


# requirement: SI-ASK-017
def test_rejected_ask_stays_rejected_until_it_is_sent_again(busy: RM) -> None:
    busy.asks("k1", "a2", memory=1)
    assert keys(busy.submits("a2")) == []

    assert keys(busy.asks("k1", "a2", memory=1)) == ["k1"]


# requirement: SI-ASK-018, SI-CONN-015, SI-REL-015, SI-REL-019
def test_withdrawn_ask_is_confirmed_and_never_allocated(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)
    rm.asks("k2", memory=1)

    assert withdrawn(rm.withdraws("k1")) == [("a1", "k1", STOPPED)]

    assert keys(rm.creates("n1", memory=9)) == ["k2"]


def test_withdrawing_the_last_ask_makes_the_application_wait(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)

    effects = rm.withdraws("k1")

    assert [type(effect).__name__ for effect in effects] == ["UpdatedApplication", "ReleasedAsk"]
    assert states(effects) == ["Completing"]


def test_ask_and_its_withdrawal_in_one_request_leave_nothing(busy: RM) -> None:
    effects = busy.send(
        asks=(Ask("k1", "a1", resource=Resource({"memory": 1})),),
        ask_releases=(of_asks("a1", "k1"),),
    )

    assert keys(effects) == []
    assert withdrawn(effects) == [("a1", "k1", STOPPED)]


# requirement: SI-REL-018
def test_withdrawal_keeps_allocations_and_ignores_unknown_keys(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=1)
    rm.asks("k1", memory=1, most=3)

    effects = rm.withdraws("k1")

    assert withdrawn(effects) == [("a1", "k1", STOPPED)]
    assert released(effects) == []
    assert states(effects) == []
    for unknown in (("nope", "a1"), ("k1", "a1"), ("k1", "aX")):
        assert rm.withdraws(*unknown) == []
    assert rm.withdraws("k1", partition="nope") == []
    assert keys(rm.creates("n2", memory=9)) == []


# requirement: SI-REL-025, SI-REL-014
@pytest.mark.parametrize(
    "termination", [t for t in TerminationType if t not in (STOPPED, TerminationType.UNSET)]
)
def test_termination_types_of_the_scheduler_withdraw_nothing(
    rm: RM, termination: TerminationType
) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)

    assert rm.withdraws("k1", termination=termination) == []

    assert keys(rm.creates("n1", memory=1)) == ["k1"]


def test_unset_type_is_a_withdrawal_by_the_rm(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)

    effects = rm.withdraws("k1", termination=TerminationType.UNSET)

    assert withdrawn(effects) == [("a1", "k1", STOPPED)]


# requirement: SI-ASK-014, SI-ASK-016, SI-REL-009, SI-REL-011
def test_allocation_expires_at_its_execution_timeout(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=5, more={"execution_timeout": 2.0})
    assert rm.waits(4) == []
    (identity,) = identities(rm.creates("n1", memory=5))
    rm.asks("k2", memory=5)
    assert released(rm.waits(1.9)) == []

    assert released(rm.waits(0.1)) == [(identity, TIMEOUT)]

    assert rm.waits(1) == []
    effects = rm.releases(identity, termination=TIMEOUT)
    assert released(effects) == []
    assert keys(effects) == ["k2"]


# requirement: SI-ASK-015
@pytest.mark.parametrize("timeout", [0.0, -1.0])
def test_no_timeout_means_no_expiry(busy: RM, timeout: float) -> None:
    busy.asks("k1", memory=1, more={"execution_timeout": timeout})

    assert released(busy.waits(1e9)) == []


# requirement: SI-ASK-019, SI-ASK-020, SI-ASK-024
def test_allocated_ask_is_not_rejected_later(busy: RM) -> None:
    effects = busy.asks("k1", memory=1, more={"originator": True})
    effects += busy.drains("n1") + busy.undrains("n1")
    effects += busy.asks("k2", memory=99) + busy.withdraws("k2")

    assert refused_keys(effects) == []
