"""Applications that complete with unused placeholders."""

import pytest
from tests.driving import STOPPED, TIMEOUT, identities, keys, placed, released, states
from tests.gangs import REPLACED, WAITING, Gangs


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


def waiting(rm: Gangs, leftover: int = 2) -> list[str]:
    """A gang whose only real allocation has ended; returns its unused placeholders."""
    placeholders = rm.has_gang(leftover + 1)
    real = rm.replaces(placeholders[0], "r0")
    effects = rm.releases(real, "g1")
    assert states(effects) == ["Completing"]
    rm.drains("g1-n0")
    return placeholders[1:]


# requirement: SI-GANG-042, SI-GANG-044, SI-GANG-045, SI-GANG-069
def test_unused_placeholders_are_released_when_the_waiting_is_over(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    assert rm.waits(0.99 * WAITING) == []

    effects = rm.waits(0.01 * WAITING)

    assert released(effects) == [(p1, TIMEOUT), (p2, TIMEOUT)]
    assert states(effects) == []
    assert rm.confirms(p1, TIMEOUT) == []
    assert rm.waits(10 * WAITING) == []
    effects = rm.confirms(p2, TIMEOUT)
    assert states(effects) == ["Completed"]
    assert released(effects) == []
    assert rm.confirms(p2, TIMEOUT) == []


# requirement: SI-GANG-070
def test_stop_by_the_rm_also_ends_an_unused_placeholder(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    rm.waits(WAITING)

    assert released(rm.releases(p1, "g1")) == [(p1, STOPPED)]

    assert states(rm.confirms(p2, TIMEOUT)) == ["Completed"]


def test_placeholders_stopped_early_by_the_rm_do_not_end_the_waiting(rm: Gangs) -> None:
    p1, p2 = waiting(rm)

    assert states(rm.releases(p1, "g1") + rm.releases(p2, "g1")) == []

    assert states(rm.waits(WAITING)) == ["Completed"]


# requirement: SI-GANG-046
def test_real_ask_resumes_the_application_and_replaces_a_placeholder(rm: Gangs) -> None:
    p1, _ = waiting(rm)

    effects = rm.asks_member("r1")

    assert states(effects) == ["Running"]
    assert released(effects) == [(p1, REPLACED)]
    assert placed(rm.confirms(p1)) == [("r1", "g1-n1")]
    assert rm.waits(10 * WAITING) == []


def test_real_ask_during_the_clean_up_is_placed_normally(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    rm.waits(WAITING)
    rm.creates("n", memory=2)

    effects = rm.asks_member("r1")

    assert states(effects) == ["Running"]
    assert released(effects) == []
    (real,) = identities(effects)
    assert rm.confirms(p1, TIMEOUT) == rm.confirms(p2, TIMEOUT) == []
    assert rm.state() == "Running"
    assert states(rm.releases(real, "g1")) == ["Completing"]


def test_interrupted_clean_up_is_finished_after_another_waiting(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    rm.waits(WAITING)
    rm.confirms(p1, TIMEOUT)
    (real,) = identities(rm.creates("n", memory=2) + rm.asks_member("r1"))
    rm.releases(real, "g1")

    assert rm.confirms(p2, TIMEOUT) == []

    assert states(rm.waits(WAITING)) == ["Completed"]


def test_clean_up_waits_for_an_earlier_open_release(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    rm.waits(WAITING)
    (real,) = identities(rm.creates("n", memory=2) + rm.asks_member("r1"))
    rm.releases(real, "g1")

    assert rm.waits(WAITING) == []

    assert states(rm.confirms_timeout_of([p1, p2])) == ["Completed"]


def test_clean_up_waits_for_a_placeholder_whose_ask_was_withdrawn(rm: Gangs) -> None:
    p1, p2 = waiting(rm)
    rm.asks_member("r1")
    assert states(rm.withdraws("r1", "g1")) == ["Completing"]

    assert released(rm.waits(WAITING)) == [(p2, TIMEOUT)]

    assert rm.confirms(p2, TIMEOUT) == []
    assert states(rm.confirms(p1)) == ["Completed"]


# C-40: with all its placeholders and nothing else it is about to start
def test_gang_that_has_not_started_does_not_wait(rm: Gangs) -> None:
    rm.has_gang(2)
    rm.asks_member("early", memory=9)
    rm.withdraws("early", "g1")

    assert rm.waits(10 * WAITING) == []
    assert rm.state() == "Accepted"


def test_gang_that_releases_everything_waits(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)

    assert states(rm.releases(p0, "g1")) == []
    assert states(rm.releases(p1, "g1")) == ["Completing"]


def test_removal_during_the_clean_up_leaves_nothing(rm: Gangs) -> None:
    waiting(rm)
    rm.waits(WAITING)

    rm.removes("g1")

    assert rm.is_empty()
    assert rm.scheduler.next_deadline() is None


def test_placeholder_alone_does_not_resume_a_waiting_application(rm: Gangs) -> None:
    p1, _ = waiting(rm)

    effects = rm.creates("n", memory=2) + rm.asks_placeholder("late")

    assert states(effects) == ["Running", "Completing"]
    assert keys(effects) == ["late"]
    assert released(rm.waits(WAITING))[0] == (p1, TIMEOUT)
