"""Fork servers: a forked process behaves for its starter like a child process."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from patience import patient, wait_for
from siconform import child_processes, fork_client
from siconform.commands import launching
from siconform.fork_client import ForkedProcess, Refused
from siconform.running.fork_servers import WORKERS, fork_servers, python_of_workers

from .processes import exists

PRELOADED, ANOTHER = "colorsys", "sndhdr"  # modules of the standard library
LIMIT = patient(20.0)
REPORTS = (
    "import os, sys; print(os.getcwd(), *sys.argv, os.environ['SI_RECEIVED'], sys.stdin.read())"
)
WAITS = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are none")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a fork server."""
    with fork_servers(PRELOADED):
        yield os.environ[child_processes.variable(PRELOADED)]


def test_preloaded_python_runs_scripts(server: str, tmp_path: Path) -> None:
    words = ["-u", "-c", REPORTS, "one", "two words"]
    environment = {**os.environ, "SI_RECEIVED": "told"}
    forked, usual = (
        _run(
            [*program, *words],
            input="said",
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        for program in (_client(server), [sys.executable])
    )
    assert forked.stdout == usual.stdout == f"{tmp_path} -c one two words told said\n"
    assert (forked.returncode, forked.stderr) == (usual.returncode, usual.stderr) == (0, "")


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "import sys; sys.exit('no')", "1/0"])
def test_preloaded_python_exit_codes(server: str, program: str) -> None:
    codes = [
        _run([*start, "-c", program], stderr=subprocess.DEVNULL).returncode
        for start in (_client(server), [sys.executable])
    ]
    assert codes[0] == codes[1] != 0


@pytest.mark.parametrize(
    "program",
    [
        "import os; own = os.dup(1); os.dup2(2, 1); os.write(own, b'1')",  # as execnet does
        "import os; assert os.read(0, 1)",  # its starter was killed before it sent anything
    ],
)
def test_orphaned_worker_is_silent(server: str, program: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = _run(
        [*_client(server), "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("is_served", [True, False])
def test_closed_output_pipe_is_silent(*, server: str, is_served: bool, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = "import os; os.write(1, b'1')"
    client = _client(server if is_served else str(tmp_path / "absent"))
    done = _run([*client, "-c", program], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_broken_inner_pipe_is_reported(server: str) -> None:
    program = "import os; r, w = os.pipe(); os.close(r); os.write(w, b'1')"
    done = _run([*_client(server), "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"BrokenPipeError" in done.stderr


def test_imported_modules_are_preloaded(server: str) -> None:
    program = f"import sys; print({PRELOADED!r} in sys.modules)"
    received = [
        _run([*start, "-c", program], capture_output=True, check=True).stdout
        for start in (_client(server), [sys.executable])
    ]
    assert received == [b"True\n", b"False\n"]


def test_forked_process_knows_its_parent(server: str) -> None:
    program = "import os; from siconform.fork_server import parent_or as of; print(of(0))"
    received = _run(
        [*_client(server), "-c", f"{program}; print(os.getppid())"], capture_output=True
    )
    known, parent = received.stdout.split()
    assert known == parent
    received = _run([sys.executable, "-c", program], capture_output=True)
    assert received.stdout == b"0\n"


def test_falls_back_to_plain_python(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    with pytest.raises(Refused, match="no fork server answers on"):
        ForkedProcess(absent, ["-c", "pass"], (0, 1, 2))
    done = _run([*_client(absent), "-c", "print(1)"], capture_output=True, check=True)
    assert done.stdout == b"1\n"


def test_invalid_requests_are_ignored(server: str) -> None:
    for nonsense in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x02{}"):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(server)
            client.sendall(nonsense)
    done = _run([*_client(server), "-c", "print(1)"], capture_output=True, check=True)
    assert done.stdout == b"1\n"


def test_forked_process_ends_with_client(server: str) -> None:
    with subprocess.Popen(  # noqa: S603  # our own program
        [*_client(server), "-c", WAITS], stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        client.kill()
    wait_for(lambda: not exists(pid), 20.0)


@pytest.mark.parametrize("program", [WAITS, STUBBORN])
def test_supervised_process_ends_with_lifeline(server: str, program: str) -> None:
    process = ForkedProcess.piped(server, ["-c", program], 2, None, 0.2)
    assert process.stdin is not None
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)

    process.stdin.close()
    code = process.wait(LIMIT)
    assert code - 128 in (signal.SIGTERM, signal.SIGKILL)
    assert not exists(pid)
    assert not exists(process.pid)
    process.stdout.close()


def test_killed_supervisor_is_reported(server: str) -> None:
    soon_over = "import time; time.sleep(2)"  # it may outlive its supervisor
    process = ForkedProcess.piped(server, ["-c", soon_over], 2, None, 0.2)
    process.kill()
    assert process.wait(LIMIT) == -signal.SIGKILL
    assert process.poll() == -signal.SIGKILL
    _close(process)


def test_preloaded_targets_are_forked(server: str, tmp_path: Path) -> None:
    assert server
    with (tmp_path / "log").open("ab") as log:
        forked, usual = (
            child_processes.start([sys.executable, *options, "-m", PRELOADED], stderr=log)
            for options in (["-P"], [])
        )
    assert isinstance(forked, ForkedProcess)
    assert isinstance(usual, subprocess.Popen)
    assert forked.wait(LIMIT) == usual.wait(LIMIT) == 0
    _close(forked)
    _close(usual)


def test_server_leaves_nothing() -> None:
    with fork_servers(ANOTHER):
        address = os.environ[child_processes.variable(ANOTHER)]
        done = _run([*_client(address), "-c", "print(1)"], capture_output=True, check=True)
        assert done.stdout == b"1\n"
        server = next(p.pid for p in psutil.Process().children() if ANOTHER in p.cmdline())
    assert not exists(server)
    assert child_processes.variable(ANOTHER) not in os.environ
    assert not Path(address).parent.exists()


def test_no_server_if_socket_path_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("a" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with fork_servers(ANOTHER):
        assert child_processes.variable(ANOTHER) not in os.environ
    assert list(deep.iterdir()) == []


def test_server_ends_with_killed_starter() -> None:
    program = f"""
import os, signal, sys, psutil
from siconform.running.fork_servers import fork_servers
with fork_servers({ANOTHER!r}):
    server, = psutil.Process().children()
    print(server.pid, os.environ[{child_processes.variable(ANOTHER)!r}])
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = _run([sys.executable, "-c", program], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    server, address = done.stdout.split()
    wait_for(lambda: not exists(int(server)))
    assert not Path(address.decode()).parent.exists()


def test_workers_have_the_suite_preloaded() -> None:
    with fork_servers(WORKERS):
        python = shlex.split(python_of_workers())
        program = "import sys; print('siconform.suite.test_nodes' in sys.modules)"
        done = _run([*python, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"True\n"
    assert python_of_workers() == ""


def _run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[Any]":
    return subprocess.run(command, timeout=LIMIT, **options)  # noqa: PLW1510, S603  # our own


def _client(server: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(Path(fork_client.__file__)), server]


def _close(process: "ForkedProcess | subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ([], 2),
        (["-n", "3"], 2),
        (["-n4", "GANG"], 2),
        (["--numprocesses=auto"], 2),
        (["--target", "yunikorn-core@1.9.0"], 1),
        (["-n", "0"], 0),
        (["-n1"], 0),
        (["SI-NODE-001"], 0),
        (["--target-command", "scheduler -n 4", "SI-NODE-001"], 0),
        (["--target", "127.0.0.1:1"], 0),
    ],
)
def test_fork_servers_run_for_many_processes(options: list[str], number: int) -> None:
    assert len(launching.preloaded(options)) == number
