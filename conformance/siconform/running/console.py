"""Puts a run on the terminal: quiet while it runs, the verdict last."""

import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import pytest

from siconform import __version__
from siconform.guarding import silence
from siconform.policy import RunVerdict
from siconform.reporting.certificate import FILE as CERTIFICATE
from siconform.results import Run
from siconform.running import summary
from siconform.running.live.board import Wait
from siconform.running.live.progress import View
from siconform.running.live.terminal import Terminal
from siconform.running.live.wording import so_far
from siconform.running.options import Settings
from siconform.verdicts import Evidence, Role, Verdict

if TYPE_CHECKING:
    from siconform.running.live.screen import Screen

_FULL_TEXTS = 5  # failures told in full; the rest is in failures.txt
_CONTINUED = 4  # columns the rest of a long line is moved in
_COLOURS = {
    RunVerdict.CONFORMANT: Role.GOOD,
    RunVerdict.NON_CONFORMANT: Role.BAD,
    RunVerdict.INCOMPLETE: Role.OPEN,
    RunVerdict.KIT_ERROR: Role.ERROR,
}


class Console:
    """Writes to one terminal or file; ``verbosity`` is pytest's count of -v less -q."""

    def __init__(self, terminal: Terminal, verbosity: int) -> None:
        self._terminal = terminal
        self._stream = terminal.stream
        self.broken = ""  # why nothing can be written there any more
        self.received_first: Sequence[str] = ()  # at the end, before anything else
        self.last_lines: Sequence[str] = ()  # at the end, after everything else
        self._verbosity = verbosity
        self._screen: Screen | None = None

    @property
    def can_draw(self) -> bool:
        """Whether to show how far a run has come: on a terminal, if nothing else is asked for."""
        return self._terminal.is_live and self._verbosity == 0

    def draws(self, view: Callable[[], View], waits: Callable[[], Iterable[Wait]]) -> None:
        """Show this, below all lines, until the run is over."""
        from siconform.running.live.screen import Screen  # noqa: PLC0415  # rich takes a moment

        try:
            self._screen = Screen(self._terminal, view, waits)
            self._screen.start()
        except OSError:
            self._screen = None

    def stops_drawing(self) -> None:
        """Nothing is drawn any more; harmless where nothing was."""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None

    def notes(self, note: str) -> None:
        """Show this in place of the time that is left."""
        if self._screen is not None:
            self._screen.note = note

    def header(self, settings: Settings, name: str, version: str) -> None:
        """Kit, revision and target."""
        if self._verbosity < 0:
            return
        target = f"{name} ({version})" if version and version not in name else name
        self._text(f"siconform {__version__}   SI {settings.implemented}   target: {target}")
        if settings.target_file is not None:
            self._text(f"target file: {_from_here(settings.target_file)}")
        self._lines(summary.chosen(settings.filters.words, settings.chosen, self._terminal.width()))
        self.line()

    def addresses(self, addresses: Sequence[str]) -> None:
        """Where the processes listen that were started as the target."""
        if self._verbosity >= 0:
            ports: dict[str, list[str]] = {}
            for address in addresses:
                host, _, port = address.rpartition(":")
                ports.setdefault(host, []).append(port)
            received = ", ".join(f"{host}:{', '.join(some)}" for host, some in ports.items())
            self._text(f"target at {received}")
            self.line()

    def test(self, report: pytest.TestReport) -> None:
        """A test that is over, where each is asked for."""
        if self._verbosity > 0:
            known = Verdict.BASELINED.label
            word = known if hasattr(report, "wasxfail") else report.outcome
            self.line(f"  {word:<8} {report.nodeid}   {report.duration:.2f} s")

    def failure(self, evidence: Evidence) -> None:
        """A requirement that is not kept, as soon as that is known."""
        if self._verbosity >= 0:
            self.line(summary.failure(evidence, self._terminal.width()), Role.BAD)

    def so_far(self, view: View) -> None:
        """How far it is, where nobody sees it drawn."""
        if self._verbosity == 0 and self._screen is None:
            self.line(so_far(view))

    def finish(self, run: Run, settings: Settings) -> None:
        """Everything there is to say at the end."""
        self.stops_drawing()
        width = self._terminal.width()
        evaluated = () if run.status.unreachable else run.requirements
        self._lines(self.received_first)
        if self._verbosity >= 0 and evaluated:
            self._failures(run)
            self._lines(summary.by_area(run.asked(), width))
            self.line()
        self._text(run.evaluation.sentence, _COLOURS[run.evaluation.verdict])
        if self._verbosity >= -1:
            self._lines(summary.failing(evaluated, width))
            self._lines(summary.challenged(evaluated, width))
            self._lines(summary.not_offered(evaluated, width))
            self._lines(summary.excluded(run.asked_by_name() if evaluated else (), width))
            self._lines(summary.stale(run.status.stale, width))
            self._lines(summary.flaky(run.status.flaky, width))
            for error in run.status.kit_errors:
                self._text(f"  {Verdict.KIT_ERROR.label.upper()}  {error}")
        if self._verbosity > 0:
            self._lines(summary.recorded(evaluated, width))
        if self._verbosity >= 0:
            self._lines(summary.counts(run, width))
            self._lines(summary.observed(run, width))
            self._text(f"  results in {_shown(settings)}: {_files(run, settings)}")
            self._lines(summary.next_steps(run, settings.command_line) if evaluated else ())
            for text in summary.not_looked_for(run, settings.explore, settings.command_line):
                self._text(text)
        self._lines(self.last_lines)
        if run.evaluation.exit_code:
            self.line(f"(exit code {int(run.evaluation.exit_code)})")

    def line(self, text: str = "", colour: str = "") -> None:
        """One line; what the terminal cannot show becomes a question mark."""
        encoding = self._stream.encoding or "utf-8"
        plain = text.encode(encoding, "replace").decode(encoding)
        if self._screen is not None:
            self._screen.line(plain, f"bold {colour}" if colour else "")
            return
        colours = bool(colour) and self._terminal.colour
        self._write((click.style(plain, fg=colour, bold=True) if colours else plain) + "\n")

    def _text(self, text: str, colour: str = "") -> None:
        """Words that a terminal shows in as many lines as it takes."""
        rows = _fitted(text, self._terminal.width()) if self._stream.isatty() else [text]
        for row in rows:
            self.line(row, colour)

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
        received = [
            f.text for f in run.failures if f.verdict is not Verdict.COULD_NOT_RUN and not f.known
        ]
        shown = received if self._verbosity > 0 else received[:_FULL_TEXTS]
        for text in shown:
            self._lines(
                row for line in text.splitlines() for row in _fitted(line, self._terminal.width())
            )
            self.line()
        if len(received) > len(shown):
            self.line(f"{len(received) - len(shown)} more are told in failures.txt")
            self.line()


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


def _fitted(line: str, width: int) -> list[str]:
    """The line in rows that fit; a command stays one line, to be copied."""
    if len(line) <= width or line.startswith("  again"):
        return [line]
    margin = " " * min(len(line) - len(line.lstrip()) + _CONTINUED, width // 2)
    return textwrap.wrap(line, width, subsequent_indent=margin, drop_whitespace=False)


def _shown(settings: Settings) -> str:
    shown = os.path.relpath(settings.results)
    return str(settings.results) if shown.startswith("..") else shown


def _from_here(file: Path) -> str:
    return os.path.relpath(file) if file.is_relative_to(Path.cwd().parent) else str(file)


def _files(run: Run, settings: Settings) -> str:
    if run.status.unreachable:
        return "results.json"
    junit = settings.command_line.value_of_any("--junitxml", "--junit-xml") or "junit.xml"
    files = ["report.html", "results.json", junit]
    if run.failures:
        files += ["failures.txt", "histories"]
    if (settings.results / CERTIFICATE).exists():
        files.append(CERTIFICATE)
    return ", ".join(files)
