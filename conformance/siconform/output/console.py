"""Console output of a run: quiet while it runs, the verdict last."""

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from siconform import __version__
from siconform.config.options import Settings
from siconform.config.results_dir import CannotWrite
from siconform.output import events, summary
from siconform.output.events import Event, RunFinished, RunStarted, TestPhaseEnded
from siconform.output.live.output import Output, fitted
from siconform.output.live.progress import RunProgress
from siconform.output.live.wording import so_far
from siconform.policy import RunVerdict
from siconform.reporting.certificate import FILE as CERTIFICATE
from siconform.results import Run
from siconform.verdicts import Role, Verdict

_FULL_TEXTS = 5  # failures shown in full; the others are in failures.txt
_HEARTBEAT = 30.0  # seconds between progress lines, if nothing is drawn
_COLOURS = {
    RunVerdict.CONFORMANT: Role.GOOD,
    RunVerdict.NON_CONFORMANT: Role.BAD,
    RunVerdict.INCOMPLETE: Role.OPEN,
    RunVerdict.KIT_ERROR: Role.ERROR,
}


class Console:
    """The report on the screen: target, failures at once, summary."""

    def __init__(self, output: Output, settings: Settings, progress: RunProgress) -> None:
        self._output = output
        self._settings = settings
        self._progress = progress
        self._last_line = time.monotonic()

    def on_event(self, event: Event) -> None:
        """Print what the event has to report."""
        is_quiet = self._output.verbosity < 0
        match event:
            case RunFinished(run):
                self._finish(run)
            case events.NothingTested(run):
                self._tested_nothing(run)
            case TestPhaseEnded():
                self._test(event)
                self._print_heartbeat()
            case RunStarted() if not is_quiet:
                self._header(event)
            case events.TargetsStarted(addresses) if not is_quiet:
                self._addresses(addresses)
            case events.RequirementFailed(evidence):
                self._last_line = time.monotonic()
                if not is_quiet:
                    self._output.line(summary.failure(evidence, self._output.width), Role.BAD)

    def _header(self, started: RunStarted) -> None:
        """Print kit, revision and target."""
        output, settings = self._output, self._settings
        name, version = started.target, started.version
        target = f"{name} ({version})" if version and version not in name else name
        output.text(f"siconform {__version__}   SI {settings.implemented}   target: {target}")
        if settings.target_file is not None:
            output.text(f"target file: {_from_here(settings.target_file)}")
        chosen = settings.chosen
        output.lines(summary.chosen(settings.selected_by, chosen, output.width))
        output.lines(summary.last_failed(settings.last_failed, chosen or (), output.width))
        output.line()

    def _addresses(self, addresses: Sequence[str]) -> None:
        """Print the addresses of the started target processes."""
        ports: dict[str, list[str]] = {}
        for address in addresses:
            host, _, port = address.rpartition(":")
            ports.setdefault(host, []).append(port)
        received = ", ".join(f"{host}:{', '.join(some)}" for host, some in ports.items())
        self._output.text(f"target at {received}")
        self._output.line()

    def _test(self, ended: TestPhaseEnded) -> None:
        """Print a finished test, with -v."""
        is_last = ended.phase == "call" or (ended.phase == "setup" and ended.outcome != "passed")
        if is_last and self._output.verbosity > 0:
            word = Verdict.BASELINED.label if ended.is_known else ended.outcome
            self._output.line(f"  {word:<8} {ended.test}   {ended.seconds:.2f} s")

    def _print_heartbeat(self) -> None:
        """Print the progress from time to time if it is not drawn."""
        now = time.monotonic()
        if now - self._last_line >= _HEARTBEAT:
            self._last_line = now
            if self._output.verbosity == 0 and self._output.screen is None:
                self._output.line(so_far(self._progress.view(now)))

    def _finish(self, run: Run) -> None:
        """Print the summary of the run."""
        output, settings = self._output, self._settings
        verbosity, width = output.verbosity, output.width
        evaluated = () if run.status.unreachable else run.requirements
        if verbosity >= 0 and evaluated:
            self._failures(run)
            output.lines(summary.by_area(run.asked(), width))
            output.line()
        output.text(run.evaluation.sentence, _COLOURS[run.evaluation.verdict])
        if verbosity >= -1:
            output.lines(summary.failing(evaluated, width))
            output.lines(summary.challenged(evaluated, width))
            output.lines(summary.untested(run, width) if evaluated else ())
            output.lines(summary.stale(run.status.stale, width))
            output.lines(summary.flaky(run.status.flaky, width))
            for error in run.status.kit_errors:
                output.text(f"  {Verdict.KIT_ERROR.label.upper()}  {error}")
        if verbosity > 0:
            output.lines(summary.recorded(evaluated, width))
        if verbosity >= 0:
            output.lines(summary.counts(run, width))
            output.lines(summary.observed(run, width))
            output.text(f"  results in {_shown(settings)}: {_files(run, settings)}")
            output.lines(summary.next_steps(run, settings.command_line) if evaluated else ())
            for text in summary.not_explored(run, settings.explore, settings.command_line):
                output.text(text)

    def _tested_nothing(self, run: Run) -> None:
        """Print why the run tested nothing, and that the results of an earlier run are kept."""
        self._output.text(run.evaluation.sentence, _COLOURS[run.evaluation.verdict])
        self._output.text(f"  {nothing_tested(self._settings)}")

    def _failures(self, run: Run) -> None:
        received = [
            f.text for f in run.failures if f.verdict is not Verdict.COULD_NOT_RUN and not f.known
        ]
        shown = received if self._output.verbosity > 0 else received[:_FULL_TEXTS]
        for text in shown:
            self._output.lines(
                row for line in text.splitlines() for row in fitted(line, self._output.width)
            )
            self._output.line()
        if len(received) > len(shown):
            self._output.line(f"{len(received) - len(shown)} more failures are in failures.txt")
            self._output.line()


class LastLine:
    """The exit code; raises CannotWrite if the screen could not be written to."""

    def __init__(self, output: Output, results: Path) -> None:
        self._output = output
        self._results = results

    def on_event(self, event: Event) -> None:
        """Print the exit code at the end, unless it is 0."""
        if not isinstance(event, RunFinished | events.NothingTested):
            return
        if event.run.evaluation.exit_code:
            self._output.line(f"(exit code {int(event.run.evaluation.exit_code)})")
        if broken := self._output.broken:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"siconform: {broken}; the results are in {self._results}\n")
            raise CannotWrite(broken)


def nothing_tested(settings: Settings) -> str:
    """Return the sentence of a run that keeps the results of an earlier one."""
    return f"nothing was tested; {_shown(settings)} has the results of an earlier run"


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
