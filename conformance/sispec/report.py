"""The report on an SI change: verdict, what breaks, which rules changed, buf's findings.

All formats (terminal, Markdown, JSON) show this report and decide nothing themselves.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby

from siconform.catalogue import Requirement

from sispec import buf
from sispec.changes import Kind
from sispec.checkout import Checkout
from sispec.classes import Class, Evaluation, evaluate
from sispec.cross_decoding import OF_VALUES
from sispec.impact import Impact, impact
from sispec.impact_reasons import WORDS_ONLY
from sispec.model import Sentence, Spec
from sispec.places import name_of
from sispec.rules import RuleChange, RuleChangeKind, compare_rules
from sispec.wire_rules import Breaks, BrokenRule, broken_rules

RULES = "rules"
"""The name of changed rules in `--fail-on`, in addition to the classes."""
NAMES = {
    "misread": Class.MISREAD,
    "wire": Class.WIRE_BREAKING,
    "json": Class.JSON_BREAKING,
    "source": Class.SOURCE_BREAKING,
}
"""The names of breaking classes in `--fail-on`."""
GONE = frozenset(kind for kind in Kind if kind.name.endswith("_REMOVED")) - {Kind.RESERVED_REMOVED}
"""Changes whose line is in the old specification."""
_RENAMES = frozenset(
    {Kind.FIELD_RENAMED, Kind.VALUE_RENAMED, Kind.MESSAGE_RENAMED, Kind.ENUM_MOVED}
)
_BUF = {
    Breaks.WIRE: Class.WIRE_BREAKING,
    Breaks.JSON: Class.JSON_BREAKING,
    Breaks.SOURCE: Class.SOURCE_BREAKING,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One change, or the values of an enum that moved together."""

    evaluations: tuple[Evaluation, ...]

    @property
    def worst(self) -> Class:
        """Return the worst class of all."""
        return min((one.worst for one in self.evaluations), key=list(Class).index)

    @property
    def classes(self) -> tuple[Class, ...]:
        """Return all classes, worst first."""
        return tuple(c for c in Class if any(c in one.classes for one in self.evaluations))

    @property
    def line(self) -> int:
        """Return the first known line; 0 if none is known."""
        return min((one.change.line for one in self.evaluations if one.change.line), default=0)

    @property
    def title(self) -> str:
        """Return the change in one line."""
        first = self.evaluations[0].change
        if len(self.evaluations) == 1:
            return str(first)
        enum = first.where.rpartition(".")[0]
        moved = sum(one.change.kind is not Kind.VALUE_ADDED for one in self.evaluations)
        return f"{enum}: {moved} numbers reused by other enum values"

    @property
    def is_of_old_text(self) -> bool:
        """Whether the line is in the old specification, as everything is removed in the new one."""
        return all(one.change.kind in GONE for one in self.evaluations)

    @property
    def advice(self) -> str:
        """Return the alternative for all of them together; "" if there is none."""
        if len(self.evaluations) == 1:
            return self.evaluations[0].advice
        new = [one.advice for one in self.evaluations if one.change.kind is Kind.VALUE_ADDED]
        return " ".join([*new, "Keep every older value at its number: a number is never moved."])


@dataclass(frozen=True, slots=True)
class Report:
    """What an SI change breaks."""

    old: Spec
    new: Spec
    entries: tuple[Entry, ...]
    """Changes of schema, constants and Go API: the worst first, then in document order."""
    words: tuple[Evaluation, ...]
    """Comments that give a field or a method another role."""
    rules: tuple[RuleChange, ...]
    buf: tuple[BrokenRule, ...]
    """Rules of buf that are broken, from its own comparison."""
    buf_missing: str = ""
    """Why buf was not run, as a sentence; "" if it was."""
    impact: Impact | None = None

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """Return the evaluations of all entries."""
        return tuple(one for entry in self.entries for one in entry.evaluations)

    @property
    def counts(self) -> Mapping[Class, int]:
        """Count the changes by their worst class, including zeros."""
        found = Counter(one.worst for one in self.evaluations)
        return {each: found[each] for each in Class}

    @property
    def rules_changed(self) -> int:
        """Count the rules and roles of fields that changed."""
        return len(self.rules) + len(self.words)

    @property
    def states_the_same(self) -> bool:
        """Whether there are no relevant differences."""
        return not (self.entries or self.rules_changed or self.buf)

    def broken(self) -> frozenset[Class]:
        """Return the breaking classes found by our comparison and by buf."""
        ours = {c for one in self.evaluations for c in one.classes if c is not Class.COMPATIBLE}
        return frozenset(ours | {_BUF[rule.breaks] for rule in self.buf})

    def breaks(self, fail_on: Collection[str] = tuple(NAMES)) -> bool:
        """Whether one of these classes (`misread`, `wire`, `json`, `source`, `rules`) occurs."""
        broken = self.broken()
        classes = any(NAMES[name] in broken for name in fail_on if name in NAMES)
        return classes or (RULES in fail_on and self.rules_changed > 0)


def report(
    old: Spec,
    new: Spec,
    requirements: Sequence[Requirement] = (),
    *,
    with_impact: bool = False,
    checkout: Checkout | None = None,
) -> Report:
    """Compare two specifications, with the impact of the changes if requested.

    With the requirements of the catalogue each changed rule lists those that cite it.
    """
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(broken_rules, old, new)  # runs a process in parallel
        evaluated = evaluate(old, new)
        touched = None
        if with_impact:
            changes = [one.change for one in evaluated]
            touched = impact(old, new, changes, requirements, checkout=checkout)
        found = touched.rules if touched is not None else compare_rules(old, new, requirements)
        rules = tuple(_without_renamed_places(found, evaluated))
    missing = ""
    rules_of_buf: tuple[BrokenRule, ...] = ()
    try:
        rules_of_buf = asked.result()
    except buf.NoCompiler as error:
        missing = str(error)
    return Report(
        old,
        new,
        tuple(sorted(_entries(evaluated), key=lambda entry: list(Class).index(entry.worst))),
        tuple(_words(evaluated, rules)),
        rules,
        rules_of_buf,
        missing,
        replace(touched, rules=rules) if touched is not None else None,
    )


def _without_renamed_places(
    rules: Iterable[RuleChange], evaluated: Iterable[Evaluation]
) -> Iterator[RuleChange]:
    """Drop comments that only moved because their declaration is renamed."""
    changes = (one.change for one in evaluated if one.change.kind in _RENAMES)
    renamed = {change.old_place: change.where for change in changes}

    def now(sentence: Sentence | None) -> str:
        place = name_of(sentence.place) if sentence is not None else ""
        if place in renamed:
            return renamed[place]
        around, dot, name = place.rpartition(".")
        return f"{renamed.get(around, around)}{dot}{name}"

    for rule in rules:
        place = name_of(rule.new.place) if rule.new is not None else ""
        stayed = place and now(rule.old) == place
        if not (rule.kind is RuleChangeKind.MOVED and stayed):
            yield rule


def _words(evaluated: Iterable[Evaluation], rules: Iterable[RuleChange]) -> Iterator[Evaluation]:
    """Yield changed comments, without those of the Go API that a changed rule already shows."""
    shown = {name_of(one.new.place) for one in rules if one.old and one.new}
    for one in evaluated:
        of_api = one.change.kind is Kind.API_COMMENT
        if one.change.kind in WORDS_ONLY and not (of_api and one.change.where in shown):
            yield one


def _entries(evaluated: Iterable[Evaluation]) -> Iterator[Entry]:
    schema = (one for one in evaluated if one.change.kind not in WORDS_ONLY)
    for enum, group in groupby(schema, _enum_of):
        together = tuple(group)
        misread = [one for one in together if one.worst is Class.MISREAD]
        if enum and len(misread) > 1:
            yield Entry(tuple(misread))
            together = tuple(one for one in together if one not in misread)
        for one in together:
            yield Entry((one,))


def _enum_of(evaluation: Evaluation) -> str:
    change = evaluation.change
    return change.where.rpartition(".")[0] if change.kind in OF_VALUES else ""
