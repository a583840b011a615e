"""A target the kit starts: it comes up, reports failures, and never outlives the kit."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import patient, wait_for
from siconform import child_processes
from siconform.targets import TargetUnavailable
from siconform.targets.process import Launch, ProcessTarget
from siwire import DEFAULT_REVISION

from .processes import Start, exists, programs

LISTENS = """
import socket, sys, time
host, port = sys.argv[1].split(":")
time.sleep(0.1)
server = socket.create_server((host, int(port)))
time.sleep(60)
"""
ANNOUNCES = r"""
import os, socket, sys, time
sys.stderr.write(f"pid {os.getpid()}\n")
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
sys.stderr.write(f"port {port}\n")
print(f"listening on 127.0.0.1:{port} (ready)", flush=True)
time.sleep(60)
"""
STUBBORN = ANNOUNCES.replace(
    "import os", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport os"
)
WITH_CHILD = ANNOUNCES.replace(
    "time.sleep(60)",
    "import subprocess\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "sys.stderr.write(f'child {child.pid}' + chr(10))\n"
    "time.sleep(60)",
)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a Python program as a target."""
    monkeypatch.setattr(child_processes, "GRACE", 0.3)
    with programs(tmp_path, starts_within=5.0) as start:
        yield start


def test_target_address_is_read_from_output(start: Start, tmp_path: Path) -> None:
    target = start(ANNOUNCES)
    assert target.address == f"127.0.0.1:{_received(tmp_path, 'port')}"


def test_target_address_is_passed_to_command(start: Start) -> None:
    target = start(LISTENS, "{address}")

    host, _, port = target.address.rpartition(":")
    assert host == "127.0.0.1"
    assert int(port) > 0
    assert target.alive()


@pytest.mark.parametrize("program", [ANNOUNCES, STUBBORN])
def test_target_is_gone_after_stop(start: Start, tmp_path: Path, program: str) -> None:
    target = start(program)
    _ = target.address
    pid = _received(tmp_path, "pid")
    assert exists(pid)

    target.stop()

    assert not exists(pid)
    assert not target.alive()
    target.stop()  # idempotent


def test_child_processes_end_with_target(start: Start, tmp_path: Path) -> None:
    target = start(WITH_CHILD)
    _ = target.address
    child = _received(tmp_path, "child")

    target.stop()

    wait_for(lambda: not exists(child), 5)


@pytest.mark.parametrize("ignores", ["", "import signal; signal.signal(signal.SIGTERM, 1); "])
def test_processes_outside_group_are_ended(start: Start, tmp_path: Path, ignores: str) -> None:
    daemon = WITH_CHILD.replace("sleep(60)'])", "sleep(60)'], start_new_session=True)")
    target = start(daemon.replace("'import time;", f"'import time; {ignores}"))
    _ = target.address
    child = _received(tmp_path, "child")
    began = time.monotonic()

    target.stop()

    assert time.monotonic() - began < 4.0
    assert not exists(child)


def test_scheduler_in_separate_session_is_ended(start: Start, tmp_path: Path) -> None:
    target = start("import os\nif os.fork():\n    os.wait()\nelse:\n    os.setsid()\n"
                   + ANNOUNCES.replace("\n", "\n    "))  # fmt: skip
    _ = target.address
    scheduler = _received(tmp_path, "pid")

    target.stop()

    assert not exists(scheduler)


def test_restart_starts_new_process(start: Start, tmp_path: Path) -> None:
    target = start(ANNOUNCES)
    _ = target.address
    first = _received(tmp_path, "pid")

    target.restart()

    assert target.alive()
    assert _received(tmp_path, "pid") != first
    assert not exists(first)


def test_death_at_start_reports_last_output(start: Start) -> None:
    target = start("import sys\nprint('one', file=sys.stderr)\nsys.exit('no such queue')")

    with pytest.raises(TargetUnavailable) as caught:
        _ = target.address
    assert caught.value.message == (
        "the program did not start: it ended with exit status 1: one | no such queue"
    )


def test_later_death_is_detected(start: Start, tmp_path: Path) -> None:
    target = start(ANNOUNCES)
    _ = target.address
    assert target.ended(0.0) == ""

    os.kill(_received(tmp_path, "pid"), signal.SIGKILL)

    assert target.ended(5.0).startswith("it ended with killed by signal 9")
    assert not target.alive()


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ("", "did not report where it listens after 0.3 s"),
        ("{address}", "does not listen on 127.0.0.1:"),
        ("--listen 127.0.0.1:9", "did not report that it listens on port 9 after 0.3 s"),
    ],
)
def test_start_timeout_is_reported(start: Start, arguments: str, received: str) -> None:
    target = start("import time; time.sleep(60)", arguments, within=0.3)

    began = time.monotonic()
    with pytest.raises(TargetUnavailable, match=received):
        _ = target.address
    assert time.monotonic() - began < 3.0


def test_missing_command(tmp_path: Path) -> None:
    launch = Launch.of("the program", "/no/such/program", 5.0)
    target = ProcessTarget(launch, DEFAULT_REVISION, 1.0, tmp_path / "target.log")

    with pytest.raises(TargetUnavailable, match="/no/such/program: No such file or directory"):
        _ = target.address
    target.stop()


HOLDS_A_TARGET = """
import sys, time
from pathlib import Path
from siwire import DEFAULT_REVISION
from siconform.targets.process import Launch, ProcessTarget
folder = Path(sys.argv[1])
launch = Launch.of("the program", f"{sys.executable} {folder / 'program.py'}", 5.0)
target = ProcessTarget(launch, DEFAULT_REVISION, 1.0, folder / "target.log")
target.start()
print(target.address, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_target_ends_when_starter_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "program.py").write_text(ANNOUNCES)
    (tmp_path / "holder.py").write_text(HOLDS_A_TARGET)
    holder = subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, str(tmp_path / "holder.py"), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().startswith(b"127.0.0.1:")
    pid = _received(tmp_path, "pid")
    assert exists(pid)

    holder.send_signal(how)
    holder.wait()
    holder.stdout.close()

    wait_for(lambda: not exists(pid), 5)


def _received(folder: Path, what: str) -> int:
    """Return the last number the program printed under this name."""
    deadline = time.monotonic() + patient(5)
    while True:
        words = (folder / "target.log").read_text().split()
        if what in words[:-1]:
            return int(words[len(words) - words[::-1].index(what)])
        assert time.monotonic() < deadline
        time.sleep(0.02)
