"""Child processes that never outlive this one: each runs under ``supervisor.py``."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from siconform import grpc_log, supervisor
from siconform.fork_client import ForkedProcess, Refused

GRACE: Final = 3.0  # seconds from SIGTERM to SIGKILL
_SUPERVISOR: Final = str(Path(supervisor.__file__))
_CI: Final = "GITHUB_ACTIONS"  # only the user's run reports to GitHub
_MODULE: Final = (sys.executable, "-P", "-m")  # precedes the name of a module


def supervised(command: Sequence[str], grace: float = GRACE) -> list[str]:
    """Return the command line that runs ``command`` under a supervisor.

    Its standard input must be a pipe: when the other end closes, the command is terminated.
    """
    return [sys.executable, "-I", "-S", _SUPERVISOR, f"{grace:g}", *command]


def variable(preloaded: str) -> str:
    """Return the environment variable with the address of the fork server that preloads this."""
    return "SICONFORM_FORK_SERVER_" + re.sub(r"\W", "_", preloaded.partition(".")[0]).upper()


def start(
    command: Sequence[str], *, stderr: IO[bytes], folder: Path | None = None
) -> "subprocess.Popen[bytes] | ForkedProcess":
    """Start the command under a supervisor, in its own session and in ``folder``.

    Its standard output is a pipe. Close ``stdin`` to terminate it. A Python module that a fork
    server has preloaded is forked.
    """
    if tuple(command[: len(_MODULE)]) == _MODULE:
        address = os.environ.get(variable(command[len(_MODULE)]), "")
        if address:
            with suppress(Refused):
                words = [*command[1:]]
                return ForkedProcess.piped(address, words, stderr.fileno(), folder, GRACE)
    return subprocess.Popen(  # noqa: S603  # the user's own command
        supervised(command, GRACE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=folder,
        env=grpc_log.environment_of_targets(),
        start_new_session=True,  # terminal signals go to this process only
    )


def end(process: "subprocess.Popen[bytes] | ForkedProcess") -> None:
    """Close the lifeline of the process and wait for its end."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    _wait(process)


def run(
    command: Sequence[str],
    *,
    stdout: "IO[bytes] | IO[str] | int" = subprocess.DEVNULL,
    stderr: "IO[bytes] | IO[str] | int" = subprocess.DEVNULL,
    limit: float | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run the command with empty standard input and return the completed process.

    Raises subprocess.TimeoutExpired after ``limit`` seconds. However this call ends, the command
    and its descendants end too: terminated, and killed after ``GRACE`` seconds.
    """
    reader, writer = os.pipe()
    process = subprocess.Popen(  # noqa: S603  # commands of the kit
        supervised(command),
        stdin=reader,
        stdout=stdout,
        stderr=stderr,
        env={name: value for name, value in os.environ.items() if name != _CI},
        start_new_session=True,  # terminal signals go to this process only
    )
    os.close(reader)
    try:
        _, errors = process.communicate(timeout=limit)
    finally:
        os.close(writer)
        _wait(process)
    return subprocess.CompletedProcess([*command], process.returncode, stderr=errors)


def _wait(process: "subprocess.Popen[bytes] | ForkedProcess") -> None:
    """Wait for the supervisor to terminate the process; kill it if the supervisor does not."""
    try:
        process.wait(2 * GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
