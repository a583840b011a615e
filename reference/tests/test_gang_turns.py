"""Turns of gangs: the oldest first, but not forever while it has nothing."""

import pytest
from sireference.core.model import Settings
from tests.driving import STOPPED, keys
from tests.gangs import PLACEHOLDER_TIMEOUT, Gangs

TURN = Settings().gang_turn_timeout


@pytest.fixture
def rm() -> Gangs:
    """Return an RM with capacity 4, g1 that fits nowhere, and g2 that would fit."""
    rm = Gangs()
    rm.creates("n1", memory=4)
    for gang in ("g1", "g2", "g3"):
        rm.submits_gang(gang)
    rm.asks_placeholder("large", "g1", memory=50)
    return rm


# requirement: SI-GANG-052
def test_the_oldest_gang_keeps_the_younger_waiting_until_its_turn_is_over(rm: Gangs) -> None:
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p2"]


def test_who_comes_when_the_turn_is_over_does_not_wait(rm: Gangs) -> None:
    rm.waits(TURN)

    assert keys(rm.asks_placeholder("p2", "g2")) == ["p2"]


def test_the_next_one_has_its_turn_from_then_on(rm: Gangs) -> None:
    rm.asks_placeholder("larger", "g2", memory=60)
    rm.asks_placeholder("p3", "g3")
    rm.waits(TURN)

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p3"]


def test_capacity_that_comes_later_is_for_the_oldest_first_and_it_has_its_turn_again(
    rm: Gangs,
) -> None:
    rm.asks_placeholder("larger", "g1", memory=50)
    rm.asks_placeholder("also-large", "g2", memory=20)
    rm.waits(2 * TURN)

    assert keys(rm.creates("n2", memory=60)) == ["large"]
    assert keys(rm.creates("n3", memory=10)) == []
    assert keys(rm.asks_placeholder("p3", "g3")) == []
    assert keys(rm.creates("n4", memory=50)) == ["larger", "p3"]


def test_who_has_a_placeholder_keeps_its_turn() -> None:
    rm = Gangs(turn=PLACEHOLDER_TIMEOUT / 4)
    rm.creates("n1", memory=4)
    rm.submits_gang("g1")
    rm.submits_gang("g2")
    assert keys(rm.asks_placeholder("p1", "g1")) == ["p1"]
    rm.asks_placeholder("large", "g1", memory=50)
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.9 * PLACEHOLDER_TIMEOUT)) == []


def test_who_loses_all_it_had_has_its_turn_from_then_on() -> None:
    rm = Gangs()
    rm.creates("n1", memory=4)
    rm.submits_gang("g1")
    rm.submits_gang("g2")
    assert keys(rm.asks_placeholder("p1", "g1", memory=4)) == ["p1"]
    rm.asks_placeholder("large", "g1", memory=50)
    rm.asks_placeholder("p2", "g2")
    rm.waits(0.5 * PLACEHOLDER_TIMEOUT)
    rm.decommissions("n1")
    rm.creates("n2", memory=4)

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p2"]


def test_who_asked_for_no_placeholder_in_between_has_its_turn_again(rm: Gangs) -> None:
    rm.asks_member("r", "g1", memory=50)
    rm.waits(TURN)
    rm.withdraws("large", "g1")
    rm.asks_placeholder("large", "g1", memory=50)
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p2"]


def test_a_gang_whose_queue_has_no_capacity_for_all_of_it_passes_too() -> None:
    rm = Gangs()
    rm.creates("n1", memory=20)
    rm.submits("a1", "root.quota")
    rm.asks("k", memory=6)
    rm.submits_gang("g1", "root.quota", memory=6)
    rm.submits_gang("g2", "root.quota", memory=2)
    rm.asks_placeholder("p1", "g1")
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(TURN)) == ["p2"]
    assert keys(rm.releases("", "a1", STOPPED)) == ["p1"]


def test_a_gang_that_was_removed_has_no_turn(rm: Gangs) -> None:
    rm.asks_placeholder("larger", "g2", memory=60)
    rm.asks_placeholder("p3", "g3")
    rm.waits(0.5 * TURN)
    rm.removes("g1")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p3"]
