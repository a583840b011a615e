"""The policy that decides a run's verdict, for console, JUnit, JSON and exit code alike."""

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from siconform.baseline import KnownDeviation
from siconform.catalogue import Level, Requirement, Side
from siconform.verdicts import FAILED, OF_ONE_SIDE, REACHED, VIOLATED, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """The result of a requirement in a run, and all evidence for it."""

    requirement: Requirement
    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()
    tests: tuple[str, ...] = ()  # tests that cite it, whether they ran or not
    entries: tuple[KnownDeviation, ...] = ()  # of the baseline, for this requirement

    def decides(self, status: "RunStatus") -> bool:
        """Return whether it decides the verdict: of the tested side and of the level needed."""
        requirement = self.requirement
        return status.side in requirement.sides and requirement.level.is_at_least(status.fail_on)

    @property
    def disputed(self) -> bool:
        """Return whether it is inconclusive because of challenged tests only."""
        stopped = [e for e in self.evidence if e.verdict is Verdict.COULD_NOT_RUN]
        return bool(stopped) and all(
            self.requirement.challenge_of(e.implemented_by) for e in stopped
        )


class RunVerdict(StrEnum):
    """The verdict of a run on the target as a whole."""

    CONFORMANT = "CONFORMANT"
    NON_CONFORMANT = "NON-CONFORMANT"
    INCOMPLETE = "INCOMPLETE"
    KIT_ERROR = "KIT ERROR"


PARTIAL: Final = "PARTIAL"
"""Shown instead of CONFORMANT for a run that tested only selected requirements."""


def heading(verdict: str, *, partial: bool) -> str:
    """Return the verdict for a heading, which states whether the run was partial."""
    if not partial:
        return verdict
    return PARTIAL if verdict == RunVerdict.CONFORMANT else f"{verdict} (partial run)"


class ExitCode(IntEnum):
    """Exit codes of a run; up to 5 with pytest's meaning. README.md lists them."""

    OK = 0
    NON_CONFORMANT = 1
    INTERRUPTED = 2
    USAGE = 4
    NOTHING_SELECTED = 5
    INCOMPLETE = 10
    STALE_BASELINE = 11
    NOTHING_RAN = 12
    KIT_ERROR = 13


EXIT_CODES: Final[Mapping[ExitCode, str]] = MappingProxyType(
    {
        ExitCode.OK: "conformant, or only known failures that match the target's baseline",
        ExitCode.NON_CONFORMANT: (
            "a MUST fails (with --fail-on SHOULD: or a SHOULD), even if the run is incomplete"
        ),
        ExitCode.INTERRUPTED: "interrupted",
        ExitCode.USAGE: (
            "a usage error: unknown option, revision, target, requirement or expression, or an "
            "unusable results folder"
        ),
        ExitCode.NOTHING_SELECTED: "no test was selected",
        ExitCode.INCOMPLETE: f"incomplete: a MUST is {Verdict.COULD_NOT_RUN.label}",
        ExitCode.STALE_BASELINE: "the baseline is stale",
        ExitCode.NOTHING_RAN: "no test ran: the target is unreachable or does not answer",
        ExitCode.KIT_ERROR: "internal error, or the results could not be written",
    }
)
"""Descriptions for the help of a run and README.md."""

_LONGEST_SELECTION: Final = 80  # characters of a sentence
_PYTEST_BROKE: Final = 3  # pytest's own exit code for an internal error


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How the run itself went, apart from its results."""

    revision: str
    side: Side = Side.SCHEDULER  # that was tested
    unreachable: str = ""  # why no test met the target
    kit_errors: tuple[str, ...] = ()  # that belong to no requirement
    stale: tuple[str, ...] = ()  # baseline entries that no longer match
    flaky: tuple[str, ...] = ()  # baseline entries marked flaky, and their outcome
    with_baseline: bool = False
    ended_early: str = ""  # interrupted, out of time
    ended_by: int = 0  # pytest's own exit code
    chosen: frozenset[str] | None = None  # selected ids; None: all of the revision
    profile: str = ""  # if the profile is the whole selection
    fail_on: Level = Level.MUST  # the least binding level that decides the verdict
    partial: str = ""  # of a partial run: what its options select, as given


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """The verdict of a run, its exit code and its sentence."""

    verdict: RunVerdict
    exit_code: ExitCode
    sentence: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the selected requirements of the tested side were tested, and why others not."""

    tested: int
    selected: int
    untested: dict[str, str]  # requirement to verdict and reason

    def __str__(self) -> str:
        return f"{self.tested} of {self.selected}"


def coverage(
    results: Iterable[tuple[str, Verdict, str]], chosen: Collection[str] | None
) -> Coverage:
    """Count requirements, given with verdict and reason; ``chosen``: selected ids, None for all."""
    selected = [
        (identifier, verdict, reason)
        for identifier, verdict, reason in results
        if verdict not in OF_ONE_SIDE and (chosen is None or identifier in chosen)
    ]
    untested = [one for one in selected if one[1] not in REACHED]
    return Coverage(
        len(selected) - len(untested),
        len(selected),
        {identifier: verdict.explained(reason) for identifier, verdict, reason in untested},
    )


def evaluate(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    """Evaluate a run; console, JUnit, JSON and exit code all use the result.

    Only a MUST of the tested side decides, and a SHOULD if ``fail_on`` includes it; others are
    shown and counted. Requirements without a test (excluded, not tested yet) never count against
    the target.
    """
    return _evaluate_status(results, status) or _evaluate_results(results, status)


def _evaluate_status(
    results: Sequence[RequirementResult], status: RunStatus
) -> RunEvaluation | None:
    """Evaluate how the run went, regardless of results; None if that decides nothing."""
    errors = [f.requirement.id for f in results if f.verdict.row.exit_code == ExitCode.KIT_ERROR]
    if status.ended_by == _PYTEST_BROKE:
        return _kit_error("internal error")
    if status.unreachable:
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_RAN, status.unreachable)
    if errors or status.kit_errors:
        what = f"{len(errors)} requirements could not be tested ({_some(errors)})"
        return _kit_error(what if errors else status.kit_errors[0])
    if status.ended_by == ExitCode.INTERRUPTED:
        sentence = f"INCOMPLETE: {status.ended_early or 'interrupted'}{_extent(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.INTERRUPTED, sentence)
    if status.ended_by == ExitCode.NOTHING_SELECTED:
        by = f" {_part(results, status)[1]}" if status.partial else ""
        sentence = f"INCOMPLETE: no test was selected{by}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_SELECTED, sentence)
    return None


def _evaluate_results(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    deciding = [f for f in results if f.decides(status)]
    failed = [f for f in deciding if f.verdict in FAILED]
    undecided = [
        f for f in deciding if f.verdict.row.exit_code == ExitCode.INCOMPLETE and not f.disputed
    ]
    if failed:
        known = all(f.entries for f in failed)
        code = ExitCode.STALE_BASELINE if known else ExitCode.NON_CONFORMANT
        sentence = f"NON-CONFORMANT{_to(status)}: {_counted(failed)}{_of_chosen(results, status)}"
        return RunEvaluation(RunVerdict.NON_CONFORMANT, code, sentence)
    if undecided:
        sentence = f"INCOMPLETE: {_counted(undecided)}{_of_chosen(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.INCOMPLETE, sentence)
    if disputed := _all_disputed(results):
        sentence = f"INCOMPLETE: all tested requirements are {Verdict.CHALLENGED.label}"
        sentence += f" ({_some(disputed)}){_partial(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.INCOMPLETE, sentence)
    if not any(f.verdict in REACHED for f in results):
        sentence = f"INCOMPLETE: nothing was tested{_extent(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_RAN, sentence)
    return _evaluate_record(results, status)


def _evaluate_record(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    """Evaluate a run in which every MUST passed or is explained by the baseline."""
    recorded = [f for f in results if f.decides(status) and f.verdict is Verdict.BASELINED]
    unexplained = [
        f.requirement.id for f in results if status.with_baseline and f.verdict in FAILED
    ]
    code = ExitCode.STALE_BASELINE if status.stale or unexplained else ExitCode.OK
    if recorded:
        verdict = RunVerdict.NON_CONFORMANT
        sentence = (
            f"NON-CONFORMANT{_to(status)} as recorded: {_counted(recorded)}"
            f"{_of_chosen(results, status)}"
        )
    else:
        verdict, sentence = RunVerdict.CONFORMANT, _passed(results, status)
    disputed = [f.requirement.id for f in results if f.verdict is Verdict.CHALLENGED]
    if disputed:
        sentence += f"; {Verdict.CHALLENGED.counted(len(disputed))} ({_some(disputed)})"
    if status.stale:
        sentence += f"; stale baseline entries: {len(status.stale)}"
    if unexplained:
        sentence += f"; the baseline does not explain {_some(unexplained)}"
    return RunEvaluation(verdict, code, sentence)


def _all_disputed(results: Sequence[RequirementResult]) -> list[str]:
    """Return the disputed requirements if nothing else was tested."""
    if any(f.verdict in REACHED for f in results):
        return []
    return [f.requirement.id for f in results if f.verdict is Verdict.CHALLENGED or f.disputed]


def _kit_error(what: str) -> RunEvaluation:
    sentence = f"KIT ERROR: {what}; no verdict on the target"
    return RunEvaluation(RunVerdict.KIT_ERROR, ExitCode.KIT_ERROR, sentence)


def _counted(some: Sequence[RequirementResult]) -> str:
    """Count the verdicts of each level."""
    found = Counter((f.requirement.level, f.verdict) for f in some)
    *others, last = [
        f"{number} {level} {verdict.label_for(number)}"
        for level in Level
        for verdict in Verdict
        if (number := found[level, verdict])
    ]
    return " and ".join([", ".join(others), last] if others else [last])


def _passed(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """Return that all that was tested passed, or only the levels that decide."""
    levels = [level for level in Level if level.is_at_least(status.fail_on)]
    failed = any(f.verdict in VIOLATED for f in results)
    if status.partial:
        tested, selected = _part(results, status)
        passed = f"no {' or '.join(levels)} failed" if failed else "all passed"
        return f"{PARTIAL}: {tested}, {passed} {selected}"
    which = f"{' and '.join(levels)} requirements" if failed else "requirements"
    return f"CONFORMANT{_to(status)}: all tested {which} passed ({_tested(results, status)})"


def _part(results: Sequence[RequirementResult], status: RunStatus) -> tuple[str, str]:
    """Return how much of the revision a partial run tested, and what it selected."""
    of_the_side = [f.verdict for f in results if status.side in f.requirement.sides]
    tested = sum(verdict in REACHED for verdict in of_the_side)
    selected = textwrap.shorten(status.partial, _LONGEST_SELECTION, placeholder=" ...")
    return (
        f"{tested} of {len(of_the_side)} requirements tested",
        f"(SI {status.revision}; selected: {selected})",
    )


def _partial(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """Return that the run was partial, or ""."""
    return f"; partial run: {' '.join(_part(results, status))}" if status.partial else ""


def _extent(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """Return how much was tested, for every run."""
    return _partial(results, status) or f" ({_tested(results, status)})"


def _tested(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """Count the tested requirements, those selected, and those not selected."""
    tested = coverage(((f.requirement.id, f.verdict, f.reason) for f in results), status.chosen)
    if status.chosen is None:
        return f"{tested} of SI {status.revision}"
    others = sum(
        status.side in f.requirement.sides and f.requirement.id not in status.chosen
        for f in results
    )
    not_selected = Verdict.NOT_SELECTED.label
    return f"{tested} selected, {others} others of SI {status.revision} {not_selected}"


def _of_chosen(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """Return how much was tested, unless it is the whole revision."""
    whole = "" if status.chosen is None else f"; tested: {_tested(results, status)}"
    return _partial(results, status) or whole


def _to(status: RunStatus) -> str:
    return f" to profile {status.profile}" if status.profile else ""


def _some(names: Sequence[str], at_most: int = 3) -> str:
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(names[:at_most]) + more
