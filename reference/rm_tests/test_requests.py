"""Requests, allocations and rejections."""

import pytest
from rm_tests.driving import Driven, of, released, reported, requested, updates
from sirm.core import model as m
from sirm.core.states import ContainerState

STOPPED = m.Termination.STOPPED_BY_RM


def waits(rm: Driven, **group: object) -> str:
    """Have a waiting container; return its key."""
    rm.has_node()
    rm.submits("a1", m.Group({"memory": 1}, **group))  # type: ignore[arg-type]  # fields of a group
    (key,) = requested(rm.accepts("a1"))
    return key


# requirement: SI-ASK-021
def test_an_allocation_starts_the_container_and_needs_no_answer(rm: Driven) -> None:
    key = waits(rm)

    effects = rm.passes(100) + rm.allocates(key)

    assert (updates(effects), rm.state(key)) == ([], ContainerState.RUNNING)


# requirement: SI-ASK-023
def test_a_rejected_request_is_not_repeated(rm: Driven) -> None:
    key = waits(rm)

    effects = rm.handles(m.RejectedRequest(key, "a1", "too large"))

    assert (requested(effects), released(effects), rm.state(key)) == ([], [], None)
    assert rm.cluster.applications["a1"].outcome == "failed"


# requirement: SI-ALLOC-017
def test_a_key_names_one_thing(rm: Driven) -> None:
    rm.has_node()
    rm.submits("a", m.Group({"memory": 1}, members=3))
    rm.submits("a-1", m.Group({"memory": 1}, members=3))
    rm.handles(m.AddForeign("a", "n1", {"memory": 1}))
    rm.handles(m.AddForeign("a-1", "n1", {"memory": 1}))

    keys = [*rm.cluster.containers, *(one.key for one in rm.cluster.foreign.values())]

    assert len(set(keys)) == 8


# requirement: SI-CONST-002
def test_labels_become_tags_of_domain_group_and_name(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}, labels={"app": "web", "example.org/tier": "front"}))

    (request,) = of(rm.accepts("a1"), m.RequestAllocation)

    assert request.container.tags == {
        "yunikorn.apache.org/label/app": "web",
        "yunikorn.apache.org/label/example.org.tier": "front",
    }


@pytest.mark.parametrize("node_id", ["n9", "n1"])
def test_an_allocation_where_the_container_may_not_run_is_released(
    rm: Driven, node_id: str
) -> None:
    key = waits(rm, allowed_nodes=("n2",))

    assert released(rm.allocates(key, node_id)) == [(key, STOPPED)]


def test_an_allocation_of_an_unknown_key_is_released(rm: Driven) -> None:
    assert released(rm.allocates("k9")) == [("k9", STOPPED)]


def test_a_repeated_allocation_changes_nothing(rm: Driven) -> None:
    (key,) = rm.runs("a1")

    assert rm.allocates(key) == []


@pytest.mark.parametrize(("by_key", "releases"), [(True, 0), (False, 1)])
def test_an_allocation_that_crosses_its_withdrawal_is_covered_by_it(
    by_key: bool,  # noqa: FBT001  # a parameter
    releases: int,
) -> None:
    rm = Driven(m.Rules(key_is_identity=by_key))
    rm.registers()
    key = waits(rm)
    rm.handles(m.EndApplication("a1"))

    assert len(released(rm.allocates(key))) == releases


def test_a_running_container_that_is_rejected_is_stopped(rm: Driven) -> None:
    (key,) = rm.runs("a1")
    rm.restarts()
    rm.handles(m.AcceptedNode("n1"), m.AcceptedApplication("a1"))

    effects = rm.handles(m.RejectedRequest(key, "a1", "no capacity"))

    assert (released(effects), rm.state(key)) == ([], None)


# requirement: SI-ALLOC-018
def test_a_new_size_is_reported_under_the_same_key_and_node(rm: Driven) -> None:
    (key,) = rm.runs("a1")

    effects = rm.handles(m.ResizeContainer(key, {"memory": 5}))

    (update,) = of(effects, m.ReportAllocation)
    assert (update.container.key, update.node_id) == (key, "n1")
    assert (update.container.resource, len(updates(effects))) == ({"memory": 5}, 1)


def test_a_rejected_new_size_leaves_the_container_as_it_was(rm: Driven) -> None:
    (key,) = rm.runs("a1")
    rm.handles(m.ResizeContainer(key, {"memory": 5}))

    rm.handles(m.RejectedRequest(key, "a1", "no capacity"))

    assert rm.state(key) is ContainerState.RUNNING
    assert rm.cluster.containers[key].resource == {"memory": 1}


def test_the_request_of_a_waiting_container_is_updated(rm: Driven) -> None:
    key = waits(rm)

    assert requested(rm.handles(m.ResizeContainer(key, {"memory": 5}))) == [key]


def test_older_revisions_cannot_resize_a_running_container() -> None:
    rm = Driven(m.Rules(updates_running=False))
    rm.registers()
    (key,) = rm.runs("a1")

    with pytest.raises(m.RefusedError, match="cannot update a running container"):
        rm.handles(m.ResizeContainer(key, {"memory": 5}))


# requirement: SI-FOR-011
@pytest.mark.parametrize("is_static", [True, False])
def test_foreign_containers_are_reported_once_their_node_is_accepted(
    rm: Driven,
    is_static: bool,  # noqa: FBT001  # a parameter
) -> None:
    rm.handles(m.AddNode("n1", {"memory": 10}))

    early = rm.handles(m.AddForeign("f", "n1", {"memory": 4}, is_static=is_static))
    (late,) = of(rm.handles(m.AcceptedNode("n1")), m.ReportForeign)

    assert of(early, m.ReportForeign) == []
    assert (late.node_id, late.resource, late.is_static) == ("n1", {"memory": 4}, is_static)
    assert rm.cluster.nodes["n1"].capacity == {"memory": 10}
    assert of(rm.restarts(), m.ReportNode)[0].capacity == {"memory": 10}


def test_a_foreign_container_that_is_gone_is_released(rm: Driven) -> None:
    rm.has_node()
    (report,) = of(rm.handles(m.AddForeign("f", "n1", {"memory": 4})), m.ReportForeign)

    assert released(rm.handles(m.RemoveForeign("f"))) == [(report.key, STOPPED)]
    assert reported(rm.restarts()) == []


def test_older_revisions_have_no_foreign_allocations() -> None:
    rm = Driven(m.Rules(reports_foreign=False))
    rm.has_node()

    with pytest.raises(m.RefusedError, match="no foreign allocations"):
        rm.handles(m.AddForeign("f", "n1", {"memory": 4}))


def test_the_foreign_containers_of_a_removed_node_are_gone(rm: Driven) -> None:
    rm.has_node()
    rm.handles(m.AddForeign("f", "n1", {"memory": 4}))

    effects = rm.handles(m.RemoveNode("n1"))

    assert (released(effects), rm.cluster.foreign) == ([], {})
