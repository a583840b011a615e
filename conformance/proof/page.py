"""The page about mutation testing: the killed mutants of each requirement, and the variants."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from siconform.catalogue import Level, Requirement, Side, catalogue
from siconform.doctor.change import Change
from siconform.reporting.published import records
from siconform.targets.embedded import NAME as REFERENCE
from siconform.verdicts import Verdict

from proof.fault import CHANGES
from proof.known import load
from proof.main_revision import NAME
from proof.outcomes import KILLED, Outcome, read_outcomes

_MISJUDGED: Final = Path(__file__).with_name("misjudged.yaml")
_HEAD: Final = """# Proof that the checks can fail, and fail only where they may

Mutants are schedulers with one fault, made from the reference (`conformance/proof`): on the wire,
by a proxy that changes messages, or inside, by functions that are replaced in the process. A mutant
names the requirements it **breaks**, and is **killed** by those that fail, or are late, because of
it. A requirement is **armed** when it kills a mutant that breaks it.

A **liberty** is a permitted variant: a scheduler that behaves otherwise than the reference and
keeps the interface. No requirement may fail for it, every MUST that runs without it has to run with
it, and the run has to end CONFORMANT.

`nox -s proof` tests them and records the outcomes in `fixtures/proof/killed.jsonl`.
[The report of a run against a mutant](results/a-faulty-scheduler.html) shows what the kit says.
"""


class Misjudged(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A kind of scheduler that was once judged wrongly, and what shows that it is not now."""

    about: str  # requirements, or what else it was about
    scheduler: str
    shown_by: tuple[str, ...] = ()
    remark: str = ""


class MisjudgedSchedulers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Legal schedulers that were taken for faulty ones, and faulty ones that were not noticed."""

    legal: tuple[Misjudged, ...]
    illegal: tuple[Misjudged, ...]


@dataclass(frozen=True)
class Proof:
    """Every mutant and permitted variant, and the recorded outcomes."""

    changes: Mapping[str, Change]
    outcomes: Mapping[str, Outcome]
    passing: Mapping[str, Collection[str]]  # what the reference passes, by revision

    def mutants(self, revision: str) -> list[Change]:
        """The mutants of a revision."""
        return [
            one for one in self.changes.values() if one.revision == revision and not one.is_liberty
        ]

    def tested(self, revision: str) -> list[Requirement]:
        """The requirements of a scheduler that the reference passes in this revision."""
        return [
            requirement
            for requirement in catalogue().values()
            if Side.SCHEDULER in requirement.sides and requirement.id in self.passing[revision]
        ]

    def killed(self, revision: str) -> dict[str, list[str]]:
        """Requirement to the mutants of a revision that it kills."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for outcome in self.outcomes.values():
            if outcome.revision == revision:
                for identifier in outcome.killed_by:
                    found[identifier].append(outcome.name)
        return found


def committed() -> Proof:
    """Return what is recorded in this checkout."""
    load()
    passing = {
        record.revision: [i for i, j in record.requirements.items() if j.verdict is Verdict.PASS]
        for record in records()
        if record.target == REFERENCE
    }
    return Proof(CHANGES, read_outcomes(), passing)


def page(proof: Proof) -> str:
    """The whole page."""
    used = {change.revision for change in proof.changes.values()}
    revisions = sorted(used, key=lambda name: (name == NAME, name), reverse=True)
    lines = [_HEAD, *_untested(proof)]
    for revision in revisions:
        lines += _summary(proof, revision, revisions)
    lines += _liberties(proof)
    misjudged = read_misjudged()
    lines += _misjudged("Legal schedulers that once failed", misjudged.legal, proof)
    lines += _misjudged("Illegal schedulers that once passed", misjudged.illegal, proof)
    for revision in revisions:
        lines += _requirements(proof, revision)
        lines += _mutants(proof, revision)
    return "\n".join(lines)


def _untested(proof: Proof) -> Iterator[str]:
    names = [name for name in proof.changes if name not in proof.outcomes]
    if names:
        yield f"**Without an outcome yet**: {', '.join(names)}."
        yield ""


def read_misjudged() -> MisjudgedSchedulers:
    """The schedulers that were once misjudged, as they stand in their file."""
    return msgspec.yaml.decode(_MISJUDGED.read_bytes(), type=MisjudgedSchedulers)


def _summary(proof: Proof, revision: str, revisions: Iterable[str]) -> Iterator[str]:
    killed = proof.killed(revision)
    tested = [one for one in _own(proof, revision, revisions) if one.level is not Level.MAY]
    unarmed = [one for one in tested if one.id not in killed]
    which = "" if revision == NAME else " that no revision above has and"
    yield (
        f"SI {revision}: {len(proof.mutants(revision))} mutants; of the {len(tested)} MUSTs and "
        f"SHOULDs{which} the reference passes {len(tested) - len(unarmed)} are armed."
    )
    yield ""
    for one in unarmed:
        reason = one.no_mutant or "no mutant yet"
        yield f"- not armed: {one.id} {one.level} {one.title}: {reason}"
    yield ""


def _own(proof: Proof, revision: str, revisions: Iterable[str]) -> list[Requirement]:
    """In another revision than the main one those that neither it nor a newer one has."""
    others = {NAME, *(name for name in revisions if name > revision)}
    return [
        one
        for one in proof.tested(revision)
        if revision == NAME or not others & {str(name) for name in one.revisions}
    ]


def _liberties(proof: Proof) -> Iterator[str]:
    yield "## Liberties"
    yield ""
    yield "| liberty | what the scheduler does | once failed | outcome | departs from |"
    yield "|---|---|---|---|---|"
    for one in proof.changes.values():
        if one.is_liberty:
            told = f" (`{' '.join(one.told)}`)" if one.told else ""
            once, departs = ", ".join(one.misjudged_by), ", ".join(one.departs_from)
            outcome = _outcome(one.name, proof)
            yield f"| {one.name} | {one.summary}{told} | {once} | {outcome} | {departs} |"
    yield ""


def _outcome(name: str, proof: Proof) -> str:
    outcome = proof.outcomes.get(name)
    if outcome is None:
        return "**not recorded**"
    by = f" by {', '.join(outcome.killed_by)}" if outcome.verdict == KILLED else ""
    return outcome.verdict + by


def _misjudged(title: str, schedulers: Iterable[Misjudged], proof: Proof) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "| about | scheduler | shown by | outcome |"
    yield "|---|---|---|---|"
    for one in schedulers:
        remark = [one.remark] if one.remark else []
        said = "; ".join([*(_outcome(name, proof) for name in one.shown_by), *remark])
        shown = ", ".join(one.shown_by)
        yield f"| {one.about} | {one.scheduler} | {shown} | {said or '**not shown yet**'} |"
    yield ""


def _requirements(proof: Proof, revision: str) -> Iterator[str]:
    killed = proof.killed(revision)
    yield f"## Requirements of {revision}"
    yield ""
    yield "| requirement | mutants it kills |"
    yield "|---|---|"
    for one in proof.tested(revision):
        if one.id in killed:
            yield f"| {one.id} {one.level.value} {one.title} | {', '.join(killed[one.id])} |"
    yield ""


def _mutants(proof: Proof, revision: str) -> Iterator[str]:
    yield f"## Mutants of {revision}"
    yield ""
    yield "| mutant | fault | made | outcome |"
    yield "|---|---|---|---|"
    for one in proof.mutants(revision):
        made = "on the wire" if one.is_on_the_wire else "inside"
        yield f"| {one.name} | {one.summary} | {made} | {_outcome(one.name, proof)} |"
    yield ""
