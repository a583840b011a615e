"""Applications: submitted, accepted or rejected, ended."""

import pytest
from rm_tests.driving import Driven, of, released, requested, updates
from sirm.core import model as m

STOPPED = m.Termination.STOPPED_BY_RM


def outcome(rm: Driven, application_id: str = "a1") -> str:
    return rm.cluster.applications[application_id].outcome


# requirement: SI-APP-016
def test_an_application_is_added_before_its_first_request(rm: Driven) -> None:
    submitted = rm.submits("a1", m.Group({"memory": 1}, members=2))
    accepted = rm.accepts("a1")

    assert [type(one) for one in updates(submitted)] == [m.AddApplication]
    assert len(requested(accepted)) == 2


# requirement: SI-APP-033
def test_verdicts_about_unknown_applications_change_nothing(rm: Driven) -> None:
    effects = rm.handles(
        m.AcceptedApplication("a9"),
        m.RejectedApplication("a9", "no"),
        m.UpdatedApplication("a9", "Failed"),
    )

    assert effects == []


# requirement: SI-APP-033
def test_nothing_is_requested_for_a_rejected_application(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}))

    effects = rm.handles(m.RejectedApplication("a1", "no queue"))

    assert (updates(effects), outcome(rm), rm.cluster.containers) == ([], "rejected", {})


# requirement: SI-APP-034
def test_the_id_of_a_live_application_is_refused(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}))

    with pytest.raises(m.RefusedError, match='application "a1" exists'):
        rm.submits("a1", m.Group({"memory": 1}))


# requirement: SI-APP-034
def test_an_id_is_free_after_the_removal(rm: Driven) -> None:
    (key,) = rm.runs("a1")
    ended = rm.handles(m.ContainerExited(key))

    again = rm.submits("a1", m.Group({"memory": 1}))

    assert [one.application_id for one in of(ended, m.RemoveApplication)] == ["a1"]
    assert [one.application_id for one in of(again, m.AddApplication)] == ["a1"]


# requirement: SI-APP-038
@pytest.mark.parametrize("state", ["Failed", "FAILED", "Killed", "Completed"])
def test_a_final_state_ends_the_application(rm: Driven, state: str) -> None:
    rm.runs("a1")

    effects = rm.handles(m.UpdatedApplication("a1", state))

    assert (updates(effects), rm.cluster.containers) == ([], {})
    assert rm.cluster.applications["a1"].is_over
    assert of(rm.restarts(), m.AddApplication) == []


@pytest.mark.parametrize("state", ["Accepted", "Running", "Completing", "something"])
def test_other_states_are_for_information(rm: Driven, state: str) -> None:
    (key,) = rm.runs("a1")

    assert updates(rm.handles(m.UpdatedApplication("a1", state))) == []
    assert rm.state(key) is not None


def test_a_user_ends_an_application(rm: Driven) -> None:
    running, _ = rm.runs("a1", containers=2)
    rm.submits("a2", m.Group({"memory": 1}))
    (waiting,) = requested(rm.accepts("a2"))

    ended = rm.handles(m.EndApplication("a1"))
    withdrawn = rm.handles(m.EndApplication("a2"))

    assert (running, STOPPED) in released(ended)
    assert released(withdrawn) == [(waiting, STOPPED)]
    kinds = [type(one) for one in updates(ended)]
    assert kinds == [m.Release, m.Release, m.RemoveApplication]


def test_an_application_is_removed_when_its_last_container_is_gone(rm: Driven) -> None:
    first, second = rm.runs("a1", containers=2)

    effects = [rm.handles(m.ContainerExited(key)) for key in (first, second)]

    assert [len(of(one, m.RemoveApplication)) for one in effects] == [0, 1]
    assert outcome(rm) == "completed"


def test_containers_that_take_time_to_stop_are_released_when_gone(rm: Driven) -> None:
    (key,) = rm.runs("a1", stopping=2.0)

    early = rm.handles(m.EndApplication("a1")) + rm.passes(1.9)
    late = rm.passes(0.1)

    assert (released(early), released(late)) == ([], [(key, STOPPED)])


def test_a_container_that_runs_for_a_time_exits_by_itself(rm: Driven) -> None:
    (key,) = rm.runs("a1", runs=3.0)

    assert (rm.rm.next_deadline(), released(rm.passes(3.0))) == (3.0, [(key, STOPPED)])


def test_reset_leaves_nothing(rm: Driven) -> None:
    rm.runs("a1", stopping=5.0)
    rm.handles(m.AddForeign("f", "n1", {"memory": 1}))

    rm.handles(m.Reset())

    held = (rm.cluster.nodes, rm.cluster.applications, rm.cluster.containers, rm.cluster.foreign)
    assert held == ({}, {}, {}, {})
    assert updates(rm.restarts()) == []


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (m.EndApplication("a9"), 'there is no application "a9"'),
        (m.ContainerExited("k9"), 'container "k9" does not run'),
        (m.ResizeContainer("k9", {}), 'there is no container "k9"'),
        (m.AddForeign("f", "n9", {}), 'there is no node "n9"'),
        (m.RemoveForeign("f"), 'there is no foreign container "f"'),
        (m.Submit(m.Workload("", ())), "an application needs an id"),
        (m.AddNode("", {}), "a node needs an id"),
    ],
)
def test_an_impossible_action_is_refused(rm: Driven, action: m.Action, reason: str) -> None:
    with pytest.raises(m.RefusedError, match=reason):
        rm.handles(action)
