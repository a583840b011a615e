"""Filters that select requirements, with the same syntax in every command."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from siconform.catalogue import (
    AREAS,
    Authority,
    Level,
    Requirement,
    Side,
    catalogue,
    find_requirement,
    known_requirements,
    nearest_own,
    own_requirements,
)
from siconform.catalogue.features import Feature, find_feature
from siconform.id_lists import read_ids
from siconform.profiles import Profile, find_profile

AREA: Final = "--area"
LEVEL: Final = "--level"
AUTHORITY: Final = "--authority"
FEATURE: Final = "--feature"
TEXT: Final = "--text"
INCLUDE: Final = "--include"
SKIP: Final = "--skip"
PROFILE: Final = "--profile"
FLAGS: Final = (AREA, LEVEL, AUTHORITY, FEATURE, TEXT, INCLUDE, SKIP, PROFILE)

_ID: Final = re.compile(r"(?:SI[-_ ]?)?([A-Z]+)[-_ ]?(\d+)", re.IGNORECASE)
Kind = TypeVar("Kind", bound=StrEnum)


class FilterError(LookupError):
    """Invalid filters; the message has one sentence per line."""


@dataclass(frozen=True, slots=True)
class Filters:
    """A selection of requirements: one value of each given kind has to match.

    Kinds that are not given do not filter. ``skipped`` requirements never match.
    """

    untested: bool = False
    side: Side | None = None
    revision: str = ""
    ids: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    levels: frozenset[Level] = frozenset()
    authorities: frozenset[Authority] = frozenset()
    features: frozenset[Feature] = frozenset()
    texts: tuple[str, ...] = ()
    skipped: frozenset[str] = frozenset()
    profile: Profile | None = None
    words: str = ""  # as given, for display

    @property
    def selects(self) -> bool:
        """Return whether the filters exclude requirements of a revision."""
        return bool(self.words)

    @property
    def only_profile(self) -> bool:
        """Return whether a profile is the only filter."""
        return self.profile is not None and self.words.startswith(f"{PROFILE[2:]} ")

    def passes(self, requirement: Requirement) -> bool:
        """Return whether the filters match this requirement, tested or not."""
        return (
            (self.side is None or self.side in requirement.sides)
            and (not self.revision or self.revision in requirement.revisions)
            and (self.profile is None or requirement.id in self.profile.ids)
            and (not self.ids or requirement.id in self.ids)
            and requirement.id not in self.skipped
            and self._has_properties(requirement)
        )

    def _has_properties(self, requirement: Requirement) -> bool:
        return (
            (not self.areas or requirement.area in self.areas)
            and (not self.levels or requirement.level in self.levels)
            and (not self.authorities or requirement.authority in self.authorities)
            and (not self.features or not self.features.isdisjoint(requirement.features))
            and (not self.texts or _states_one_of(requirement, self.texts))
        )

    def chosen(self, revision: str) -> frozenset[str]:
        """Return the ids of the selected requirements of this revision."""
        return frozenset(
            r.id
            for r in known_requirements().values()
            if revision in r.revisions and self.passes(r)
        )


def read_filters(
    words: Sequence[str], given: Mapping[str, Sequence[str]], revision: str = ""
) -> Filters:
    """Read the filters of a command line: ``words`` are ids and areas, ``given`` values by flag.

    ``revision`` is the revision of the command, or "". Raises FilterError with all problems.
    """
    problems: list[str] = []
    included = _from_files(given.get(INCLUDE, ()), problems)
    named = {i for word in words for i in _tried(ids_meant, word, problems)}
    profile = [
        found for name in given.get(PROFILE, ()) for found in _profile(name, revision, problems)
    ]
    filters = Filters(
        ids=frozenset(named | included),
        areas=frozenset(_parsed(given, AREA, find_area, problems)),
        levels=frozenset(_parsed(given, LEVEL, find_level, problems)),
        authorities=frozenset(_parsed(given, AUTHORITY, find_authority, problems)),
        features=frozenset(_parsed(given, FEATURE, find_feature, problems)),
        texts=tuple(" ".join(text.casefold().split()) for text in given.get(TEXT, ())),
        skipped=frozenset(_from_files(given.get(SKIP, ()), problems)),
        profile=profile[-1] if profile else None,
        words=_in_words(words, given),
    )
    if len(set(given.get(PROFILE, ()))) > 1:
        problems.append(f"{PROFILE} may be given only once")
    if problems:
        raise FilterError("\n".join(problems))
    return filters


def ids_meant(word: str) -> frozenset[str]:
    """Return the ids that a word names: ``SI-NODE-002``, ``node-2``, or ``NODE`` for an area.

    Raises LookupError, which suggests the nearest id if there is one.
    """
    own = {i for i in own_requirements() if i.casefold() == word.strip().casefold()}
    if own:
        return frozenset(own)
    area = word.upper().removeprefix("SI-")
    if names_an_area(word):
        return frozenset(r.id for r in catalogue().values() if r.area == area)
    named = _ID.fullmatch(word.strip())
    if named is not None:
        identifier = f"SI-{named[1].upper()}-{named[2].lstrip('0').zfill(3)}"
        if identifier in catalogue():
            return frozenset({identifier})
    raise LookupError(f'unknown requirement "{word}"{_nearest(word)}')


def _nearest(word: str) -> str:
    """Return the hint after the error about an unknown requirement."""
    if own := nearest_own(word):
        return f"; did you mean {own}?"
    letters = re.sub(r"^SI\b|[^A-Z]", "", word.upper())
    number = re.sub(r"\D", "", word)
    begun = [name for name in AREAS if letters.startswith(name)]
    area = next(iter(begun or get_close_matches(letters, AREAS, n=1, cutoff=0.6)), "")
    if area and not number:
        return f"; did you mean {area}?"
    same_number = f"SI-{area}-{number.lstrip('0').zfill(3)}"
    if same_number in catalogue():
        return f"; did you mean {same_number}?"
    of_the_area = [known for known in catalogue() if known.startswith(f"SI-{area}-")]
    if area and letters == area:
        return f": the last of {area} is {of_the_area[-1]}"
    return " ('siconform list' lists them)"


def names_an_area(word: str) -> bool:
    """Return whether the word is the name of an area."""
    return word.upper().removeprefix("SI-") in AREAS


def names_requirements(word: str) -> bool:
    """Return whether the word is the id of a requirement or the name of an area."""
    try:
        return bool(ids_meant(word))
    except LookupError:
        return False


def find_meant(word: str) -> Requirement:
    """Return the requirement a word names, ignoring case, ``SI-`` and leading zeros."""
    return find_requirement(next(iter(ids_meant(word))))


def _states_one_of(requirement: Requirement, texts: Iterable[str]) -> bool:
    r = requirement
    prose = (r.id, r.title, r.text, r.interpretation, r.given, r.when, r.then)
    sent = " ".join(word for part in prose for word in part.casefold().split())
    return any(text in sent for text in texts)


def _from_files(files: Iterable[str], problems: list[str]) -> set[str]:
    found: set[str] = set()
    for file in files:
        ids, wrong = read_ids(Path(file), ids_meant)
        found |= ids
        problems += wrong
    return found


Found = TypeVar("Found")


def _tried(
    meaning: Callable[[str], Iterable[Found]], word: str, problems: list[str]
) -> Iterable[Found]:
    try:
        return meaning(word)
    except LookupError as error:
        problems.append(str(error))
        return ()


def _parsed(
    given: Mapping[str, Sequence[str]],
    flag: str,
    meaning: Callable[[str], Found],
    problems: list[str],
) -> list[Found]:
    """Return the values of a flag, which may be separated by commas."""
    words = [word for value in given.get(flag, ()) for word in words_in(value)]
    return [found for word in words for found in _tried(lambda w: (meaning(w),), word, problems)]


def words_in(value: str) -> list[str]:
    """Return the words of a value, which commas separate."""
    return [word.strip() for word in value.split(",") if word.strip()]


def find_area(word: str) -> str:
    """Find the area by name, with or without ``SI-``."""
    area = word.upper().removeprefix("SI-")
    if area not in AREAS:
        raise LookupError(f'unknown area "{word}"{_hint(word, AREAS)}')
    return area


def _hint(word: str, known: Sequence[str]) -> str:
    by_folded = {one.casefold(): one for one in known}
    near = get_close_matches(word.casefold(), by_folded, n=1)
    listed = f"known: {', '.join(known)}"
    return f"; did you mean {by_folded[near[0]]}? ({listed})" if near else f"; {listed}"


def find_level(word: str) -> Level:
    """Find the level by name, ignoring case."""
    return _find(Level, "level", word)


def find_authority(word: str) -> Authority:
    """Find the authority by name, ignoring case."""
    return _find(Authority, "authority", word)


def _find(kind: type[Kind], name: str, word: str) -> Kind:
    for one in kind:
        if one.value.casefold() == word.casefold():
            return one
    raise LookupError(f'unknown {name} "{word}"{_hint(word, [*kind])}')


def _profile(name: str, revision: str, problems: list[str]) -> Iterable[Profile]:
    return _tried(lambda word: (find_profile(word, revision),), name, problems)


def _in_words(words: Sequence[str], given: Mapping[str, Sequence[str]]) -> str:
    received = [" ".join(words)] if words else []
    received += [
        f"{flag.removeprefix('--')} {', '.join(given[flag])}" for flag in FLAGS if given.get(flag)
    ]
    return ", ".join(received)
