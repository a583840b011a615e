"""Gangs: the sum, placeholders first, real containers, replacement, timeout."""

import pytest
from rm_tests.driving import Driven, of, released, requested, updates
from sirm.core import model as m
from sirm.core.states import ContainerState

TIMEOUT = m.Termination.TIMEOUT
REPLACED = m.Termination.PLACEHOLDER_REPLACED


def group(members: int = 3, real: int = 2, name: str = "w") -> m.Group:
    return m.Group({"memory": 2}, members, name, real)


# requirement: SI-GANG-001
def test_the_placeholder_ask_is_the_sum_over_all_task_groups(rm: Driven) -> None:
    (added,) = of(
        rm.submits(
            "g1",
            m.Group({"memory": 2}, 3, "left"),
            m.Group({"memory": 1, "gpu": 1}, 2, "right"),
            m.Group({"memory": 9}, 1),
        ),
        m.AddApplication,
    )

    assert added.placeholder_ask == {"memory": 8, "gpu": 2}


def test_without_task_groups_there_is_no_placeholder_ask(rm: Driven) -> None:
    (added,) = of(rm.submits("a1", m.Group({"memory": 9})), m.AddApplication)

    assert added.placeholder_ask is None


# requirement: SI-GANG-013, SI-GANG-029
def test_every_member_is_requested_as_a_placeholder_and_nothing_else(rm: Driven) -> None:
    rm.has_node()
    rm.submits("g1", group(), m.Group({"memory": 1}))

    requests = of(rm.accepts("g1"), m.RequestAllocation)

    assert [one.container.placeholder for one in requests] == [True, True, True]
    assert len({one.container.key for one in requests}) == 3


# requirement: SI-GANG-014
def test_real_containers_are_requested_after_the_last_placeholder(rm: Driven) -> None:
    placeholders = rm.has_gang(group())

    effects = [rm.allocates(key) for key in placeholders]

    assert [len(requested(one)) for one in effects] == [0, 0, 2]


# requirement: SI-GANG-049
def test_every_gang_request_names_its_group_and_has_the_right_flag(rm: Driven) -> None:
    rm.has_node()
    rm.submits("g1", group(1, 1, "left"), group(1, 1, "right"))
    sent = of(rm.accepts("g1"), m.RequestAllocation)
    for one in list(sent):
        sent += of(rm.allocates(one.container.key), m.RequestAllocation)

    described = [(one.container.task_group, one.container.placeholder) for one in sent]

    assert described == [("left", True), ("right", True), ("left", False), ("right", False)]


# requirement: SI-GANG-050
def test_a_real_container_starts_with_its_own_allocation(rm: Driven) -> None:
    placeholders = rm.has_gang(group(2, 1))
    rm.allocates(placeholders[0])
    (real,) = requested(rm.allocates(placeholders[1]))

    before = rm.state(real)
    rm.allocates(real)

    assert (before, rm.state(real)) == (ContainerState.WAITING, ContainerState.RUNNING)


# requirement: SI-REL-008
def test_a_replaced_placeholder_is_confirmed_and_the_real_container_starts(rm: Driven) -> None:
    (placeholder,) = rm.has_gang(group(1, 1))
    (real,) = requested(rm.allocates(placeholder))

    assert released(rm.releases(placeholder, REPLACED)) == [(placeholder, REPLACED)]
    rm.allocates(real)
    assert list(rm.cluster.containers) == [real]


# requirement: SI-REC-010
def test_recovered_placeholders_keep_group_and_flag(rm: Driven) -> None:
    placeholders = rm.has_gang(group(2))
    rm.allocates(placeholders[0])
    rm.restarts()

    effects = rm.handles(m.AcceptedNode("n1"), m.AcceptedApplication("g1"))

    (existing,) = of(effects, m.ReportAllocation)
    assert (existing.container.task_group, existing.container.placeholder) == ("w", True)
    assert requested(effects) == [placeholders[1]]


# requirement: SI-REL-024, SI-GANG-040
def test_at_the_timeout_every_placeholder_is_given_up_and_confirmed(rm: Driven) -> None:
    first, second, third = rm.has_gang(group())
    rm.allocates(first)

    effects = rm.handles(
        *(m.Released("g1", TIMEOUT, m.Covered.BOTH, key) for key in (second, third, first))
    )

    assert sorted(released(effects)) == [(key, TIMEOUT) for key in (first, second, third)]
    assert requested(effects) == []


# requirement: SI-APP-038
def test_a_failed_gang_is_over(rm: Driven) -> None:
    first, *_ = rm.has_gang(group())
    rm.allocates(first)

    rm.releases(first, TIMEOUT)
    effects = rm.handles(m.UpdatedApplication("g1", "Failed"))

    assert (updates(effects), rm.cluster.containers) == ([], {})


def test_a_gang_that_resumes_is_scheduled_like_any_other(rm: Driven) -> None:
    placeholders = rm.has_gang(group(), gang_style="Soft")
    for key in placeholders:
        rm.releases(key, TIMEOUT)

    assert len(requested(rm.handles(m.UpdatedApplication("g1", "Resuming")))) == 2


def test_a_rejected_placeholder_ends_the_application(rm: Driven) -> None:
    first, *others = rm.has_gang(group())

    effects = rm.handles(m.RejectedRequest(first, "g1", "no"))

    stopped = m.Termination.STOPPED_BY_RM
    assert released(effects) == [(key, stopped) for key in others]
    assert rm.cluster.applications["g1"].outcome == "failed"


@pytest.mark.parametrize("real", [0, 1])
def test_a_gang_without_placeholders_left_ends_with_its_last_container(
    rm: Driven, real: int
) -> None:
    (placeholder,) = rm.has_gang(group(1, real))
    rm.allocates(placeholder)

    effects = rm.releases(placeholder, TIMEOUT)

    assert len(of(effects, m.RemoveApplication)) == 1 - real
