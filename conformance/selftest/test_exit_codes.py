"""Exit codes: each has a message, 1 is a failed MUST only, 13 is an internal error."""

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from siconform.policy import ExitCode

from .commands import Completed, finished, siconform
from .conftest import RM_WITH_HISTORY
from .preloaded import preloaded_python

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
SICONFORM = (sys.executable, "-m", "siconform")

FAILS_THEN_PASSES = (
    '@requirement("SI-NODE-004")\ndef test_one(target): raise ConformanceFailure("no")\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): pass\n'
)


@pytest.mark.parametrize("page", ["README.md"])
def test_exit_codes_are_in_table(page: str) -> None:
    rows = re.findall(r"^\| (\d+) \| .+ \|$", (ROOT / page).read_text("utf-8"), re.MULTILINE)

    assert [int(row) for row in rows] == sorted(ExitCode)


def test_exit_codes_are_in_help() -> None:
    received = run_siconform("run", "--help").stdout
    listed = received[received.index("Exit codes: ") :]

    assert [int(code) for code in re.findall(r"(?:: |; )(\d+) ", " ".join(listed.split()))] == (
        sorted(ExitCode)
    )


@pytest.mark.parametrize("options", [["-x"], ["--maxfail", "1"], ["-x", "-n", "1"], ["-x", "-n2"]])
def test_failed_must_in_interrupted_run_is_code_1(conformance: Run, options: list[str]) -> None:
    outcome = conformance(FAILS_THEN_PASSES, *options, fresh=True)

    assert outcome.code == 1
    assert outcome.results["verdict"] == "NON-CONFORMANT"
    assert outcome.verdict("SI-NODE-004") == "fail"


def test_interrupted_run_without_failed_must_is_incomplete(conformance: Run) -> None:
    source = FAILS_THEN_PASSES.replace("SI-NODE-004", "SI-NODE-005")  # a SHOULD
    outcome = conformance(source, "-x", "-n", "1", fresh=True)

    assert outcome.code == 10
    assert "stopping after 1 failures" in outcome.reason("SI-NODE-006")


@pytest.mark.parametrize("expression", ["SI-NODE-004 or (", "a b", "not"])
def test_invalid_selection(conformance: Run, expression: str) -> None:
    outcome = conformance(FAILS_THEN_PASSES, "-k", expression, "-n", "1", fresh=True)

    assert outcome.code == 4
    wrong = f"siconform: Wrong expression passed to '-k': {expression}"
    assert outcome.err.splitlines()[-1].startswith(wrong)
    assert outcome.results == {}


@pytest.mark.parametrize("flag", ["--target", "--target-command", "--results"])
@pytest.mark.parametrize("command", [["run"], ["explore"], ["replay", "history.jsonl"]])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_refused(
    tmp_path: Path, command: list[str], flag: str, value: str
) -> None:
    done = run_siconform(*command, flag, value, cwd=tmp_path)

    assert done.returncode == 4
    assert done.stderr.startswith(f"siconform: {flag} is empty")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("options", [["--histories", "0"], ["--steps", "0"], ["--time", "-1"]])
def test_empty_explore_budget_is_rejected(tmp_path: Path, options: list[str]) -> None:
    done = run_siconform("explore", *options, cwd=tmp_path)

    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1


ONE = ("run", "-k", "SI-NODE-004", "-n", "0", "--results", "out")


@pytest.mark.end_to_end
@pytest.mark.parametrize("command", [ONE, ("list",), ("explore", "--time", "0")])
def test_standard_output_that_cannot_be_written_to_is_code_13(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603  # ourselves
            [*SICONFORM, *command], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            check=False,
        )  # fmt: skip

    assert done.returncode == 13
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.end_to_end
def test_broken_pipe_is_code_13_with_complete_results(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(  # noqa: S603  # ourselves
        [*SICONFORM, *ONE], stdout=write, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        check=False,
    )  # fmt: skip
    os.close(write)

    assert done.returncode == 13
    assert done.stderr.startswith("siconform: standard output cannot be written to: Broken pipe")
    assert '"exit_code": 13' in (tmp_path / "out" / "results.json").read_text("utf-8")


@pytest.mark.end_to_end
@pytest.mark.parametrize("command", [ONE, ("list",)])
def test_a_closed_standard_output_is_code_13(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = finished(["/bin/sh", "-c", 'exec "$@" >&-', "sh", *SICONFORM, *command], tmp_path)

    assert done.returncode == 13
    assert len(done.stderr.splitlines()) == 1


def test_python_without_assertions_tests_nothing(tmp_path: Path) -> None:
    done = siconform(*ONE, cwd=tmp_path, env={**os.environ, "PYTHONOPTIMIZE": "1"})

    assert done.returncode == 13
    assert "unset PYTHONOPTIMIZE" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.end_to_end
@pytest.mark.parametrize("limit", [100, 2000, 60_000])
@pytest.mark.parametrize("workers", ["0", "2"])
def test_full_disk_for_results_is_code_13(tmp_path: Path, limit: int, workers: str) -> None:
    def little_capacity() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    unmeasured = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
    done = subprocess.run(  # noqa: S603  # ourselves
        [*SICONFORM, "run", "-k", "SI-NODE-004", "-n", workers, "--results", "out"],
        preexec_fn=little_capacity, env=unmeasured,
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    sent = [line for line in (done.stdout + done.stderr).splitlines() if "be written" in line]

    assert done.returncode == 13, done.stderr
    assert any("File too large" in line for line in sent)
    assert "Traceback" not in done.stdout + done.stderr


def test_full_disk_for_history_is_kit_error(conformance: Run) -> None:
    source = RM_WITH_HISTORY + (
        '@requirement("SI-NODE-004")\n'
        "def test_one(rm):\n"
        "    def full(self, path, **_): raise OSError(28, 'No space left on device')\n"
        "    rm.add('rm', [NodeAccepted('n')], sent_by_rm=False)\n"
        "    Exchange.write_jsonl = full\n"
        "    raise ConformanceFailure('no')\n"
    )
    outcome = conformance(source, fresh=True)

    assert outcome.code == 13
    assert "cannot be written: No space left on device" in outcome.results["kit_errors"][0]


def test_unwritable_page_is_kit_error_in_all_results(conformance: Run) -> None:
    outcome = conformance(
        '@requirement("SI-NODE-004")\ndef test_one(target): os.mkdir("out/report.html")\n'
    )

    assert outcome.code == 13
    assert outcome.results["verdict"] == "KIT ERROR"
    assert "KIT ERROR: results cannot be written to" in outcome.out
    assert 'value="KIT ERROR"' in (outcome.folder / "junit.xml").read_text("utf-8")


def run_siconform(*arguments: str, cwd: Path | None = None) -> Completed:
    return finished([*preloaded_python(), "-m", "siconform", *arguments], cwd)
