"""Workflows with several runs, end to end: baseline and comparison."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from .commands import invoke, results_in, siconform

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
TWO_TESTS = "test_an_ask_with_a_negative_amount_is_rejected or two_applications_do_not_get"


def run(folder: Path, results: str, *words: str) -> dict[str, Any]:
    chosen = ("run", "-k", TWO_TESTS, "-n", "0", "--results", results)
    done = siconform(*chosen, *words, cwd=folder)
    document = results_in(folder / results)
    assert document["exit_code"] == done.returncode, done.stderr
    return document


def deviations(document: dict[str, Any]) -> list[dict[str, str]]:
    """Return a baseline of everything that failed."""
    return [
        {
            "requirement": one["id"], "outcome": test["verdict"], "says": test["says"][:60],
            "reason": "It gives room away that it does not have.",
        }
        for one in document["requirements"]
        for test in one["tests"]
        if test["verdict"] in ("fail", "late", "could-not-run") and one["verdict"] != "not-selected"
    ]  # fmt: skip


def test_recorded_failures_pass_until_fixed(tmp_path: Path) -> None:
    failed = run(tmp_path, "failed", "--target-command", FAULTY)
    baseline = tmp_path / "baseline.yaml"
    baseline.write_text(json.dumps(deviations(failed)), "utf-8")

    recorded = run(tmp_path, "recorded", "--target-command", FAULTY, "--baseline", str(baseline))
    fixed = run(tmp_path, "fixed", "--baseline", str(baseline))

    assert [d["exit_code"] for d in (failed, recorded, fixed)] == [1, 0, 11]
    assert recorded["sentence"].startswith("NON-CONFORMANT as recorded: 1 MUST")
    assert "stale baseline entries: " in fixed["sentence"]
    assert {received[:10] for received in fixed["baseline"]["stale"]} == {"SI-ASK-010"}

    alike = invoke("compare", tmp_path / "failed", tmp_path / "recorded")
    better = invoke("compare", tmp_path / "recorded", tmp_path / "fixed")
    worse = invoke("compare", tmp_path / "fixed", tmp_path / "recorded")
    assert [done.exit_code for done in (alike, better, worse)] == [0, 0, 1]
    assert "no regressions, no fixes, no other changes" in alike.stdout
    assert "fixes:\n  SI-NODE-006  MUST   fail, now pass\n" in better.stdout
    assert "regressions:\n  SI-NODE-006  MUST   pass, now fail" in worse.stdout
