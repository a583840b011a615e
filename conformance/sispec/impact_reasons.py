"""The reasons why an SI change affects a requirement, or is near it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from siconform.catalogue import Requirement, Source

from sispec.changes import Change, Kind
from sispec.places import SourceStatus, SpecIndex, name_of

TAKEN_AWAY: Final = frozenset(
    {
        Kind.SERVICE_REMOVED,
        Kind.METHOD_REMOVED,
        Kind.MESSAGE_REMOVED,
        Kind.MESSAGE_RENAMED,
        Kind.FIELD_REMOVED,
        Kind.FIELD_RENAMED,
        Kind.FIELD_REPLACED,
        Kind.ENUM_REMOVED,
        Kind.ENUM_MOVED,
        Kind.VALUE_REMOVED,
        Kind.VALUE_RENAMED,
        Kind.VALUE_REPLACED,
        Kind.CONSTANT_REMOVED,
        Kind.CONSTANT_RENAMED,
        Kind.API_REMOVED,
        Kind.API_RENAMED,
    }
)
"""Kinds of changes after which the old name no longer exists."""
NEW_HERE: Final = frozenset(
    {
        Kind.SERVICE_ADDED,
        Kind.METHOD_ADDED,
        Kind.MESSAGE_ADDED,
        Kind.FIELD_ADDED,
        Kind.ENUM_ADDED,
        Kind.VALUE_ADDED,
        Kind.EXTENSION_ADDED,
        Kind.CONSTANT_ADDED,
        Kind.API_ADDED,
    }
)
RESERVED: Final = frozenset({Kind.RESERVED_ADDED, Kind.RESERVED_REMOVED})
WORDS_ONLY: Final = frozenset({Kind.FIELD_ROLE, Kind.API_COMMENT})
OF_THE_FILE: Final = frozenset({Kind.PACKAGE, Kind.OPTION})
_DISTINCT: Final = re.compile(r"[a-z][A-Z]|[A-Z]_[A-Z]")


class ReasonKind(Enum):
    """Why a requirement is affected by a change, or near it."""

    GONE = "its sentence is gone"
    REWORDED = "its sentence reads differently"
    MOVED = "its sentence moved"
    JOINED = "a new sentence states it, too"
    NAMED = "an element it cites changed"
    INSIDE = "something inside an element it cites changed"
    RECORDED = "the catalogue has it differently from then on"
    MENTIONED = "its rule mentions a removed element"
    STATED = "its rule names a changed element"
    USED = "its rule is about a changed element that its tests, monitors or mutants use"
    ALTERED = "a mutant violates it by changing this element"

    @property
    def is_near(self) -> bool:
        """Whether the requirement is only worth a review."""
        return self in (ReasonKind.INSIDE, ReasonKind.MENTIONED, ReasonKind.ALTERED)


_BY_SENTENCE: Final = {
    SourceStatus.GONE: ReasonKind.GONE,
    SourceStatus.REWORDED: ReasonKind.REWORDED,
    SourceStatus.MOVED: ReasonKind.MOVED,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a requirement is affected or near."""

    kind: ReasonKind
    where: str  # the place of its source, or the name that is mentioned
    change: Change | None = None  # the change of the schema, if it is one

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.where}".rstrip(": ")


def reasons_of(
    requirement: Requirement,
    standings: Sequence[tuple[Source, SourceStatus]],
    changes: Sequence[Change],
    lost: Mapping[str, Change],
) -> Iterator[Reason]:
    """Yield the reasons from the sources of a requirement, then those from names in its rule.

    `lost` are the names that no longer exist (`lost_names`).
    """
    for source, stands in standings:
        if stands in _BY_SENTENCE:
            yield Reason(_BY_SENTENCE[stands], source.where)
        for change in changes:
            kind = _reason_kind(source.where, change, stands)
            if kind is not None:
                yield Reason(kind, source.where, change)
    rule = f"{requirement.text} {requirement.given} {requirement.when} {requirement.then}"
    words = set(re.findall(r"\w+", rule))
    for name in sorted(words & lost.keys()):
        yield Reason(ReasonKind.MENTIONED, name, lost[name])


def lost_names(
    before: SpecIndex, after: SpecIndex, changes: Iterable[Change]
) -> Mapping[str, Change]:
    """Map names that no declaration has any more to the change that removed them.

    Only names that are not English words: `maxAllocations`, not `asks`.
    """
    left = {name.rpartition(".")[2] for name in after.declared.keys() | after.spec.constants.keys()}
    gone = sorted(before.declared.keys() | before.spec.constants.keys())
    lost: dict[str, Change] = {}
    for change in changes:
        if change.kind in TAKEN_AWAY:
            for name in gone:
                last = name.rpartition(".")[2]
                if f"{name}.".startswith(f"{change.old_place}.") and last not in left:
                    lost.setdefault(last, change)
    return {name: change for name, change in lost.items() if is_distinct(name)}


def is_distinct(name: str) -> bool:
    """Whether a name is not an English word: `maxAllocations`, `DRAIN_NODE`, not `asks`."""
    return _DISTINCT.search(name) is not None


def _reason_kind(where: str, change: Change, stands: SourceStatus) -> ReasonKind | None:
    """Return how a change of a declaration affects a source at this place; None if it does not."""
    name, place = name_of(where), change.old_place
    if not name or change.kind in OF_THE_FILE:
        return None
    if change.kind in RESERVED:
        return ReasonKind.NAMED if ".reserved " in name else _inside(name, place, where, stands)
    if change.kind in NEW_HERE:
        return _inside(name, place, where, stands)
    if name == place or (change.kind in TAKEN_AWAY and name.startswith(f"{place}.")):
        return ReasonKind.NAMED
    return None if change.kind in WORDS_ONLY else _inside(name, place, where, stands)


def _inside(name: str, place: str, where: str, stands: SourceStatus) -> ReasonKind | None:
    """Return how a change of a member affects a source that names its declaration."""
    if not f"{place}.".startswith(f"{name}."):
        return None
    if not where.startswith("type of "):
        return ReasonKind.INSIDE
    return None if stands is SourceStatus.STANDS else ReasonKind.NAMED
