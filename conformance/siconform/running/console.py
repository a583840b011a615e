"""Puts a run on the terminal: quiet while it runs, the verdict last."""

import os
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

import click
import pytest

from siconform import __version__
from siconform.guarding import silence
from siconform.policy import RunVerdict
from siconform.results import Run
from siconform.running import summary
from siconform.running.options import Settings
from siconform.verdicts import Verdict

_FULL_TEXTS = 5  # failures told in full; the rest is in failures.txt
_CONTINUED = 4  # columns the rest of a long line is moved in
_COLOURS = {
    RunVerdict.CONFORMANT: "green",
    RunVerdict.NON_CONFORMANT: "red",
    RunVerdict.INCOMPLETE: "yellow",
    RunVerdict.KIT_ERROR: "magenta",
}


class Console:
    """Writes to one stream; ``verbosity`` is pytest's count of -v less -q."""

    def __init__(self, stream: TextIO, verbosity: int) -> None:
        self._stream = stream
        self.broken = ""  # why nothing can be written there any more
        self._verbosity = verbosity
        self._terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colour = self._terminal and "NO_COLOR" not in os.environ
        self._progress = 0

    def header(self, settings: Settings, name: str, version: str) -> None:
        """Kit, revision and target."""
        if self._verbosity < 0:
            return
        target = f"{name} ({version})" if version and version not in name else name
        self.line(f"siconform {__version__}   SI {settings.spoken}   target: {target}")
        self.line()

    def test(self, report: pytest.TestReport, so_far: str) -> None:
        """Count a test that is over; ``so_far`` shows only where it can be written over."""
        if self._verbosity > 0:
            word = "known" if hasattr(report, "wasxfail") else report.outcome
            self.line(f"  {word:<8} {report.nodeid}   {report.duration:.2f} s")
        elif self._terminal:
            self._rewrite(f" {so_far}")

    def finish(self, run: Run, settings: Settings) -> None:
        """Everything there is to say at the end."""
        if self._terminal:
            self._rewrite("")
        nobody_there = bool(run.status.unreachable)
        if self._verbosity >= 0 and not nobody_there:
            self._failures(run)
            self._lines(summary.by_area(run.requirements))
            self.line()
        self.line(run.judgement.sentence, _COLOURS[run.judgement.verdict])
        if self._verbosity >= -1:
            self._lines(() if nobody_there else summary.failing(run.requirements))
            self._lines(() if nobody_there else summary.not_offered(run.requirements))
            self._lines(() if nobody_there else summary.excluded(run.requirements))
            self._lines(summary.stale(run.status.stale))
            self._lines(f"  KIT ERROR  {error}" for error in run.status.kit_errors)
        if self._verbosity > 0:
            self._lines(summary.recorded(run.requirements))
        if self._verbosity >= 0:
            self._lines(summary.counts(run))
            self._lines(summary.observed(run))
            self.line(f"  results in {_shown(settings)}: {_files(run)}")
            self._lines(() if nobody_there else summary.next_steps(run, settings.command_line))
            self._lines(summary.not_looked_for(run, settings.explore))
        if run.judgement.exit_code:
            self.line(f"(exit code {int(run.judgement.exit_code)})")

    def line(self, text: str = "", colour: str = "") -> None:
        """One line; what the terminal cannot show becomes a question mark."""
        encoding = self._stream.encoding or "utf-8"
        plain = text.encode(encoding, "replace").decode(encoding)
        styled = click.style(plain, fg=colour, bold=True) if colour and self._colour else plain
        self._write(styled + "\n")

    def _write(self, text: str) -> None:
        """What nobody can read any more, as after ``| head``, must not end a run in its middle."""
        if self.broken:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self.broken = f"standard output cannot be written to: {error.strerror}"
            silence(self._stream)

    def _lines(self, lines: Iterable[str]) -> None:
        for text in lines:
            self.line(text)

    def _failures(self, run: Run) -> None:
        told = [f.text for f in run.failures if f.verdict is not Verdict.COULD_NOT_RUN]
        shown = told if self._verbosity > 0 else told[:_FULL_TEXTS]
        for text in shown:
            self._lines(row for line in text.splitlines() for row in _fitted(line))
            self.line()
        if len(told) > len(shown):
            self.line(f"{len(told) - len(shown)} more are told in failures.txt")
            self.line()

    def _rewrite(self, text: str) -> None:
        padded = text.ljust(self._progress)
        self._progress = len(text)
        self._write(f"\r{padded}\r{text}")


class BestEffortStream:
    """A stream nobody depends on: a run goes on where it cannot be written to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write what can be written; the length of it all in any case."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, if that is possible."""
        with suppress(OSError):
            self._stream.flush()

    def close(self) -> None:
        """Close the stream, if that is possible."""
        with suppress(OSError):
            self._stream.close()


def _fitted(line: str) -> list[str]:
    """The line in rows that fit; a command stays one line, to be copied."""
    if len(line) <= summary.WIDTH or line.startswith("  again"):
        return [line]
    margin = " " * min(len(line) - len(line.lstrip()) + _CONTINUED, summary.WIDTH // 2)
    return textwrap.wrap(line, summary.WIDTH, subsequent_indent=margin, drop_whitespace=False)


def _shown(settings: Settings) -> str:
    shown = os.path.relpath(settings.results)
    return str(settings.results) if shown.startswith("..") else shown


def _files(run: Run) -> str:
    files = ["results.json"]
    if not run.status.unreachable:
        files.append("junit.xml")
    if run.failures:
        files += ["failures.txt", "histories"]
    return ", ".join(files)
