"""Observations tell early from late, many from one, and what must differ from what does not."""

import threading
from typing import Any

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import CameLate, NotAsTheTextSays, PremiseLost
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskRejected,
    Fact,
    Released,
    UpdateKind,
)
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager

from .resource_managers import rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, release=0.05, timer=0.1, quiet=0.02)


class Line:
    """What an RM needs of a connection here: a history, a name, a stream that stays open."""

    rm_id = "rm"

    def __init__(self) -> None:
        self.history = History()

    def is_open(self, kind: UpdateKind) -> bool:
        return kind in UpdateKind

    def hears(self, *facts: Fact) -> None:
        self.history.add("rm", facts, said_by_rm=False, fence=_is_fence)

    def hears_in(self, seconds: float, *facts: Fact) -> None:
        timer = threading.Timer(seconds, self.hears, facts)
        timer.daemon = True
        timer.start()


def _is_fence(fact: Any) -> bool:
    return getattr(fact, "key", "") == "fence"


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def rm(line: Line) -> ResourceManager:
    return rm_on(line, BRIEF, fences=line)


def test_what_is_due_comes_at_its_time(line: Line, rm: ResourceManager) -> None:
    line.hears_in(0.12, Released(identity="i"))

    rm.is_told_when_due(Released(identity="i"), seconds=0.1, since=rm.now())


def test_what_comes_before_it_is_due_fails(line: Line, rm: ResourceManager) -> None:
    since = rm.now()
    line.hears(Released(identity="i"))

    with pytest.raises(NotAsTheTextSays, match=r"due after 0\.5 s"):
        rm.is_told_when_due(Released(identity="i"), seconds=0.5, since=since)


def test_what_comes_after_the_slack_is_late(line: Line, rm: ResourceManager) -> None:
    line.hears_in(0.15, Released(identity="i"))

    with pytest.raises(CameLate):
        rm.is_told_when_due(Released(identity="i"), seconds=0.0, since=rm.now())


def test_the_grace_of_a_long_wait_is_that_of_an_answer(rm: ResourceManager) -> None:
    begun = rm.now()

    with pytest.raises(NotAsTheTextSays, match="never told"):
        rm.is_told(Released(identity="i"), timeout=0.3)

    assert rm.now() - begun < 0.5


def test_a_number_of_elements_is_collected_and_no_more(line: Line, rm: ResourceManager) -> None:
    line.hears(*(Allocated("k", identity=str(i)) for i in range(3)))

    assert [a.identity for a in rm.collects(Allocated("k"), most=2)] == ["0", "1"]
    assert [a.identity for a in rm.collects(Allocated("k"), most=2)] == ["2"]


def test_what_may_be_told_is_heard_once(line: Line, rm: ResourceManager) -> None:
    line.hears(AskRejected("k"))

    assert rm.may_be_told(AskRejected("k")) == AskRejected("k")
    assert rm.may_be_told(AskRejected("k")) is None


def test_answers_to_the_kits_own_probes_are_no_part_of_a_test(
    line: Line, rm: ResourceManager
) -> None:
    line.hears(AskRejected("fence"))

    assert rm.may_be_told(AskRejected()) is None


def test_a_state_is_not_what_came_instead(line: Line, rm: ResourceManager) -> None:
    line.hears(ApplicationUpdated("a", "Starting", 1, ""))

    with pytest.raises(NotAsTheTextSays, match="never told"):
        rm.is_told(ApplicationUpdated("a", "Completed"))


def test_a_rejection_is_what_came_instead(line: Line, rm: ResourceManager) -> None:
    line.hears(AskRejected("k", "a"))

    with pytest.raises(NotAsTheTextSays, match="came instead: ask rejected"):
        rm.is_told(Allocated("k", "a"))


def test_too_few_to_judge_is_a_lost_premise(rm: ResourceManager) -> None:
    with pytest.raises(PremiseLost, match="0 of at least 1"):
        rm.has_at_least(1, [], "something comes")


@pytest.mark.parametrize("identities", [("1", "1"), ("1", "")])
def test_identities_that_do_not_tell_apart_fail(
    rm: ResourceManager, identities: tuple[str, ...]
) -> None:
    with pytest.raises(NotAsTheTextSays, match="2 allocations, and identity"):
        rm.have_different_identities([Allocated(identity=i) for i in identities])


def test_different_identities_pass(rm: ResourceManager) -> None:
    rm.have_different_identities([Allocated(identity="1"), Allocated(identity="2")])


def test_time_that_goes_back_fails(rm: ResourceManager) -> None:
    updates = [ApplicationUpdated("a", "Accepted", 2), ApplicationUpdated("a", "Running", 1)]

    with pytest.raises(NotAsTheTextSays, match="Running came after Accepted"):
        rm.come_in_order_of_time(updates)
    rm.come_in_order_of_time(updates[::-1])


def test_the_end_of_a_timer_between_two_moments_passes(line: Line, rm: ResourceManager) -> None:
    line.hears_in(0.12, Released(identity="i"))

    told = rm.is_told_between(
        Released(identity="i"), earliest=rm.now() + 0.1, latest=rm.now() + 0.3
    )

    assert told == Released(identity="i")


def test_the_end_of_a_timer_too_early_fails(line: Line, rm: ResourceManager) -> None:
    line.hears(Released(identity="i"))

    with pytest.raises(NotAsTheTextSays, match="came before the timer was due"):
        rm.is_told_between(Released(), earliest=rm.now() + 0.1, latest=rm.now() + 0.2)


def test_the_end_of_a_timer_too_late_fails_and_is_not_only_late(
    line: Line, rm: ResourceManager
) -> None:
    line.hears_in(0.1, Released(identity="i"))

    with pytest.raises(NotAsTheTextSays, match="came when it was long due") as failure:
        rm.is_told_between(Released(), earliest=rm.now(), latest=rm.now() + 0.05)
    assert not isinstance(failure.value, CameLate)


def test_what_is_passed_over_answers_nothing_any_more(line: Line, rm: ResourceManager) -> None:
    line.hears(Released(identity="one"), Released(identity="two"))
    rm.passes_over(Released())

    rm.stays_quiet(Released())
    line.hears(Released(identity="three"))
    assert rm.is_told(Released()).identity == "three"


def test_what_came_so_far_answers_nothing_and_is_not_waited_for(
    line: Line, rm: ResourceManager
) -> None:
    line.hears(Released(identity="one"), Released(identity="two"))
    before = rm.now()

    rm.has_heard(Released())

    assert rm.now() - before < BRIEF.place
    rm.stays_quiet(Released())


def test_what_need_not_be_reported_is_expected_only_like_another(
    line: Line, rm: ResourceManager
) -> None:
    mine, other = (ApplicationUpdated(application) for application in ("mine", "other"))
    rm.is_told_where_reported(mine, like=other)

    line.hears(ApplicationUpdated("other", "Running", 1, ""))
    with pytest.raises(NotAsTheTextSays):
        rm.is_told_where_reported(mine, like=other)


def test_the_use_of_a_freedom_is_recorded_without_names(rm: ResourceManager) -> None:
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


def test_elements_come_together_in_one_message_only(line: Line, rm: ResourceManager) -> None:
    one, two, three = (Released(identity=name) for name in ("one", "two", "three"))
    line.hears(one, two)
    line.hears(three)

    assert rm.came_together(one, two)
    assert not rm.came_together(two, three)
