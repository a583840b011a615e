"""Counterexamples: which of a history's violations count, and which comes first."""

import pytest
from siconform import monitors
from siconform.exploring.counterexample import violations
from siconform.monitors import MonitorResult
from siconform.recording.history import Exchange, History

MAY, SHOULD, MUST = "SI-FOR-001", "SI-NODE-005", "SI-NODE-006"


def test_violations_of_a_may_hide_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [
        MonitorResult(identifier, (identifier,), 1, "violated", seen_at)
        for seen_at, identifier in enumerate((MAY, SHOULD, MUST))
    ]
    monkeypatch.setattr(monitors, "check", lambda *_: results)

    found = violations(Exchange(History(), 0), {})

    assert [counterexample.name for counterexample in found] == [MUST, SHOULD]
