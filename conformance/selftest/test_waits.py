"""Waits of a test are reported: name, limit and duration."""

from dataclasses import replace

import pytest
from siconform.expecting import waits
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.waits import Wait, WaitClass, name_of
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import (
    Allocated,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    Termination,
)

from .resource_managers import FakeConnection, nothing, rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, release=0.05, timer=0.1, quiet=0.05, grace=0.0)


class Notes:
    """Records everything a listener receives."""

    def __init__(self) -> None:
        self.began_with: list[Wait] = []
        self.ended_with: list[Wait] = []

    def began(self, wait: Wait) -> None:
        self.began_with.append(replace(wait))

    def ended(self, wait: Wait) -> None:
        self.ended_with.append(replace(wait))


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    listener = Notes()
    monkeypatch.setattr(waits, "_LISTENERS", [])
    waits.listen(listener)
    return listener


def test_wait_reports_limit_and_duration(notes: Notes) -> None:
    connection = FakeConnection(nothing)
    rm = rm_on(connection, replace(BRIEF, ack=2.0), alive=lambda: True)
    connection.receives_in(0.01, NodeAccepted("n"))

    rm.expect(NodeAccepted("n"))

    assert notes.began_with == [Wait("the answer about a node", 2.0, WaitClass.ACK)]
    (ended,) = notes.ended_with
    assert ended.took is not None
    assert 0 < ended.took < 2.0


def test_unfinished_wait_has_no_duration(notes: Notes) -> None:
    rm = rm_on(FakeConnection(nothing), BRIEF, alive=lambda: True)

    with pytest.raises(ConformanceFailure):
        rm.expect(Allocated("a"), timeout=0.02)

    assert notes.ended_with == [Wait("an allocation", 0.02, WaitClass.TIMER)]


def test_quiet_window_is_reported(notes: Notes) -> None:
    rm = rm_on(FakeConnection(nothing), BRIEF, alive=lambda: True)

    rm.stays_quiet(Allocated("a"), window=0.01)

    assert [wait.kind for wait in notes.ended_with] == [WaitClass.QUIET]


@pytest.mark.parametrize(
    ("patterns", "name"),
    [
        ((Released(termination=Termination.TIMEOUT),), "a placeholder timeout"),
        ((AskReleased("a", termination=Termination.TIMEOUT),), "a placeholder timeout"),
        ((NodeAccepted("n"), NodeRejected("n")), "the answer about a node"),
        ((Allocated("a"), Released("b")), "an allocation or a release"),
    ],
)
def test_wait_name_describes_expectation(patterns: tuple[Fact, ...], name: str) -> None:
    assert name_of(patterns) == name
