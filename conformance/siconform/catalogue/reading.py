"""Reads an area file of the catalogue strictly: unknown or duplicate keys are errors."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import yaml

from siconform.catalogue.requirement import (
    Authority,
    Challenge,
    DeadlineClass,
    Level,
    Observation,
    Requirement,
    Side,
    Source,
)
from siconform.catalogue.windows import WindowError, window

try:  # ten times as fast, and in every wheel of PyYAML
    from yaml import CBaseLoader as BaseLoader
except ImportError:
    from yaml import BaseLoader  # type: ignore[assignment]  # the same class without libyaml

Text = Annotated[str, msgspec.Meta(min_length=1)]
Hash = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]


class CatalogueError(Exception):
    """An unreadable area file; the message names the file, the entry and the error."""


class _Place(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    where: Text
    sha256: Hash
    design: Literal["gang"] | None = None
    since: str | None = None
    until: str | None = None


class _Challenge(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    since: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    link: Annotated[str, msgspec.Meta(pattern=r"^https?://\S+$")]
    reason: Text
    tests: list[Text] = []


class Entry(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A requirement as written in its file."""

    id: Text
    title: Text
    level: Level
    level_reason: Text
    authority: Authority
    sides: Annotated[tuple[Side, ...], msgspec.Meta(min_length=1)]
    observations: Annotated[tuple[Observation, ...], msgspec.Meta(min_length=1)]
    deadline: DeadlineClass
    text: Text
    sources: Annotated[list[_Place], msgspec.Meta(min_length=1)]
    given: Text
    when: Text
    then: Text
    since: str | None = None
    until: str | None = None
    interpretation: str = ""
    features: list[Text] = []
    control: str = ""
    upstream: str = ""
    not_tested: str = ""
    not_tested_on_rms: str = ""
    no_mutant: str = ""
    retired: str = ""
    challenged: _Challenge | None = None


class _AreaFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    area: Text
    subject: Text
    requirements: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]


class _EveryScalarIsText(BaseLoader):
    """YAML with text values only: `on`, `no` and `1.10` stay text; duplicate keys are errors."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML's signature
    ) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f'the key "{key.value}" is duplicated', problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


@dataclass(frozen=True, slots=True)
class Area:
    """An area file: its name, its subject, and its requirements in the order of the file."""

    name: str
    subject: str
    requirements: tuple[Requirement, ...]


def read_area(text: str, file: str) -> Area:
    """Read an area file.

    `file` is only used in messages. Raises CatalogueError.
    """
    try:
        raw = strict_yaml(text)
    except yaml.YAMLError as error:
        raise CatalogueError(f"{file}: {_one_line(error)}") from error
    try:
        area = msgspec.convert(raw, _AreaFile)
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{file}: {error}") from error
    requirements = tuple(
        _requirement(_entry(raw_entry, file, number), area.area, file)
        for number, raw_entry in enumerate(area.requirements, start=1)
    )
    return Area(area.area, area.subject, requirements)


def strict_yaml(text: str) -> Any:
    """Read lists, mappings and text; yaml.YAMLError for other input or duplicate keys."""
    # The loader is stricter than the safe one: it creates nothing else.
    return yaml.load(text, Loader=_EveryScalarIsText)  # noqa: S506


def _one_line(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())


def _entry(raw: Mapping[str, Any], file: str, number: int) -> Entry:
    try:
        return msgspec.convert(raw, Entry)
    except msgspec.ValidationError as error:
        name = raw.get("id") or f"requirement number {number}"
        raise CatalogueError(f"{file}: {name}: {error}") from error


def _requirement(entry: Entry, area: str, file: str) -> Requirement:
    try:
        revisions = window(entry.since, entry.until)
        sources = tuple(_sources(entry.sources, revisions))
    except WindowError as error:
        raise CatalogueError(f"{file}: {entry.id}: {error}") from error
    return requirement_of(entry, area, sources, revisions)


def requirement_of(
    entry: Entry, area: str, sources: tuple[Source, ...], revisions: Sequence[str]
) -> Requirement:
    """Create the requirement of an entry."""
    return Requirement(
        id=entry.id,
        area=area,
        title=entry.title,
        level=entry.level,
        level_reason=entry.level_reason,
        authority=entry.authority,
        text=entry.text.strip(),
        interpretation=entry.interpretation.strip(),
        sources=sources,
        revisions=frozenset(revisions),
        sides=frozenset(entry.sides),
        observations=entry.observations,
        deadline=entry.deadline,
        features=frozenset(entry.features),
        control=entry.control.strip(),
        given=entry.given.strip(),
        when=entry.when.strip(),
        then=entry.then.strip(),
        upstream=entry.upstream.strip(),
        not_tested=entry.not_tested.strip(),
        no_mutant=entry.no_mutant.strip(),
        not_tested_on_rms=entry.not_tested_on_rms.strip(),
        retired=entry.retired.strip(),
        challenged=_challenge(entry.challenged),
    )


def _challenge(read: _Challenge | None) -> Challenge | None:
    if read is None:
        return None
    return Challenge(read.since, read.link, read.reason.strip(), tuple(read.tests))


def _sources(places: Sequence[_Place], revisions: Sequence[str]) -> Iterator[Source]:
    """Yield a source for each revision of a place; ``revisions`` are those of the requirement."""
    for number, place in enumerate(places):
        at = f"$.sources[{number}]"
        if place.design is None:
            texts = window(place.since, place.until, within=revisions, at=at)
        elif place.since is None and place.until is None:
            texts = (place.design,)
        else:
            raise WindowError("a design has no revisions", f"{at}.design")
        yield from (Source(text, place.where, place.sha256) for text in texts)
