"""State-aware leaves: applications start one after the other."""

import pytest
from sireference.core.model import AllocationRecord, Ask, Settings
from sireference.core.resources import Resource
from tests.configuring import tree
from tests.driving import RM, identities, keys, states

QUEUES = tree(
    "{name: leaf}", "{name: other}", root="properties: {application.sort.policy: stateaware}"
)


@pytest.fixture
def rm() -> RM:
    """Applications a1 to a3 in one leaf, and a node with more capacity than they need."""
    rm = RM(queues=QUEUES, settings=Settings(starting_timeout=300))
    rm.creates("n1", memory=100)
    for application in ("a1", "a2", "a3"):
        rm.submits(application, "root.leaf")
    return rm


def test_while_one_is_starting_no_other_starts(rm: RM) -> None:
    assert states(rm.asks("k1", "a1", memory=1)) == ["Accepted", "Starting"]

    assert states(rm.asks("k2", "a2", memory=1)) == ["Accepted"]
    assert states(rm.asks("k3", "a3", memory=1)) == ["Accepted"]


def test_oldest_waiting_application_starts_when_the_first_runs(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1)
    rm.asks("k3", "a3", memory=1, most=2)
    rm.asks("k2", "a2", memory=1)

    assert keys(rm.asks("k1b", "a1", memory=1)) == ["k1b", "k2"]
    assert keys(rm.asks("k2b", "a2", memory=1)) == ["k2b", "k3", "k3"]


def test_started_application_is_served_normally(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1, most=2)
    rm.asks("k2", "a2", memory=1)

    assert keys(rm.asks("k1b", "a1", memory=1)) == ["k1b"]
    assert keys(rm.asks("k2b", "a2", memory=1)) == ["k2b"]


def test_oldest_waiting_application_blocks_younger_ones(rm: RM) -> None:
    rm.asks("large", "a1", memory=101)

    assert keys(rm.asks("k2", "a2", memory=1, more={"priority": 9})) == []


def test_asks_in_one_message_start_with_the_oldest_application(rm: RM) -> None:
    one = Resource({"memory": 1})
    asks = (Ask("k2", "a2", resource=one, priority=9), Ask("k1", "a1", resource=one))

    assert keys(rm.send(asks=asks)) == ["k1"]


def test_application_without_asks_blocks_no_other(rm: RM) -> None:
    rm.asks("large", "a1", memory=101)
    rm.asks("k2", "a2", memory=1)

    assert keys(rm.withdraws("large", "a1")) == ["k2"]


def test_removed_application_blocks_no_other(rm: RM) -> None:
    rm.asks("large", "a1", memory=101)
    rm.asks("k2", "a2", memory=1)
    rm.asks("k3", "a3", memory=1)

    assert keys(rm.removes("a1")) == ["k2"]
    assert keys(rm.removes("a2")) == ["k3"]


def test_application_with_nothing_left_blocks_no_other(rm: RM) -> None:
    made = identities(rm.asks("k1", "a1", memory=1))
    rm.asks("k2", "a2", memory=1)

    effects = rm.releases(made[0], "a1")
    assert keys(effects) == ["k2"]
    assert states(effects) == ["Completing", "Starting"]


def test_application_that_started_long_ago_blocks_no_other(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1)
    rm.asks("k2", "a2", memory=1)

    assert rm.waits(299) == []
    effects = rm.waits(1)
    assert (states(effects), keys(effects)) == (["Running", "Starting"], ["k2"])


def test_leaves_do_not_wait_for_each_other(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1)
    rm.submits("o1", "root.other")

    assert keys(rm.asks("k", "o1", memory=1)) == ["k"]


def test_existing_allocation_starts_its_application_while_another_is_starting(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1)
    rm.asks("k3", "a3", memory=1)
    old = Ask("old", "a2", resource=Resource({"memory": 1}))

    assert states(rm.reports(AllocationRecord("old-1", old, "n1"))) == ["Accepted", "Starting"]
    assert keys(rm.asks("k1b", "a1", memory=1)) == ["k1b"]
    assert keys(rm.asks("k2", "a2", memory=1)) == ["k2", "k3"]


def test_existing_allocation_unblocks_the_asks_of_its_application(rm: RM) -> None:
    rm.asks("k1", "a1", memory=1)
    rm.asks("k2", "a2", memory=1, most=2)
    old = Ask("old", "a2", resource=Resource({"memory": 1}))

    assert keys(rm.reports(AllocationRecord("old-1", old, "n1"))) == ["k2", "k2"]


def test_gangs_start_one_after_the_other(rm: RM) -> None:
    gang = {"task_group": "tg", "placeholder": True}
    member = {"task_group": "tg"}
    rm.asks("p1", "a1", memory=1, more=gang)
    assert keys(rm.asks("p2", "a2", memory=1, more=gang)) == ["p2"]  # a1 has all it asked for

    replaced = rm.asks("m1", "a1", memory=1, more=member)
    assert len(replaced) == 1
    assert keys(rm.asks("k3", "a3", memory=1)) == []
