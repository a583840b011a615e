"""The kit detects the spelling of gang styles, from gangs that time out."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.outcomes import NotOffered, PreconditionFailed
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import ApplicationUpdated, AskRejected, Fact
from siconform.protocol.requests import AskRequest, Request
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import HARD, SOFT

from .resource_managers import FakeConnection, rm_on
from .sample_histories import allocated

LOWER = {"soft": False, "Soft": False, "hard": True, "Hard": False}
CAPITALISED = {"soft": False, "Soft": False, "hard": False, "Hard": True}
ANY_CASE = {"soft": False, "Soft": False, "hard": True, "Hard": True}
REFUSING = {"Soft": False, "Hard": True}
HARD_BY_DEFAULT = {"soft": True, "Soft": False, "hard": True, "Hard": True}
REPORTING_NO_FAILURE = {"soft": False, "Soft": False, "hard": False, "Hard": None}
SLOW_ONCE = {"soft": None, "Soft": False, "hard": None, "Hard": True}
NEVER_HARD = dict.fromkeys(ANY_CASE, False)


@pytest.mark.parametrize(
    ("fails", "soft", "hard"),
    [
        pytest.param(LOWER, "soft", "hard", id="as the comment"),
        pytest.param(CAPITALISED, "soft", "Hard", id="as a name"),
        pytest.param(ANY_CASE, "soft", "hard", id="either"),
        pytest.param(REFUSING, "Soft", "Hard", id="others are refused"),
        pytest.param(HARD_BY_DEFAULT, "Soft", "hard", id="hard by default"),
        pytest.param(REPORTING_NO_FAILURE, "soft", "Hard", id="failures are not reported"),
        pytest.param(SLOW_ONCE, "Soft", "Hard", id="asks of two gangs take too long"),
        pytest.param(NEVER_HARD, "soft", "hard", id="no gang fails"),
    ],
)
def test_style_spelling_is_detected(fails: Mapping[str, bool | None], soft: str, hard: str) -> None:
    observed = ProbedBehaviour()
    rm = _rm(fails, observed)

    assert (rm.spelled(SOFT), rm.spelled(HARD)) == (soft, hard)
    assert observed.received()["gang styles"] == (
        f'soft is spelled "{soft}", hard is spelled "{hard}"'
    )


@pytest.mark.parametrize(
    ("reported", "answer", "fails"),
    [
        ("Failing", "nothing", True),
        ("FAILED", "rejected", True),
        ("gave up", "nothing", True),
        ("Resuming", "nothing", None),
        ("Resuming", "rejected", None),
        ("Resuming", "allocated", False),
        ("own state", "allocated", False),
    ],
)
def test_failure_is_distinguished_from_a_late_allocation(
    reported: str, answer: str, *, fails: bool | None
) -> None:
    answers: dict[str, Callable[[str], Fact]] = {"rejected": AskRejected, "allocated": allocated}

    def answers_ask(request: Request) -> list[Fact]:
        assert isinstance(request, AskRequest)
        return [answers[answer](request.key)] if answer in answers else []

    connection = FakeConnection(answers_ask)
    rm = rm_on(connection, Deadlines(ack=0.05, place=0.05, quiet=0.01, settle=0.01))
    gang = Gang.of("gang", "root.fifo", members=2, member={"memory": 1})
    connection.receives(ApplicationUpdated(gang, state=reported))

    assert rm._fails(gang) is fails


def test_style_is_unknown_without_timeouts() -> None:
    observed = ProbedBehaviour()
    rm = _rm(PreconditionFailed("not known: how long"), observed)

    assert rm.spelled(HARD) == "hard"
    assert observed.gang_styles == {}


def test_scheduler_without_pending_asks_has_no_such_gangs() -> None:
    with pytest.raises(NotOffered):
        _rm(NotOffered("asks do not wait")).spelled(HARD)


def test_other_style_is_sent_unchanged() -> None:
    assert _rm({}).spelled("x") == "x"


def _rm(outcome: Any, observed: ProbedBehaviour | None = None) -> ResourceManager:
    """Return an RM whose gangs of each spelling fail or not, or are not available."""

    class Trying(ResourceManager):
        def _tried(self, _: Any) -> dict[str, bool | None]:
            if isinstance(outcome, Exception):
                raise outcome
            return dict(outcome)

    deadlines = Deadlines(quiet=0.01, settle=0.01)
    return rm_on(FakeConnection(), deadlines, kind=Trying, observed=observed)
