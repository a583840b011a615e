"""The printed lines of a run, and streams that may be closed while it runs."""

import textwrap
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from siconform.internal_errors import silence
from siconform.output.live.terminal import Terminal

if TYPE_CHECKING:
    from siconform.output.live.screen import Screen

_CONTINUED = 4  # columns of indentation for continuation lines


class Output:
    """Lines on a terminal or in a file; ``verbosity`` is pytest's count of -v minus -q."""

    def __init__(self, terminal: Terminal, verbosity: int) -> None:
        self.terminal = terminal
        self.verbosity = verbosity
        self.screen: Screen | None = None  # draws below all lines
        self.broken = ""  # why output has failed, or ""

    @property
    def width(self) -> int:
        """The current columns for a report."""
        return self.terminal.width()

    def line(self, text: str = "", colour: str = "") -> None:
        """Print a line; characters that cannot be encoded become question marks."""
        encoding = self.terminal.stream.encoding or "utf-8"
        plain = text.encode(encoding, "replace").decode(encoding)
        if self.screen is not None:
            self.screen.line(plain, f"bold {colour}" if colour else "")
            return
        colours = bool(colour) and self.terminal.colour
        self._write((click.style(plain, fg=colour, bold=True) if colours else plain) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Print these lines."""
        for text in lines:
            self.line(text)

    def text(self, text: str, colour: str = "") -> None:
        """Print text, wrapped on a terminal."""
        rows = fitted(text, self.width) if self.terminal.stream.isatty() else [text]
        for row in rows:
            self.line(row, colour)

    def _write(self, text: str) -> None:
        """Write, but do not fail the run if the output is closed, as after ``| head``."""
        if self.broken:
            return
        stream = self.terminal.stream
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            self.broken = f"standard output cannot be written to: {error.strerror}"
            silence(stream)


class BestEffortStream:
    """An optional stream: write errors are ignored."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write if possible; return the length of the text in any case."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, if possible."""
        with suppress(OSError):
            self._stream.flush()

    def close(self) -> None:
        """Close the stream, if possible."""
        with suppress(OSError):
            self._stream.close()


def fitted(line: str, width: int) -> list[str]:
    """Wrap the line, but keep commands on one line for copying."""
    if len(line) <= width or line.startswith("  again"):
        return [line]
    margin = " " * min(len(line) - len(line.lstrip()) + _CONTINUED, width // 2)
    return textwrap.wrap(line, width, subsequent_indent=margin, drop_whitespace=False)
