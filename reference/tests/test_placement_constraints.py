"""Placement constraints: node attributes, affinity by tags in node groups, hard and soft."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Effect,
    PreemptionPolicy,
    ReleasedAllocation,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.driving import RM, identities, of, placed, refused_keys

IN, NOT_IN = TargetOperator.IN, TargetOperator.NOT_IN
EXIST, NOT_EXIST = TargetOperator.EXIST, TargetOperator.NOT_EXIST
X = {"app": "x"}


def target(key: str, operator: TargetOperator, *values: str) -> TargetExpression:
    return TargetExpression(key, operator, frozenset(values))


def on_nodes(*targets: TargetExpression) -> PlacementConstraint:
    return PlacementConstraint(node=targets)


def company(
    *targets: TargetExpression,
    scope: str = "host",
    least: int = 0,
    most: int | None = None,
    required: bool = True,
) -> PlacementConstraint:
    """Return a constraint: so many allocations with app=x, or other tags, in a group."""
    targets = targets or (target("app", IN, "x"),)
    return PlacementConstraint(affinity=AllocationAffinity(scope, targets, least, most, required))


class Cluster(RM):
    """An RM with one application and nodes with attributes."""

    def __init__(self, **nodes: Mapping[str, str]) -> None:
        super().__init__()
        self.submits("a1")
        for node_id, attributes in nodes.items():
            self.has(node_id, attributes)

    def has(self, node_id: str, attributes: Mapping[str, str], memory: int = 10) -> list[Effect]:
        info = {"memory": memory}
        return self.send_node_action(node_id, NodeAction.CREATE, info, attributes=attributes)

    def wants(
        self,
        key: str,
        constraint: PlacementConstraint | None = None,
        tags: Mapping[str, str] | None = None,
        memory: int = 1,
        most: int = 1,
    ) -> list[tuple[str, str]]:
        """Send an ask; return key and node of its allocation."""
        more = {"constraint": constraint, "tags": tags or {}}
        return placed(self.asks(key, most=most, more=more, memory=memory))


ZONES = {"n1": {"zone": "a"}, "n2": {"zone": "b"}}


# requirement: SI-PLACE-001
def test_without_a_constraint_every_node_is_allowed() -> None:
    rm = Cluster(**ZONES)
    rm.wants("full", on_nodes(target("zone", IN, "a")), memory=10)

    assert rm.wants("k") == [("k", "n2")]


# requirement: SI-PLACE-002, SI-PLACE-003, SI-PLACE-004
@pytest.mark.parametrize(
    ("expression", "where"),
    [
        (target("zone", IN, "a"), "n1"),
        (target("zone", IN, "b", "c"), "n2"),
        (target("zone", IN), None),
        (target("zone", NOT_IN, "a"), "n2"),
        (target("zone", NOT_IN, "a", "b"), "n3"),
        (target("disk", EXIST, "hdd"), "n1"),
        (target("zone", NOT_EXIST, "a"), "n3"),
        (target("", EXIST), None),
    ],
)
def test_expression_is_about_an_attribute(expression: TargetExpression, where: str | None) -> None:
    rm = Cluster(n1={"zone": "a", "disk": "ssd"}, n2={"zone": "b"}, n3={"rack": "r"})

    assert rm.wants("k", on_nodes(expression)) == ([("k", where)] if where else [])


# requirement: SI-PLACE-005
def test_all_expressions_have_to_hold() -> None:
    rm = Cluster(n1={"zone": "a", "disk": "hdd"}, n2={"zone": "a", "disk": "ssd"})
    both = on_nodes(target("zone", IN, "a"), target("disk", IN, "ssd"))

    assert rm.wants("k", both) == [("k", "n2")]


# requirement: SI-PLACE-006
def test_attributes_and_affinity_both_have_to_hold() -> None:
    rm = Cluster(n1={"zone": "a", "host": "1"}, n2={"zone": "a", "host": "2"}, n3={"host": "3"})
    rm.wants("x", on_nodes(target("host", IN, "1")), X)
    both = PlacementConstraint((target("zone", IN, "a"),), company(most=1).affinity)

    assert rm.wants("k", both, X) == [("k", "n2")]
    assert rm.wants("l", both, X) == []


# requirement: SI-PLACE-007
def test_maximum_of_one_per_host() -> None:
    rm = Cluster(n1={"host": "1"}, n2={"host": "2"})

    first = rm.wants("k", company(most=1), X, most=3)

    assert sorted(first) == [("k", "n1"), ("k", "n2")]
    assert rm.has("n3", {"host": "1"})
    assert rm.waits(100) == []
    assert placed(rm.send_node_action("n4", NodeAction.CREATE, {"memory": 1})) == [("k", "n4")]


# requirement: SI-PLACE-007
def test_node_without_the_attribute_is_its_own_group() -> None:
    rm = Cluster(n1={}, n2={}, n3={"host": ""}, n4={"host": ""})

    nodes = {node for _, node in rm.wants("k", company(most=1), X, most=9)}

    assert len(nodes) == 3
    assert nodes >= {"n1", "n2"}


def test_nodes_with_the_same_value_are_one_group() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "a"}, n3={"zone": "b"})

    nodes = [node for _, node in rm.wants("k", company(scope="zone", most=2), X, most=9)]

    assert len(nodes) == 4
    assert nodes.count("n3") == 2


# requirement: SI-PLACE-008
def test_minimum_needs_matching_allocations() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "b"})
    rm.wants("x", on_nodes(target("zone", IN, "a")), X, most=2, memory=4)
    least = company(scope="zone", least=2)

    assert rm.wants("k", least, memory=2) == [("k", "n1")]
    assert rm.wants("l", least, memory=2) == []  # zone b has capacity, but no matching allocation


# requirement: SI-PLACE-008
def test_ask_is_placed_when_a_matching_allocation_comes() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "b"})
    assert rm.wants("k", company(scope="zone", least=2)) == []

    assert rm.wants("x1", on_nodes(target("zone", IN, "b")), X) == [("x1", "n2")]
    assert rm.wants("x2", on_nodes(target("zone", IN, "b")), X) == [("x2", "n2"), ("k", "n2")]


# requirement: SI-PLACE-007, SI-PLACE-011
def test_ask_is_placed_when_a_matching_allocation_ends() -> None:
    rm = Cluster(n1={"host": "1"})
    (first,) = identities(rm.asks("x", more={"tags": X}, memory=1))
    assert rm.wants("k", company(most=1), X) == []
    assert rm.wants("l", company(target("app", EXIST, "y"), most=1), {"app": ""}) == []

    assert placed(rm.releases(first)) == [("k", "n1")]
    assert placed(rm.withdraws("l")) == []


# requirement: SI-PLACE-011
def test_tag_existence_is_enough() -> None:
    rm = Cluster(n1={"host": "1"})
    rm.wants("y", tags={"app": "y"})
    rm.wants("w", tags={"app": "w"})

    assert rm.wants("k2", company(target("other", EXIST, "x"), most=1)) == [("k2", "n1")]
    assert rm.wants("k1", company(target("app", EXIST, "x"), most=1)) == []
    assert rm.wants("k3", company(target("app", NOT_EXIST), most=2)) == [("k3", "n1")]
    assert rm.wants("k4", company(target("app", NOT_EXIST), most=2)) == []


def test_ask_that_does_not_match_does_not_count_itself() -> None:
    rm = Cluster(n1={"host": "1"})
    rm.wants("x", tags=X)

    assert rm.wants("k", company(most=1)) == [("k", "n1")]
    assert rm.wants("l", company(least=2)) == []
    assert rm.wants("m", company(least=2), X) == [("m", "n1"), ("l", "n1")]


# requirement: SI-PLACE-009
@pytest.mark.parametrize("required", [True, False])
def test_only_a_required_affinity_prevents_placement(*, required: bool) -> None:
    rm = Cluster(n1={"host": "1"})

    where = rm.wants("k", company(least=3, required=required))

    assert where == ([] if required else [("k", "n1")])


# requirement: SI-PLACE-009
def test_preferred_affinity_decides_among_possible_nodes() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "b"})
    rm.wants("x", on_nodes(target("zone", IN, "a")), X, memory=8)
    preferred = company(scope="zone", least=2, required=False)

    assert rm.wants("k", preferred, X) == [("k", "n1")]  # n2 has more capacity
    assert rm.wants("l", preferred, X, memory=2) == [("l", "n2")]


# requirement: SI-PLACE-009
def test_node_attributes_are_always_required() -> None:
    rm = Cluster(n1={"zone": "a"})
    soft = PlacementConstraint((target("zone", IN, "b"),), company(required=False).affinity)

    assert rm.wants("k", soft) == []


# requirement: SI-PLACE-010
def test_constraint_applies_only_to_its_own_ask() -> None:
    rm = Cluster(n1={"host": "1"})
    assert rm.wants("x", company(most=1), X)

    assert rm.wants("k", None, X) == [("k", "n1")]


# requirement: SI-NODE-020, SI-NODE-038
def test_new_attributes_replace_the_old_ones() -> None:
    rm = Cluster(n1={"zone": "a", "disk": "ssd"})
    assert rm.wants("b", on_nodes(target("zone", IN, "b"))) == []

    moved = rm.send_node_action("n1", NodeAction.UPDATE, attributes={"zone": "b"})

    assert placed(moved) == [("b", "n1")]
    assert rm.wants("a", on_nodes(target("zone", IN, "a"))) == []
    assert rm.wants("s", on_nodes(target("disk", EXIST))) == []


def test_allocations_change_group_with_their_node() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "b"})
    rm.wants("x", on_nodes(target("zone", IN, "a")), X, memory=10)
    assert rm.wants("k", company(scope="zone", least=2), X) == []
    assert rm.wants("l", company(scope="zone", least=1)) == []

    moved = rm.send_node_action("n1", NodeAction.UPDATE, attributes={"zone": "b"})

    assert sorted(placed(moved)) == [("k", "n2"), ("l", "n2")]


def test_removed_node_takes_its_allocations_along() -> None:
    rm = Cluster(n1={"zone": "a"}, n2={"zone": "a"})
    rm.wants("x", None, X, memory=10)
    assert rm.wants("k", company(scope="zone", most=1), X) == []

    assert placed(rm.decommissions("n1")) == [("k", "n2")]


def test_recovered_allocations_count() -> None:
    rm = Cluster(n1={"host": "1"})
    old = Ask("old", "a1", resource=Resource({"memory": 1}), tags=X)
    assert rm.wants("k", company(least=1)) == []

    assert placed(rm.reports(AllocationRecord("id", old, "n1"))) == [("k", "n1")]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (on_nodes(target("zone", TargetOperator.UNRECOGNISED)), "operator"),
        (company(target("zone", TargetOperator.UNRECOGNISED)), "operator"),
        (company(least=-1), "negative"),
        (company(most=-1), "negative"),
        (company(least=2, most=1), "more allocations than it allows"),
    ],
)
def test_unsatisfiable_constraint_is_rejected(
    constraint: PlacementConstraint, message: str
) -> None:
    rm = Cluster(n1={"zone": "a"})

    effects = rm.asks("k", more={"constraint": constraint}, memory=1)

    assert refused_keys(effects) == ["k"]
    assert message in str(effects)


def test_replaced_ask_has_the_new_constraint() -> None:
    rm = Cluster(**ZONES)
    assert rm.wants("k", on_nodes(target("zone", IN, "c"))) == []

    assert rm.wants("k", on_nodes(target("zone", IN, "b"))) == [("k", "n2")]


def test_member_replaces_a_placeholder_only_on_an_allowed_node() -> None:
    rm = Cluster(n1={"zone": "a"})
    rm.submits("g1")
    placeholder = Ask(
        "p", "g1", resource=Resource({"memory": 2}), task_group="tg", placeholder=True
    )
    (identity,) = identities(rm.send(asks=(placeholder,)))
    real = Ask(
        "r",
        "g1",
        resource=Resource({"memory": 2}),
        task_group="tg",
        tags=X,
        constraint=on_nodes(target("zone", IN, "b")),
    )
    rm.send(asks=(real,))
    (live,) = rm.partition.allocations.all.values()
    assert live.open_release is not None

    after = rm.releases(identity, "g1", live.open_release)

    assert placed(after) == []
    assert placed(rm.has("n2", {"zone": "b"})) == [("r", "n2")]


def test_member_prefers_the_placeholder_on_an_allowed_node() -> None:
    rm = Cluster(**ZONES)
    rm.submits("g1")
    half = Ask("p", "g1", resource=Resource({"memory": 6}), task_group="tg", placeholder=True)
    rm.send(asks=(half, replace(half, key="q")))
    real = replace(half, key="r", placeholder=False, constraint=on_nodes(target("zone", IN, "b")))

    (asked,) = of(rm.send(asks=(real,)), ReleasedAllocation)

    allocations = rm.partition.allocations.all
    assert allocations[asked.release.identity].node.node_id == "n2"


def test_unused_affinity_is_not_counted() -> None:
    rm = Cluster(n1={"host": "1"})
    rm.wants("k", company(least=9))
    groups = rm.partition.node_index._groups
    assert groups._counts
    for identity in identities(rm.asks("x", most=2, more={"tags": X}, memory=1)):
        rm.releases(identity)
    assert [count.by_group for count in groups._counts.values()] == [{}]

    rm.withdraws("k")

    assert not groups._counts


def test_ask_with_a_constraint_preempts_nothing() -> None:
    rm = RM(
        queues="partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: ["
        "{name: l}, {name: r, resources: {guaranteed: {memory: 5}},"
        " properties: {preemption.delay: 1ms}}]}]}]"
    )
    rm.creates("n1", memory=5)
    rm.submits("a1", "root.l")
    rm.submits("a2", "root.r")
    yielding = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
    rm.asks("low", more={"preemption_policy": yielding, "priority": -1}, memory=5)
    taking = {"preemption_policy": yielding, "constraint": on_nodes(target("z", NOT_EXIST))}

    assert rm.asks("k", "a2", more=taking, memory=5)
    assert rm.waits(60) == []
    rm.withdraws("k", "a2")
    assert rm.asks("l", "a2", more={"preemption_policy": yielding}, memory=5)
    assert rm.waits(60) != []  # the control
