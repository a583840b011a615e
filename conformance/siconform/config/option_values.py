"""The kinds of option values: reading, checking, completion, and their form in a target file."""

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from siwire import REVISIONS, find_revision

from siconform.catalogue import AREAS, Authority, Level, Side
from siconform.catalogue.features import Feature, find_feature
from siconform.filters import find_area, find_authority, find_level, ids_meant, words_in
from siconform.id_lists import read_ids
from siconform.profiles import find_profile, profiles
from siconform.targets import TargetUnavailable
from siconform.targets.address import is_address, is_meant_as_address, problem
from siconform.targets.named import NamedTarget, all_named, find_named

NONE: Final = "none"  # as the value of --target-file, --baseline and --config
FROM_APPLICATION: Final = "application"  # as the value of --placeholder-timeout

Offered = Iterable[tuple[str, str]]
"""Words with their descriptions."""

_CONTACT: Final = {"name": r"\S", "email": r"^\S+@\S+$", "url": r"^https?://\S+$"}


class Colour(StrEnum):
    """The values of --color."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


OF_PYTEST: Final[Mapping[Colour, str]] = {
    Colour.AUTO: "auto",
    Colour.ALWAYS: "yes",
    Colour.NEVER: "no",
}
"""The values of pytest's option of the same name."""


class BadOption(Exception):  # a sentence for the user
    """An invalid option value; the message names it and what is valid."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The values of an option.

    ``read`` returns the value of a word; it raises LookupError with a sentence, which begins with
    the word in quotes unless it says what is wrong by itself. In a target file the value has one
    of ``types`` and fulfils ``schema``; ``joined`` turns a list or table into one word.
    """

    read: Callable[[str], Any] = str
    types: tuple[type, ...] = (str,)
    schema: Mapping[str, Any] = field(default_factory=dict)
    offers: Callable[[], Offered] = tuple
    joined: Callable[[Any], str] = ",".join


def _number(text: str, also: str = "") -> float:
    """Read a number above 0; infinity is not one."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise LookupError(f'"{text}" must be a positive number{also}')
    return number


def _number_or_zero(text: str) -> float:
    return 0.0 if text.strip() == "0" else _number(text)


def _placeholder_timer(text: str) -> tuple[float | None, bool]:
    """Return the scheduler's own timeout, and whether an application's takes precedence."""
    first, comma, own = text.partition(",")
    if first != FROM_APPLICATION:
        return _number(text, f' or "{FROM_APPLICATION}"'), False
    return (_number(own) if comma else None), True


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise LookupError(f'"{text}" must be a whole number, 0 or more')
    return int(text)


def _one_of(*known: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        found = next((one for one in known if one.casefold() == text.casefold()), None)
        if found is None:
            near = get_close_matches(text.casefold(), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise LookupError(f'"{text}" must be {_listed(known)}{hint}')
        return found

    return read


def _colour(text: str) -> str:
    """Return the value of pytest's option of the same name, which is accepted, too."""
    if text in OF_PYTEST.values():
        return text
    return OF_PYTEST[Colour(_one_of(*OF_PYTEST)(text))]


def _listed(known: Sequence[str]) -> str:
    return " or ".join(known) if len(known) == len("ab") else f"one of {', '.join(known)}"


def _choice(*known: str) -> Kind:
    return Kind(_one_of(*known), schema={"enum": [*known]}, offers=_offering(*known))


def _offering(*words: str) -> Callable[[], Offered]:
    return lambda: ((word, "") for word in words)


def _all(find_one: Callable[[str], object], *known: str) -> Kind:
    """Return the kind of names that are separated by commas."""
    return Kind(
        lambda text: tuple(find_one(word) for word in words_in(text)),
        schema={"examples": [*known]},
        offers=_offering(*known),
    )


def _file(text: str) -> Path:
    if text != NONE and not Path(text).exists():
        raise LookupError(f"{text} does not exist")
    return Path(text)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise LookupError(f'"{text}" is not a folder')
    return Path(text).absolute()


def _list_of_ids(text: str) -> set[str]:
    found, problems = read_ids(_file(text), ids_meant)
    if problems:
        raise LookupError("; ".join(problems))
    return found


def _address(text: str) -> str:
    if wrong := problem(text):
        raise LookupError(f'"{text}" {wrong}')
    return text


def _named(text: str, side: Side = Side.SCHEDULER) -> NamedTarget:
    try:
        return find_named(text, side)
    except TargetUnavailable as error:
        raise LookupError(str(error)) from None


def _target(text: str) -> str | NamedTarget:
    is_one = is_address(text) or is_meant_as_address(text)
    return _address(text) if is_one else _named(text)


def _known_targets(side: Side = Side.SCHEDULER) -> Offered:
    try:
        known = all_named(side)
        return [(one.full_name, f"{one.title}, SI {one.revision}") for one in known]
    except TargetUnavailable:
        return ()  # a run reports the error


def _known_profiles() -> Offered:
    return [(profile.name, profile.about) for profile in profiles().values()]


def _command(words: Sequence[str]) -> str:
    if not words:
        raise LookupError("it is empty")
    return shlex.join(words)


def _contact(table: Mapping[str, Any]) -> str:
    for key, value in table.items():
        if key not in _CONTACT:
            raise LookupError(f'unknown key "{key}"; known: {", ".join(_CONTACT)}')
        if not (isinstance(value, str) and re.search(_CONTACT[key], value)):
            raise LookupError(f'{key}: "{value}" is not valid')
    name, email, url = (table.get(key) for key in _CONTACT)
    return " ".join(one for one in (name, f"<{email}>" if name and email else email, url) if one)


TEXT: Final = Kind()
FILE: Final = Kind(_file)
FILE_OR_NONE: Final = Kind(_file, offers=_offering(NONE))
FOLDER: Final = Kind(_folder)
LIST: Final = Kind(_list_of_ids)
SECONDS: Final = Kind(_number, (float,), {"exclusiveMinimum": 0})
SECONDS_OR_ZERO: Final = Kind(_number_or_zero, (float,), {"minimum": 0})
WHOLE_NUMBER: Final = Kind(_whole_number, (int,), {"minimum": 0})
TIMER: Final = Kind(
    _placeholder_timer,
    (float, str),
    {
        "anyOf": [
            {"exclusiveMinimum": 0, "type": "number"},
            {"type": "string", "pattern": rf"^{FROM_APPLICATION}(,[0-9.]+)?$"},
        ]
    },
    _offering(FROM_APPLICATION),
)
COMMAND: Final = Kind(types=(str, list), joined=_command)
METADATA: Final = Kind(types=(dict,), schema={"additionalProperties": {"type": "string"}})
CONTACT: Final = Kind(
    types=(dict,),
    schema={
        "additionalProperties": False,
        "properties": {k: {"type": "string", "pattern": p} for k, p in _CONTACT.items()},
    },
    joined=_contact,
)
TARGET: Final = Kind(_target, offers=_known_targets)
ADDRESS: Final = Kind(_address)
NAMED: Final = Kind(_named, offers=_known_targets)
NAMED_RM: Final = Kind(partial(_named, side=Side.RM), offers=partial(_known_targets, Side.RM))
REVISION: Final = Kind(
    find_revision, schema={"examples": [*REVISIONS]}, offers=_offering(*REVISIONS)
)
DECIDING_LEVEL: Final = _choice(Level.MUST, Level.SHOULD)
SIDE: Final = _choice(*Side)
COLOUR: Final = Kind(_colour, schema={"enum": [*OF_PYTEST]}, offers=_offering(*OF_PYTEST))
AREA: Final = _all(find_area, *AREAS)
LEVEL: Final = _all(find_level, *Level)
AUTHORITY: Final = _all(find_authority, *Authority)
FEATURES: Final = Kind(
    lambda text: frozenset(find_feature(word) for word in words_in(text)),
    (str, list),
    {"examples": [*Feature]},
    _offering(*Feature),
)
FEATURE: Final = _all(find_feature, *Feature)
PROFILE: Final = Kind(find_profile, offers=_known_profiles)
