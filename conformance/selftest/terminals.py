"""Runs a program at a pseudo-terminal and keeps what is on the screen."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyte
from patience import patient

from .processes import process_table


@dataclass
class AtTerminal:
    """A program at a terminal of so many columns and lines."""

    process: "subprocess.Popen[bytes]"
    screen: pyte.HistoryScreen
    _stream: pyte.ByteStream
    _master: int
    written: bytes = b""
    _seen: list[list[str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The visible lines, and those that scrolled off at the top."""
        columns = range(self.screen.columns)
        above = ["".join(line[x].data for x in columns) for line in self.screen.history.top]
        return [line.rstrip() for line in (*above, *self.screen.display)]

    def shows(self, text: str) -> bool:
        """Return whether this text is visible now."""
        return any(text in line for line in self.lines())

    def until(self, condition: Callable[[], bool]) -> None:
        """Run until the condition holds; AssertionError if it never does."""
        ends = time.monotonic() + patient()
        while not condition():
            assert time.monotonic() < ends, self._status()
            if not self._reads() and self.process.poll() is not None:
                break
        assert condition(), self._status()

    def to_its_end(self) -> int:
        """Run until it ends; return the exit code."""
        ends = time.monotonic() + patient()
        while self.process.poll() is None:
            assert time.monotonic() < ends, self._status()
            self._reads()
        while self._reads():
            pass
        return self.process.returncode

    def _status(self) -> str:
        """Describe the screen and the processes that still run."""
        return "\n".join([*self.lines(), *process_table(self.process.pid)])

    def types(self, text: str) -> None:
        """Type this text."""
        os.write(self._master, text.encode())

    def presses_ctrl_c(self) -> None:
        """Press Ctrl-C."""
        self.types("\x03")

    def resizes(self, columns: int, lines: int) -> None:
        """Resize the window."""
        self.screen.resize(lines, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _reads(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 0.05)
        data = b""
        if ready:
            with suppress(OSError):  # the other end is closed
                data = os.read(self._master, 65536)
        self.written += data
        self._stream.feed(data)
        return bool(data)


@contextmanager
def at_terminal(
    command: Sequence[str],
    folder: Path,
    *,
    columns: int = 80,
    lines: int = 24,
    environment: Mapping[str, str] | None = None,
) -> Iterator[AtTerminal]:
    """Start a program at a terminal; end everything it started afterwards."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(  # noqa: S603  # ourselves
        list(command),
        cwd=folder,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**plain, "TERM": "xterm-256color", **(environment or {})},
        start_new_session=True,
        preexec_fn=_takes_the_terminal,  # noqa: PLW1509  # one call that takes no lock
    )
    os.close(slave)
    screen = pyte.HistoryScreen(columns, lines, history=2000)
    try:
        yield AtTerminal(process, screen, pyte.ByteStream(screen), master)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(patient())
        os.close(master)


def _takes_the_terminal() -> None:
    """Make standard input the controlling terminal, from which Ctrl-C comes."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
