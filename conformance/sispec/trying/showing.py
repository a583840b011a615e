"""Shows a trial to people and programs: verdict and counts first, then a line for each."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sispec.markdown import escaped
from sispec.trying.trial import BROKEN, Finding, Trial, TrialVerdict

SCHEMA_VERSION: Final = 1
_BEYOND: Final = 8  # unused losses that are listed
_ALWAYS: Final = (TrialVerdict.PASSES, *BROKEN)  # counted even if zero
_GONE: Final = "gone, but not needed by any test that ran"


def shown(trial: Trial, form: str) -> str:
    """Format the trial as `terminal`, `markdown` or `json`, with a trailing newline."""
    if form == "json":
        return json.dumps(document(trial), indent=1, ensure_ascii=False) + "\n"
    lines = markdown_lines(trial) if form == "markdown" else trial_lines(trial)
    return "".join(f"{line}\n" for line in lines)


def trial_lines(trial: Trial) -> Iterator[str]:
    """Yield what was tried, the counts of outcomes, and the requirements with problems."""
    yield f"{_verdict(trial)}   {_tried(trial)}"
    yield f"  {_counts(trial)}"
    yield from (f"  {remark}" for remark in _remarks(trial))
    for came in BROKEN:
        if found := trial.of(came):
            yield ""
            yield f"{came.value.upper()} ({len(found)})"
            for message, some in _by_reason(found).items():
                yield f"  {message}"
                yield from (f"    {_line(finding)}" for finding in some)
    if trial.unneeded:
        yield ""
        yield f"{_GONE.upper()} ({len(trial.unneeded)})"
        yield from (f"  {line}" for line in _unneeded(trial))


def markdown_lines(trial: Trial) -> Iterator[str]:
    """Yield the same for a pull request."""
    yield f"### {_verdict(trial)}: {_tried(trial)}"
    yield ""
    yield f"{_counts(trial)}."
    for remark in _remarks(trial):
        yield ""
        yield f"{remark}."
    for came in BROKEN:
        if found := trial.of(came):
            yield ""
            yield f"#### {came.value.capitalize()} ({len(found)})"
            yield ""
            for message, some in _by_reason(found).items():
                yield f"- {escaped(message)}"
                yield from (f"  - {escaped(_line(finding))}" for finding in some)
    if trial.unneeded:
        yield ""
        yield f"#### {_GONE.capitalize()} ({len(trial.unneeded)})"
        yield ""
        yield from (f"- {escaped(line)}" for line in _unneeded(trial))


def document(trial: Trial) -> dict[str, Any]:
    """Return the same as JSON values, as trial.schema.json describes them."""
    return {
        "schema": SCHEMA_VERSION,
        "text": trial.name,
        "revision": trial.revision,
        "target": trial.target,
        "breaks": trial.breaks,
        "counts": {came.name.lower(): len(trial.of(came)) for came in TrialVerdict},
        "stopped": trial.stopped,
        "guesses": list(trial.guesses),
        "requirements": [_finding(finding) for finding in trial.findings],
        "gone": [{"element": name, "why": why} for name, why in trial.losses],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    expect = finding.came is not TrialVerdict.PASSES
    return {
        "id": finding.requirement,
        "title": finding.title,
        "level": finding.level,
        "came": finding.came.name.lower(),
        "gone": list(finding.lost),
        "tests": [
            {"id": o.test, "verdict": o.verdict.value, "says": o.message, "monitor": o.monitor}
            for o in finding.outcomes
            if expect
        ],
    }


def _verdict(trial: Trial) -> str:
    return "BREAKS" if trial.breaks else "NOTHING BREAKS"


def _tried(trial: Trial) -> str:
    return f"{trial.name} against {trial.target}, which implements SI {trial.revision}"


def _counts(trial: Trial) -> str:
    numbers = {came: len(trial.of(came)) for came in (TrialVerdict.PASSES, *TrialVerdict)}
    received = (f"{n} {came.value}" for came, n in numbers.items() if n or came in _ALWAYS)
    return ", ".join(received)


def _remarks(trial: Trial) -> Iterator[str]:
    yield from (f"{trial.name}: {guess}" for guess in trial.guesses)
    if trial.stopped:
        yield f"not every test was run: {trial.stopped} (--every-test runs them all)"


def _by_reason(findings: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    """Group the findings by the message of their first outcome."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.outcomes[0].message, []).append(finding)
    return found


def _line(finding: Finding) -> str:
    first, *more = dict.fromkeys(o.test.rpartition("::")[2] for o in finding.outcomes)
    tests = f"{first} and {len(more)} more" if more else first
    return f"{finding.requirement} {finding.level}  {finding.title}  [{tests}]"


def _unneeded(trial: Trial) -> Iterator[str]:
    yield from (f"{name}: {why}" for name, why in trial.unneeded[:_BEYOND])
    if len(trial.unneeded) > _BEYOND:
        yield f"and {len(trial.unneeded) - _BEYOND} more"
