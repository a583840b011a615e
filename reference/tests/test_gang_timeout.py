"""The placeholder timeout and its effects on the gang."""

import pytest
from sireference.core.model import RejectedAsk, ReleasedAsk
from tests.driving import STOPPED, TIMEOUT, identities, keys, of, placed, released, states
from tests.gangs import PLACEHOLDER_TIMEOUT, PREEMPTED, REPLACED, Gangs


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


def withdrawn(effects: list[object]) -> list[tuple[str, object, str]]:
    asks = [e.release for e in effects if isinstance(e, ReleasedAsk)]
    return [(ask.key, ask.termination, ask.partition) for ask in asks]


# requirement: SI-GANG-031, SI-GANG-064
def test_timeout_starts_with_the_first_placeholder(rm: Gangs) -> None:
    rm.submits_gang()
    for number in range(3):
        rm.asks_placeholder(f"p{number}")
    assert rm.waits(2 * PLACEHOLDER_TIMEOUT) == []
    (p0,) = identities(rm.creates("n0", memory=2))
    rm.waits(0.6 * PLACEHOLDER_TIMEOUT)
    (p1,) = identities(rm.creates("n1", memory=2))

    assert rm.waits(0.39 * PLACEHOLDER_TIMEOUT) == []

    assert released(rm.waits(0.02 * PLACEHOLDER_TIMEOUT)) == [(p0, TIMEOUT), (p1, TIMEOUT)]


# requirement: SI-GANG-032, SI-GANG-033, SI-GANG-034, SI-REL-020
@pytest.mark.parametrize("style", ["hard", "Hard", "HARD"])
def test_incomplete_hard_gang_fails(rm: Gangs, style: str) -> None:
    p0, p1 = rm.has_half_a_gang(style=style)
    rm.asks_member("early")

    effects = rm.waits(PLACEHOLDER_TIMEOUT)

    assert states(effects) == ["Failing"]
    assert released(effects) == [(p0, TIMEOUT), (p1, TIMEOUT)]
    assert withdrawn(list(effects)) == [
        ("p2", TIMEOUT, "default"),
        ("early", TIMEOUT, "default"),
    ]
    assert len(of(rm.asks_member("r0"), RejectedAsk)) == 1


# requirement: SI-GANG-037, SI-GANG-068
def test_gang_has_failed_only_once_all_releases_are_confirmed(rm: Gangs) -> None:
    p0, p1 = rm.has_half_a_gang(style="hard")
    rm.submits("a2")
    rm.asks("k", "a2", memory=2, most=2)
    rm.waits(PLACEHOLDER_TIMEOUT)

    effects = rm.confirms(p0, TIMEOUT)
    assert placed(effects) == [("k", "n0")]
    assert rm.state() == "Failing"
    assert keys(rm.waits(10 * PLACEHOLDER_TIMEOUT)) == []
    assert rm.state() == "Failing"

    effects = rm.confirms(p1, TIMEOUT)
    assert states(effects)[0] == "Failed"
    assert released(effects) == []
    assert placed(effects) == [("k", "n1")]


# requirement: SI-GANG-038
def test_failed_gang_leaves_its_queue(rm: Gangs) -> None:
    rm.creates("n0", memory=3)
    rm.creates("n1", memory=3)
    rm.submits_gang(queue="root.quota", memory=9, style="hard")
    placeholders = identities(rm.asks_placeholder("p", memory=3, most=3))
    rm.submits("a2", "root.quota")
    rm.asks("k", "a2", memory=5)
    rm.waits(PLACEHOLDER_TIMEOUT)
    rm.confirms_timeout_of(placeholders)

    assert keys(rm.creates("n2", memory=5)) == ["k"]


# requirement: SI-GANG-035, SI-GANG-036
@pytest.mark.parametrize("style", ["soft", "Soft", "", "x"])
def test_soft_gang_continues_as_a_normal_application(rm: Gangs, style: str) -> None:
    p0, p1 = rm.has_half_a_gang(style=style)

    effects = rm.waits(PLACEHOLDER_TIMEOUT)
    assert states(effects) == ["Resuming"]
    assert released(effects) == [(p0, TIMEOUT), (p1, TIMEOUT)]
    assert withdrawn(list(effects)) == [("p2", TIMEOUT, "default")]

    assert rm.asks_member("r0") == []
    assert rm.confirms(p0, TIMEOUT) == []
    effects = rm.confirms(p1, TIMEOUT)
    assert states(effects) == ["Accepted", "Starting"]
    assert placed(effects) == [("r0", "n0")]
    assert keys(rm.asks_member("r1")) == ["r1"]
    assert rm.state() == "Running"


def test_soft_gang_keeps_its_early_real_asks(rm: Gangs) -> None:
    placeholders = rm.has_half_a_gang()
    rm.asks_member("early")
    rm.waits(PLACEHOLDER_TIMEOUT)

    effects = rm.confirms_timeout_of(placeholders)

    assert placed(effects) == [("early", "n0")]


def test_new_placeholders_of_a_resumed_application_form_a_gang_again(rm: Gangs) -> None:
    p0, p1 = rm.has_half_a_gang()
    rm.waits(PLACEHOLDER_TIMEOUT)
    rm.asks_placeholder("q0")
    rm.asks_placeholder("q1", memory=3)
    rm.confirms(p0, TIMEOUT)

    effects = rm.confirms(p1, TIMEOUT)
    assert keys(effects) == ["q0"]
    assert rm.state() == "Accepted"

    assert states(rm.waits(PLACEHOLDER_TIMEOUT)) == ["Resuming"]


# requirement: SI-GANG-039, SI-GANG-063
@pytest.mark.parametrize("style", ["hard", "soft"])
@pytest.mark.parametrize("is_used", [True, False])
def test_complete_gang_is_unaffected(rm: Gangs, *, style: str, is_used: bool) -> None:
    p0, p1 = rm.has_gang(2, style=style)
    if is_used:
        rm.replaces(p0, "r0")

    assert rm.waits(0.99 * PLACEHOLDER_TIMEOUT) == []
    effects = rm.waits(2 * PLACEHOLDER_TIMEOUT)

    assert released(effects) == []
    assert states(effects) == []
    assert released(rm.asks_member("r1")) == [(p1 if is_used else p0, REPLACED)]


# requirement: SI-GANG-065
def test_placeholder_withdrawn_by_the_rm_is_not_missing(rm: Gangs) -> None:
    rm.has_half_a_gang(style="hard")
    rm.withdraws("p2", "g1")

    assert rm.waits(2 * PLACEHOLDER_TIMEOUT) == []


# requirement: SI-GANG-066
def test_placeholder_being_replaced_is_kept(rm: Gangs) -> None:
    p0, _ = rm.has_gang(2)
    rm.asks_member("r0")

    assert rm.waits(2 * PLACEHOLDER_TIMEOUT) == []

    assert keys(rm.confirms(p0)) == ["r0"]


@pytest.mark.parametrize("style", ["hard", "soft"])
def test_open_release_of_another_type_is_not_repeated(rm: Gangs, style: str) -> None:
    rm.submits_gang(style=style)
    (p0,) = identities(rm.creates("n0", memory=2) + rm.asks_placeholder("p0"))
    (p1,) = identities(rm.creates("n1", memory=2) + rm.asks_placeholder("p1"))
    rm.asks_member("r0")
    rm.asks_placeholder("late")

    effects = rm.waits(PLACEHOLDER_TIMEOUT)

    assert released(effects) == [(p1, TIMEOUT)]
    assert rm.confirms(p1, TIMEOUT) == []
    effects = rm.confirms(p0)
    if style == "hard":
        assert states(effects) == ["Failed"]
        assert keys(effects) == []
    else:
        assert keys(effects) == ["r0"]
        assert states(effects) == ["Accepted", "Starting"]
    assert rm.state() == {"hard": "Failed", "soft": "Starting"}[style]


def test_execution_timeout_of_the_application_is_separate(rm: Gangs) -> None:
    rm.has_half_a_gang(execution_timeout=5.0)

    assert rm.waits(0.99 * PLACEHOLDER_TIMEOUT) == []


def test_with_yunikorn_semantics_it_is_only_the_placeholder_timeout() -> None:
    rm = Gangs(from_application=True)
    placeholders = rm.has_half_a_gang(execution_timeout=5.0)
    assert rm.waits(4.9) == []
    assert len(released(rm.waits(0.2))) == 2
    rm.asks_member("r0")
    assert keys(rm.confirms_timeout_of(placeholders)) == ["r0"]

    assert released(rm.waits(100)) == []


@pytest.mark.parametrize("execution_timeout", [0.0, -5.0])
def test_with_yunikorn_semantics_the_setting_is_the_default(execution_timeout: float) -> None:
    rm = Gangs(from_application=True)
    rm.has_half_a_gang(execution_timeout=execution_timeout)

    assert rm.waits(0.99 * PLACEHOLDER_TIMEOUT) == []
    assert len(released(rm.waits(0.01 * PLACEHOLDER_TIMEOUT))) == 2


# requirement: SI-GANG-070
@pytest.mark.parametrize("style", ["hard", "soft"])
def test_stop_by_the_rm_also_counts_as_the_end(rm: Gangs, style: str) -> None:
    p0, p1 = rm.has_half_a_gang(style=style)
    rm.waits(PLACEHOLDER_TIMEOUT)

    effects = rm.releases(p0, "g1")
    assert released(effects) == [(p0, STOPPED)]
    assert states(effects) == []

    over = {"hard": ["Failed"], "soft": ["Accepted", "Completing"]}[style]
    assert states(rm.confirms(p1, TIMEOUT)) == over
    assert rm.confirms(p0, TIMEOUT) == []


def test_lost_node_also_counts_as_the_end(rm: Gangs) -> None:
    rm.has_half_a_gang(style="hard")
    rm.waits(PLACEHOLDER_TIMEOUT)

    assert states(rm.decommissions("n0")) == []
    assert states(rm.decommissions("n1")) == ["Failed"]


@pytest.mark.parametrize("kind", [REPLACED, PREEMPTED])
def test_confirmation_of_another_type_ends_nothing(rm: Gangs, kind: object) -> None:
    p0, p1 = rm.has_half_a_gang(style="hard")
    rm.waits(PLACEHOLDER_TIMEOUT)

    assert rm.confirms(p0, kind) == rm.confirms(p1, kind) == []  # type: ignore[arg-type]

    assert rm.state() == "Failing"


# requirement: SI-REL-025
def test_confirmed_ask_releases_are_not_answered(rm: Gangs) -> None:
    placeholders = rm.has_half_a_gang(style="hard")
    rm.waits(PLACEHOLDER_TIMEOUT)

    assert rm.withdraws("p2", "g1", TIMEOUT) == []
    assert rm.withdraws("p2", "g1", TIMEOUT) == []

    assert states(rm.confirms_timeout_of(placeholders)) == ["Failed"]


# requirement: SI-GANG-062
def test_removal_ends_open_withdrawals(rm: Gangs) -> None:
    p0, p1 = rm.has_half_a_gang(style="hard")
    rm.waits(PLACEHOLDER_TIMEOUT)

    assert released(rm.removes("g1")) == [(p0, STOPPED), (p1, STOPPED)]

    assert rm.confirms_timeout_of([p0, p1]) == []
    rm.submits("a2")
    assert keys(rm.asks("k", "a2", memory=2, most=3)) == ["k", "k"]


def test_gang_that_lost_all_placeholders_starts_again(rm: Gangs) -> None:
    p0, p1 = rm.has_half_a_gang()
    rm.waits(0.9 * PLACEHOLDER_TIMEOUT)
    rm.drains("n0")
    rm.drains("n1")
    rm.releases(p0, "g1")
    rm.releases(p1, "g1")
    assert rm.waits(PLACEHOLDER_TIMEOUT) == []

    assert placed(rm.undrains("n0")) == [("p2", "n0")]


def test_complete_gang_that_asks_for_more_has_a_new_timeout(rm: Gangs) -> None:
    placeholders = rm.has_gang(2)
    rm.waits(2 * PLACEHOLDER_TIMEOUT)
    rm.asks_placeholder("late")

    assert rm.waits(0.99 * PLACEHOLDER_TIMEOUT) == []

    assert len(released(rm.waits(0.02 * PLACEHOLDER_TIMEOUT))) == len(placeholders)


def test_started_application_has_no_timeout(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    rm.replaces(p0, "r0")
    rm.replaces(p1, "r1")
    rm.creates("n", memory=2)
    rm.asks_placeholder("late")

    assert rm.state() == "Running"
    assert rm.scheduler.next_deadline() is None
