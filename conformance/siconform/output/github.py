"""Outputs for GitHub Actions: annotations of failures, and the summary of the job."""

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from siconform.catalogue import AREAS
from siconform.config.command_line import CommandLine
from siconform.output.events import Event, NothingTested, RunFinished
from siconform.output.live.output import Output
from siconform.output.summary import worst_first
from siconform.policy import RequirementResult
from siconform.reporting.page import table
from siconform.results import Run
from siconform.verdicts import OF_ONE_SIDE, SHOWN

ANNOTATIONS: Final = 10  # GitHub shows no more of a step
_FAILURES: Final = 50  # in the summary, which may have 1 MiB
_LONGEST: Final = 300  # characters of a sentence
_LONGEST_COMMAND: Final = 4000  # characters
_ESCAPED: Final = {ord("%"): "%25", ord("\r"): "%0D", ord("\n"): "%0A"}
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>&~|$])")


class Annotations:
    """Prints the failures as workflow commands; those that decide the verdict are errors."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def on_event(self, event: Event) -> None:
        """Print at most ten annotations, failures of MUST first."""
        if not isinstance(event, RunFinished | NothingTested):
            return
        run, failed = event.run, worst_first(event.run.requirements)
        for result in failed[:ANNOTATIONS]:
            kind = "error" if result.decides(run.status) else "warning"
            self._output.line(annotation(kind, _title(result), _sentence(result)))
        if run.evaluation.exit_code and not failed:
            self._output.line(annotation("error", "siconform", run.evaluation.sentence))


class JobSummary:
    """Appends verdict, areas and failures to the job's summary, in Markdown."""

    def __init__(self, file: Path, command: CommandLine) -> None:
        self._file = file
        self._command = command

    def on_event(self, event: Event) -> None:
        """Append the summary; if that fails, print a warning."""
        if not isinstance(event, RunFinished | NothingTested):
            return
        text = "\n\n".join(self._blocks(event.run)) + "\n\n"
        try:
            with self._file.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            with suppress(OSError):
                sys.stderr.write(
                    f'siconform: warning: the job summary cannot be written to "{self._file}": '
                    f"{error.strerror}\n"
                )

    def _blocks(self, run: Run) -> Iterator[str]:
        yield f"### SI {run.status.revision}: {_plain(run.target.name)}"
        yield f"**{_plain(run.evaluation.sentence)}**"
        if run.status.unreachable:
            return
        yield _areas(run)
        failed = worst_first(run.requirements)
        for result in failed[:_FAILURES]:
            yield f"- **{_title(result)}**: {_plain(_sentence(result))}"
            command = self._command.again(result.requirement.id)
            if len(command) <= _LONGEST_COMMAND:
                yield textwrap.indent(_code_block(command), "  ")
        if len(failed) > _FAILURES:
            yield f"{len(failed) - _FAILURES} more failures are in results.json."


def _areas(run: Run) -> str:
    asked = [one for one in run.asked() if one.verdict not in OF_ONE_SIDE]
    shown = [verdict for verdict in SHOWN if any(one.verdict is verdict for one in asked)]
    counts = {
        area: Counter(one.verdict for one in asked if one.requirement.area == area)
        for area in AREAS
    }
    lines = [
        (area, *(found[verdict] or "" for verdict in shown))
        for area, found in counts.items()
        if found
    ]
    return table(["area", *(verdict.label for verdict in shown)], lines)


def _title(result: RequirementResult) -> str:
    return f"{result.requirement.id} {result.requirement.level} {result.verdict.label}"


def _sentence(result: RequirementResult) -> str:
    return f"{result.requirement.title}: {result.reason}"


def annotation(kind: str, title: str, sentence: str) -> str:
    """Return a workflow command, escaped as GitHub's toolkit does."""
    escaped = title.translate(_ESCAPED | {ord(":"): "%3A", ord(","): "%2C"})
    return f"::{kind} title={escaped}::{_clipped(sentence).translate(_ESCAPED)}"


def _plain(text: str) -> str:
    """Return one line of text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\1", " ".join(_clipped(text).split()))


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _code_block(command: str) -> str:
    """Return a block of code that no backticks in the command end."""
    longest = max(map(len, re.findall("`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{command}\n{fence}"
