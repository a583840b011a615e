"""What ``siconform check-trace`` prints: violations, areas, the verdict, what was not seen."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from siconform import __version__
from siconform.catalogue import AREAS
from siconform.output import summary
from siconform.output.live.output import Output, fitted
from siconform.output.live.terminal import WIDTH
from siconform.output.trace_report.document import texts
from siconform.output.trace_report.evaluation import Conclusion, SeenRequirement, TraceEvaluation
from siconform.trace_outcomes import TraceOutcome
from siconform.verdicts import Labelled, Role

_FULL_TEXTS: Final = 5  # violations shown in full; the others are in failures.txt
_COLOURS: Final[Mapping[Conclusion, Role]] = {
    Conclusion.NON_CONFORMANT: Role.BAD,
    Conclusion.NO_VIOLATION: Role.NEUTRAL,
    Conclusion.NOTHING: Role.OPEN,
}
_SHOWN: Final = (
    TraceOutcome.HELD,
    *(outcome for outcome in TraceOutcome if outcome is not TraceOutcome.HELD),
)
"""The order in the line of an area, where a run begins with what passed."""

_ALWAYS_COUNTED: Final = (TraceOutcome.VIOLATED, TraceOutcome.HELD, TraceOutcome.NOT_EXERCISED)


class TraceConsole:
    """The report on the screen."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._shown: set[tuple[str, str]] = set()  # requirement and message

    def begin(self, source: str, revision: str) -> None:
        """Print kit, revision and trace."""
        if self._output.verbosity >= 0:
            self._output.text(f"siconform {__version__}   SI {revision}   trace: {source}")
            self._output.line()

    def meanwhile(self, evaluation: TraceEvaluation) -> None:
        """Print the violations that were not printed yet, one line each."""
        for one in evaluation.violated():
            for found in one.violations:
                key = one.requirement.id, found.message
                if found.outcome is TraceOutcome.VIOLATED and key not in self._shown:
                    self._shown.add(key)
                    self._output.line(_found(one, found.first.message, self._width), Role.BAD)

    def finish(self, evaluation: TraceEvaluation, results: Mapping[str, Any], stored: str) -> None:
        """Print the result; ``stored`` is where it was written to, "" for nowhere."""
        output, verbosity = self._output, self._output.verbosity
        if verbosity >= 0:
            self._violations(results, stored)
            output.lines(_areas(evaluation, self._width))
            output.line()
        output.text(evaluation.sentence, _COLOURS[evaluation.verdict])
        if verbosity >= -1:
            for one in evaluation.violated():
                output.lines(_listed(one, self._width))
        if verbosity > 0:
            output.lines(_all(evaluation, self._width))
        if verbosity >= 0:
            output.lines(_counts(evaluation, results["seconds"], self._width))
            output.lines(_read(results, self._width))
            output.lines(_unseen(results, self._width))
            output.lines(_baseline(results, self._width))
            if stored:
                output.text(f"  results in {stored}")
            if failed := evaluation.violated():
                output.line(f"Look closer:  siconform explain {failed[0].requirement.id}")
        if evaluation.exit_code:
            output.line(f"(exit code {int(evaluation.exit_code)})")

    @property
    def _width(self) -> int:
        return self._output.width

    def _violations(self, results: Mapping[str, Any], stored: str) -> None:
        received = list(texts(results))
        shown = received if self._output.verbosity > 0 else received[:_FULL_TEXTS]
        for text in shown:
            for line in text.splitlines():
                self._output.lines(fitted(line, self._width))
            self._output.line()
        if len(received) > len(shown):
            place = "are in failures.txt" if stored else "are shown with -v"
            self._output.line(f"{len(received) - len(shown)} more violations {place}")
            self._output.line()


def _found(one: SeenRequirement, message: str, width: int) -> str:
    head = f"{one.outcome.label.upper()} {one.requirement.id:<12} {one.requirement.level:<6}"
    return _clipped(f"{head} {message}", width)


def _areas(evaluation: TraceEvaluation, width: int) -> Iterator[str]:
    for area in AREAS:
        found: Counter[Labelled] = Counter(
            one.outcome for one in evaluation.requirements if one.requirement.area == area
        )
        yield from summary.area_line(area, found, _SHOWN, width)


def _listed(one: SeenRequirement, width: int) -> Iterator[str]:
    requirement = one.requirement
    head = f"  {one.outcome.label.upper():<8} {requirement.id:<12} {requirement.level:<6}"
    yield _clipped(f"{head} {requirement.title}", width)
    yield _clipped(f"{'':<11}{one.reason}", width)


def _all(evaluation: TraceEvaluation, width: int) -> Iterator[str]:
    """Yield every requirement that is not listed as violated."""
    for one in evaluation.requirements:
        if one.outcome is not TraceOutcome.VIOLATED:
            requirement = one.requirement
            held = one.outcome is TraceOutcome.HELD
            shown = one.reason if held else one.outcome.explained(one.reason)
            yield _clipped(f"  {requirement.id:<12} {requirement.level:<6} {shown}", width)


def _counts(evaluation: TraceEvaluation, seconds: float, width: int) -> Iterator[str]:
    counts = evaluation.counts()
    received = ", ".join(
        outcome.counted(counts[outcome])
        for outcome in TraceOutcome
        if counts[outcome] or outcome in _ALWAYS_COUNTED
    )
    lines = textwrap.wrap(received, width - 14, initial_indent="  ", subsequent_indent="  ")
    lines[-1] = f"{lines[-1]:<{width - 12}}{seconds:>8.1f} s"
    yield from lines


def _read(results: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield how much was read."""
    trace = results["trace"]
    rms, files = len(trace["rms"]), len(trace["files"])
    received = (
        f"read: {trace['messages']:,} messages of {rms} RM{'' if rms == 1 else 's'} within "
        f"{trace['seconds']:,.1f} s, {files} file{'' if files == 1 else 's'}"
    )
    yield from _wrapped(received, width)


def _unseen(results: Mapping[str, Any], width: int) -> Iterator[str]:
    for one in results["unseen"]:
        yield from _wrapped(f"not seen: {one['what']}: {one['means']}", width)


def _baseline(results: Mapping[str, Any], width: int) -> Iterator[str]:
    for sentence in (*results["baseline"]["not_seen"], *results["notes"]):
        yield from _wrapped(f"baseline: {sentence}", width)


def _wrapped(text: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def _clipped(text: str, width: int) -> str:
    line = " ".join(text.split("\n"))
    return line if len(line) <= width else line[: width - 3] + "..."
