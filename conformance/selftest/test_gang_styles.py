"""How the kit finds out the spelling of gang styles: from gangs that run out of time."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from siconform.expecting.observed import Observed
from siconform.outcomes import NotOffered, PremiseLost
from siconform.recording.history import Exchange, History
from siconform.rm.verbs.gang_styles import GangStyleVerbs
from siconform.rm.verbs.gangs import HARD, SOFT

LOWER = {"soft": False, "Soft": False, "hard": True, "Hard": False}
CAPITALISED = {"soft": False, "Soft": False, "hard": False, "Hard": True}
ANY_CASE = {"soft": False, "Soft": False, "hard": True, "Hard": True}
REFUSING = {"Soft": False, "Hard": True}
HARD_BY_DEFAULT = {"soft": True, "Soft": False, "hard": True, "Hard": True}
NEVER_HARD = dict.fromkeys(ANY_CASE, False)


@pytest.mark.parametrize(
    ("fails", "soft", "hard"),
    [
        pytest.param(LOWER, "soft", "hard", id="as the comment"),
        pytest.param(CAPITALISED, "soft", "Hard", id="as a name"),
        pytest.param(ANY_CASE, "soft", "hard", id="either"),
        pytest.param(REFUSING, "Soft", "Hard", id="others are refused"),
        pytest.param(HARD_BY_DEFAULT, "Soft", "hard", id="hard by default"),
        pytest.param(NEVER_HARD, "soft", "hard", id="no gang fails"),
    ],
)
def test_a_style_is_spelled_as_it_means_what_it_says(
    fails: Mapping[str, bool], soft: str, hard: str
) -> None:
    rm = _rm(fails)

    assert (rm._spelled(SOFT), rm._spelled(HARD)) == (soft, hard)
    assert rm.seen_before.told()["gang styles"] == (
        f'soft is spelled "{soft}", hard is spelled "{hard}"'
    )


def test_nothing_is_found_out_where_no_gang_runs_out_of_time() -> None:
    rm = _rm(PremiseLost("not known: how long"))

    assert rm._spelled(HARD) == "hard"
    assert rm.seen_before.gang_styles == {}


def test_a_scheduler_without_waiting_asks_has_no_such_gangs() -> None:
    with pytest.raises(NotOffered):
        _rm(NotOffered("asks do not wait"))._spelled(HARD)


def test_another_text_is_said_as_it_is() -> None:
    assert _rm({})._spelled("x") == "x"


def _rm(outcome: Any) -> GangStyleVerbs:
    """An RM whose gangs of each spelling fail or not, or cannot be had."""

    class Trying(GangStyleVerbs):
        def _tried(self, _: Any) -> dict[str, bool]:
            if isinstance(outcome, Exception):
                raise outcome
            return dict(outcome)

        def settles(self) -> None:
            """Nothing was said."""

        def clears_up(self) -> list[str]:
            return []

    rm = object.__new__(Trying)
    rm.connection = SimpleNamespace(  # type: ignore[assignment]  # all that is asked of it
        revision=SimpleNamespace(can=lambda _: True), rm_id="rm"
    )
    rm.exchange = Exchange(History(), 0)
    rm.seen_before = Observed()
    rm._heard = set()
    rm._compensations = []
    return rm
