"""Where catalogue requirements are stated in a specification, and which still are.

A source of a requirement names a place (`siconform.catalogue.texts`) and keeps a hash of the
sentence there. A document has all places; a schema alone has only declarations, without their
sentences.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property

from siconform.catalogue import Requirement, Source
from siconform.catalogue.drift import fingerprint
from siconform.catalogue.texts import Text, normalised, read_text
from siwire import REVISIONS, find_revision

from sispec.model import Spec
from sispec.schema import revision_schema, schema_of

LEAST_LIKENESS = 0.5
"""Minimum share of declarations in common with the revision a specification is assigned to."""
_KINDS = ("type of ", "constant ")
_PROSE = ("section ", "diagram ")
_PACKAGE = re.compile(r"^\.?si\.v1\.")


class SourceStatus(Enum):
    """What happened to the sentence or declaration that a source names."""

    STANDS = "stands"
    REWORDED = "reads differently"
    MOVED = "stands elsewhere"
    GONE = "is gone"
    UNSEEN = "cannot be checked"


@dataclass(frozen=True)
class SpecIndex:
    """A specification indexed by the catalogue's places."""

    spec: Spec

    @cached_property
    def text(self) -> Text:
        """Index the document, or the source of a schema."""
        return read_text(self.spec.content or self.spec.source)

    @cached_property
    def declared(self) -> Mapping[str, str]:
        """Map every declared name, without the package, to its declaration."""
        return schema_of(self.spec.file).elements()

    @property
    def has_words(self) -> bool:
        """Whether there is text besides names and numbers."""
        return bool(self.spec.content or self.spec.source)

    @cached_property
    def _found(self) -> dict[str, dict[str, str]]:
        return {}

    def passages(self, where: str) -> Mapping[str, str]:
        """Return the passages at a place by their hash; none if there is no such place."""
        if where not in self._found:
            try:
                sent = self.text.passages(where)
            except LookupError:
                sent = ()
            self._found[where] = {fingerprint(passage): passage for passage in sent}
        return self._found[where]

    def holds(self, source: Source) -> bool:
        """Whether the sentence is there as the source recorded it."""
        return source.sha256 in self.passages(source.where)

    def states_elsewhere(self, source: Source) -> bool:
        """Whether another section has the identical sentence."""
        return source.where.startswith(_PROSE) and source.sha256 in self._in_sections

    @cached_property
    def _in_sections(self) -> frozenset[str]:
        return frozenset(
            fingerprint(normalised(sentence))
            for sentences in self.text.sections.values()
            for sentence in sentences
        )


def standing(source: Source, old: SpecIndex, new: SpecIndex) -> SourceStatus:
    """Return what happened to a source of the old specification in the new one.

    If one side has no prose, only the removal of a declaration can be detected. A source that
    does not hold in the old specification cannot be compared by its hash.
    """
    prose = source.where.startswith(_PROSE)
    evaluated = new.spec.has_text if not old.has_words else new.has_words and old.holds(source)
    if not prose and _is_taken_out(name_of(source.where), old, new):
        return SourceStatus.GONE
    if not evaluated or (prose and not new.spec.has_text):
        return SourceStatus.UNSEEN
    if new.holds(source):
        return SourceStatus.STANDS
    if new.states_elsewhere(source):
        return SourceStatus.MOVED
    return SourceStatus.REWORDED if new.passages(source.where) else SourceStatus.GONE


def _is_taken_out(name: str, old: SpecIndex, new: SpecIndex) -> bool:
    """Whether the old one declares it and the new one, which could, does not."""
    if name in old.declared:
        return name not in new.declared
    constants = new.spec.constants
    return bool(constants) and name in old.spec.constants and name not in constants


def name_of(where: str) -> str:
    """Return the element a place or a change names: `NodeInfo.nodeID`; "" for prose."""
    if where.startswith(_PROSE):
        return ""
    for kind in _KINDS:
        where = where.removeprefix(kind)
    return _PACKAGE.sub("", where)


class Carriers:
    """Which requirements cite the sentences of one specification."""

    def __init__(self, footing: SpecIndex, sources: Iterable[tuple[Requirement, Source]]) -> None:
        by_place: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        for requirement, source in sources:
            passage = footing.passages(source.where).get(source.sha256)
            if passage is not None:
                ids = by_place[_key(source.where)].setdefault(passage, [])
                if requirement.id not in ids:
                    ids.append(requirement.id)
        self._by_place = by_place

    def of(self, sentence: str, place: str) -> tuple[str, ...]:
        """Return the requirements with a source there that contains the sentence or a part."""
        sent = normalised(sentence)
        found: dict[str, None] = {}
        for passage, ids in self._by_place.get(_key(place), {}).items():
            if sent and (_within(sent, passage) or _within(passage, sent)):
                found.update(dict.fromkeys(ids))
        return tuple(found)


def sources_of(
    requirements: Iterable[Requirement], revision: str | None = None
) -> Iterator[tuple[Requirement, Source]]:
    """Yield each source in the SI, of one revision or of all; without the design's."""
    for requirement in requirements:
        for source in requirement.sources:
            if source.revision == revision or (revision is None and source.revision in REVISIONS):
                yield requirement, source


def known_revision(name: str) -> str | None:
    """Return the revision of that name or release line; None if it is unknown."""
    try:
        return find_revision(name).name
    except LookupError:
        return None


def nearest_revision(footing: SpecIndex, requirements: Sequence[Requirement]) -> str | None:
    """Return the revision that a specification is, or resembles most; None if it resembles none.

    Similarity is the share of common declarations, then the number of sources that hold, then the
    newer revision.
    """
    received = known_revision(footing.spec.name)
    if received is not None:
        return received
    likeness = {name: _likeness(footing.declared, _elements_of(name)) for name in REVISIONS}
    best = max(likeness.values())
    if best < LEAST_LIKENESS:
        return None
    near = [name for name, value in likeness.items() if value == best]
    if len(near) == 1 or not footing.has_words:
        return near[-1]
    held = {
        name: sum(footing.holds(source) for _, source in sources_of(requirements, name))
        for name in near
    }
    return max(near, key=lambda name: (held[name], name))


@cache
def _elements_of(revision: str) -> Mapping[str, str]:
    return revision_schema(revision).elements()


def _likeness(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    common, either = one.items() & other.items(), one.items() | other.items()
    return len(common) / max(len(either), 1)


def _key(place: str) -> str:
    return place if place.startswith(_PROSE) else name_of(place)


def _within(part: str, whole: str) -> bool:
    return f" {part} " in f" {whole} "
