"""The text of a failure: enough to act on without opening a file."""

import textwrap
from collections.abc import Sequence

import msgspec

from siconform.catalogue import Requirement, Side, find_requirement
from siconform.config.command_line import CommandLine
from siconform.listing import source_of
from siconform.outcomes import Outcome
from siconform.output import side_by_side
from siconform.output.side_by_side import Row
from siconform.recording.exchange_text import named
from siconform.verdicts import Evidence, Labelled, Verdict

_INDENT = " " * 6
_WIDTH = 96
_LABELS = 13
_BEGINNING = 160  # characters of a message that identify it in a baseline
ONLY_IF = "only if this deviation is known and explained, add to your baseline"


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
    is_random: bool = False  # of random histories, which the reference's do not resemble


def block(
    received: Sequence[Evidence],
    outcome: Outcome | None,
    details: str,
    notes: Sequence[str],
    *,
    is_random: bool,
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
        is_random=is_random,
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
    lines = [heading(block.verdict, requirement), wrapped(requirement.text), ""]
    lines += [labelled("expected", block.expected)] if block.expected else []
    lines.append(labelled("happened", block.happened))
    lines += [labelled("seen by", f"the monitor {block.monitor}")] if block.monitor else []
    lines += [labelled("also", mentioned) for mentioned in block.also]
    lines += ["", block.details] if block.details else []
    if rows:
        lines += ["", *side_by_side.text(rows, side, with_reference=with_reference)]
    lines += [*block.notes, "", labelled("test", block.test)]
    again = labelled("again", repeated(block, command))
    if block.known:
        lines += [again, labelled("known", block.known)]
    elif block.verdict is Verdict.KIT_ERROR:
        lines.append(again)
    else:
        explain = command.of_the_kit("explain", requirement.id)
        messages = "; all messages: report.html, histories" if block.history else ""
        lines += [labelled("closer", explain + messages), again]
        lines.append(
            labelled(
                "known?", f"{ONLY_IF}:\n{entry(block.requirement, block.verdict, block.message)}"
            )
        )
    return "\n".join(lines)


def repeated(block: FailureBlock, command: CommandLine) -> str:
    """Return the command that shows this failure again: a monitor may find it in any test."""
    if block.monitor:
        return command.again_test(block.test)
    return command.again(block.requirement)


def heading(verdict: Labelled, requirement: Requirement) -> str:
    """Return the verdict, the requirement and its source."""
    return (
        f"{verdict.label.upper()}  {requirement.id}   {requirement.level}   "
        f"source: {source_of(requirement)}"
    )


def _mention(evidence: Evidence) -> str:
    seen_by = f" (seen by the monitor {evidence.monitor})" if evidence.monitor else ""
    return f"{evidence.verdict.label} {evidence.requirement}: {evidence.message}{seen_by}"


def entry(requirement: str, outcome: Verdict, message: str) -> str:
    """Return an entry for a baseline, with the beginning of the message."""
    message = message[:_BEGINNING].rstrip().replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"- {{requirement: {requirement}, outcome: {outcome}, "
        f'reason: "TODO: explanation",\n'
        f'   says: "{message}"}}'
    )


def labelled(label: str, text: str) -> str:
    """Return the text, indented, after its label."""
    capacity = " " * _LABELS
    return textwrap.indent(text, capacity).replace(capacity, f"  {label:<{_LABELS - 2}}", 1)


def wrapped(text: str) -> str:
    """Return the sentence of a requirement, wrapped and indented."""
    return textwrap.fill(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
