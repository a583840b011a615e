"""Runs end even if a worker or scheduler does not respond; for signals see test_shutdown.py."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import patient, wait_for
from siwire import DEFAULT_REVISION, rpc

from .commands import results_in
from .serving import scheduler

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start ``siconform run`` in a separate folder."""
    started = []

    def start(*options: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(  # noqa: S603  # ourselves
            [sys.executable, "-m", "siconform", "run", "--results", "out", *options],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        left = _left(process.pid, tmp_path)
        process.kill()
        process.communicate()
        assert left == []


@pytest.mark.slow("starts a run with two workers")
@pytest.mark.parametrize("last", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("times", [2, 3])
def test_unresponsive_worker_on_second_interrupt(
    tmp_path: Path, times: int, last: signal.Signals
) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest, signal, time\n"
        "from pathlib import Path\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_it(number):\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    Path(f'began{number}').touch()\n"
        "    time.sleep(100)\n"
    )
    plugins = ["-p", "siconform.suite_plugin", "-p", "xdist", "-p", "no:cacheprovider"]
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, "-m", "pytest", *plugins, "--results", "out", "-n", "2"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: all((tmp_path / f"began{number}").exists() for number in (1, 2)))

    for number in [*[signal.SIGINT] * (times - 1), last]:
        process.send_signal(number)
        time.sleep(0.4)
    process.wait(patient())

    wait_for(lambda: _left(process.pid, tmp_path) == [], limit=30.0)


@pytest.mark.slow("a whole run, each RM of which waits for its registration")
def test_silent_scheduler_ends_run_in_bounded_time(command: Any, tmp_path: Path) -> None:
    silent = dict.fromkeys(rpc.methods(DEFAULT_REVISION), lambda *_: time.sleep(4))

    with scheduler(silent, workers=50) as address:
        process = command("--target", address, "--time-scale", "0.2")
        received, _ = process.communicate(timeout=patient(200))

    assert process.returncode == 12, received
    assert "did not answer RegisterResourceManager" in received
    document = results_in(tmp_path / "out")
    behavioural = [
        r["id"]
        for r in document["requirements"]
        if r["verdict"] == "pass" and not r["id"].startswith(("SI-WIRE", "SI-CONST"))
    ]
    assert behavioural == []


def _left(leader: int, folder: Path) -> list[int]:
    """Return processes of the run: in its session, or with its folder in their command line."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
            line = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        of_run = int(words[3]) == leader or str(folder).encode() in line
        if of_run and words[0] != "Z":
            found.append(int(status.parent.name))
    return found
