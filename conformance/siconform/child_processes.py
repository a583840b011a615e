"""Starts processes that never outlive this one: each runs under ``supervisor.py``."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from siconform import supervisor

GRACE: Final = 3.0  # seconds from SIGTERM to SIGKILL
_SUPERVISOR: Final = str(Path(supervisor.__file__))


def supervised(command: Sequence[str], grace: float = GRACE) -> list[str]:
    """Return the command line that runs ``command`` under a supervisor.

    Its standard input has to be a pipe: when the other end closes, the command is ended.
    """
    return [sys.executable, "-I", "-S", _SUPERVISOR, f"{grace:g}", *command]


def run(
    command: Sequence[str],
    *,
    stdout: "IO[bytes] | IO[str] | int" = subprocess.DEVNULL,
    stderr: "IO[bytes] | IO[str] | int" = subprocess.DEVNULL,
    limit: float | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run the command to its end and return it; its standard input is empty.

    subprocess.TimeoutExpired after ``limit`` seconds. However this call ends, the command and all
    it started end, too: in order within ``GRACE`` seconds, else killed.
    """
    reader, writer = os.pipe()
    process = subprocess.Popen(  # noqa: S603  # commands of the kit
        supervised(command),
        stdin=reader,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,  # signals of a terminal are for this process
    )
    os.close(reader)
    try:
        _, errors = process.communicate(timeout=limit)
    finally:
        os.close(writer)
        _wait(process)
    return subprocess.CompletedProcess([*command], process.returncode, stderr=errors)


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Its supervisor ends it in order; without a supervisor that answers, it is killed."""
    try:
        process.wait(2 * GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
