"""Evaluates the result of a trace with a baseline: verdicts, sentence and exit code."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from siconform.baseline import Baseline
from siconform.catalogue import Level, Requirement
from siconform.monitors.trace_result import (
    MOST_VIOLATIONS,
    RequirementResult,
    TraceResult,
    Violation,
    kind_of,
)
from siconform.output.baseline_match import mark_capabilities, mark_challenged, why_not
from siconform.output.stable_messages import stable
from siconform.policy import ExitCode
from siconform.trace_outcomes import TraceOutcome
from siconform.verdicts import Evidence, Verdict

_SHOWN: Final = 3  # requirements named in a sentence


class Conclusion(StrEnum):
    """The verdict on a trace as a whole; none of them is conformance."""

    NON_CONFORMANT = "NON-CONFORMANT"
    NO_VIOLATION = "NO VIOLATION SEEN"
    NOTHING = "NOTHING SEEN"


@dataclass(frozen=True, slots=True)
class SeenViolation:
    """Violations of a requirement that differ in names and numbers only, by the first of them."""

    first: Violation
    message: str  # the same for every trace
    outcome: TraceOutcome
    why: str  # why it does not count, "" if it does
    times: int  # of those that were kept


@dataclass(frozen=True, slots=True)
class SeenRequirement:
    """A requirement in a trace."""

    requirement: Requirement
    outcome: TraceOutcome
    reason: str
    result: RequirementResult
    violations: tuple[SeenViolation, ...]


@dataclass(frozen=True, slots=True)
class TraceEvaluation:
    """A trace, evaluated: the source of all that is shown of it."""

    result: TraceResult
    requirements: tuple[SeenRequirement, ...]
    fail_on: Level
    baseline: Baseline
    verdict: Conclusion
    exit_code: ExitCode
    sentence: str
    not_seen: tuple[str, ...]  # entries of the baseline that this trace does not show

    def counts(self) -> Mapping[TraceOutcome, int]:
        """Count the requirements with each verdict."""
        found = Counter(one.outcome for one in self.requirements)
        return {outcome: found[outcome] for outcome in TraceOutcome}

    def violated(self) -> list[SeenRequirement]:
        """Return the violated requirements, MUST first, without known failures."""
        levels = list(Level)
        found = [one for one in self.requirements if one.outcome is TraceOutcome.VIOLATED]
        return sorted(found, key=lambda one: levels.index(one.requirement.level))

    def notes(self) -> list[str]:
        """Return what else a reader of the result must know."""
        return [
            f"{one.requirement.id}: only the first {MOST_VIOLATIONS} of its "
            f"{one.result.violated:,} violations and the first of each other kind were compared "
            "with the baseline"
            for one in self.requirements
            if one.outcome is TraceOutcome.BASELINED
            and one.result.violated > len(one.result.violations)
        ]

    def decides(self, one: SeenRequirement) -> bool:
        """Return whether the requirement is of a level that decides the exit code."""
        return one.requirement.level.is_at_least(self.fail_on)


def evaluate(
    result: TraceResult, baseline: Baseline | None = None, fail_on: Level = Level.MUST
) -> TraceEvaluation:
    """Evaluate a trace.

    An entry of the baseline that this trace does not show is not stale: another trace may show it.
    """
    known = baseline or Baseline()
    requirements = tuple(_seen(one, known) for one in result.requirements)
    verdict, code, sentence = _concluded(requirements, fail_on, known, result.revision)
    return TraceEvaluation(
        result,
        requirements,
        fail_on,
        known,
        verdict,
        code,
        sentence,
        tuple(_not_seen(requirements, known)),
    )


def comparable(message: str) -> str:
    """Return a message without ids and numbers, which differ between traces."""
    return kind_of(stable(message))


def times(number: int) -> str:
    """Return a count of times: "1 time", "1,204 times"."""
    return f"{number:,} time{'' if number == 1 else 's'}"


def _seen(one: RequirementResult, known: Baseline) -> SeenRequirement:
    violations = tuple(_violations(one, known))
    outcomes = {found.outcome for found in violations}
    if outcomes:
        outcome = next(worst for worst in TraceOutcome if worst in outcomes)
        first = next(found for found in violations if found.outcome is outcome)
        reason = first.why or first.first.message
        if one.violated > 1:
            reason += f" ({times(one.violated)})"
    elif one.held:
        outcome, reason = TraceOutcome.HELD, f"held {times(one.held)}"
    else:
        outcome, reason = TraceOutcome.NOT_EXERCISED, TraceOutcome.NOT_EXERCISED.label
    return SeenRequirement(one.requirement, outcome, reason, one, violations)


def _violations(one: RequirementResult, known: Baseline) -> Iterator[SeenViolation]:
    """Yield the violations that differ in more than names and numbers."""
    alike: dict[tuple[str, str], list[Violation]] = {}
    for violation in one.violations:
        alike.setdefault((violation.monitor, comparable(violation.message)), []).append(violation)
    for (monitor, message), found in alike.items():
        outcome, why = _outcome(one.requirement, monitor, message, found, known)
        yield SeenViolation(found[0], message, outcome, why, len(found))


def _outcome(
    requirement: Requirement,
    monitor: str,
    message: str,
    found: Sequence[Violation],
    known: Baseline,
) -> tuple[TraceOutcome, str]:
    """Return what the violations count as, and why not as a violation.

    An entry of a baseline may quote the message with its numbers, as a run shows it.
    """
    evidence = Evidence(requirement.id, Verdict.FAIL, "", message, monitor=monitor)
    (apart,) = mark_challenged(mark_capabilities([evidence]))
    if apart.verdict is Verdict.NOT_APPLICABLE:
        return TraceOutcome.NOT_APPLICABLE, f"not offered: {found[0].message}"
    if apart.verdict is Verdict.CHALLENGED:
        return TraceOutcome.CHALLENGED, why_not(apart, known)
    if reason := _recorded(evidence, found, known):
        return TraceOutcome.BASELINED, reason
    return TraceOutcome.VIOLATED, ""


def _recorded(evidence: Evidence, found: Sequence[Violation], known: Baseline) -> str:
    """Return the baseline's reason if it explains these violations, else ""."""
    entries = known.explaining(evidence)
    if entries:
        return entries[0].reason
    reasons = []
    for violation in found:
        quoted = Evidence(
            evidence.requirement,
            Verdict.FAIL,
            "",
            stable(violation.message),
            monitor=evidence.monitor,
        )
        entries = known.explaining(quoted)
        if not entries:
            return ""
        reasons.append(entries[0].reason)
    return reasons[0]


def _concluded(
    requirements: Sequence[SeenRequirement],
    fail_on: Level,
    known: Baseline,
    revision: str,
) -> tuple[Conclusion, ExitCode, str]:
    deciding = [one for one in requirements if one.requirement.level.is_at_least(fail_on)]
    violated = _with(deciding, TraceOutcome.VIOLATED)
    recorded = _with(deciding, TraceOutcome.BASELINED)
    unexplained = _with(requirements, TraceOutcome.VIOLATED) if known.file else []
    if violated:
        sentence = f"{Conclusion.NON_CONFORMANT}: {_counted(violated)} (SI {revision})"
        return Conclusion.NON_CONFORMANT, ExitCode.NON_CONFORMANT, sentence
    if not any(one.outcome.row.tested for one in requirements):
        sentence = f"{Conclusion.NOTHING}: the exchange exercised no requirement (SI {revision})"
        return Conclusion.NOTHING, ExitCode.NOTHING_RAN, sentence
    if recorded:
        verdict = Conclusion.NON_CONFORMANT
        sentence = f"{verdict} as recorded: {_counted(recorded)}"
    else:
        verdict, sentence = Conclusion.NO_VIOLATION, _clean(requirements, fail_on)
    code = ExitCode.OK
    if unexplained:
        code = ExitCode.STALE_BASELINE
        sentence += f"; the baseline does not explain {_some(unexplained)}"
    return verdict, code, f"{sentence} (SI {revision})"


def _clean(requirements: Sequence[SeenRequirement], fail_on: Level) -> str:
    """Return that nothing that decides was violated, and how much was exercised."""
    others = _with(requirements, TraceOutcome.VIOLATED)
    held = len(_with(requirements, TraceOutcome.HELD))
    idle = len(_with(requirements, TraceOutcome.NOT_EXERCISED))
    levels = " or ".join(level for level in Level if level.is_at_least(fail_on))
    head = f"{Conclusion.NO_VIOLATION} of a {levels}" if others else f"{Conclusion.NO_VIOLATION}"
    also = f"{_counted(others)}, " if others else ""
    return f"{head}: {also}{held} held, {idle} not exercised"


def _with(some: Sequence[SeenRequirement], outcome: TraceOutcome) -> list[SeenRequirement]:
    return [one for one in some if one.outcome is outcome]


def _counted(some: Sequence[SeenRequirement]) -> str:
    """Count requirements by level and verdict: "2 MUST and 1 SHOULD violated"."""
    found = Counter(one.requirement.level for one in some)
    levels = " and ".join(f"{found[level]} {level}" for level in Level if found[level])
    return f"{levels} {some[0].outcome.label_for(len(some))}"


def _some(found: Sequence[SeenRequirement]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(one.requirement.id for one in found[:_SHOWN]) + more


def _not_seen(requirements: Sequence[SeenRequirement], known: Baseline) -> Iterator[str]:
    """Yield a sentence for each entry that explains nothing here."""
    violations = [
        (one.requirement.id, violation) for one in requirements for violation in one.violations
    ]
    for entry in known.entries:
        explained = any(
            entry.explains(Evidence(identifier, Verdict.FAIL, "", message))
            for identifier, violation in violations
            for message in (violation.message, stable(violation.first.message))
        )
        if not explained:
            yield f"{entry}: not in this trace"
