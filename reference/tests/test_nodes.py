"""Nodes: create, duplicate, update, drain, undrain, decommission."""

import pytest
from sireference.core.model import AcceptedNode, NodeInfo, RejectedNode, UpdateNodes
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.driving import RM, STOPPED, identities, keys, of, placed, released, states


def rejected(effects: object) -> list[str]:
    assert isinstance(effects, list)
    verdicts = of(effects, RejectedNode)
    assert all(verdict.reason for verdict in verdicts)
    return [verdict.node_id for verdict in verdicts]


# requirement: SI-NODE-001, SI-NODE-002, SI-NODE-003, SI-NODE-042
def test_node_is_accepted_once(rm: RM) -> None:
    rm.submits("a1")
    assert rm.creates("n1", memory=10) == [AcceptedNode("rm", "n1")]

    again = rm.creates("n1", memory=100)

    assert rejected(again) == ["n1"]
    assert of(again, RejectedNode)[0].reason == "node 'n1' exists already"
    assert keys(rm.asks("k1", memory=5)) == ["k1"]
    assert keys(rm.asks("k2", memory=50)) == []


# requirement: SI-NODE-004, SI-CONN-017
def test_every_creation_has_one_verdict_and_an_invalid_one_affects_no_other(rm: RM) -> None:
    rm.creates("n1")
    infos = tuple(NodeInfo(f"n{i}", NodeAction.CREATE) for i in (0, 1, 2, 2, 3))

    effects = rm.scheduler.handle(UpdateNodes("rm", infos), 0)

    assert [(type(effect), effect.node_id) for effect in effects] == [  # type: ignore[union-attr]
        (AcceptedNode, "n0"),
        (RejectedNode, "n1"),
        (AcceptedNode, "n2"),
        (RejectedNode, "n2"),
        (AcceptedNode, "n3"),
    ]


# requirement: SI-NODE-005
def test_node_without_id_is_rejected(rm: RM) -> None:
    assert rejected(rm.creates("", memory=1)) == [""]


# requirement: SI-NODE-006
def test_node_takes_no_more_than_its_capacity(busy: RM) -> None:
    made = [key for i in range(11) for key in keys(busy.asks(f"k{i}", memory=1, vcore=1))]

    assert made == [f"k{i}" for i in range(10)]


# requirement: SI-NODE-007
def test_occupied_resources_are_not_available(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", {"memory": 6}, memory=10)

    assert keys(rm.asks("k1", memory=4)) == ["k1"]
    assert keys(rm.asks("k2", memory=1)) == []


def test_more_occupied_than_capacity_leaves_nothing(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", {"memory": 16}, memory=10, vcore=4)

    assert keys(rm.asks("k1", memory=1)) == []
    assert keys(rm.asks("k2", vcore=4)) == ["k2"]


@pytest.mark.parametrize("field", ["amounts", "occupied"])
@pytest.mark.parametrize("action", [NodeAction.CREATE, NodeAction.UPDATE])
def test_negative_amounts_are_rejected_and_change_nothing(
    rm: RM, field: str, action: NodeAction
) -> None:
    rm.submits("a1")
    if action is NodeAction.UPDATE:
        rm.creates("n1", memory=10)

    assert rejected(rm.send_node_action("n1", action, **{field: {"memory": -1}})) == ["n1"]

    assert keys(rm.asks("k", memory=10)) == (["k"] if action is NodeAction.UPDATE else [])


# requirement: SI-NODE-009
def test_node_of_an_unknown_partition_is_rejected(rm: RM) -> None:
    effects = rm.send_node_action("n1", NodeAction.CREATE, {"memory": 1}, partition="nope")

    assert rejected(effects) == ["n1"]
    assert rm.creates("n1") == [AcceptedNode("rm", "n1")]


# requirement: SI-NODE-010, SI-ASK-011
def test_new_node_serves_pending_asks_at_once(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=4)

    effects = rm.creates("n1", memory=4)

    assert effects[0] == AcceptedNode("rm", "n1")
    assert placed(effects) == [("k1", "n1")]


# requirement: SI-NODE-011, SI-NODE-012, SI-NODE-025
def test_node_created_draining_takes_nothing_until_it_is_undrained(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=4)

    created = rm.send_node_action("n1", NodeAction.CREATE_DRAIN, {"memory": 2})
    assert created == [AcceptedNode("rm", "n1")]
    assert rm.updates("n1", memory=4) == []

    assert placed(rm.undrains("n1")) == [("k1", "n1")]


# requirement: SI-NODE-013, SI-NODE-039
def test_creating_a_known_node_neither_drains_nor_undrains_it(busy: RM) -> None:
    assert rejected(busy.send_node_action("n1", NodeAction.CREATE_DRAIN)) == ["n1"]
    assert keys(busy.asks("k1", memory=1)) == ["k1"]

    busy.drains("n1")
    assert rejected(busy.creates("n1", memory=99)) == ["n1"]
    assert keys(busy.asks("k2", memory=1)) == []


# requirement: SI-NODE-015, SI-NODE-016, SI-NODE-035
@pytest.mark.parametrize(
    "action",
    [
        NodeAction.UPDATE,
        NodeAction.DRAIN_NODE,
        NodeAction.DRAIN_TO_SCHEDULABLE,
        NodeAction.DECOMMISSION,
    ],
)
def test_action_on_an_unknown_node_is_rejected(rm: RM, action: NodeAction) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)

    assert rejected(rm.send_node_action("nX", action, {"memory": 9})) == ["nX"]

    assert rm.creates("nX")[0] == AcceptedNode("rm", "nX")


# requirement: SI-NODE-017, SI-NODE-018
def test_update_replaces_the_capacity(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=4)
    rm.asks("k1", memory=4)
    rm.asks("k2", memory=4)

    assert keys(rm.updates("n1", memory=10)) == ["k2"]
    assert rm.updates("n1", memory=9) == []
    assert keys(rm.asks("k3", memory=2)) == []
    assert keys(rm.asks("k4", memory=1)) == ["k4"]


# requirement: SI-NODE-019, SI-NODE-027, SI-NODE-043
def test_shrinking_or_draining_ends_nothing(busy: RM) -> None:
    made = identities(busy.asks("k", memory=5, most=2))

    assert busy.updates("n1", memory=6) == []
    assert busy.drains("n1") == []

    assert released(busy.releases(made[0])) == [(made[0], STOPPED)]


# requirement: SI-NODE-020, SI-NODE-038
def test_attributes_are_replaced_by_those_sent_and_kept_if_none_are(rm: RM) -> None:
    rm.send_node_action("n1", NodeAction.CREATE, attributes={"zone": "a", "disk": "ssd"})

    rm.send_node_action("n1", NodeAction.UPDATE, {"memory": 1})
    assert rm.partition.nodes["n1"].attributes == {"zone": "a", "disk": "ssd"}

    rm.send_node_action("n1", NodeAction.UPDATE, attributes={"zone": "b"})
    assert rm.partition.nodes["n1"].attributes == {"zone": "b"}


# requirement: SI-NODE-021, SI-NODE-022
def test_fields_left_out_of_an_update_are_unchanged(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", {"memory": 8}, memory=10)
    rm.asks("k1", memory=6)

    effects = rm.send_node_action("n1", NodeAction.UPDATE, occupied={"memory": 2})
    assert keys(effects) == ["k1"]

    assert rm.send_node_action("n1", NodeAction.UPDATE, attributes={"zone": "a"}) == []
    assert keys(rm.asks("k2", memory=3)) == []
    assert keys(rm.asks("k3", memory=2)) == ["k3"]


# requirement: SI-NODE-026, SI-NODE-028
def test_draining_node_takes_nothing_until_it_is_undrained(busy: RM) -> None:
    assert busy.drains("n1") == []
    assert busy.drains("n1") == []
    assert keys(busy.asks("k1", memory=1)) == []

    assert keys(busy.undrains("n1")) == ["k1"]


def test_capacity_freed_while_draining_counts_afterwards(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=10))
    busy.asks("k2", memory=10)
    busy.drains("n1")

    assert keys(busy.releases(identity)) == []
    assert keys(busy.undrains("n1")) == ["k2"]


# requirement: SI-NODE-029
def test_undraining_a_node_that_is_not_draining_is_an_error(busy: RM) -> None:
    assert rejected(busy.undrains("n1")) == ["n1"]

    assert keys(busy.asks("k1", memory=1)) == ["k1"]


# requirement: SI-NODE-030, SI-NODE-031, SI-NODE-033
@pytest.mark.parametrize("is_draining", [True, False])
def test_decommissioned_node_is_gone_and_its_id_is_free(busy: RM, is_draining: bool) -> None:  # noqa: FBT001
    if is_draining:
        busy.drains("n1")

    assert busy.decommissions("n1") == []

    assert keys(busy.asks("k1", memory=1)) == []
    again = busy.creates("n1", memory=1)
    assert again[0] == AcceptedNode("rm", "n1")
    assert keys(again) == ["k1"]


# requirement: SI-NODE-032, SI-NODE-034, SI-REL-023
def test_decommissioning_ends_exactly_the_allocations_on_the_node(busy: RM) -> None:
    busy.submits("a2")
    ended = identities(busy.asks("k1", memory=3, most=3))
    busy.creates("n2", memory=4)
    kept = identities(busy.asks("k2", "a2", memory=4))
    busy.asks("k3", "a2", memory=5)

    effects = busy.decommissions("n1")

    assert released(effects) == [(identity, STOPPED) for identity in ended]
    assert states(effects) == ["Completing"]
    assert keys(busy.creates("n3", memory=5)) == ["k3"]
    assert released(busy.releases(kept[0], "a2")) == [(kept[0], STOPPED)]


def test_state_change_is_reported_before_the_releases(busy: RM) -> None:
    busy.asks("k1", memory=3)

    kinds = [type(effect).__name__ for effect in busy.decommissions("n1")]

    assert kinds == ["UpdatedApplication", "ReleasedAllocation"]


# requirement: SI-NODE-036
def test_without_an_action_nothing_happens(busy: RM) -> None:
    assert busy.send_node_action("nX", NodeAction.UNSET, {"memory": 9}) == []
    assert busy.send_node_action("n1", NodeAction.UNSET, {"memory": 100}) == []

    assert keys(busy.asks("k", memory=50)) == []


# requirement: SI-NODE-037
def test_entries_for_one_node_take_effect_in_order(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k", memory=1)
    steps = (
        NodeInfo("n1", NodeAction.CREATE, capacity=Resource({"memory": 1})),
        NodeInfo("n1", NodeAction.DRAIN_NODE),
    )

    assert rm.scheduler.handle(UpdateNodes("rm", steps), 0) == [AcceptedNode("rm", "n1")]


def test_node_id_is_unique_across_partitions() -> None:
    rm = RM(queues="partitions: [{name: default, queues: [{name: q}]}, {name: two, queues: []}]")
    rm.creates("n1", memory=1)

    assert rejected(rm.send_node_action("n1", NodeAction.CREATE, partition="two")) == ["n1"]
    assert of(rm.send_node_action("n2", NodeAction.CREATE, partition="two"), AcceptedNode)


# requirement: SI-NODE-008
@pytest.mark.parametrize("attributes", [{}, {"foo": "bar"}, {"si/unheard-of": "", "": "x"}])
def test_attributes_may_be_any_or_none(rm: RM, attributes: dict[str, str]) -> None:
    effects = rm.send_node_action("n1", NodeAction.CREATE, {"memory": 1}, attributes=attributes)

    assert effects == [AcceptedNode("rm", "n1")]


# requirement: SI-NODE-040
def test_update_may_change_any_attribute_but_not_the_partition(busy: RM) -> None:
    images = {"si/local-images": "img2", "si/node-partition": "elsewhere"}

    effects = busy.send_node_action(
        "n1", NodeAction.UPDATE, attributes=images, partition="elsewhere"
    )

    assert effects == []
    assert keys(busy.asks("k1", memory=1)) == ["k1"]
    (node,) = busy.scheduler.snapshot("rm").nodes
    assert (node.partition, node.attributes) == ("default", images)
