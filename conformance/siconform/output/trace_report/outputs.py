"""Shows the result of a trace on the screen, and stores it in a results folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from siconform import results
from siconform.baseline import Baseline
from siconform.catalogue import Level
from siconform.config.results_dir import ResultsDir
from siconform.monitors.trace_result import TraceResult
from siconform.output.github import ANNOTATIONS, annotation
from siconform.output.live.output import Output
from siconform.output.trace_report import junit
from siconform.output.trace_report.console import TraceConsole
from siconform.output.trace_report.document import Check, document, texts
from siconform.output.trace_report.evaluation import TraceEvaluation, evaluate
from siconform.policy import ExitCode
from siconform.reporting.html.rendering import render_trace
from siconform.reporting.html.report import FILE as PAGE
from siconform.reporting.html.trace_page import trace_page

FAILURES: Final = "failures.txt"
FOLLOWED: Final = "the trace is still being followed"


@dataclass(frozen=True, slots=True)
class Showing:
    """How a result is evaluated, shown and stored."""

    output: Output
    folder: Path | None = None  # of --results
    baseline: Baseline = field(default_factory=Baseline)
    fail_on: Level = Level.MUST


class TraceOutputs:
    """The outputs of one check; ``close`` unlocks the results folder.

    Raises BadOption, or CannotWrite for a full disk, if the results folder is unusable.
    """

    def __init__(self, showing: Showing) -> None:
        self._showing = showing
        self._console = TraceConsole(showing.output)
        self._owned = ResultsDir(showing.folder) if showing.folder is not None else None
        if self._owned is not None:
            self._owned.lock(junit.FILE, f"{PAGE}.new")
            self._owned.begin()

    def begin(self, source: str, revision: str) -> None:
        """Print what is checked."""
        self._console.begin(source, revision)

    def update(self, result: TraceResult, check: Check) -> None:
        """Print new violations and store preliminary results of a trace that is followed."""
        evaluation = self._evaluated(result)
        self._console.meanwhile(evaluation)
        self._store(self._document(evaluation, replace(check, ended_early=FOLLOWED)))

    def finish(self, result: TraceResult, check: Check) -> ExitCode:
        """Print and store the result; return the exit code."""
        evaluation = self._evaluated(result)
        received = self._document(evaluation, check)
        self._store(received)
        self._console.finish(evaluation, received, self._stored())
        if self._showing.output.verbosity >= 0 and os.environ.get("GITHUB_ACTIONS"):
            self._annotate(evaluation)
        return evaluation.exit_code

    def code_of(self, result: TraceResult) -> ExitCode:
        """Return the exit code of a result."""
        return self._evaluated(result).exit_code

    def close(self) -> None:
        """Unlock the results folder; with earlier results, if there are no new ones."""
        if self._owned is not None:
            self._owned.release()

    def _evaluated(self, result: TraceResult) -> TraceEvaluation:
        return evaluate(result, self._showing.baseline, self._showing.fail_on)

    def _document(self, evaluation: TraceEvaluation, check: Check) -> dict[str, Any]:
        return document(evaluation, check)

    def _store(self, received: Mapping[str, Any]) -> None:
        if self._owned is None or self._showing.folder is None:
            return
        folder = self._showing.folder
        self._owned.replace()
        results.write(received, folder)
        junit.write(received, folder)
        _write(folder / FAILURES, "\n\n\n".join(texts(received)))
        unfinished = folder / f"{PAGE}.new"
        unfinished.write_text(render_trace(trace_page(received)), "utf-8", "backslashreplace")
        unfinished.replace(folder / PAGE)

    def _stored(self) -> str:
        folder = self._showing.folder
        if folder is None:
            return ""
        files = [PAGE, results.FILE, junit.FILE]
        files += [FAILURES] if (folder / FAILURES).exists() else []
        return f"{folder}: {', '.join(files)}"

    def _annotate(self, evaluation: TraceEvaluation) -> None:
        """Print workflow commands for GitHub, as a run does."""
        for one in evaluation.violated()[:ANNOTATIONS]:
            kind = "error" if evaluation.decides(one) else "warning"
            title = f"{one.requirement.id} {one.requirement.level} {one.outcome.label}"
            sentence = f"{one.requirement.title}: {one.reason}"
            self._showing.output.line(annotation(kind, title, sentence))


def _write(file: Path, text: str) -> None:
    if text:
        file.write_text(text + "\n", "utf-8", "backslashreplace")
    else:
        file.unlink(missing_ok=True)
