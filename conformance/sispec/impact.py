"""Impact of an SI change: requirements, their tests and mutants, code, published results.

A requirement is affected if the sentence of one of its sources is gone, reads differently or moved,
or if what it names or is about is changed (`traceability`). It is near a change inside a message it
names, near the loss of what its rule mentions, and near what a mutant changes to violate it: worth
a review, and counted separately.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from siconform.catalogue import Requirement, Source

from sispec.changes import Change
from sispec.checkout import Checkout, Published
from sispec.citations import read_citations
from sispec.code_usage import CodeUsage, Usage
from sispec.impact_reasons import (
    NEW_HERE,
    OF_THE_FILE,
    RESERVED,
    Reason,
    ReasonKind,
    lost_names,
    reasons_of,
)
from sispec.model import Spec
from sispec.places import (
    SourceStatus,
    SpecIndex,
    known_revision,
    nearest_revision,
    sources_of,
    standing,
)
from sispec.rules import RuleChange, compare_rules
from sispec.schema import schema_of
from sispec.traceability import Traceability


@dataclass(frozen=True, slots=True)
class RequirementImpact:
    """A requirement of the old revision that is affected, or near a change."""

    requirement: Requirement
    reasons: tuple[Reason, ...]
    has_lost_all: bool
    """Whether the sentences of all of its sources are gone."""
    tests: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    """The mutants that violate it; known in a checkout only."""

    @property
    def is_near(self) -> bool:
        """Whether nothing it is based on is changed itself."""
        return all(reason.kind.is_near for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class ChangeImpact:
    """A change of the schema, the constants or the API, and its impact."""

    change: Change
    touched: tuple[str, ...]
    near: tuple[str, ...]
    code: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class RunAgain:
    """A published run, and the affected requirements it tested."""

    published: Published
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything that changes between two specifications affect."""

    revision: str | None
    """The revision of the requirements; None if the old specification resembles none."""
    changes: tuple[ChangeImpact, ...] = ()
    requirements: tuple[RequirementImpact, ...] = ()
    """In the order of the catalogue."""
    rules: tuple[RuleChange, ...] = ()
    arriving: tuple[Requirement, ...] = ()
    """Requirements of other revisions whose sentences are only in the new specification."""
    results: tuple[RunAgain, ...] = ()
    sources: int = 0
    unseen: int = 0
    """Sources that could not be checked: no prose, or a sentence that the old one does not have."""
    has_checkout: bool = False

    @property
    def touched(self) -> tuple[RequirementImpact, ...]:
        """Return the requirements based on something that changed."""
        return tuple(one for one in self.requirements if not one.is_near)

    @property
    def near(self) -> tuple[RequirementImpact, ...]:
        """Return the requirements that are only worth a review."""
        return tuple(one for one in self.requirements if one.is_near)

    @property
    def without_sentence(self) -> tuple[RequirementImpact, ...]:
        """Return the requirements that have lost all their sentences."""
        return tuple(one for one in self.requirements if one.has_lost_all)

    @property
    def uncovered(self) -> tuple[RuleChange, ...]:
        """Return new rule sentences that no requirement covers."""
        return tuple(one for one in self.rules if one.is_uncovered)


def impact(
    old: Spec,
    new: Spec,
    changes: Sequence[Change],
    requirements: Iterable[Requirement],
    *,
    checkout: Checkout | None = None,
) -> Impact:
    """Return the impact of the changes between two specifications.

    A checkout adds code, most mutants and published results.
    """
    known = tuple(requirements)
    before, after = SpecIndex(old), SpecIndex(new)
    revision = nearest_revision(before, known)
    rules = compare_rules(old, new, known)
    if revision is None:
        return Impact(None, tuple(_of_changes(changes, (), old, None)), rules=rules)
    code = CodeUsage(checkout.root, revision, schema_of(old.file)) if checkout is not None else None
    standings = _standings(known, revision, before, after)
    lost = lost_names(before, after, changes)
    traces = _traces(old, revision, checkout)
    recorded = _recorded(known, revision, after) or _joined(known, revision, before, after)
    reasons = {
        one.id: (
            *reasons_of(one, standings[one.id], changes, lost),
            *traces.reasons(one, changes),
            *recorded.get(one.id, ()),
        )
        for one in known
        if one.id in standings
    }
    touched = tuple(_touched(known, standings, reasons, traces, with_mutants=checkout is not None))
    return Impact(
        revision,
        tuple(_of_changes(changes, touched, old, code)),
        touched,
        rules,
        tuple(_arriving(known, revision, before, after)),
        tuple(_results(checkout, revision, touched)),
        sum(map(len, standings.values())),
        sum(s is SourceStatus.UNSEEN for one in standings.values() for _, s in one),
        checkout is not None,
    )


def _traces(old: Spec, revision: str, checkout: Checkout | None) -> Traceability:
    mutants = checkout.mutants if checkout is not None else None
    return Traceability(schema_of(old.file), revision, read_citations(mutants=mutants))


Standings = Mapping[str, Sequence[tuple[Source, SourceStatus]]]


def _standings(
    known: Iterable[Requirement], revision: str, before: SpecIndex, after: SpecIndex
) -> Standings:
    """Yield what happened to each source of the revision's requirements, except the design's."""
    found: dict[str, list[tuple[Source, SourceStatus]]] = {
        one.id: [] for one in known if revision in one.revisions
    }
    for requirement, source in sources_of(known, revision):
        found[requirement.id].append((source, standing(source, before, after)))
    return found


def _touched(
    known: Iterable[Requirement],
    standings: Standings,
    reasons: Mapping[str, Sequence[Reason]],
    traces: Traceability,
    *,
    with_mutants: bool,
) -> Iterator[RequirementImpact]:
    for one in known:
        found = tuple(dict.fromkeys(reasons.get(one.id, ())))
        if found:
            stood = [stands for _, stands in standings[one.id]]
            lost = bool(stood) and all(stands is SourceStatus.GONE for stands in stood)
            citations = traces.by_requirement.get(one.id, ())
            tests = tuple(each.name for each in citations if not each.is_mutant)
            mutants = tuple(each.name for each in citations if each.is_mutant and with_mutants)
            yield RequirementImpact(one, found, lost, tests, mutants)


def _recorded(
    known: Iterable[Requirement], revision: str, after: SpecIndex
) -> Mapping[str, Sequence[Reason]]:
    """Return the changes recorded in the catalogue's windows if the new side has no prose."""
    other = None if after.spec.has_text else known_revision(after.spec.name)
    if other is None:
        return {}
    found: dict[str, list[Reason]] = {}
    for one in known:
        if revision in one.revisions:
            now = {(s.where, s.sha256) for s in one.sources if s.revision == other}
            was = [s for s in one.sources if s.revision == revision]
            gone = [s.where for s in was if (s.where, s.sha256) not in now]
            places = gone or ([""] if len(now) > len(was) or other not in one.revisions else [])
            found[one.id] = [Reason(ReasonKind.RECORDED, where) for where in places]
    return found


def _joined(
    known: Iterable[Requirement], revision: str, before: SpecIndex, after: SpecIndex
) -> Mapping[str, Sequence[Reason]]:
    """Return new sentences that other revisions have as sources of a requirement."""
    if not (before.spec.has_text and after.spec.has_text):
        return {}
    found: dict[str, dict[Reason, None]] = {}
    for one, source in sources_of(known):
        if revision not in one.revisions or source.revision == revision:
            continue
        if after.holds(source) and not before.holds(source):
            found.setdefault(one.id, {})[Reason(ReasonKind.JOINED, source.where)] = None
    return {identifier: tuple(reasons) for identifier, reasons in found.items()}


def _of_changes(
    changes: Iterable[Change],
    touched: Sequence[RequirementImpact],
    old: Spec,
    code: CodeUsage | None,
) -> Iterator[ChangeImpact]:
    for change in changes:
        firm: dict[str, None] = {}
        near: dict[str, None] = {}
        for one in touched:
            for reason in one.reasons:
                if reason.change == change:
                    (near if reason.kind.is_near else firm)[one.requirement.id] = None
        only_near = tuple(identifier for identifier in near if identifier not in firm)
        yield ChangeImpact(change, tuple(firm), only_near, _code_of(change, old, code))


def _code_of(change: Change, old: Spec, code: CodeUsage | None) -> tuple[Usage, ...]:
    """Return the code that uses the changed element; none for new elements."""
    silent = NEW_HERE | RESERVED | OF_THE_FILE
    if code is None or change.kind in silent:
        return ()
    constant = old.constants.get(change.old_place)
    return code.of(change.old_place, constant.value if constant is not None else "")


def _arriving(
    known: Iterable[Requirement], revision: str, before: SpecIndex, after: SpecIndex
) -> Iterator[Requirement]:
    """Yield those of other revisions all of whose sources hold now, one of them not before."""
    other = known_revision(after.spec.name)
    if not after.spec.has_text:
        yield from (r for r in known if other in r.revisions and revision not in r.revisions)
        return
    was = {(source.where, source.sha256) for _, source in sources_of(known, revision)}
    held = before.holds if before.spec.has_text else lambda s: (s.where, s.sha256) in was
    for one in known:
        if revision in one.revisions:
            continue
        for name in sorted(one.revisions):
            sources = [source for source in one.sources if source.revision == name]
            if sources and all(map(after.holds, sources)) and not all(map(held, sources)):
                yield one
                break


def _results(
    checkout: Checkout | None, revision: str, touched: Iterable[RequirementImpact]
) -> Iterator[RunAgain]:
    ids = [one.requirement.id for one in touched if not one.is_near]
    for published in checkout.published if checkout is not None else ():
        evaluated = tuple(identifier for identifier in ids if identifier in published.evaluated)
        if evaluated and published.revision == revision:
            yield RunAgain(published, evaluated)
