"""However a run of the installed command ends, nothing of it stays behind."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from siconform.catalogue import catalogue
from siwire import DEFAULT_REVISION, rpc

from .processes import wait_for
from .serving import scheduler

OF_THE_REVISION = sum(DEFAULT_REVISION.name in r.revisions for r in catalogue().values())
MUTE_SCHEDULER = """
import sys, threading
from concurrent import futures
from contextlib import suppress
import grpc
from siwire import DEFAULT_REVISION, rpc

def silence(*_):
    threading.Event().wait()

server = grpc.server(futures.ThreadPoolExecutor(20))
methods = rpc.methods(DEFAULT_REVISION)
server.add_generic_rpc_handlers(
    (rpc.scheduler_handlers(DEFAULT_REVISION, dict.fromkeys(methods, silence)),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"listening on 127.0.0.1:{port}", flush=True)
server.wait_for_termination()
"""

STUBBORN_SCHEDULER = MUTE_SCHEDULER.replace(
    "import sys, threading",
    "import signal, sys, threading\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts ``siconform run`` in a folder of its own."""
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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_interrupted_run(
    command: Any, tmp_path: Path, how: signal.Signals, workers: str
) -> None:
    program = tmp_path / "mute.py"
    program.write_text(MUTE_SCHEDULER)
    process = command("-n", workers, "--target-command", f"{sys.executable} {program}")
    wait_for(lambda: len(_listening(tmp_path)) == max(1, int(workers)))

    os.killpg(process.pid, how) if how is signal.SIGINT else process.send_signal(how)
    told, _ = process.communicate(timeout=30)

    assert process.returncode == 2, told
    assert "INCOMPLETE: interrupted" in told
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["exit_code"] == 2
    assert len(document["requirements"]) == OF_THE_REVISION
    assert document["counts"]["pass"] == 0


@pytest.mark.parametrize("interrupted", ["everybody", "the first process"])
@pytest.mark.parametrize("between", [0.0, 0.3, 1.5])
def test_a_run_interrupted_twice(
    command: Any, tmp_path: Path, between: float, interrupted: str
) -> None:
    """As Ctrl-C does it, for the whole group of processes, or as a program does that started it."""
    program = tmp_path / "stubborn.py"
    program.write_text(STUBBORN_SCHEDULER)
    process = command("-n", "2", "--target-command", f"{sys.executable} {program}")
    wait_for(lambda: len(_listening(tmp_path)) == 2)

    interrupt = os.killpg if interrupted == "everybody" else os.kill
    interrupt(process.pid, signal.SIGINT)
    time.sleep(between)
    with suppress(ProcessLookupError):
        interrupt(process.pid, signal.SIGINT)
    process.communicate(timeout=60)

    assert process.returncode == 2
    wait_for(lambda: _left(process.pid, tmp_path) == [], limit=15.0)
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["verdict"] == "INCOMPLETE"


@pytest.mark.parametrize("last", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("times", [2, 3])
def test_a_worker_that_does_not_listen_when_a_run_is_interrupted_again(
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
    process.wait(60)

    wait_for(lambda: _left(process.pid, tmp_path) == [], limit=5.0)


def test_interrupts_are_tested_from_the_background_of_a_shell_too(tmp_path: Path) -> None:
    tests = f"{Path(__file__).with_name('test_running.py')}::test_an_interrupt_leaves_whole_results"
    line = f"trap '' INT; exec {shlex.join([sys.executable, '-m', 'pytest', '-q', tests])}"
    done = subprocess.run(  # noqa: S603  # ourselves
        ["/bin/sh", "-c", line], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": f"--basetemp={tmp_path} -p no:cacheprovider"},
    )  # fmt: skip

    assert done.returncode == 0, done.stdout


def test_a_run_killed_outright(command: Any, tmp_path: Path) -> None:
    program = tmp_path / "mute.py"
    program.write_text(MUTE_SCHEDULER)
    process = command("-n", "2", "--target-command", f"{sys.executable} {program}")
    wait_for(lambda: len(_listening(tmp_path)) == 2)

    process.kill()
    process.wait()

    wait_for(lambda: _left(process.pid, tmp_path) == [])
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["verdict"] == "INCOMPLETE"


def test_a_scheduler_that_says_nothing_ends_in_bounded_time(command: Any, tmp_path: Path) -> None:
    began = time.monotonic()
    silent = dict.fromkeys(rpc.methods(DEFAULT_REVISION), lambda *_: time.sleep(4))

    with scheduler(silent, workers=50) as address:
        process = command("--target", address, "--time-scale", "0.2")
        told, _ = process.communicate(timeout=100)

    assert process.returncode == 12, told
    assert "did not answer RegisterResourceManager" in told
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    behavioural = [
        r["id"]
        for r in document["requirements"]
        if r["verdict"] == "pass" and not r["id"].startswith(("SI-WIRE", "SI-CONST"))
    ]
    assert behavioural == []
    assert time.monotonic() - began < 60


def _listening(folder: Path) -> list[Path]:
    logs = (folder / "out" / "logs").glob("*.log")
    return [log for log in logs if "listening" in log.read_text()]


def _left(leader: int, folder: Path) -> list[int]:
    """Processes of the run: in its session, or with its folder in their command line."""
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
