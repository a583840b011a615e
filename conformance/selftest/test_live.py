"""Live output of a run: at 100, 80 and 40 columns, interrupted, resized, in CI."""

import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from patience import patient, wait_for
from siconform.verdicts import Verdict

from .commands import results_in
from .conftest import ANNOUNCING, PREAMBLE
from .terminals import at_terminal

FAIL = Verdict.FAIL.label.upper()

pytestmark = pytest.mark.end_to_end

WAITS = f"""
from pathlib import Path
from siconform.expecting.waits import WaitClass, waiting

def goes_on():
    ends = time.monotonic() + {2 * patient():g}
    while not Path("go-on").exists() and time.monotonic() < ends: time.sleep(0.02)

@requirement("SI-NODE-004")
def test_one(target): raise ConformanceFailure('accepted "node-1" a second time')
@requirement("SI-NODE-006")
def test_two(target): target.address
@requirement("SI-GANG-021")
def test_three(target):
    with waiting("a placeholder timeout", 9.0, WaitClass.TIMER): goes_on()
@requirement("SI-APP-001")
def test_four(target): pass
"""
TARGET = ["--target-command", f"{sys.executable} {ANNOUNCING}"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "test_fake.py").write_text(PREAMBLE + WAITS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def command(*options: str) -> list[str]:
    plugins = ["-p", "siconform.suite_plugin", "-p", "xdist", "-p", "timeout"]
    return [sys.executable, "-m", "pytest", *plugins, "--results", "out", *TARGET, *options]


@pytest.fixture(autouse=True)
def _no_plugins_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


@pytest.mark.parametrize(("columns", "workers"), [(100, "1"), (80, "0"), (40, "1")])
def test_live_output_shows_areas_waits_and_failures(
    suite: Path, columns: int, workers: str
) -> None:
    shown = (
        rf"^{FAIL}  SI-NODE-004  MUST",
        rf"^ NODE .* 2 of 2 .*{Verdict.FAIL.counted(1)}",
        r"^ GANG .* 0 of 1",
        r"waiting: 1 test on a placeholder (timeout \(\d+\.\d s of 9\.0 s\)|\w*\.\.\.)",
        r"2 of 4 tests, 1 failed",
        r"2 of 4 requirements decided",
        r"target at 127\.0\.0\.1:",
    )
    with at_terminal(command("-n", workers), suite, columns=columns) as run:
        run.until(lambda: all(re.search(s, "\n".join(run.lines()), re.MULTILINE) for s in shown))
        during = run.lines()
        (suite / "go-on").touch()
        code = run.to_its_end()
        after = run.lines()

    assert max(map(len, during)) <= columns
    assert code == 1
    assert not run.screen.cursor.hidden
    assert not any("waiting:" in line or "requirements decided" in line for line in after)
    assert f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}" in after


def test_remaining_time_uses_earlier_run(suite: Path) -> None:
    with at_terminal(command("-n", "1"), suite) as first:
        first.until(lambda: first.shows("time left not known: no earlier run of this target"))
        (suite / "go-on").touch()
        first.to_its_end()
    (suite / "go-on").unlink()
    with at_terminal(command("-n", "1"), suite) as second:
        second.until(lambda: second.shows("s left"))
        received = "\n".join(second.lines())

    assert re.search(r"about \d+ s left", received)


def test_remaining_time_is_per_target(suite: Path) -> None:
    (suite / "go-on").touch()
    with at_terminal(command("-n", "1"), suite) as first:
        first.to_its_end()
    (suite / "go-on").unlink()
    other = ["--target-command", f"{sys.executable} -u {ANNOUNCING}"]
    with at_terminal([*command("-n", "1")[:-4], *other, "-n", "1"], suite) as second:
        second.until(lambda: second.shows("waiting:"))

        assert second.shows("time left not known")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_ctrl_c_reports_results_and_cleans_up(suite: Path, workers: str) -> None:
    with at_terminal(command("-n", workers), suite) as run:
        run.until(lambda: run.shows("waiting: 1 test on") and run.shows(f"{FAIL}  SI-NODE-004"))
        begun = psutil.Process(run.process.pid).children(recursive=True)
        run.presses_ctrl_c()
        code = run.to_its_end()
        after = run.lines()

    counts = results_in(suite / "out")["counts"]
    assert code == 2
    assert begun
    assert list((suite / "out" / "logs").glob("waits-*")) == []
    wait_for(lambda: not any(process.is_running() for process in begun))
    assert not run.screen.cursor.hidden
    assert any(line.startswith("INCOMPLETE: interrupted") for line in after)
    assert counts["not-reached"] >= 1
    assert counts["fail"] == 1
    assert any(Verdict.NOT_REACHED.label in line for line in after)
    assert not any("requirements decided" in line for line in after)


@pytest.mark.parametrize(("columns", "lines"), [(100, 40), (40, 12)])
def test_window_resize(suite: Path, columns: int, lines: int) -> None:
    with at_terminal(command("-n", "1"), suite, columns=80, lines=24) as run:
        run.until(lambda: run.shows("waiting: 1 test on"))
        run.resizes(columns, lines)
        seen = len(run.written)
        run.until(lambda: b"\x1b[J" in run.written[seen:])  # what was drawn before has arrived
        cleared = len(run.written)
        run.until(lambda: len(run.written) > cleared + 2000)
        run.until(lambda: run.shows("requirements decided"))  # not in the middle of a redraw
        shown = [line.rstrip() for line in run.screen.display]
        (suite / "go-on").touch()
        run.to_its_end()

    assert sum("requirements decided" in line for line in shown) == 1
    assert sum(line.startswith(" GANG") for line in shown) == 1
    assert run.shows(f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}")


def test_dumb_terminal_has_plain_lines(suite: Path) -> None:
    (suite / "go-on").touch()
    with at_terminal(command("-n", "1"), suite, environment={"TERM": "dumb"}) as run:
        code = run.to_its_end()

    assert code == 1
    assert b"\x1b" not in run.written
    assert b"requirements decided" not in run.written
    assert run.shows(f"{FAIL}  SI-NODE-004")


@pytest.mark.parametrize(("flag", "received"), [("-v", True), ("-q", False)])
def test_other_verbosities_have_no_live_output(suite: Path, flag: str, *, received: bool) -> None:
    (suite / "go-on").touch()
    with at_terminal(command("-n", "1", flag), suite) as run:
        run.to_its_end()

    assert b"requirements decided" not in run.written
    assert (b"test_fake.py::test_two" in run.written) is received
    assert run.shows(f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}")


def test_pipe_shows_failures_as_lines(suite: Path) -> None:
    process = subprocess.Popen(  # noqa: S603  # ourselves
        command("-n", "1"), cwd=suite, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    before: list[str] = []
    for line in process.stdout:
        before.append(line)
        if line.startswith(FAIL):
            break
    (suite / "go-on").touch()
    rest, _ = process.communicate(timeout=patient())

    assert before[-1].startswith(f"{FAIL}  SI-NODE-004  MUST   accepted")
    assert "CONFORMANT" not in "".join(before)
    assert f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}" in rest
    assert "\x1b" not in "".join(before) + rest
