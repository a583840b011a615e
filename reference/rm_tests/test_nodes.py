"""Nodes: added, cordoned, uncordoned, resized, removed."""

import pytest
from rm_tests.driving import Driven, of, released, requested, updates
from sirm.core import model as m

OLDER = m.Rules(create_draining=False)


def actions(effects: list[m.Effect]) -> list[tuple[str, m.NodeAction]]:
    return [(one.node_id, one.action) for one in of(effects, m.ReportNode)]


# requirement: SI-NODE-014
@pytest.mark.parametrize(
    ("rules", "created"),
    [
        (m.Rules(), [m.NodeAction.CREATE_DRAIN]),
        (OLDER, [m.NodeAction.CREATE, m.NodeAction.DRAIN_NODE]),
    ],
)
def test_a_cordoned_node_is_reported_as_well(rules: m.Rules, created: list[m.NodeAction]) -> None:
    rm = Driven(rules)
    rm.handles(m.AddNode("n1", {"memory": 1}), m.AddNode("n2", {"memory": 1}, cordoned=True))

    sent = actions(rm.registers())

    assert sent == [("n1", m.NodeAction.CREATE), *(("n2", one) for one in created)]


# requirement: SI-NODE-041
def test_an_uncordoned_node_is_undrained_once(rm: Driven) -> None:
    rm.has_node("n1", cordoned=True)

    effects = rm.handles(m.Uncordon("n1"))
    again = rm.handles(m.Uncordon("n1"))

    assert actions(effects) == [("n1", m.NodeAction.DRAIN_TO_SCHEDULABLE)]
    assert actions(again) == []


# requirement: SI-NODE-024
def test_changes_of_nodes_wait_for_no_answer(rm: Driven) -> None:
    rm.handles(m.AddNode("n1", {"memory": 1}))

    effects = rm.handles(m.Cordon("n1"), m.ResizeNode("n1", {"memory": 2}), m.Uncordon("n1"))

    assert [one for _, one in actions(effects)] == [
        m.NodeAction.DRAIN_NODE,
        m.NodeAction.UPDATE,
        m.NodeAction.DRAIN_TO_SCHEDULABLE,
    ]


# requirement: SI-NODE-023
def test_containers_that_come_and_go_cause_no_node_update(rm: Driven) -> None:
    rm.has_node()
    rm.submits("a1", m.Group({"memory": 1}))
    (key,) = requested(rm.accepts("a1"))

    effects = rm.allocates(key) + rm.handles(m.ContainerExited(key))

    assert actions(effects) == []


# requirement: SI-CONST-008
def test_an_update_repeats_capacity_and_attributes(rm: Driven) -> None:
    rm.handles(m.AddNode("n1", {"memory": 1, "vcore": 1}, {"zone": "a"}))

    (update,) = of(rm.handles(m.ResizeNode("n1", {"memory": 2, "vcore": 1})), m.ReportNode)

    assert update.capacity == {"memory": 2, "vcore": 1}
    assert update.attributes == {"zone": "a"}


def test_a_removed_node_takes_its_containers_with_it(rm: Driven) -> None:
    (key,) = rm.runs("a1")

    effects = rm.handles(m.RemoveNode("n1"))

    assert actions(effects) == [("n1", m.NodeAction.DECOMMISSION)]
    assert (released(effects), rm.state(key)) == ([], None)


def test_a_rejected_node_is_not_changed_in_this_registration(rm: Driven) -> None:
    rm.handles(m.AddNode("n1", {"memory": 1}))
    rm.handles(m.RejectedNode("n1", "no"))

    assert updates(rm.handles(m.Cordon("n1"))) == []
    assert actions(rm.restarts()) == [("n1", m.NodeAction.CREATE_DRAIN)]


@pytest.mark.parametrize(
    "action",
    [m.Cordon("n9"), m.Uncordon("n9"), m.RemoveNode("n9"), m.ResizeNode("n9", {})],
)
def test_an_action_on_an_unknown_node_is_refused(rm: Driven, action: m.Action) -> None:
    with pytest.raises(m.RefusedError, match='there is no node "n9"'):
        rm.handles(action)


def test_a_node_id_is_used_once(rm: Driven) -> None:
    rm.has_node()

    with pytest.raises(m.RefusedError, match='node "n1" exists'):
        rm.has_node()
