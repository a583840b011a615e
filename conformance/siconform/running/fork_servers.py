"""The fork servers of a run: one for workers, one for the reference if it is the target."""

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from siconform import child_processes, fork_client, fork_server, shutdown

WORKERS: Final = "siconform.commands.launching:collect_once"
WORKERS_FOR_RMS: Final = "siconform.commands.launching:collect_once_for_rms"
REFERENCE: Final = "sireference.cli"
_SOCKET: Final = "socket"


@contextlib.contextmanager
def fork_servers(*preloaded: str) -> Iterator[None]:
    """Run a fork server for each of these (see ``fork_server.main``) during the block.

    Processes started meanwhile find the servers by their environment.
    """
    with contextlib.ExitStack() as servers:
        if sys.platform == "linux":  # libraries do not survive a fork elsewhere
            for name in preloaded:
                with contextlib.suppress(OSError):  # a path too long for a socket, a full disk
                    servers.enter_context(_fork_server(name))
        yield


def python_of_workers() -> str:
    """Return the command that replaces ``python`` when starting a worker, or ""."""
    address = os.environ.get(child_processes.variable(WORKERS), "")
    script = str(Path(fork_client.__file__))
    return shlex.join((sys.executable, "-I", "-S", script, address)) if address else ""


@contextlib.contextmanager
def _fork_server(name: str) -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix="siconform-"))
    variable = child_processes.variable(name)
    try:
        with _started(name, folder / _SOCKET) as process:
            os.environ[variable] = str(folder / _SOCKET)
            try:
                yield
            finally:
                os.environ.pop(variable, None)
                process.kill()  # it may still be importing; what it forked has its own lifeline
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(name: str, address: Path) -> "subprocess.Popen[bytes]":
    with socket.socket(socket.AF_UNIX) as listener, shutdown.signals_blocked_in_children():
        listener.bind(str(address))
        listener.listen()
        return subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-P", "-c", fork_server.PROGRAM, str(listener.fileno()), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # errors appear again in the real import
            pass_fds=(listener.fileno(),),
            start_new_session=True,
        )
