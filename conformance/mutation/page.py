"""The page about mutation testing: the killed mutants of each requirement, and the variants."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from siconform.catalogue import Level, Requirement, Side, catalogue
from siconform.reporting.published import records
from siconform.running.index import cited
from siconform.targets.embedded import NAME as REFERENCE
from siconform.verdicts import Verdict

from mutation.known import load
from mutation.main_revision import NAME
from mutation.mutant import CHANGES, Change
from mutation.outcomes import KILLED, Outcome, read_outcomes

_WRONG_VERDICTS: Final = Path(__file__).with_name("wrong_verdicts.yaml")
_HEAD: Final = """# Mutation testing

Mutants are schedulers with one fault, made from the reference (`conformance/mutation`): on the
wire, by a proxy that changes messages, or in the process, by replacing functions. Mutants of
resource managers (RMs) are made from `sirm`, in the process. A mutant names the requirements it
**breaks**. A requirement **kills** a mutant if it fails, or is late, because of it.

A **permitted variant** behaves differently from the reference and keeps the interface. No
requirement may fail for it, no MUST may become inconclusive, and the run must end CONFORMANT.

`nox -s mutation` tests them and records the outcomes in `fixtures/mutation/killed.jsonl`.
[The report of a run against a mutant](results/a-faulty-scheduler.html) shows what the kit says.
"""


class _Words(NamedTuple):
    """What the page calls one side."""

    heading: str
    in_brackets: str
    passes: str


_WORDS: Final[Mapping[Side, _Words]] = {
    Side.SCHEDULER: _Words("##", "", "the reference passes"),
    Side.RM: _Words("###", " (RMs)", "that the RMs' suite tests"),
}


class WrongVerdict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A kind of scheduler that once got a wrong verdict, and what shows the fix."""

    about: str  # requirements, or another subject
    scheduler: str
    shown_by: tuple[str, ...] = ()
    remark: str = ""


class WrongVerdicts(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Legal schedulers that once failed, and faulty ones that once passed."""

    legal: tuple[WrongVerdict, ...]
    illegal: tuple[WrongVerdict, ...]


@dataclass(frozen=True)
class MutationReport:
    """Every mutant and permitted variant, and the recorded outcomes."""

    changes: Mapping[str, Change]
    outcomes: Mapping[str, Outcome]
    passing: Mapping[str, Collection[str]]  # what the reference passes, by revision
    side: Side = Side.SCHEDULER

    def of_rms(self) -> "MutationReport":
        """Return the same for RMs: the RM passes all that is tested."""
        tested = [catalogue()[identifier] for identifier in cited(Side.RM)]
        passing = {
            name: [one.id for one in tested if name in map(str, one.revisions)]
            for name in self.passing
        }
        return replace(self, passing=passing, side=Side.RM)

    @property
    def own(self) -> list[Change]:
        """The mutants and permitted variants of this side."""
        return [one for one in self.changes.values() if one.side is self.side]

    @property
    def revisions(self) -> list[str]:
        """The revisions used, the main one first, then from new to old."""
        used = {change.revision for change in self.own}
        return sorted(used, key=lambda name: (name == NAME, name), reverse=True)

    def mutants(self, revision: str) -> list[Change]:
        """Return the mutants of a revision."""
        return [one for one in self.own if one.revision == revision and not one.is_variant]

    def tested(self, revision: str) -> list[Requirement]:
        """Return the requirements that the reference, or the RM, passes in this revision."""
        return [
            requirement
            for requirement in catalogue().values()
            if self.side in requirement.sides and requirement.id in self.passing[revision]
        ]

    def killed(self, revision: str) -> dict[str, list[str]]:
        """Map each requirement to the mutants of a revision that it kills."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        names = {change.name for change in self.mutants(revision)}
        for outcome in self.outcomes.values():
            if outcome.name in names:
                for identifier in outcome.killed_by:
                    found[identifier].append(outcome.name)
        return found


def committed() -> MutationReport:
    """Return what is recorded in this checkout."""
    load()
    passing = {
        record.revision: [i for i, j in record.requirements.items() if j.verdict is Verdict.PASS]
        for record in records()
        if record.target == REFERENCE
    }
    return MutationReport(CHANGES, read_outcomes(), passing)


def page(mutation: MutationReport) -> str:
    """Return the whole page."""
    lines = [_HEAD, *_untested(mutation), *_summaries(mutation), *_variants(mutation)]
    wrong_verdicts = read_wrong_verdicts()
    lines += _wrong_verdicts("Legal schedulers that once failed", wrong_verdicts.legal, mutation)
    lines += _wrong_verdicts(
        "Illegal schedulers that once passed", wrong_verdicts.illegal, mutation
    )
    lines += _tables(mutation)
    of_rms = mutation.of_rms()
    lines += ["## Resource managers", "", *_summaries(of_rms), *_variants(of_rms)]
    lines += _tables(of_rms)
    return "\n".join(lines)


def _untested(mutation: MutationReport) -> Iterator[str]:
    names = [name for name in mutation.changes if name not in mutation.outcomes]
    if names:
        yield f"**Without an outcome yet**: {', '.join(names)}."
        yield ""


def read_wrong_verdicts() -> WrongVerdicts:
    """Read the schedulers that once got a wrong verdict."""
    return msgspec.yaml.decode(_WRONG_VERDICTS.read_bytes(), type=WrongVerdicts)


def _summaries(mutation: MutationReport) -> Iterator[str]:
    for revision in mutation.revisions:
        yield from _summary(mutation, revision)


def _tables(mutation: MutationReport) -> Iterator[str]:
    for revision in mutation.revisions:
        yield from _requirements(mutation, revision)
        yield from _mutants(mutation, revision)


def _summary(mutation: MutationReport, revision: str) -> Iterator[str]:
    killed = mutation.killed(revision)
    tested = [one for one in _own(mutation, revision) if one.level is not Level.MAY]
    unarmed = [one for one in tested if one.id not in killed]
    which = "" if revision == NAME else " that no revision above has and"
    yield (
        f"SI {revision}: {len(mutation.mutants(revision))} mutants; of the {len(tested)} MUSTs and "
        f"SHOULDs{which} {_WORDS[mutation.side].passes} {len(tested) - len(unarmed)} kill a mutant."
    )
    yield ""
    for one in unarmed:
        reason = one.no_mutant or "no mutant yet"
        yield f"- kills none: {one.id} {one.level} {one.title}: {reason}"
    yield ""


def _own(mutation: MutationReport, revision: str) -> list[Requirement]:
    """Return all requirements of the main revision; of others only those that no newer one has."""
    others = {NAME, *(name for name in mutation.revisions if name > revision)}
    return [
        one
        for one in mutation.tested(revision)
        if revision == NAME or not others & {str(name) for name in one.revisions}
    ]


def _variants(mutation: MutationReport) -> Iterator[str]:
    words = _WORDS[mutation.side]
    yield f"{words.heading} Permitted variants{words.in_brackets}"
    yield ""
    yield f"| variant | what the {mutation.side.noun} does | once failed | outcome | departs from |"
    yield "|---|---|---|---|---|"
    for one in mutation.own:
        if one.is_variant:
            received = f" (`{' '.join(one.received)}`)" if one.received else ""
            once, departs = ", ".join(one.once_failed_by), ", ".join(one.departs_from)
            outcome = _outcome(one.name, mutation)
            yield f"| {one.name} | {one.summary}{received} | {once} | {outcome} | {departs} |"
    yield ""


def _outcome(name: str, mutation: MutationReport) -> str:
    outcome = mutation.outcomes.get(name)
    if outcome is None:
        return "**not recorded**"
    by = f" by {', '.join(outcome.killed_by)}" if outcome.verdict == KILLED else ""
    return outcome.verdict + by


def _wrong_verdicts(
    title: str, schedulers: Iterable[WrongVerdict], mutation: MutationReport
) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "| about | scheduler | shown by | outcome |"
    yield "|---|---|---|---|"
    for one in schedulers:
        remark = [one.remark] if one.remark else []
        sent = "; ".join([*(_outcome(name, mutation) for name in one.shown_by), *remark])
        shown = ", ".join(one.shown_by)
        yield f"| {one.about} | {one.scheduler} | {shown} | {sent or '**no outcome yet**'} |"
    yield ""


def _requirements(mutation: MutationReport, revision: str) -> Iterator[str]:
    killed = mutation.killed(revision)
    words = _WORDS[mutation.side]
    yield f"{words.heading} Requirements of {revision}{words.in_brackets}"
    yield ""
    yield "| requirement | mutants it kills |"
    yield "|---|---|"
    for one in mutation.tested(revision):
        if one.id in killed:
            yield f"| {one.id} {one.level.value} {one.title} | {', '.join(killed[one.id])} |"
    yield ""


def _mutants(mutation: MutationReport, revision: str) -> Iterator[str]:
    words = _WORDS[mutation.side]
    yield f"{words.heading} Mutants of {revision}{words.in_brackets}"
    yield ""
    yield "| mutant | what it does wrong | made | outcome |"
    yield "|---|---|---|---|"
    for one in mutation.mutants(revision):
        made = "on the wire" if one.is_on_the_wire else "inside"
        yield f"| {one.name} | {one.summary} | {made} | {_outcome(one.name, mutation)} |"
    yield ""
