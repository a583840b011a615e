"""Reads catalogues of other projects: their own requirements, in the format of ours.

Fields that only make sense for the SI may be omitted: hashes of sentences, the authority, the side.
All errors of all files are reported at once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import yaml

from siconform.catalogue.features import find_feature
from siconform.catalogue.reading import CatalogueError, Entry, Text, requirement_of, strict_yaml
from siconform.catalogue.requirement import (
    Authority,
    DeadlineClass,
    Observation,
    Requirement,
    Side,
    Source,
)
from siconform.catalogue.windows import WindowError, window
from siconform.field_values import problem_with

_OUR_PREFIX: Final = "SI-"
_AN_ID: Final = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)*-[0-9]+")
_TOP: Final = ("area", "subject", "requirements")


class _Place(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    where: Text
    sha256: str = ""


class _Entry(Entry, frozen=True, kw_only=True):
    level_reason: str = ""
    authority: Authority = Authority.OWN
    sides: Annotated[tuple[Side, ...], msgspec.Meta(min_length=1)] = (Side.SCHEDULER,)
    observations: Annotated[tuple[Observation, ...], msgspec.Meta(min_length=1)] = (
        Observation.PLAIN,
    )
    deadline: DeadlineClass = DeadlineClass.NONE
    sources: tuple[_Place, ...] = ()  # type: ignore[assignment]  # places without hash and window
    given: str = ""
    when: str = ""
    then: str = ""


def read_own(files: Sequence[Path]) -> tuple[Requirement, ...]:
    """Read the requirements of these files, in their order.

    CatalogueError with every error, one a line: unreadable files, unknown and missing keys, wrong
    values, ids that are ours or duplicated.
    """
    problems: list[str] = []
    found: dict[str, Requirement] = {}
    for file in files:
        for requirement in _read(file, problems):
            if requirement.id in found:
                problems.append(f"{file}: {requirement.id}: this id is duplicated")
            found[requirement.id] = requirement
    if problems:
        raise CatalogueError("\n".join(problems))
    return tuple(found.values())


def _read(file: Path, problems: list[str]) -> Iterator[Requirement]:
    try:
        raw = strict_yaml(file.read_text("utf-8"))
    except OSError as error:
        problems.append(f"{file}: the catalogue cannot be read: {error.strerror}")
        return
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problems.append(f"{file}: the catalogue is not YAML: {' '.join(str(error).split())}")
        return
    if not isinstance(raw, dict) or not isinstance(raw.get("requirements"), list):
        problems.append(f"{file}: a catalogue has the keys {', '.join(_TOP)}, the last with a list")
        return
    problems += [f'{file}: unknown key "{key}"' for key in raw if key not in _TOP]
    problems += [f'{file}: "{key}" is missing' for key in _TOP if not raw.get(key)]
    area = str(raw.get("area", ""))
    for number, entry in enumerate(raw["requirements"], start=1):
        at = f"{file}: {_name(entry, number)}"
        wrong = [f"{at}: {problem}" for problem in _problems(entry)]
        problems += wrong
        if not wrong:
            yield _requirement(msgspec.convert(entry, _Entry), area, file)


def _name(entry: Any, number: int) -> str:
    known = isinstance(entry, Mapping) and entry.get("id")
    return str(known or f"requirement number {number}")


def _problems(entry: Any) -> Iterable[str]:
    if not isinstance(entry, Mapping):
        return ["a requirement is a mapping with at least id, title, level and text"]
    fields = {field.name: field for field in msgspec.structs.fields(_Entry)}
    problems = [f'unknown key "{key}"' for key in entry if key not in fields]
    for name, field in fields.items():
        if name not in entry:
            problems += [f'"{name}" is missing'] if field.required else []
            continue
        if problem := problem_with(entry[name], field):
            problems.append(f"{name}: {problem}")
    return problems or list(_senseless(msgspec.convert(entry, _Entry)))


def _senseless(entry: _Entry) -> Iterator[str]:
    """Yield errors in values of the right type."""
    if entry.id.startswith(_OUR_PREFIX):
        yield f"ids with {_OUR_PREFIX} are reserved for the SI: use a prefix of your own"
    elif not _AN_ID.fullmatch(entry.id):
        yield "an id is capital letters, digits and hyphens with a number last, as ACME-NODE-001"
    try:
        window(entry.since, entry.until)
    except WindowError as error:
        yield str(error)
    for name in entry.features:
        try:
            find_feature(name)
        except LookupError as error:
            yield str(error)


def _requirement(entry: _Entry, area: str, file: Path) -> Requirement:
    places = entry.sources or [_Place(file.name)]
    sources = tuple(Source("own", place.where, place.sha256) for place in places)
    return requirement_of(entry, area, sources, window(entry.since, entry.until))
