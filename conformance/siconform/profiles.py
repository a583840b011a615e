"""Profiles: named lists of requirements of a revision, selected from the catalogue by rules."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Final

from siwire import DEFAULT_REVISION, REVISIONS

from siconform.catalogue import Level, Observation, Requirement, Side, catalogue
from siconform.catalogue.features import Feature

EDITION: Final = 1
"""No edition is released yet; until then the first one follows the catalogue."""

_PLAIN: Final = frozenset(
    {Observation.PLAIN, Observation.SILENCE, Observation.QUEUES, Observation.STATIC}
)
_OF_GANGS: Final = frozenset(
    {Feature.QUEUES, Feature.GANG, Feature.PLACEHOLDER_TIMEOUT, Feature.WAITING_ASKS}
)
_NAME: Final = re.compile(rf"(?P<name>[a-z][a-z-]*)(?:\.{EDITION})?")


class ProfileError(LookupError):
    """An unknown profile; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: ``2024-10/base.1`` is the first edition of ``base`` for SI 2024-10."""

    name: str
    about: str
    ids: tuple[str, ...]


def _base(requirement: Requirement) -> bool:
    return (
        requirement.level is Level.MUST
        and _PLAIN.issuperset(requirement.observations)
        and requirement.features <= {Feature.QUEUES}
    )


def _gang(requirement: Requirement) -> bool:
    plain = {*_PLAIN, Observation.TIMERS}
    return _base(requirement) or (
        requirement.level is Level.MUST
        and Feature.GANG in requirement.features
        and plain.issuperset(requirement.observations)
        and requirement.features <= _OF_GANGS
    )


_RULES: Final[dict[str, tuple[str, Callable[[Requirement], bool]]]] = {
    "all": ("all MUST, SHOULD and MAY requirements that the suite tests", lambda _: True),
    "base": ("each MUST that si.v1.Scheduler alone shows, without optional features", _base),
    "gang": ("base, and each MUST of gang scheduling", _gang),
}


@cache
def profiles() -> Mapping[str, Profile]:
    """Return every profile by its full name, ordered by revision."""
    found = {}
    for revision in REVISIONS:
        tested = [
            r
            for r in catalogue().values()
            if revision in r.revisions and Side.SCHEDULER in r.sides and not r.not_tested
        ]
        for short, (about, fits) in _RULES.items():
            name = f"{revision}/{short}.{EDITION}"
            found[name] = Profile(name, about, tuple(r.id for r in tested if fits(r)))
    return MappingProxyType(found)


def find_profile(name: str, revision: str = "") -> Profile:
    """Return a profile by name: ``2024-10/base.1``, or with ``revision`` ``base.1`` or ``base``.

    The default of ``revision`` is the default revision. Raises ProfileError if the profile is
    unknown or belongs to another revision.
    """
    given, slash, short = name.strip().rpartition("/")
    belongs_to = given if slash else revision or DEFAULT_REVISION.name
    named = _NAME.fullmatch(short.casefold())
    found = profiles().get(f"{belongs_to}/{named['name']}.{EDITION}") if named else None
    if found is None:
        raise ProfileError(_unknown(name))
    if revision not in ("", belongs_to):
        raise ProfileError(
            f"profile {found.name} belongs to SI {belongs_to}, not to SI {revision}: give "
            f"--revision {belongs_to}"
        )
    return found


def _unknown(name: str) -> str:
    near = get_close_matches(name, [*profiles(), *_RULES], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    known = f"known: {', '.join(_RULES)}; 'siconform profiles' lists them"
    return f'unknown profile "{name}"{hint} ({known})'
