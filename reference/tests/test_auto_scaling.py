"""Auto-scaling metrics: demand that is outstanding only because nodes lack resources."""

import pytest
from sireference.core.placement_constraints import PlacementConstraint, TargetExpression
from sireference.core.states import NodeAction
from tests.configuring import tree
from tests.driving import RM

QUEUES = tree("{name: wide}", "{name: narrow, maxapplications: 1, resources: {max: {memory: 25}}}")


@pytest.fixture
def short() -> RM:
    """An RM with a node of memory 10, and a1 and a2 in root.wide and root.narrow."""
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.wide")
    rm.submits("a2", "root.narrow")
    return rm


def listed(rm: RM) -> list[tuple[str, int]]:
    return [
        (one.request_id, one.resource.amounts["memory"])
        for one in rm.scheduler.outstanding(rm.rm_id)
    ]


# requirement: SI-AUTO-001
def test_asks_without_capacity_on_nodes_are_listed(short: RM) -> None:
    short.asks("k1", memory=8)
    short.asks("k2", memory=9, more={"tags": {"a": "b"}})
    short.asks("k3", memory=11)

    assert listed(short) == [("k2", 9), ("k3", 11)]
    assert short.scheduler.outstanding("rm")[0].tags == {"a": "b"}

    short.creates("n2", memory=9)

    assert listed(short) == [("k3", 11)]


# requirement: SI-AUTO-001
def test_every_missing_allocation_has_its_own_id(short: RM) -> None:
    short.asks("k1", memory=6, most=3)
    short.submits("a3", "root.wide")
    short.asks("k1", "a3", memory=7)

    assert listed(short) == [("k1", 6), ("k1#2", 6), ("k1#3", 7)]


# requirement: SI-AUTO-001
def test_generated_id_differs_from_all_keys(short: RM) -> None:
    short.asks("k1", memory=6, most=3)
    short.submits("a3", "root.wide")
    for key in ("k1#2", "k1", "k1#3"):
        short.asks(key, "a3", memory=7)

    assert [name for name, _ in listed(short)] == ["k1", "k1#4", "k1#2", "k1#5", "k1#3"]


# requirement: SI-AUTO-002
def test_asks_held_back_by_a_queue_limit_are_not_listed(short: RM) -> None:
    short.asks("k1", "a2", memory=26)
    short.asks("k2", "a1", memory=12)

    assert listed(short) == [("k2", 12)]


# requirement: SI-AUTO-002
def test_queue_limit_counts_demand_listed_already(short: RM) -> None:
    short.asks("k1", "a2", memory=12, most=5)

    assert listed(short) == [("k1", 12), ("k1#2", 12)]


# requirement: SI-AUTO-002
def test_queue_limit_reached_later_counts(short: RM) -> None:
    short.asks("k1", "a2", memory=20)
    assert listed(short) == [("k1", 20)]

    short.asks("k2", "a2", memory=6)

    assert listed(short) == []


# requirement: SI-AUTO-002
def test_application_that_may_not_run_yet_is_not_listed(short: RM) -> None:
    short.submits("a3", "root.narrow")
    short.asks("k1", "a3", memory=11)
    assert listed(short) == [("k1", 11)]

    short.asks("k2", "a2", memory=1)

    assert listed(short) == []


# requirement: SI-AUTO-002
def test_asks_bound_to_one_node_are_not_listed(short: RM) -> None:
    short.asks("k1", memory=11, more={"required_node": "n1"})

    assert listed(short) == []


def test_huge_ask_is_listed_up_to_a_bound(short: RM) -> None:
    short.asks("k1", memory=11, most=2**31 - 1)

    assert len(listed(short)) == 10_000


def test_unknown_rm_has_no_outstanding_demand(short: RM) -> None:
    assert short.scheduler.outstanding("stranger") == []


# requirement: SI-AUTO-002
def test_asks_held_back_by_a_placement_constraint_are_not_listed(short: RM) -> None:
    zones = {zone: on_zone(zone) for zone in ("a", "b")}
    short.send_node_action("n2", NodeAction.CREATE, {"memory": 5}, attributes={"zone": "a"})
    short.asks("full", memory=9)
    short.asks("k1", memory=6, more={"constraint": zones["a"]})
    short.asks("k2", memory=6, more={"constraint": zones["b"]})
    short.asks("k3", memory=4, more={"constraint": zones["b"]})

    assert listed(short) == [("k1", 6)]

    short.creates("n3", memory=7)

    assert listed(short) == []


def on_zone(zone: str) -> PlacementConstraint:
    return PlacementConstraint((TargetExpression("zone", values=frozenset({zone})),))
