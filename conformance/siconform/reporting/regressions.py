"""Comparison of two runs: regressions, fixes, other changes and slower responses."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from siconform.reporting.evaluated_run import EvaluatedRun, Latency, Outcome
from siconform.reporting.stored import RecordError
from siconform.verdicts import CATALOGUED, FAILED, Verdict

_BAD: Final = FAILED | {Verdict.COULD_NOT_RUN}

SLOWER_BY: Final = 2.0
"""Factor of the previous median."""

SLOWER_OF_ALLOWED: Final = 0.1
"""Minimum share of the deadline; load on the machine costs less."""

ENOUGH: Final = 20
"""Answers needed in each run; a median of fewer is noise."""


class Kind(Enum):
    """How a requirement's outcome changed; the value is the key in JSON."""

    BROKEN = "newly_broken"
    FIXED = "mended"
    CHANGED = "changed"

    def counted(self, number: int) -> str:
        """Return the number with its noun: "1 regression", "no fixes"."""
        one, more = _NOUNS[self]
        return f"{number or 'no'} {one if number == 1 else more}"

    @property
    def heading(self) -> str:
        """Return the plural noun."""
        return _NOUNS[self][1]


_NOUNS: Final = {
    Kind.BROKEN: ("regression", "regressions"),
    Kind.FIXED: ("fix", "fixes"),
    Kind.CHANGED: ("other change", "other changes"),
}


@dataclass(frozen=True, slots=True)
class Changed:
    """A requirement whose outcome changed."""

    requirement: str
    kind: Kind
    before: Outcome
    after: Outcome


@dataclass(frozen=True, slots=True)
class Slower:
    """A class of answers that became slower by more than noise."""

    deadline: str
    before: Latency
    after: Latency


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of two runs by requirement."""

    before: EvaluatedRun
    after: EvaluatedRun
    compared: int
    changes: tuple[Changed, ...]
    slower: tuple[Slower, ...]
    not_selected: tuple[int, int]  # in the first, in the second
    only_in: tuple[tuple[str, ...], tuple[str, ...]]  # requirements the other run does not have
    times: str = ""  # why times were not compared
    counts: Counter[Kind] = field(default_factory=Counter)

    def of(self, kind: Kind) -> list[Changed]:
        """Return the changes of one kind."""
        return [one for one in self.changes if one.kind is kind]

    @property
    def is_worse(self) -> bool:
        """Whether there are regressions."""
        return bool(self.of(Kind.BROKEN))


def compare(before: EvaluatedRun, after: EvaluatedRun) -> Comparison:
    """Compare two runs, except for requirements that one did not select or neither can test.

    RecordError if one tested a scheduler and the other a resource manager.
    """
    if before.side is not after.side:
        tested = " and ".join(f"{run.where} tests a {run.side.noun}" for run in (before, after))
        raise RecordError(f"{tested}: compare runs of the same side")
    both = [one for one in before.outcomes if one in after.outcomes]
    seen = [one for one in both if _is_comparable(before, after, one)]
    changes = tuple(_changes(before, after, seen))
    times = _why_no_times(before, after)
    return Comparison(
        before,
        after,
        len(seen),
        changes,
        () if times else tuple(_slower(before, after)),
        tuple(sum(not _selected(run, one) for one in both) for run in (before, after)),  # type: ignore[arg-type]  # two of them
        (_only_in(before, after), _only_in(after, before)),
        times,
        Counter(one.kind for one in changes),
    )


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON values."""
    return {
        "before": _run_as_json(comparison.before),
        "after": _run_as_json(comparison.after),
        "compared": comparison.compared,
        **{kind.value: _changes_as_json(comparison, kind) for kind in Kind},
        "slower": [
            {"class": one.deadline, "before": one.before.median, "after": one.after.median,
             "allowed": one.after.allowed}
            for one in comparison.slower
        ],
        "times_not_compared": comparison.times,
        "not_selected": dict(zip(("before", "after"), comparison.not_selected, strict=True)),
        "only_before": list(comparison.only_in[0]),
        "only_after": list(comparison.only_in[1]),
    }  # fmt: skip


def _selected(run: EvaluatedRun, requirement: str) -> bool:
    return run.outcomes[requirement].verdict is not Verdict.NOT_SELECTED


def _is_comparable(before: EvaluatedRun, after: EvaluatedRun, requirement: str) -> bool:
    tested = {run.outcomes[requirement].verdict for run in (before, after)} - CATALOGUED
    return bool(tested) and all(_selected(run, requirement) for run in (before, after))


def _only_in(run: EvaluatedRun, other: EvaluatedRun) -> tuple[str, ...]:
    return tuple(one for one in run.outcomes if one not in other.outcomes)


def _changes(before: EvaluatedRun, after: EvaluatedRun, seen: list[str]) -> Iterator[Changed]:
    for requirement in seen:
        former, latter = before.outcomes[requirement], after.outcomes[requirement]
        if former.verdict is not latter.verdict:
            yield Changed(requirement, _kind(former.verdict, latter.verdict), former, latter)


def _kind(before: Verdict, after: Verdict) -> Kind:
    """Classify: a regression passed or did not apply before; a fix passes now.

    A requirement that gained a test says nothing about the scheduler.
    """
    if before is Verdict.PASS and after in _BAD:
        return Kind.BROKEN
    if before is Verdict.NOT_APPLICABLE and after in FAILED:
        return Kind.BROKEN
    if before in _BAD and after is Verdict.PASS:
        return Kind.FIXED
    return Kind.CHANGED


def _why_no_times(before: EvaluatedRun, after: EvaluatedRun) -> str:
    if not before.paces or not after.paces:
        return "one of the runs has none"
    differ = [
        name.replace("_", " ")
        for name, value in before.circumstances.items()
        if value != after.circumstances.get(name)
    ]
    return f"the runs differ in {', '.join(differ)}" if differ else ""


def _slower(before: EvaluatedRun, after: EvaluatedRun) -> Iterator[Slower]:
    for deadline, former in before.paces.items():
        latter = after.paces.get(deadline)
        if latter is not None and _is_slower(former, latter):
            yield Slower(deadline, former, latter)


def _is_slower(before: Latency, after: Latency) -> bool:
    return (
        min(before.count, after.count) >= ENOUGH
        and after.median >= SLOWER_BY * before.median
        and after.median - before.median >= SLOWER_OF_ALLOWED * after.allowed
    )


def _run_as_json(run: EvaluatedRun) -> dict[str, str]:
    return {
        "where": run.where,
        "target": run.target,
        "version": run.version,
        "revision": run.revision,
        "side": run.side.value,
        "sentence": run.sentence,
    }


def _changes_as_json(comparison: Comparison, kind: Kind) -> list[dict[str, str]]:
    return [
        {"requirement": one.requirement, "level": one.after.level,
         "before": one.before.verdict.value, "after": one.after.verdict.value,
         "reason": (one.after if kind is not Kind.FIXED else one.before).reason}
        for one in comparison.of(kind)
    ]  # fmt: skip
