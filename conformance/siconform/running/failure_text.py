"""The text of a failure: enough to act on without opening a file."""

import textwrap
from collections.abc import Sequence

import msgspec

from siconform.catalogue import Requirement, Side, find_requirement
from siconform.listing import STATED
from siconform.outcomes import Outcome
from siconform.recording.exchange_text import named
from siconform.running import side_by_side
from siconform.running.command_line import CommandLine
from siconform.running.side_by_side import Row
from siconform.verdicts import Evidence, Verdict

_INDENT = " " * 6
_WIDTH = 96
_LABELS = 13
_ONLY_IF = "only if this deviation is known and explained, add to your baseline"


class FailureBlock(msgspec.Struct, frozen=True):
    """The parts of a failure: its worst evidence, and other failures mentioned in ``also``."""

    test: str
    requirement: str
    verdict: Verdict
    message: str  # as recorded in a baseline
    expected: str
    happened: str
    monitor: str = ""  # that detected it
    also: tuple[str, ...] = ()
    details: str = ""  # a traceback, for an internal error
    notes: tuple[str, ...] = ()  # below the exchange
    history: str = ""  # a file in the results folder
    known: str = ""  # the baseline's reason, if it is a known failure


def block(
    received: Sequence[Evidence], outcome: Outcome | None, details: str, notes: Sequence[str]
) -> FailureBlock:
    """Return the failure block for the first, worst evidence."""
    evidence = received[0]
    own = outcome if outcome is not None and not evidence.monitor else None
    return FailureBlock(
        test=evidence.test,
        requirement=evidence.requirement,
        verdict=evidence.verdict,
        message=evidence.message,
        expected=named(own.expected) if own is not None else "",
        happened=named(own.happened) if own is not None else evidence.message,
        monitor=evidence.monitor,
        also=tuple(_mention(e) for e in received[1:] if e.message != evidence.message),
        details=details,
        notes=tuple(named(note) for note in notes),
        history=evidence.history,
    )


def text_of(
    block: FailureBlock,
    rows: Sequence[Row],
    command: CommandLine,
    side: Side = Side.SCHEDULER,
    *,
    with_reference: bool = False,
) -> str:
    """Render requirement, expectation, what happened, the exchange and the next commands."""
    requirement = find_requirement(block.requirement)
    lines = [_heading(block.verdict, requirement), _wrapped(requirement.text), ""]
    lines += [_labelled("expected", block.expected)] if block.expected else []
    lines.append(_labelled("happened", block.happened))
    lines += [_labelled("seen by", f"the monitor {block.monitor}")] if block.monitor else []
    lines += [_labelled("also", mentioned) for mentioned in block.also]
    lines += ["", block.details] if block.details else []
    if rows:
        lines += ["", *side_by_side.text(rows, side, with_reference=with_reference)]
    lines += [*block.notes, "", _labelled("test", block.test)]
    again = _labelled("again", command.again(requirement.id))
    if block.known:
        lines += [again, _labelled("known", block.known)]
    elif block.verdict is Verdict.KIT_ERROR:
        lines.append(again)
    else:
        explain = command.of_the_kit("explain", requirement.id)
        messages = "; all messages: report.html, histories" if block.history else ""
        lines += [_labelled("closer", explain + messages), again]
        lines.append(_labelled("known?", f"{_ONLY_IF}:\n{_entry(block)}"))
    return "\n".join(lines)


def source_of(requirement: Requirement) -> str:
    """Return the source of a requirement, in the newest revision."""
    where = requirement.sources[-1].where if requirement.sources else requirement.level_reason
    return f"{STATED[requirement.authority]} ({where})"


def _heading(verdict: Verdict, requirement: Requirement) -> str:
    return (
        f"{verdict.label.upper()}  {requirement.id}   {requirement.level}   "
        f"source: {source_of(requirement)}"
    )


def _mention(evidence: Evidence) -> str:
    seen_by = f" (seen by the monitor {evidence.monitor})" if evidence.monitor else ""
    return f"{evidence.verdict.label} {evidence.requirement}: {evidence.message}{seen_by}"


def _entry(block: FailureBlock) -> str:
    message = block.message.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"- {{requirement: {block.requirement}, outcome: {block.verdict}, "
        f'reason: "TODO: explanation",\n'
        f'   says: "{message}"}}'
    )


def _labelled(label: str, text: str) -> str:
    capacity = " " * _LABELS
    return textwrap.indent(text, capacity).replace(capacity, f"  {label:<{_LABELS - 2}}", 1)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
