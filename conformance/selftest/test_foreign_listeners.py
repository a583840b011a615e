"""The kit tests only what it started: another server is never taken for the target."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import patient, wait_for
from siconform import child_processes
from siconform.targets import TargetUnavailable, process
from siconform.targets.process import ProcessTarget

from .commands import siconform
from .processes import Start, programs

pytestmark = pytest.mark.end_to_end

PASSES = patient(1.0)  # seconds: these tests wait until the time to start is up

SLEEPS = "import time; time.sleep(60)"
LISTENS_AND_STATES = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1].rpartition(":")[2])))
print("{before}", flush=True)
print(f"listening on 127.0.0.1:{{server.getsockname()[1]}}", flush=True)
time.sleep(60)
"""
MESSAGES = "import time\nprint('listening on {address}', flush=True)\ntime.sleep(60)\n"
TAKES_THE_PORT_LATER = """
import socket, sys, time
from pathlib import Path
while not Path("port").exists() or not Path("port").read_text():
    time.sleep(0.01)
server = socket.create_server(("127.0.0.1", int(Path("port").read_text())))
Path("taken").touch()
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a Python program as a target."""
    monkeypatch.setattr(child_processes, "GRACE", 0.3)
    with programs(tmp_path, starts_within=patient(30.0)) as start:
        yield start


@pytest.fixture
def foreign() -> Iterator[str]:
    """The address of a server that is not the target."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def printed(target: ProcessTarget) -> ProcessTarget:
    """Return the target when it has printed its address; its time to start begins afterwards."""
    wait_for(lambda: "listening on" in target.log.read_text("utf-8"))
    return target


def test_existing_server_is_not_the_target(start: Start, foreign: str) -> None:
    target = printed(start(MESSAGES.format(address=foreign), within=PASSES))

    with pytest.raises(TargetUnavailable, match="was there before the command was started"):
        _ = target.address


def test_server_on_port_of_command(start: Start, foreign: str) -> None:
    target = printed(start(MESSAGES.format(address=foreign), f"--listen {foreign}", within=PASSES))

    with pytest.raises(TargetUnavailable, match=f"what listens on {foreign} was there before"):
        _ = target.address


def test_server_that_took_the_port_is_not_the_target(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-c", TAKES_THE_PORT_LATER], cwd=tmp_path
    )
    time.sleep(0.1)  # start times have a resolution of 0.01 s

    port = process._free_port()
    monkeypatch.setattr(process, "_free_port", lambda: port)
    try:
        target = start(SLEEPS, "{address}", within=PASSES)
        (tmp_path / "port").write_text(str(port))
        wait_for((tmp_path / "taken").exists)
        with pytest.raises(TargetUnavailable, match="belongs to a process that is older"):
            _ = target.address
    finally:
        older.kill()
        older.wait()


def test_target_of_other_worker(start: Start) -> None:
    first = start(LISTENS_AND_STATES.format(before=""), "127.0.0.1:0")
    other = first.address
    second = printed(start(MESSAGES.format(address=other), within=PASSES))

    with pytest.raises(TargetUnavailable, match=f"what listens on {other}"):
        _ = second.address


def test_child_process_may_be_the_target(start: Start, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(LISTENS_AND_STATES.format(before=""))
    program = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, {str(tmp_path / 'child.py')!r}, sys.argv[1]])\n"
    )
    target = start(program, "{address}")

    assert target.address.startswith("127.0.0.1:")


def test_proxy_may_be_the_target(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setattr(process, "_free_port", lambda: port)
    target = start(SLEEPS, "{address}")
    time.sleep(0.1)
    (tmp_path / "port").write_text(str(port))
    proxy = subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-c", TAKES_THE_PORT_LATER], cwd=tmp_path
    )
    try:
        assert target.address == f"127.0.0.1:{port}"
    finally:
        proxy.kill()
        proxy.wait()


@pytest.mark.parametrize("line", ["metrics: listening on 127.0.0.1:1", "listening on x:99999"])
def test_similar_output_line_is_ignored(start: Start, line: str) -> None:
    target = start(LISTENS_AND_STATES.format(before=line), "127.0.0.1:0")

    assert target.address not in line


def test_only_the_assigned_port_is_accepted(start: Start, foreign: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        received = f"127.0.0.1:{probe.getsockname()[1]}"
    target = start(
        LISTENS_AND_STATES.format(before=f"listening on {foreign}"), f"--listen={received}"
    )

    assert target.address == received


def test_other_port_than_assigned(start: Start) -> None:
    program = LISTENS_AND_STATES.format(before="").replace(
        'int(sys.argv[1].rpartition(":")[2])', "0"
    )
    target = printed(start(program, "--port 9", within=PASSES))

    with pytest.raises(TargetUnavailable, match="did not report that it listens on port 9"):
        _ = target.address


def test_the_start_limit_is_an_option(tmp_path: Path) -> None:
    slow = f"{sys.executable} -c 'import time; time.sleep(600)' {{address}}"
    limit = ("--start-timeout", "0.5", "--target-command", slow)
    done = siconform("run", "-k", "SI-NODE-004", "--results", "out", *limit, cwd=tmp_path)

    assert done.returncode == 12
    assert "after 0.5 s" in done.stdout
