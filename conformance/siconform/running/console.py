"""Console output of a run: quiet while it runs, the verdict last."""

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

_FULL_TEXTS = 5  # failures shown in full; the others are in failures.txt
_CONTINUED = 4  # columns of indentation for continuation lines
_COLOURS = {
    RunVerdict.CONFORMANT: Role.GOOD,
    RunVerdict.NON_CONFORMANT: Role.BAD,
    RunVerdict.INCOMPLETE: Role.OPEN,
    RunVerdict.KIT_ERROR: Role.ERROR,
}


class Console:
    """Writer to a terminal or file; ``verbosity`` is pytest's count of -v minus -q."""

    def __init__(self, terminal: Terminal, verbosity: int) -> None:
        self._terminal = terminal
        self._stream = terminal.stream
        self.broken = ""  # why output has failed, or ""
        self.first_lines: Sequence[str] = ()  # printed first at the end
        self.last_lines: Sequence[str] = ()  # printed last at the end
        self._verbosity = verbosity
        self._screen: Screen | None = None

    @property
    def can_draw(self) -> bool:
        """Whether to draw the progress: on a terminal with default verbosity."""
        return self._terminal.is_live and self._verbosity == 0

    def draws(self, view: Callable[[], View], waits: Callable[[], Iterable[Wait]]) -> None:
        """Draw the progress below all lines until the end of the run."""
        from siconform.running.live.screen import Screen  # noqa: PLC0415  # rich takes a moment

        try:
            self._screen = Screen(self._terminal, view, waits)
            self._screen.start()
        except OSError:
            self._screen = None

    def stops_drawing(self) -> None:
        """Stop drawing, if anything is drawn."""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None

    def notes(self, note: str) -> None:
        """Show a note instead of the remaining time."""
        if self._screen is not None:
            self._screen.note = note

    def header(self, settings: Settings, name: str, version: str) -> None:
        """Print kit, revision and target."""
        if self._verbosity < 0:
            return
        target = f"{name} ({version})" if version and version not in name else name
        self._text(f"siconform {__version__}   SI {settings.implemented}   target: {target}")
        if settings.target_file is not None:
            self._text(f"target file: {_from_here(settings.target_file)}")
        width, chosen = self._terminal.width(), settings.chosen
        self._lines(summary.chosen(settings.selected_by, chosen, width))
        self._lines(summary.last_failed(settings.last_failed, chosen or (), width))
        self.line()

    def addresses(self, addresses: Sequence[str]) -> None:
        """Print the addresses of the started target processes."""
        if self._verbosity >= 0:
            ports: dict[str, list[str]] = {}
            for address in addresses:
                host, _, port = address.rpartition(":")
                ports.setdefault(host, []).append(port)
            received = ", ".join(f"{host}:{', '.join(some)}" for host, some in ports.items())
            self._text(f"target at {received}")
            self.line()

    def test(self, report: pytest.TestReport) -> None:
        """Print a finished test, with -v."""
        if self._verbosity > 0:
            known = Verdict.BASELINED.label
            word = known if hasattr(report, "wasxfail") else report.outcome
            self.line(f"  {word:<8} {report.nodeid}   {report.duration:.2f} s")

    def failure(self, evidence: Evidence) -> None:
        """Print a violated requirement at once."""
        if self._verbosity >= 0:
            self.line(summary.failure(evidence, self._terminal.width()), Role.BAD)

    def so_far(self, view: View) -> None:
        """Print the progress if it is not drawn."""
        if self._verbosity == 0 and self._screen is None:
            self.line(so_far(view))

    def finish(self, run: Run, settings: Settings) -> None:
        """Print the summary of the run."""
        self.stops_drawing()
        width = self._terminal.width()
        evaluated = () if run.status.unreachable else run.requirements
        self._lines(self.first_lines)
        if self._verbosity >= 0 and evaluated:
            self._failures(run)
            self._lines(summary.by_area(run.asked(), width))
            self.line()
        self._text(run.evaluation.sentence, _COLOURS[run.evaluation.verdict])
        if self._verbosity >= -1:
            self._lines(summary.failing(evaluated, width))
            self._lines(summary.challenged(evaluated, width))
            self._lines(summary.untested(run, width) if evaluated else ())
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
            for text in summary.not_explored(run, settings.explore, settings.command_line):
                self._text(text)
        self._lines(self.last_lines)
        if run.evaluation.exit_code:
            self.line(f"(exit code {int(run.evaluation.exit_code)})")

    def line(self, text: str = "", colour: str = "") -> None:
        """Print a line; characters that cannot be encoded become question marks."""
        encoding = self._stream.encoding or "utf-8"
        plain = text.encode(encoding, "replace").decode(encoding)
        if self._screen is not None:
            self._screen.line(plain, f"bold {colour}" if colour else "")
            return
        colours = bool(colour) and self._terminal.colour
        self._write((click.style(plain, fg=colour, bold=True) if colours else plain) + "\n")

    def _text(self, text: str, colour: str = "") -> None:
        """Print text, wrapped on a terminal."""
        rows = _fitted(text, self._terminal.width()) if self._stream.isatty() else [text]
        for row in rows:
            self.line(row, colour)

    def _write(self, text: str) -> None:
        """Write, but do not fail the run if the output is closed, as after ``| head``."""
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
            self.line(f"{len(received) - len(shown)} more failures are in failures.txt")
            self.line()


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


def _fitted(line: str, width: int) -> list[str]:
    """Wrap the line, but keep commands on one line for copying."""
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
