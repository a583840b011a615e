"""Turns of gangs: the oldest goes first, but only for a limited time while it has nothing."""

import pytest
from sireference.core.model import Settings
from tests.driving import STOPPED, keys
from tests.gangs import PLACEHOLDER_TIMEOUT, Gangs

TURN = Settings().gang_turn_timeout


@pytest.fixture
def rm() -> Gangs:
    """Capacity for 4, g1 that fits nowhere, and g2 that would fit."""
    rm = Gangs()
    rm.creates("n1", memory=4)
    for gang in ("g1", "g2", "g3"):
        rm.submits_gang(gang)
    rm.asks_placeholder("large", "g1", memory=50)
    return rm


# requirement: SI-GANG-052
def test_oldest_gang_blocks_younger_ones_until_its_turn_is_over(rm: Gangs) -> None:
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p2"]


def test_gang_that_comes_when_the_turn_is_over_does_not_wait(rm: Gangs) -> None:
    rm.waits(TURN)

    assert keys(rm.asks_placeholder("p2", "g2")) == ["p2"]


def test_next_gang_has_its_turn_from_then_on(rm: Gangs) -> None:
    rm.asks_placeholder("larger", "g2", memory=60)
    rm.asks_placeholder("p3", "g3")
    rm.waits(TURN)

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p3"]


def test_later_capacity_goes_to_the_oldest_gang_whose_turn_restarts(rm: Gangs) -> None:
    rm.asks_placeholder("larger", "g1", memory=50)
    rm.asks_placeholder("also-large", "g2", memory=20)
    rm.waits(2 * TURN)

    assert keys(rm.creates("n2", memory=60)) == ["large"]
    assert keys(rm.creates("n3", memory=10)) == []
    assert keys(rm.asks_placeholder("p3", "g3")) == []
    assert keys(rm.creates("n4", memory=50)) == ["larger", "p3"]


def test_gang_with_a_placeholder_keeps_its_turn() -> None:
    rm = Gangs(turn=PLACEHOLDER_TIMEOUT / 4)
    rm.creates("n1", memory=4)
    rm.submits_gang("g1")
    rm.submits_gang("g2")
    assert keys(rm.asks_placeholder("p1", "g1")) == ["p1"]
    rm.asks_placeholder("large", "g1", memory=50)
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.9 * PLACEHOLDER_TIMEOUT)) == []


def test_gang_that_loses_all_placeholders_starts_a_new_turn() -> None:
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


def test_gang_without_placeholder_asks_in_between_starts_a_new_turn(rm: Gangs) -> None:
    rm.asks_member("r", "g1", memory=50)
    rm.waits(TURN)
    rm.withdraws("large", "g1")
    rm.asks_placeholder("large", "g1", memory=50)
    rm.asks_placeholder("p2", "g2")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p2"]


def test_gang_blocked_by_its_queue_loses_its_turn_too() -> None:
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


def test_removed_gang_has_no_turn(rm: Gangs) -> None:
    rm.asks_placeholder("larger", "g2", memory=60)
    rm.asks_placeholder("p3", "g3")
    rm.waits(0.5 * TURN)
    rm.removes("g1")

    assert keys(rm.waits(0.99 * TURN)) == []
    assert keys(rm.waits(0.01 * TURN)) == ["p3"]
