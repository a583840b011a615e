"""Commands of the kit, in this process or as users start them, and the results of their runs."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from patience import patient
from siconform.cli import main

Completed = subprocess.CompletedProcess[str]


def invoke(*words: object) -> Result:
    """Return the result of ``siconform`` in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


def siconform(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Completed:
    """Return exit code and output of ``siconform`` in a process of its own."""
    return python("-m", "siconform", *words, cwd=cwd, env=env)


def python(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Completed:
    """Return exit code and output of Python with these arguments."""
    return finished([sys.executable, *map(str, words)], cwd, env)


def finished(
    command: list[str], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Completed:
    """Return exit code and output of a command."""
    return subprocess.run(  # noqa: S603  # commands of the tests
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False,
        timeout=patient(),
    )  # fmt: skip


@contextmanager
def started(*words: str, cwd: Path | None = None) -> Iterator["subprocess.Popen[str]"]:
    """Run a module of Python until the block ends."""
    command = (sys.executable, "-m", *words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:  # noqa: S603  # our own
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> str:
    """Return the first line of its output."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@dataclass(frozen=True)
class Reference:
    """The reference as a process of its own."""

    address: str
    pid: int


@contextmanager
def serving_reference() -> Iterator[Reference]:
    """Run the reference until the block ends."""
    with started("sireference", "serve", "--listen", "127.0.0.1:0") as process:
        yield Reference(first_line(process).removeprefix("listening on "), process.pid)


def results_in(folder: Path) -> dict[str, Any]:
    """Return the results of the run that wrote this folder."""
    document: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    return document
