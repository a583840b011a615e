"""Replay of the history of a failed test confirms its verdict or reports that it cannot."""

import json
import sys
from pathlib import Path

import pytest

from .commands import siconform

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
BY_A_MONITOR = "SI-NODE-006"
NEVER_RECEIVED = "SI-ASK-010"
RECEIVED = "SI-ASK-011"
CAME_AGAIN = "the same verdict is reproduced"
SCALE = ("--time-scale", "0.5")

each_verdict = pytest.mark.parametrize(
    ("requirement", "monitor"), [(BY_A_MONITOR, True), (NEVER_RECEIVED, False), (RECEIVED, False)]
)


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Histories of failed tests, with a scheduler that allocates all on its newest node."""
    folder = tmp_path_factory.mktemp("failed")
    chosen = "test_an_ask_with_a_negative_amount_is_rejected"
    chosen += " or test_a_rejected_duplicate_keeps_the_asks or two_applications_do_not_get"
    words = ("run", "--target-command", FAULTY, "-k", chosen, "-n", "0", "--results", "out")
    done = siconform(*words, *SCALE, cwd=folder)
    assert done.returncode in (1, 10), done.stdout
    return folder / "out" / "histories"


def history_about(histories: Path, requirement: str, *, monitor: bool) -> Path:
    """Return one kept for this requirement, of a monitor or of the test itself."""
    for file in sorted(histories.glob("*.jsonl")):
        evaluated = json.loads(file.read_text("utf-8").splitlines()[-1]).get("judged", {})
        if (
            evaluated.get("requirement") == requirement
            and bool(evaluated.get("monitor")) is monitor
        ):
            return file
    return next(iter(sorted(histories.glob("*.jsonl"))))


@each_verdict
def test_replay_confirms_verdict(
    histories: Path, tmp_path: Path, requirement: str, *, monitor: bool
) -> None:
    file = history_about(histories, requirement, monitor=monitor)
    done = siconform("replay", file, "--target-command", FAULTY, *SCALE, cwd=tmp_path)

    assert f"FAIL {requirement}" in done.stdout
    assert CAME_AGAIN in done.stdout
    assert done.returncode == 1


@each_verdict
def test_replay_against_correct_scheduler_differs(
    histories: Path, tmp_path: Path, requirement: str, *, monitor: bool
) -> None:
    file = history_about(histories, requirement, monitor=monitor)
    done = siconform("replay", file, *SCALE, cwd=tmp_path)

    assert f"FAIL {requirement}" in done.stdout
    assert CAME_AGAIN not in done.stdout
    assert "nothing is wrong" not in done.stdout
    assert done.returncode in (0, 10)


def test_replay_cannot_repeat_comparisons_of_test(histories: Path, tmp_path: Path) -> None:
    lines = history_about(histories, NEVER_RECEIVED, monitor=False).read_text("utf-8").splitlines()
    record = json.loads(lines[-1])
    record["judged"]["awaited"] = []
    file = tmp_path / "history.jsonl"
    file.write_text("\n".join([*lines[:-1], json.dumps(record)]) + "\n")
    done = siconform("replay", file, "--target-command", FAULTY, *SCALE, cwd=tmp_path)

    assert "the messages alone do not show" in done.stdout
    assert f"test it again: siconform run {NEVER_RECEIVED} " in done.stdout
    assert done.returncode == 10
