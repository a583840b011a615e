"""The one policy that judges a run: console, JUnit, JSON and exit code all ask it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from siconform.baseline import KnownDeviation
from siconform.catalogue import Level, Requirement, Side
from siconform.verdicts import FAILED, REACHED, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """What a run says about one requirement, and everything it goes by."""

    requirement: Requirement
    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()
    tests: tuple[str, ...] = ()  # tests that cite it, whether they ran or not
    entries: tuple[KnownDeviation, ...] = ()  # of the baseline, that name it

    def decides(self, fail_on: Level) -> bool:
        """Whether the run's verdict hangs on it: it binds the scheduler, at least as much."""
        return Side.SCHEDULER in self.requirement.sides and self.requirement.level.is_at_least(
            fail_on
        )

    @property
    def disputed(self) -> bool:
        """Whether it is inconclusive, and only because of tests that are challenged."""
        stopped = [e for e in self.evidence if e.verdict is Verdict.COULD_NOT_RUN]
        return bool(stopped) and all(
            self.requirement.challenge_of(e.implemented_by) for e in stopped
        )


class RunVerdict(StrEnum):
    """What a run says about the target as a whole."""

    CONFORMANT = "CONFORMANT"
    NON_CONFORMANT = "NON-CONFORMANT"
    INCOMPLETE = "INCOMPLETE"
    KIT_ERROR = "KIT ERROR"


class ExitCode(IntEnum):
    """Exit codes of a run; up to 5 with pytest's meaning. README.md tells them to people."""

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
        ExitCode.OK: "conformant in what is tested, or exactly as the target's baseline records",
        ExitCode.NON_CONFORMANT: (
            "a MUST fails (with --fail-on SHOULD: or a SHOULD), whatever else was cut short"
        ),
        ExitCode.INTERRUPTED: "interrupted",
        ExitCode.USAGE: (
            "a wrong option: unknown revision, target, requirement or expression, or a results "
            "folder that cannot be had"
        ),
        ExitCode.NOTHING_SELECTED: "no test was selected",
        ExitCode.INCOMPLETE: "incomplete: a MUST could not be judged",
        ExitCode.STALE_BASELINE: "the baseline no longer fits",
        ExitCode.NOTHING_RAN: "nothing ran: the target cannot be reached or does not answer",
        ExitCode.KIT_ERROR: "the kit itself went wrong, or could not write what it has to say",
    }
)
"""What each says, for people: in the help of a run and in README.md."""

_PYTEST_BROKE: Final = 3  # pytest's own exit code for an internal error


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How the run itself went, beside what it found."""

    revision: str
    unreachable: str = ""  # why no test met the target
    kit_errors: tuple[str, ...] = ()  # that no requirement can be named for
    stale: tuple[str, ...] = ()  # what no longer fits in the baseline
    flaky: tuple[str, ...] = ()  # what the baseline says comes and goes, and how it was
    with_baseline: bool = False
    ended_early: str = ""  # interrupted, out of time
    ended_by: int = 0  # pytest's own exit code
    chosen: frozenset[str] | None = (
        None  # the ids that were to be judged; None: all of the revision
    )
    profile: str = ""  # whose requirements these are
    fail_on: Level = Level.MUST  # the least binding level that decides the verdict
    in_part: bool = False  # whether something was left out by choice, other than by the profile


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """The verdict of a run, the exit code it has, and the sentence people read."""

    verdict: RunVerdict
    exit_code: ExitCode
    sentence: str


def evaluate(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    """The policy: what console, JUnit, JSON and exit code say about a run comes from here.

    Only a MUST on the scheduler's side decides, and a SHOULD where ``fail_on`` says so; else it is
    shown and counted. What the kit lacks (excluded, no test yet) is its own gap and never the
    target's.
    """
    return _evaluate_status(results, status) or _evaluate_results(results, status)


def _evaluate_status(
    results: Sequence[RequirementResult], status: RunStatus
) -> RunEvaluation | None:
    """What the way the run went settles, whatever was found; None where it settles nothing."""
    errors = [f.requirement.id for f in results if f.verdict.row.exit_code == ExitCode.KIT_ERROR]
    if status.ended_by == _PYTEST_BROKE:
        return _kit_error("the kit itself broke")
    if status.unreachable:
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_RAN, status.unreachable)
    if errors or status.kit_errors:
        what = f"{len(errors)} could not be judged ({_some(errors)})"
        return _kit_error(what if errors else status.kit_errors[0])
    if status.ended_by == ExitCode.INTERRUPTED:
        sentence = f"INCOMPLETE: {status.ended_early or 'interrupted'}, {_tested(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.INTERRUPTED, sentence)
    if status.ended_by == ExitCode.NOTHING_SELECTED:
        sentence = "INCOMPLETE: no test was selected"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_SELECTED, sentence)
    return None


def _evaluate_results(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    deciding = [f for f in results if f.decides(status.fail_on)]
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
        sentence = f"INCOMPLETE: all that was judged is challenged ({_some(disputed)})"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.INCOMPLETE, sentence)
    if not any(f.verdict in REACHED for f in results):
        sentence = f"INCOMPLETE: nothing was judged, {_tested(results, status)}"
        return RunEvaluation(RunVerdict.INCOMPLETE, ExitCode.NOTHING_RAN, sentence)
    return _evaluate_record(results, status)


def _evaluate_record(results: Sequence[RequirementResult], status: RunStatus) -> RunEvaluation:
    """The rest of the policy, once every MUST passed or is explained by the baseline."""
    recorded = [f for f in results if f.decides(status.fail_on) and f.verdict is Verdict.BASELINED]
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
        verdict = RunVerdict.CONFORMANT
        what = "was selected" if status.in_part else "is tested"
        sentence = f"CONFORMANT{_to(status)} in what {what}: {_tested(results, status)}"
    disputed = [f.requirement.id for f in results if f.verdict is Verdict.CHALLENGED]
    if disputed:
        sentence += f"; {len(disputed)} challenged ({_some(disputed)})"
    if status.stale:
        sentence += f"; {len(status.stale)} of the baseline no longer fit"
    if unexplained:
        sentence += f"; the baseline does not explain {_some(unexplained)}"
    return RunEvaluation(verdict, code, sentence)


def _all_disputed(results: Sequence[RequirementResult]) -> list[str]:
    """What is disputed, where nothing else was judged."""
    if any(f.verdict in REACHED for f in results):
        return []
    return [f.requirement.id for f in results if f.verdict is Verdict.CHALLENGED or f.disputed]


def _kit_error(what: str) -> RunEvaluation:
    sentence = f"KIT ERROR: {what}; this says nothing of the target"
    return RunEvaluation(RunVerdict.KIT_ERROR, ExitCode.KIT_ERROR, sentence)


def _counted(some: Sequence[RequirementResult]) -> str:
    """How many of each level have each verdict."""
    found = Counter((f.requirement.level, f.verdict) for f in some)
    *others, last = [
        f"{number} {level} {verdict.label_for(number)}"
        for level in Level
        for verdict in Verdict
        if (number := found[level, verdict])
    ]
    return " and ".join([", ".join(others), last] if others else [last])


def _tested(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """How many were judged of how many, and how many were left out by choice."""
    asked = [
        f
        for f in results
        if f.verdict is not Verdict.OF_THE_RM
        and (status.chosen is None or f.requirement.id in status.chosen)
    ]
    reached = sum(f.verdict in REACHED for f in asked)
    received = f"{reached} of {len(asked)} requirement{'' if len(asked) == 1 else 's'}"
    if status.chosen is None:
        return f"{received} of SI {status.revision}"
    others = sum(
        Side.SCHEDULER in f.requirement.sides and f.requirement.id not in status.chosen
        for f in results
    )
    return f"{received}, {others} others of SI {status.revision} were not judged"


def _of_chosen(results: Sequence[RequirementResult], status: RunStatus) -> str:
    """The denominator, where it is not the whole of the revision."""
    return "" if status.chosen is None else f"; judged: {_tested(results, status)}"


def _to(status: RunStatus) -> str:
    return f" to profile {status.profile}" if status.profile else ""


def _some(names: Sequence[str], at_most: int = 3) -> str:
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(names[:at_most]) + more
