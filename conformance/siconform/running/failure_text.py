"""What people read about one failure: enough to act on without opening a file."""

import textwrap
from collections.abc import Sequence

from siconform.catalogue import Requirement, find_requirement
from siconform.listing import SAYS_SO
from siconform.outcomes import Outcome
from siconform.running.command_line import CommandLine
from siconform.verdicts import Evidence, Verdict

_INDENT = " " * 6
_WIDTH = 96


def failure_text(
    told: Sequence[Evidence], outcome: Outcome | None, details: str, command: CommandLine
) -> str:
    """About the first of ``told``: requirement, expectation, what happened, what next.

    ``details`` is the exchange or a traceback. The rest of ``told`` is mentioned in one line each.
    """
    evidence = told[0]
    requirement = find_requirement(evidence.requirement)
    lines = [_heading(evidence.verdict, requirement), _wrapped(requirement.text), ""]
    if outcome is not None and outcome.expected:
        lines.append(_labelled("expected", outcome.expected))
    happened = outcome.happened if outcome is not None else evidence.says
    lines.append(_labelled("happened", happened))
    if evidence.monitor:
        lines.append(_labelled("seen by", f"the monitor {evidence.monitor}"))
    lines += [_labelled("also", _mention(e)) for e in told[1:] if e.says != evidence.says]
    if details:
        lines += ["", details]
    lines += ["", _labelled("test", evidence.test)]
    lines.append(_labelled("again", command.again(requirement.id)))
    if evidence.verdict is not Verdict.KIT_ERROR:
        lines.append(_labelled("known?", f"add to your baseline:\n{_entry(evidence)}"))
    return "\n".join(lines)


def source_of(requirement: Requirement) -> str:
    """Who says so and where, in the newest text that does."""
    where = requirement.sources[-1].where if requirement.sources else requirement.level_reason
    return f"{SAYS_SO[requirement.authority]} ({where})"


def _heading(verdict: Verdict, requirement: Requirement) -> str:
    return (
        f"{verdict.words.upper()}  {requirement.id}   {requirement.level}   "
        f"says so: {source_of(requirement)}"
    )


def _mention(evidence: Evidence) -> str:
    seen_by = f" (seen by the monitor {evidence.monitor})" if evidence.monitor else ""
    return f"{evidence.verdict.words} {evidence.requirement}: {evidence.says}{seen_by}"


def _entry(evidence: Evidence) -> str:
    says = evidence.says.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'- {{requirement: {evidence.requirement}, outcome: {evidence.verdict}, reason: "",\n'
        f'   says: "{says}"}}'
    )


def _labelled(label: str, text: str) -> str:
    return textwrap.indent(text, " " * 13).replace(" " * 13, f"  {label:<11}", 1)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
