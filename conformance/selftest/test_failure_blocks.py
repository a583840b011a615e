"""A run against a mutant: the failure message, and its suggested commands."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from siconform.baseline import read_baseline

from .commands import Completed, results_in, siconform

pytestmark = pytest.mark.end_to_end

TEST = "suite/test_gang_placeholders.py::test_a_stopped_placeholder_is_not_replaced"
FAULTY = f"{sys.executable} -P -m mutation.proxy confirmation-lost --revision 2024-10"


Run = tuple[Path, Completed, dict[str, Any]]


def evaluated(results: Path, *options: str) -> tuple[Completed, dict[str, Any]]:
    words = ("run", "--target-command", FAULTY, "-n", "0", "--results", results)
    done = siconform(*words, *options, TEST)
    return done, results_in(results)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    results = tmp_path_factory.mktemp("faulty") / "out"
    return results, *evaluated(results)


def test_exchange_is_shown_next_to_reference(run: Run) -> None:
    folder, done, results = run
    (failure,) = results["failures"]

    assert sum(row[3] for row in failure["rows"]) == 1
    only_there = [row[2].strip() for row in failure["rows"] if row[1] is None]
    assert any(words.startswith("allocated ask-") for words in only_there)
    assert not any(words.startswith("RM ask") for words in only_there)  # sent to both
    assert (folder / failure["golden"]).is_file()
    assert (folder / failure["history"]).is_file()
    assert "this target                                  the reference" in done.stdout
    assert failure["text"] in (folder / "failures.txt").read_text("utf-8")
    (received,) = ET.parse(folder / "junit.xml").iter("failure")  # noqa: S314  # our own
    assert received.text == failure["text"]


def test_names_and_values_are_readable(run: Run) -> None:
    text = run[2]["failures"][0]["text"]

    for machine in ("gw0-", "master-", "siconform-", "PreemptionPolicy(", "{'", "=True"):
        assert machine not in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("  again")) <= 100


def test_suggested_baseline_entry_is_accepted(run: Run, tmp_path: Path) -> None:
    _, _, results = run
    offered = results["failures"][0]["text"].partition("add to your baseline:\n")[2]
    baseline = tmp_path / "known.yaml"
    baseline.write_text(offered, "utf-8")

    (entry,) = read_baseline(baseline).entries
    done, again = evaluated(tmp_path / "again", "--baseline", str(baseline))

    assert again["failures"][0]["known"] == entry.reason
    assert "  known?" not in done.stdout
    assert not (tmp_path / "again" / "failures.txt").exists()


def test_no_reference_option_skips_comparison(tmp_path: Path) -> None:
    done, results = evaluated(tmp_path / "out", "--no-reference")

    assert results["failures"][0]["golden"] == ""
    assert "the reference" not in done.stdout.partition("time s")[2].partition("\n")[0]


def test_history_is_found_by_test_or_requirement(run: Run) -> None:
    folder, _, results = run
    tests = [t for r in results["requirements"] for t in r["tests"] if t["id"] == TEST]

    assert tests
    assert {t["history"] for t in tests} == {results["failures"][0]["history"]}
    assert all((folder / t["history"]).is_file() for t in tests)
    assert results["argv"][-1] == TEST
    assert results["environment"]["python"]
    assert results["conditions"]["workers"] == 1
    assert {d["class"] for d in results["deadlines"]} >= {"ack", "place", "release"}
