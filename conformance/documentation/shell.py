"""A shell in a temporary folder, in which the commands of one page run."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from documentation.blocks import CHECKOUT

LONGEST: Final = 600.0
"""Seconds after which a command is stopped: one that takes a minute may have a busy machine."""
START: Final = 60.0
"""Seconds until a background command has to print its first line."""
PAUSE: Final = 0.05
_HUNK = re.compile(r"^@@.*\n", re.MULTILINE)
_ADDRESS = re.compile(r"127\.0\.0\.1:(\d{4,5})")
_CODE = "echo $?"
_OURS = frozenset({"CI", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR"})
"""Differences of this environment from that of an interactive shell."""
_PROGRAMS = ("siconform", "sireference")


class Shell:
    """Runs commands one after the other; those that end with ``&`` run until it is closed.

    An address ``127.0.0.1:PORT`` in a command is replaced by a free one, and replaced back in the
    output of the command.
    """

    def __init__(self, folder: Path) -> None:
        """Take an empty folder; its programs are those of this Python."""
        self.folder = folder / "work"
        self.folder.mkdir()
        self.environment = _environment(folder)
        self._code = 0
        self._ports: dict[str, str] = {}
        self._background: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []

    def __enter__(self) -> Self:
        """Return the shell."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End background commands."""
        for process, output in self._background:
            _ended(process)
            output.close()

    def runs(self, command: str) -> str:
        """Return the output of a command, stderr last; of a background command the first line."""
        if command == _CODE:
            return f"{self._code}\n"
        command = _ADDRESS.sub(lambda found: f"127.0.0.1:{self._free(found[1])}", command)
        received = self._begun(command) if command.endswith("&") else self._done(command)
        for shown, free in self._ports.items():
            received = received.replace(f"127.0.0.1:{free}", f"127.0.0.1:{shown}")
        return received.replace(str(self.folder), "/home/you/work")

    def edits(self, diff: str, *, file: str = "") -> None:
        """Apply a diff to the only Markdown file; each hunk has to match exactly once."""
        (path,) = [self.folder / file] if file else self.folder.glob("*.md")
        text = path.read_text("utf-8")
        for hunk in filter(None, _HUNK.split(diff)):
            lines = hunk.splitlines(keepends=True)
            before, after = (
                "".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +")
            )
            if text.count(before) != 1:
                raise ValueError(f"{path.name} does not contain exactly once:\n{before}")
            text = text.replace(before, after)
        path.write_text(text, "utf-8")

    def _free(self, port: str) -> str:
        if port not in self._ports:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._ports[port] = str(free.getsockname()[1])
        return self._ports[port]

    def _done(self, command: str) -> str:
        with self._process(command, subprocess.PIPE, subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                _ended(process)
                raise TimeoutError(f"timeout after {LONGEST:g} s: {command}") from None
        self._code = process.returncode
        return (out + err).decode()

    def _begun(self, command: str) -> str:
        output = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the shell is left
        process = self._process(f"exec {command.rstrip('& ')}", output, subprocess.STDOUT)
        self._background.append((process, output))
        latest = time.monotonic() + START
        while time.monotonic() < latest:
            output.seek(0)
            if (sent := output.read()).endswith(b"\n"):
                return sent.decode()
            if process.poll() is not None:
                break
            time.sleep(PAUSE)
        raise TimeoutError(f"no output before it ended, or within {START:g} s: {command}")

    def _process(
        self, command: str, out: int | IO[bytes], err: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # the page's own commands
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a command and its children, and wait for it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(START)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(folder: Path) -> dict[str, str]:
    programs = folder / "bin"
    programs.mkdir()
    for name in _PROGRAMS:
        started = (
            f"import sys\nfrom {name}.cli import main\nsys.argv[0] = {name!r}\nsys.exit(main())"
        )
        _program(programs / name, f"#!{sys.executable}\n{started}\n")
    _program(programs / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "An author"), ("EMAIL", "author@example.org"))
    }
    return {
        **{name: value for name, value in os.environ.items() if name not in _OURS},
        **people,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "CHECKOUT": str(CHECKOUT),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


def _program(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)
