"""Observations: early and late, counts, and values that must or must not differ."""

from typing import Any

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import (
    ConformanceFailure,
    NotForThisTarget,
    PreconditionFailed,
)
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskRejected,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager

from .resource_managers import FakeConnection, rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, release=0.05, timer=0.1, quiet=0.02)


def _is_barrier(fact: Any) -> bool:
    return getattr(fact, "key", "") == "barrier"


@pytest.fixture
def connection() -> FakeConnection:
    return FakeConnection(is_barrier=_is_barrier)


@pytest.fixture
def rm(connection: FakeConnection) -> ResourceManager:
    return rm_on(connection, BRIEF, barriers=connection)


def test_grace_of_long_wait(rm: ResourceManager) -> None:
    begun = rm.now()

    with pytest.raises(ConformanceFailure, match="never received"):
        rm.expect(Released(identity="i"), timeout=0.3)

    assert rm.now() - begun < 0.5


def test_collects_exact_number_of_elements(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(*(Allocated("k", identity=str(i)) for i in range(3)))

    assert [a.identity for a in rm.collects(Allocated("k"), most=2)] == ["0", "1"]
    assert [a.identity for a in rm.collects(Allocated("k"), most=2)] == ["2"]


def test_allocation_is_held_until_it_is_stopped(
    connection: FakeConnection, rm: ResourceManager
) -> None:
    stops_all = Released(application="a", identity="", termination=Termination.STOPPED_BY_RM)
    stops_one = Released(application="a", identity="2", termination=Termination.STOPPED_BY_RM)
    for content in (_allocated("1"), stops_all, _allocated("2"), _allocated("3"), stops_one):
        connection.receives(content)

    assert [one.identity for one in rm.held(Allocated(application="a"))] == ["3"]


def test_order_within_a_message_is_unknown(connection: FakeConnection, rm: ResourceManager) -> None:
    stops_all = Released(application="a", identity="", termination=Termination.STOPPED_BY_RM)
    connection.receives(_allocated("1"), stops_all)

    with pytest.raises(NotForThisTarget, match="does not tell which was first"):
        rm.held(Allocated(application="a"))


def _allocated(identity: str) -> Allocated:
    return Allocated("k", "a", identity=identity)


def test_optional_report_is_observed_once(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(AskRejected("k"))

    assert rm.receive_if_any(AskRejected("k")) == AskRejected("k")
    assert rm.receive_if_any(AskRejected("k")) is None


def test_probe_answers_are_ignored(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(AskRejected("barrier"))

    assert rm.receive_if_any(AskRejected()) is None


def test_state_is_not_shown_as_instead(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(ApplicationUpdated("a", "Starting", 1, ""))

    with pytest.raises(ConformanceFailure, match="never received"):
        rm.expect(ApplicationUpdated("a", "Completed"))


def test_rejection_is_shown_as_instead(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(AskRejected("k", "a"))

    with pytest.raises(ConformanceFailure, match="received instead: ask rejected"):
        rm.expect(Allocated("k", "a"))


def test_too_few_elements_is_failed_precondition(rm: ResourceManager) -> None:
    with pytest.raises(PreconditionFailed, match="0 of at least 1"):
        rm.has_at_least(1, [], "something comes")


@pytest.mark.parametrize("identities", [("1", "1"), ("1", "")])
def test_equal_identities_fail(rm: ResourceManager, identities: tuple[str, ...]) -> None:
    with pytest.raises(ConformanceFailure, match="2 allocations, and identity"):
        rm.have_different_identities([Allocated(identity=i) for i in identities])


def test_different_identities_pass(rm: ResourceManager) -> None:
    rm.have_different_identities([Allocated(identity="1"), Allocated(identity="2")])


def test_decreasing_timestamp_fails(rm: ResourceManager) -> None:
    updates = [ApplicationUpdated("a", "Accepted", 2), ApplicationUpdated("a", "Running", 1)]

    with pytest.raises(ConformanceFailure, match="Running came after Accepted"):
        rm.come_in_order_of_time(updates)
    rm.come_in_order_of_time(updates[::-1])


def test_skipped_elements_match_nothing(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(Released(identity="one"), Released(identity="two"))
    rm.passes_over(Released())

    rm.stays_quiet(Released())
    connection.receives(Released(identity="three"))
    assert rm.expect(Released()).identity == "three"


def test_repeated_states_do_not_end_the_skipping(
    connection: FakeConnection, rm: ResourceManager
) -> None:
    accepted = ApplicationUpdated("a", state="Accepted", timestamp=1)
    running = ApplicationUpdated("a", state="Running", timestamp=2)
    connection.receives(accepted, accepted, running, running)
    rm.passes_over(ApplicationUpdated("a"))

    rm.stays_quiet(ApplicationUpdated("a"))


def test_repeated_state_is_not_a_change(connection: FakeConnection, rm: ResourceManager) -> None:
    completing = ApplicationUpdated("a", state="Completing", timestamp=1)
    connection.receives(completing)
    rm.expect(ApplicationUpdated("a"))

    connection.receives(completing)
    rm.stays_quiet(ApplicationUpdated("a"))
    connection.receives(ApplicationUpdated("a", state="Completing", timestamp=2))
    rm.expect(ApplicationUpdated("a"))


def test_earlier_elements_match_nothing(connection: FakeConnection, rm: ResourceManager) -> None:
    connection.receives(Released(identity="one"), Released(identity="two"))
    before = rm.now()

    rm.has_observed(Released())

    assert rm.now() - before < BRIEF.place
    rm.stays_quiet(Released())


def test_optional_report_follows_like_report(
    connection: FakeConnection, rm: ResourceManager
) -> None:
    mine, other = (ApplicationUpdated(application) for application in ("mine", "other"))
    rm.expect_where_reported(mine, like=other)

    connection.receives(ApplicationUpdated("other", "Running", 1, ""))
    with pytest.raises(ConformanceFailure):
        rm.expect_where_reported(mine, like=other)


def test_permitted_behaviour_is_recorded_without_names(rm: ResourceManager) -> None:
    rm.records("an ask", AskRejected("k", "a", "no room"))
    rm.records("an application", ApplicationUpdated("a", "Running", 1, "again"), otherwise="silent")
    rm.records("a node", otherwise="nothing is told")
    rm.records("3 of 3 came")

    assert rm.exchange.recorded == [
        "an ask: ask rejected",
        "an application: state Running",
        "a node: nothing is told",
        "3 of 3 came",
    ]
    assert "  recorded: 3 of 3 came" in rm.exchange.render()


def test_elements_must_share_a_message(connection: FakeConnection, rm: ResourceManager) -> None:
    one, two, three = (Released(identity=name) for name in ("one", "two", "three"))
    connection.receives(one, two)
    connection.receives(three)

    assert rm.came_together(one, two)
    assert not rm.came_together(two, three)
