"""The event list of the state page: one line for every message an RM can receive."""

import pytest
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    AllocationRecord,
    Ask,
    AskRelease,
    NewAllocation,
    RecommendedNode,
    Refused,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    Release,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.resources import NOTHING
from sireference.core.states import ApplicationState, TerminationType
from sireference.shell.recent import News
from sireference.shell.state_page.words import words

TIMEOUT = TerminationType.TIMEOUT


def made(*, placeholder: bool) -> NewAllocation:
    ask = Ask("k", "a", placeholder=placeholder)
    return NewAllocation("rm", AllocationRecord("i", ask, "n"))


@pytest.mark.parametrize(
    ("news", "message"),
    [
        ("registered", "registered"),
        (Refused("rm", "not registered"), "refused: not registered"),
        (AcceptedNode("rm", "n"), "node n accepted"),
        (RejectedNode("rm", "n", "known"), "node n rejected: known"),
        (RecommendedNode("rm", "n", NOTHING, "hot"), "node n should offer less: hot"),
        (AcceptedApplication("rm", "a"), "application a accepted"),
        (RejectedApplication("rm", "a", "no queue"), "application a rejected: no queue"),
        (
            UpdatedApplication("rm", "a", ApplicationState.FAILED, 0.0, "gone"),
            "application a is Failed: gone",
        ),
        (
            UpdatedApplication("rm", "a", ApplicationState.RUNNING, 0.0, ""),
            "application a is Running",
        ),
        (made(placeholder=False), "allocation k of a on n"),
        (made(placeholder=True), "placeholder k of a on n"),
        (
            ReleasedAllocation("rm", Release("default", "a", "i", TIMEOUT, "k", "too long")),
            "allocation k of a released, timed out: too long",
        ),
        (
            ReleasedAllocation("rm", Release("default", "a", "i", TIMEOUT)),
            "allocation i of a released, timed out",
        ),
        (
            ReleasedAsk("rm", AskRelease("default", "a", "k", TIMEOUT)),
            "ask k of a released, timed out",
        ),
        (RejectedAsk("rm", "k", "a", "too large"), "ask k of a rejected: too large"),
        (RejectedAllocation("rm", "k", "a", "no node"), "allocation k of a rejected: no node"),
    ],
)
def test_event_is_described_in_one_line(news: News, message: str) -> None:
    assert words(news) == message
