"""A partial run runs every test that decides the selection, and reports nothing else."""

from collections.abc import Callable, Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from siconform.catalogue import Side
from siconform.profiles import find_profile
from siconform.running import index
from siconform.running.selecting import ChosenFiles

from .stored_runs import OF_ALL

Run = Callable[..., Any]

SUITE = """
@requirement("SI-NODE-004")
def test_one(target): pass

@requirement("SI-NODE-004", "SI-NODE-006")
def test_two(target): pass

@requirement("SI-NODE-006")
def test_three(target): raise ConformanceFailure("no")

@requirement("SI-REL-001")
def test_four(target): pass
"""


def evaluated(outcome: Any) -> dict[str, str]:
    """Return the verdicts of what was selected, by id."""
    return {
        r["id"]: r["verdict"]
        for r in outcome.results["requirements"]
        if r["verdict"] not in ("not-selected", "of-the-rm")
    }


@pytest.mark.slow("selects among all tests of the suite")
@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_selection_runs_all_deciding_tests(conformance: Run, options: list[str]) -> None:
    outcome = conformance(SUITE, "node-4", *options, fresh=True)
    (found,) = [r for r in outcome.results["requirements"] if r["id"] == "SI-NODE-004"]

    assert outcome.code == 0
    assert evaluated(outcome) == {"SI-NODE-004": "pass"}
    assert {t["id"] for t in found["tests"]} == {"test_fake.py::test_one", "test_fake.py::test_two"}
    assert {t["test"] for t in outcome.results["left_out"]} == {
        "test_fake.py::test_three",
        "test_fake.py::test_four",
    }
    assert outcome.results["sentence"].startswith(
        f"PARTIAL: 1 {OF_ALL}, all passed (SI 2024-10; selected: node-4"
    )
    assert outcome.results["selection"] == {
        "words": "node-4",
        "profile": "",
        "requirements": ["SI-NODE-004"],
    }


def test_failure_of_unselected_requirement_is_not_reported(conformance: Run) -> None:
    source = SUITE.replace("def test_two(target): pass", "def test_two(target): pass\n") + (
        '@requirement("SI-REL-001")\ndef test_five(target): raise ConformanceFailure("no")\n'
    )
    outcome = conformance(source, "--area", "NODE", "--skip", skipping("SI-NODE-006"))

    assert outcome.code == 0
    assert outcome.verdict("SI-NODE-006") == outcome.verdict("SI-REL-001") == "not-selected"


def skipping(*ids: str) -> str:
    path = Path("skip.txt")
    path.write_text("\n".join(ids), "utf-8")
    return str(path)


def test_failed_selection_shows_denominator(conformance: Run) -> None:
    outcome = conformance(SUITE, "node-6", "SI-REL-001")

    assert outcome.code == 1
    assert evaluated(outcome) == {"SI-NODE-006": "fail", "SI-REL-001": "pass"}
    assert outcome.results["sentence"].startswith(
        f"NON-CONFORMANT: 1 MUST fail; partial run: 2 {OF_ALL} (SI 2024-10; "
    )


def test_profile_shows_denominator(conformance: Run) -> None:
    size = len(find_profile("base").ids)
    outcome = conformance(SUITE, "--profile", "base", "--deselect", "test_fake.py::test_three")
    part = outcome.results["sentence"]
    whole = conformance(
        SUITE.replace('raise ConformanceFailure("no")', "pass"), "--profile", "base"
    )

    assert part.startswith(f"PARTIAL: 3 {OF_ALL}, all passed (")
    assert whole.results["sentence"].startswith(
        f"CONFORMANT to profile 2024-10/base.1: all tested requirements passed (3 of {size} "
    )
    assert whole.results["selection"]["profile"] == "2024-10/base.1"
    assert len(whole.results["selection"]["requirements"]) == size
    assert f"selected: profile base ({size} requirements)" in whole.out


def test_unselected_entry_is_not_stale(conformance: Run) -> None:
    Path("known.yaml").write_text(
        "- {requirement: SI-NODE-006, outcome: fail, says: 'no', reason: Ours.}\n", "utf-8"
    )
    everything_of_it_runs = SUITE.replace(
        '"SI-NODE-006")\ndef test_three', '"SI-REL-001")\ndef test_three'
    )
    outcome = conformance(everything_of_it_runs, "node-4", "--baseline", "known.yaml")

    assert outcome.code == 0
    assert outcome.results["baseline"]["stale"] == []


def test_monitor_only_requirement_runs_all_tests(conformance: Run) -> None:
    outcome = conformance(SUITE, "SI-WIRE-006", "--revision", "2023-12")

    assert outcome.results["left_out"] == []
    assert set(evaluated(outcome)) <= {"SI-WIRE-006"}
    assert "NON-CONFORMANT" not in outcome.results["sentence"]


def test_ignored_tests_are_not_replaced_by_monitors(conformance: Run) -> None:
    outcome = conformance(SUITE, "REL", "--deselect", "test_fake.py::test_four")

    assert outcome.code == 5  # with another test that ran there were 12


def test_monitors_run_in_selected_tests_only(conformance: Run) -> None:
    outcome = conformance(SUITE, "SI-WIRE-006", "node-4", "--revision", "2023-12")

    assert len(outcome.results["left_out"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "received"),
    [
        (["SI-AUTO-001"], 4, "(its revisions: 2021-02); give --revision 2021-02"),
        (["--area", "NODES"], 4, 'unknown area "NODES"; did you mean NODE?'),
        (["--profile", "2021-02/base"], 4, "give --revision 2021-02"),
        (["node-4", "--area", "REL"], 5, "no requirement of SI 2024-10 matches: node-4, area"),
        (["--area", ""], 4, "--area is empty"),
    ],
)
def test_selection_without_tests(
    conformance: Run, words: list[str], code: int, received: str
) -> None:
    outcome = conformance(SUITE, *words, fresh=True)

    assert outcome.code == code
    assert received in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert outcome.results == {}


def test_test_folder_named_like_area(conformance: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "app").mkdir()
    (pytester.path / "app" / "test_app.py").write_text(
        "import pytest\n@pytest.mark.requirement('SI-NODE-004')\ndef test_it(): pass\n"
    )
    outcome = conformance(SUITE, "app")

    assert evaluated(outcome)["SI-NODE-004"] == "pass"
    assert outcome.results["selection"] is None


@pytest.mark.parametrize(
    ("chosen", "failed", "files"),
    [
        ({"SI-CFG-002"}, (), {"suite/test_configuration.py"}),
        (None, (), None),
        ({"SI-CFG-002"}, ("suite/test_nodes.py::test_one",), None),
        ({"SI-REL-013"}, (), None),
    ],
    ids=["one requirement", "the whole suite", "failed tests", "covered by monitors alone"],
)
def test_only_needed_files_of_suite_are_collected(
    chosen: Collection[str] | None, failed: Collection[str], files: Collection[str] | None
) -> None:
    settings: Any = SimpleNamespace(side=Side.SCHEDULER, chosen=chosen, failed_tests=failed)
    folder = index.suite_folder()

    left_out = ChosenFiles(settings).pytest_ignore_collect

    every = {
        test.partition("::")[0] for tests in index.tests_by_requirement().values() for test in tests
    }
    kept = {one for one in every if not left_out(folder.parent / one)}
    assert kept == (every if files is None else files)
    assert not left_out(folder / "conftest.py")
    assert not left_out(Path("elsewhere/test_nodes.py"))
