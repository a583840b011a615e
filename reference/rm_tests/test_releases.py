"""Releases in both directions."""

import pytest
from rm_tests.driving import Driven, of, released, requested
from sirm.core import model as m
from sirm.core.states import ContainerState

STOPPED = m.Termination.STOPPED_BY_RM
OF_THE_SCHEDULER = [
    m.Termination.TIMEOUT,
    m.Termination.PREEMPTED_BY_SCHEDULER,
    m.Termination.PLACEHOLDER_REPLACED,
]


# requirement: SI-REL-008
@pytest.mark.parametrize("why", OF_THE_SCHEDULER)
def test_a_release_is_confirmed_with_its_type_once_the_container_is_gone(
    rm: Driven, why: m.Termination
) -> None:
    (key,) = rm.runs("a1", stopping=1.0)

    early = rm.releases(key, why) + rm.passes(0.9)
    state = rm.state(key)
    late = of(rm.passes(0.1), m.Release)

    assert (released(early), state) == ([], ContainerState.STOPPING)
    assert late == [m.Release("a1", key, f"id of {key}", why)]


# requirement: SI-REL-010
def test_a_confirmation_is_not_answered(rm: Driven) -> None:
    first, _ = rm.runs("a1", containers=2)
    rm.handles(m.ContainerExited(first))

    assert rm.releases(first, STOPPED) == []


# requirement: SI-REL-012
def test_the_rm_begins_only_releases_of_type_stopped_by_rm(rm: Driven) -> None:
    exited, ended = rm.runs("a1", containers=2)
    rm.submits("a2", m.Group({"memory": 1}))
    (waiting,) = requested(rm.accepts("a2"))

    effects = (
        rm.handles(m.ContainerExited(exited))
        + rm.handles(m.EndApplication("a1"))
        + rm.handles(m.EndApplication("a2"))
    )

    assert released(effects) == [(exited, STOPPED), (ended, STOPPED), (waiting, STOPPED)]


# requirement: SI-REL-022
def test_a_release_without_identity_covers_the_application(rm: Driven) -> None:
    keys = rm.runs("a1", containers=2)
    (other,) = rm.runs("a2")
    why = m.Termination.PREEMPTED_BY_SCHEDULER

    effects = rm.handles(m.Released("a1", why, m.Covered.ALLOCATIONS))

    assert released(effects) == [(key, why) for key in keys]
    assert rm.state(other) is ContainerState.RUNNING


# requirement: SI-REL-024
def test_a_released_request_is_given_up_and_confirmed(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}))
    (key,) = requested(rm.accepts("a1"))

    effects = of(rm.releases(key, m.Termination.TIMEOUT), m.Release)

    assert effects == [m.Release("a1", key, "", m.Termination.TIMEOUT)]
    assert rm.state(key) is None


# requirement: SI-REL-024
def test_in_2021_02_a_released_request_without_type_is_answered_once(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}))
    (key,) = requested(rm.accepts("a1"))

    effects = [rm.releases(key, m.Termination.UNSET, m.Covered.REQUESTS) for _ in range(2)]

    assert [released(one) for one in effects] == [[(key, m.Termination.UNSET)], []]


# requirement: SI-REL-020
def test_every_release_names_its_partition(rm: Driven) -> None:
    rm.submits("a1", m.Group({"memory": 1}))
    rm.accepts("a1")

    (release,) = of(rm.handles(m.EndApplication("a1")), m.Release)

    assert release.partition == "default"


def test_a_release_by_identity_finds_its_container(rm: Driven) -> None:
    (key,) = rm.runs("a1")
    why = m.Termination.PREEMPTED_BY_SCHEDULER

    effects = rm.handles(m.Released("a1", why, m.Covered.ALLOCATIONS, identity=f"id of {key}"))

    assert released(effects) == [(key, why)]


def test_the_release_of_a_container_that_is_gone_is_confirmed(rm: Driven) -> None:
    why = m.Termination.PREEMPTED_BY_SCHEDULER

    assert released(rm.releases("k9", why)) == [("k9", why)]


def test_a_repeated_release_is_confirmed_once_per_end(rm: Driven) -> None:
    (key,) = rm.runs("a1", stopping=1.0)
    why = m.Termination.PREEMPTED_BY_SCHEDULER
    rm.releases(key, why)

    assert released(rm.releases(key, why)) == []
    assert released(rm.passes(1.0)) == [(key, why)]


def test_a_release_of_a_stopping_container_is_confirmed_instead(rm: Driven) -> None:
    (key,) = rm.runs("a1", stopping=1.0)
    rm.handles(m.EndApplication("a1"))
    why = m.Termination.PREEMPTED_BY_SCHEDULER

    rm.releases(key, why)

    assert released(rm.passes(1.0)) == [(key, why)]


def test_a_container_that_ended_with_its_node_is_stopped_without_an_answer(rm: Driven) -> None:
    (key,) = rm.runs("a1")

    assert released(rm.releases(key, STOPPED)) == []
    assert rm.state(key) is None


def test_after_another_registration_an_open_release_is_one_of_the_rm(rm: Driven) -> None:
    (key,) = rm.runs("a1", stopping=1.0)
    rm.releases(key, m.Termination.TIMEOUT)
    rm.restarts()
    rm.handles(m.AcceptedNode("n1"), m.AcceptedApplication("a1"))

    assert released(rm.passes(1.0)) == [(key, STOPPED)]
