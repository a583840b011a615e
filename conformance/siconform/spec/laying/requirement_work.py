"""What a new text means for the requirements of the revision before it: stands, moved, to decide.

A source stands where the new text has its sentence in its place, by the hash it keeps. One whose
sentence stands in one other place is given that place; everything else is for people.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.catalogue import Requirement, Source
from siconform.catalogue.drift import fingerprint
from siconform.catalogue.texts import normalised
from siconform.spec.laying.source_edits import WIDTH, NotLaidError
from siconform.spec.places import Footing, Standing

_FOLDER: Final = "conformance/siconform/catalogue"
_ITEM: Final = "      - "
_ENTRY: Final = "  - id: "


@dataclass(frozen=True, slots=True)
class SourceWork:
    """A source of the older revision, and what became of its sentence."""

    source: Source
    standing: Standing
    moved_to: str = ""  # the only place that has the sentence now
    reads: str = ""  # the hash of what stands in the place now, where that is one passage


@dataclass(frozen=True, slots=True)
class RequirementWork:
    """A requirement of the older revision, with its sources there."""

    requirement: Requirement
    sources: tuple[SourceWork, ...]

    @property
    def to_decide(self) -> tuple[SourceWork, ...]:
        """Sources whose sentence is gone or reads differently."""
        return tuple(
            one for one in self.sources if one.standing is not Standing.STANDS and not one.moved_to
        )

    @property
    def moved(self) -> tuple[SourceWork, ...]:
        """Sources whose sentence stands in one other place."""
        return tuple(one for one in self.sources if one.moved_to)

    @property
    def has_lost_all(self) -> bool:
        """Whether no sentence is left, so that the requirement may have to end."""
        return bool(self.sources) and all(
            one.standing is Standing.GONE and not one.moved_to for one in self.sources
        )


def requirement_work(
    requirements: Iterable[Requirement], before: str, text: Footing
) -> tuple[RequirementWork, ...]:
    """The requirements of the revision `before` as they stand in the new text.

    Those of a design alone have no sources.
    """
    places = _places(text)
    return tuple(
        RequirementWork(
            one,
            tuple(
                _source(source, text, places) for source in one.sources if source.revision == before
            ),
        )
        for one in requirements
        if before in one.revisions
    )


def returning(
    requirements: Iterable[Requirement], before: str, text: Footing
) -> Iterator[Requirement]:
    """Requirements that had ended and all of whose last sentences stand in the new text."""
    for one in requirements:
        if before in one.revisions:
            continue
        last = max(one.revisions, default="")
        sources = [source for source in one.sources if source.revision == last]
        if sources and all(map(text.holds, sources)):
            yield one


def _source(source: Source, text: Footing, places: Mapping[str, Sequence[str]]) -> SourceWork:
    if text.holds(source):
        return SourceWork(source, Standing.STANDS)
    now = text.passages(source.where)
    found = [place for place in places.get(source.sha256, ()) if place != source.where]
    is_declared = not source.where.startswith(("section ", "diagram "))
    alike = [place for place in found if place.startswith("section ") is not is_declared]
    if len(alike) == 1 and not (is_declared and now):
        return SourceWork(source, Standing.MOVED, alike[0])
    reads = next(iter(now)) if len(now) == 1 else ""
    return SourceWork(source, Standing.REWORDED if now else Standing.GONE, reads=reads)


def _places(text: Footing) -> Mapping[str, Sequence[str]]:
    """The places of the text by the hash of what stands there; what is declared by its comment."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, declared in text.text.declarations.items():
        if declared.comment:
            found[fingerprint(normalised(declared.comment))].append(name)
    for section, sentences in text.text.sections.items():
        for sentence in sentences:
            place = f'section "{section}"'
            hash_of = fingerprint(normalised(sentence))
            if section and place not in found[hash_of]:
                found[hash_of].append(place)
    return found


def catalogue_edits(
    work: Iterable[RequirementWork], areas: Mapping[str, str], before: str, name: str
) -> Mapping[str, str]:
    """The area files by path in which a source moved: it ends, and one with its new place begins.

    `areas` are all area files by path. Raises NotLaidError where a source is not found in them.
    """
    edited: dict[str, str] = {}
    for one in work:
        for moved in one.moved:
            path = f"{_FOLDER}/{_file_of(one.requirement, areas)}"
            text = edited.get(path, areas[path])
            edited[path] = _with_moved(text, path, one.requirement.id, moved, (before, name))
    return edited


def _file_of(requirement: Requirement, areas: Mapping[str, str]) -> str:
    for path, text in areas.items():
        if f"\n{_ENTRY}{requirement.id}\n" in text:
            return path.rpartition("/")[2]
    raise NotLaidError(f"no area file of the catalogue has {requirement.id}: use its own checkout")


def _with_moved(
    text: str, path: str, identifier: str, moved: SourceWork, window: tuple[str, str]
) -> str:
    lines = text.split("\n")
    start = lines.index(f"{_ENTRY}{identifier}")
    ends = [at for at in range(start + 1, len(lines)) if lines[at].startswith(_ENTRY)]
    end = ends[0] if ends else len(lines)
    where, sha256 = moved.source.where, moved.source.sha256
    for at in range(start, end):
        if not lines[at].startswith(_ITEM):
            continue
        last = at + 1
        while last < end and lines[last].startswith(" " * (len(_ITEM))):
            last += 1
        item = "\n".join(lines[at:last])
        is_it = re.search(rf"where: {re.escape(where)}(?:,|$)", item, re.MULTILINE)
        if is_it and f"sha256: {sha256}" in item and "until:" not in item:
            ended = re.sub(r"(,? ?)(\n? *)sha256:", rf"\1\2until: {window[0]}\1\2sha256:", item)
            begun = _item(moved.moved_to, window[1], sha256)
            return "\n".join([*lines[:at], _fitting(ended), begun, *lines[last:]])
    raise NotLaidError(
        f"{path} has no open source {where} with sha256 {sha256} in {identifier}: it is not as "
        "this kit knows it, use the kit of the same checkout"
    )


def _item(where: str, since: str, sha256: str) -> str:
    return _fitting(f"{_ITEM}{{where: {where}, since: {since}, sha256: {sha256}}}")


def _fitting(item: str) -> str:
    """An item on one line, or one key a line where that is too long or has a comma of its own."""
    found = re.fullmatch(
        r" {6}- \{where: (.*?)((?:, (?:since|until|design|sha256): [^,}]+)+)\}", item
    )
    if found is None or (len(item) <= WIDTH and "," not in found[1]):
        return item
    rest = found[2].removeprefix(", ").split(", ")
    return "\n".join([f"{_ITEM}where: {found[1]}", *(f"        {one}" for one in rest)])
