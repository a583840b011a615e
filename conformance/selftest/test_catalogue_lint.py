"""The linter of the catalogue reports every violation."""

from dataclasses import replace

import pytest
from siconform.catalogue import Authority, Observation, Side, Source, find_requirement
from siconform.catalogue.lint import complaints, complaints_about_tests
from siwire import REVISIONS


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": "SI-NODE-4"}, "is not of the form SI-AREA-000"),
        ({"area": "APP"}, "is in the file of APP"),
        ({"title": "x" * 81}, "has a title of 81 characters, 80 are allowed"),
        ({"title": "It ends."}, "has a title that ends with a full stop"),
        ({"text": " "}, "has no text"),
        ({"level_reason": ""}, "has no level_reason"),
        ({"sides": frozenset()}, "has no side"),
        ({"observations": ()}, "has no observation"),
        ({"features": frozenset({"magic"})}, 'has the unknown feature "magic"'),
        ({"sources": ()}, f"has no source in {', '.join(REVISIONS)}"),
        ({"sources": (Source("gang", "x", "1" * 16),)}, "has only the design as source"),
        ({"sources": (Source("2024-10", "x", "0" * 16),)}, "has no hash of its source x yet"),
        ({"observations": (Observation.SILENCE,), "control": ""}, "is observed by silence and"),
        ({"control": "none:"}, "has no control and gives no reason"),
        ({"text": "as in seed 3"}, "names a specification by its file"),
        ({"text": "as in 003"}, "names a specification by its file"),
        ({"given": "a 0.10 scheduler"}, "names a revision by its release line"),
        ({"then": "a type (1.3+)"}, "names a revision by its release line"),
        ({"control": "see B-12"}, "names a place in the draft"),
        ({"when": "the SUT stops"}, "names a word of the draft"),
        ({"then": "no alloc.new"}, "names the draft's shorthand"),
        ({"text": "naïve"}, "names a character beyond ASCII"),
        ({"not_tested": "see seed 1"}, "names a specification by its file"),
        ({"retired": "a sentence"}, "gives a reason for its end, but does not end"),
        ({"revisions": frozenset({"2021-02"})}, "ends and gives no reason"),
        ({"then": "as SI-NODE-999"}, "refers to SI-NODE-999, which is not a requirement"),
    ],
)
def test_linter_reports_violation(changes: dict[str, object], sentence: str) -> None:
    good = replace(find_requirement("SI-NODE-001"), authority=Authority.PROTO)
    assert complaints([good]) == []
    found = complaints([replace(good, **changes)])  # type: ignore[arg-type]  # one field of any type
    assert any(sentence in complaint for complaint in found), found


def test_linter_reports_missing_duplicate_and_unsorted_ids() -> None:
    first, second = find_requirement("SI-NODE-001"), find_requirement("SI-NODE-002")
    assert not any("is gone" in one for one in complaints([first, second]))
    assert "SI-NODE-001: is gone; ids are kept" in complaints([second])
    assert "SI-NODE-001: occurs 2 times" in complaints([first, first])
    assert complaints([second, first])[0].startswith("the requirements are")


@pytest.mark.parametrize(
    ("sides", "not_tested", "cited", "message"),
    [
        ({Side.SCHEDULER}, "", True, ""),
        ({Side.SCHEDULER}, "nothing shows it", False, ""),
        ({Side.SCHEDULER, Side.RM}, "nothing shows it", False, ""),
        ({Side.RM}, "", False, ""),
        ({Side.RM}, "", True, ""),
        ({Side.SCHEDULER}, "", False, "is not tested and gives no reason"),
        ({Side.SCHEDULER, Side.RM}, "", False, "is not tested and gives no reason"),
        ({Side.SCHEDULER}, "nothing shows it", True, "gives a reason for not being tested, but is"),
        ({Side.RM}, "it binds the RM", False, "it does not apply to schedulers"),
    ],
)
def test_linter_knows_tested_requirements(
    sides: set[Side], not_tested: str, *, cited: bool, message: str
) -> None:
    entry = find_requirement("SI-NODE-001")
    entry = replace(entry, sides=frozenset(sides), not_tested=not_tested)

    tests = {entry.id: ("suite/x.py::test_y",)} if cited else {}
    found = list(complaints_about_tests([entry], tests))

    assert len(found) == bool(message)
    assert message in "".join(found)


@pytest.mark.parametrize(
    ("sides", "reason", "cited", "message"),
    [
        ({Side.RM}, "", True, ""),
        ({Side.RM, Side.SCHEDULER}, "nothing shows it", False, ""),
        ({Side.SCHEDULER}, "", False, ""),
        ({Side.RM}, "", False, "is not tested and gives no reason"),
        ({Side.RM}, "nothing", True, "gives a reason for not being tested, but is tested"),
        (
            {Side.SCHEDULER},
            "nothing",
            False,
            "needs no reason for not being tested: it does not apply to resource managers",
        ),
    ],
)
def test_linter_knows_requirements_tested_on_rms(
    sides: set[Side], reason: str, *, cited: bool, message: str
) -> None:
    entry = find_requirement("SI-NODE-001")
    entry = replace(entry, sides=frozenset(sides), not_tested_on_rms=reason)

    tests = {entry.id: ("suite_rm/x.py::test_y",)} if cited else {}
    found = list(complaints_about_tests([entry], tests, Side.RM))

    assert found == ([f"{entry.id}: {message}"] if message else [])


def test_ended_requirement_needs_reason() -> None:
    ended = replace(find_requirement("SI-NODE-023"), retired="the message is gone")
    sentence = "SI-NODE-023: ends and gives no reason"
    assert sentence not in complaints([ended])
    assert sentence in complaints([replace(ended, retired="")])
