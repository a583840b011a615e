"""Workflows with a run, end to end: certificate, baseline, replay, and a killed run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import patient, wait_for

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
TWO_TESTS = "test_an_ask_with_a_negative_amount_is_rejected or two_applications_do_not_get"
RECEIVED = "SI-ASK-011"


def siconform(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-P", "-m", "siconform", *words],
        cwd=folder, capture_output=True, text=True, check=False, timeout=patient(),
    )  # fmt: skip


def run(folder: Path, results: str, *words: str) -> dict[str, Any]:
    done = siconform(folder, "run", "-k", TWO_TESTS, "-n", "0", "--results", results, *words)
    document: dict[str, Any] = json.loads((folder / results / "results.json").read_text("utf-8"))
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
    assert [received[:10] for received in fixed["baseline"]["stale"]] == ["SI-ASK-010"]

    alike = siconform(tmp_path, "compare", "failed", "recorded")
    better = siconform(tmp_path, "compare", "recorded", "fixed")
    worse = siconform(tmp_path, "compare", "fixed", "recorded")
    assert [done.returncode for done in (alike, better, worse)] == [0, 0, 1]
    assert "no regressions, no fixes, no other changes" in alike.stdout
    assert "fixes:\n  SI-NODE-006  MUST   fail, now pass\n" in better.stdout
    assert "regressions:\n  SI-NODE-006  MUST   pass, now fail" in worse.stdout


def test_failure_history_replays_to_same_verdict(tmp_path: Path) -> None:
    failed = run(tmp_path, "failed", "--target-command", FAULTY)
    file = history_of(RECEIVED, failed, tmp_path / "failed")

    again = siconform(tmp_path, "replay", str(file), "--target-command", FAULTY)
    elsewhere = siconform(tmp_path, "replay", str(file))

    assert again.returncode == 1, again.stderr
    assert f"FAIL {RECEIVED}" in again.stdout
    assert "the same verdict is reproduced" in again.stdout
    assert elsewhere.returncode == 0
    assert "the same verdict is reproduced" not in elsewhere.stdout


def history_of(requirement: str, document: dict[str, Any], folder: Path) -> Path:
    """Return the history of the test that failed, preferring the one the results name."""
    (failed,) = (r for r in document["requirements"] if r["id"] == requirement)
    (test,) = (test for test in failed["tests"] if test["verdict"] == "fail")
    if test.get("history"):
        return folder / str(test["history"])
    for file in sorted((folder / "histories").glob("*.jsonl")):
        received = json.loads(file.read_text("utf-8").splitlines()[-1])
        if received.get("judged", {}).get("requirement") == requirement:
            return file
    raise LookupError(requirement)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was killed half way."""
    folder = tmp_path_factory.mktemp("killed")
    words = ["-P", "-m", "siconform", "run", "--results", "out", "-k", "SI-GANG", "-n", "2"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603  # ourselves
            [sys.executable, *words], cwd=folder, stdout=log, stderr=log
        )
    try:
        wait_for((folder / "out" / "logs" / "target-gw0.log").exists)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["page", "out"],
        ["report", "out"],
        ["report", "out", "out"],
        ["compare", "out", "out"],
        ["certify", "out"],
        ["certify", "out", "-o", "-"],
    ],
)
def test_killed_run_is_rejected_in_one_sentence(killed: Path, words: list[str]) -> None:
    done = siconform(killed, *words)

    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.rstrip(".\n") == (
        "siconform: out/results.json is a partial result: "
        "interrupted: the run did not finish; run it to its end"
    )


def test_killed_run_cannot_be_verified(killed: Path) -> None:
    done = siconform(killed, "verify", "out/certificate.json")

    assert done.returncode == 4
    assert done.stderr == (
        "siconform: out/certificate.json cannot be read: No such file or directory\n"
    )
