"""``siconform check-trace``: violated with its line, held, or not exercised; never conformant."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from patience import patient
from selftest.monitor_cases.by_key import end, ended, new
from selftest.sample_histories import ASK, IN_THE_CLUSTER, NODE, Part, by_key
from siconform.cli import main
from siconform.protocol.requests import Registration


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def check(trace: Path, *parts: Part, options: tuple[str, ...] = ()) -> Result:
    if parts:
        by_key((*IN_THE_CLUSTER, *parts)).write_jsonl(trace)
    return CliRunner().invoke(main, ["check-trace", str(trace), *options])


def test_violation_is_reported_with_its_line(trace: Path) -> None:
    done = check(trace, NODE, ASK, new(), new())

    violated = [line for line in done.stdout.splitlines() if "violated, line" in line]
    assert violated
    assert all("violated, line 6: " in line for line in violated)
    assert done.exit_code == 1


def test_legal_exchange_is_never_called_conformant(trace: Path) -> None:
    done = check(trace, NODE, ASK, new(), end(), ended())

    assert "SI-NODE-006  MUST    held 1 time\n" in done.stdout
    assert "not exercised" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("0 violated, ")
    assert "CONFORMANT" not in done.stdout.upper()
    assert done.exit_code == 0


def test_exchange_that_exercises_nothing_is_code_12(trace: Path) -> None:
    by_key([Registration("", "", "", "")]).write_jsonl(trace)

    done = check(trace)

    assert "0 violated, 0 held" in done.stdout
    assert done.exit_code == 12


def test_record_that_begins_in_the_middle_is_refused(trace: Path) -> None:
    by_key([NODE, ASK]).write_jsonl(trace)

    done = check(trace)

    assert "line 1: RM rm has not registered before" in done.stderr
    assert done.exit_code == 4


def test_call_without_messages_is_ignored(trace: Path) -> None:
    check(trace, NODE, ASK, new())
    failed = {"from": "scheduler", "rm": "", "stream": None, "element": None, "hex": None}
    trace.write_text(json.dumps(failed) + "\n" + trace.read_text("utf-8"))

    assert check(trace).exit_code == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "contains no decoded message"),
        ("{", "line 1: "),
        ('{"from": "rm"}', "line 1: no 'element' in the record"),
    ],
)
def test_unusable_file_is_code_4(trace: Path, text: str | None, problem: str) -> None:
    if text is not None:
        trace.write_text(text)

    done = check(trace)

    assert problem in done.stderr
    assert done.exit_code == 4


@pytest.mark.end_to_end
def test_recorded_run_is_checked(tmp_path: Path, trace: Path) -> None:
    """The reference, the proxy and the kit's own RM, as processes; Ctrl-C ends the recording."""
    with started("sireference", "serve", "--listen", "127.0.0.1:0") as reference:
        to = first_line(reference).removeprefix("listening on ")
        words = ("record", "--listen", "127.0.0.1:0", "--to", to, "--output", str(trace))
        with started("siconform", *words) as recording:
            address = first_line(recording).split()[2].rstrip(",")
            with started("siconform", "check", "--target", address, cwd=tmp_path) as tested:
                tested.wait(patient(30))
            recording.send_signal(signal.SIGINT)
            written, _ = recording.communicate(timeout=patient(10))

    assert tested.returncode == 0
    assert recording.returncode == 0
    lines = trace.read_text("utf-8").splitlines()
    assert f"{len(lines)} lines written to {trace}" in written
    assert json.loads(lines[-1])["says"].startswith("cancels the ")
    assert check(trace).exit_code == 0


@contextmanager
def started(*words: str, cwd: Path | None = None) -> Iterator["subprocess.Popen[str]"]:
    """Run a module until the block ends."""
    command = (sys.executable, "-m", *words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:  # noqa: S603  # our own
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
