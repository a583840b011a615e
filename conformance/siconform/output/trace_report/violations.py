"""A violation with the messages around it, as rows and as text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from siconform.catalogue import Side
from siconform.monitors.registry import side_of
from siconform.monitors.trace_result import Position, TraceResult, Violation
from siconform.output import side_by_side
from siconform.output.failure_text import ONLY_IF, entry, heading, labelled, wrapped
from siconform.output.trace_report.evaluation import SeenRequirement, SeenViolation, times
from siconform.recording import exchange_text
from siconform.recording.exchange_text import Line
from siconform.recording.trace_lines import STANDARD_INPUT
from siconform.trace_outcomes import TraceOutcome
from siconform.verdicts import Verdict

_BY: Final = {Side.SCHEDULER: "the scheduler", Side.RM: "the RM"}
_HEAD: Final = "the exchange (indented: the scheduler)"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Messages around a violation."""

    lines: tuple[Line, ...] = ()
    records: tuple[Mapping[str, Any], ...] = ()  # of the lines
    violating: Collection[int] = field(default_factory=frozenset)  # places of its lines


def excerpt(violation: Violation, result: TraceResult) -> Excerpt:
    """Return the messages around a violation, without barriers, which are a test's own."""
    here = violation.position.file_number, violation.position.line
    records = [
        {**record, "fence": False, "aside": record.get("aside", False)}
        for record in result.around.get(violation, ())
        if record["place"] == here or not record["fence"]
    ]
    lines = exchange_text.lines(records, shorten=_as_it_is)
    violating = frozenset(place for place, one in enumerate(records) if one["place"] == here)
    return Excerpt(tuple(lines), tuple(records), violating)


def where(position: Position) -> str:
    """Return the place of a line: "trace-2.jsonl, line 17"."""
    is_file = position.file not in ("", STANDARD_INPUT)
    return f"{position.file}, line {position.line}" if is_file else f"line {position.line}"


def text_of(one: SeenRequirement, found: SeenViolation, also: Sequence[str], shown: Excerpt) -> str:
    """Return the requirement, what happened, the messages and an entry for the baseline."""
    first = found.first
    lines = [heading(found.outcome, one.requirement), wrapped(one.requirement.text), ""]
    lines += [
        labelled("happened", first.message),
        labelled("by", _BY[side_of(first.monitor)]),
        labelled("where", f"{where(first.position)}, RM {first.rm}"),
        labelled("seen by", f"the monitor {first.monitor}"),
    ]
    if also:
        lines.append(labelled("also", f"{found.outcome.label} {', '.join(also)}"))
    if one.result.violated > 1:
        lines.append(labelled("violated", times(one.result.violated)))
    if shown.lines:
        lines += ["", *side_by_side.alone(shown.lines, _HEAD, shown.violating)]
    lines += ["", labelled("closer", f"siconform explain {one.requirement.id}")]
    if found.outcome is TraceOutcome.VIOLATED:
        suggested = entry(one.requirement.id, Verdict.FAIL, found.message)
        lines.append(labelled("known?", f"{ONLY_IF}:\n{suggested}"))
    elif found.why:
        lines.append(labelled("known", found.why))
    return "\n".join(lines)


def _as_it_is(message: str) -> str:
    return message
