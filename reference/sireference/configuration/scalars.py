"""Scalar values: counts, switches, weights and choices."""

import difflib
import math
import re
from enum import Enum
from typing import TypeVar

from sireference.configuration.problems import quoted

MOST_COUNTED = 2**64 - 1  # the Go core counts in uint64

E = TypeVar("E", bound=Enum)

# What yaml.v3 accepts as a boolean.
_YES = frozenset({"true", "yes", "on", "y"})
_NO = frozenset({"false", "no", "off", "n"})
_COUNT = re.compile("0|[1-9][0-9]{0,19}")
_WHOLE = re.compile("[-+]?[0-9]{1,19}")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def read_count(text: str) -> int:
    """Read a count. Raises ValueError with a clause as reason."""
    if not _COUNT.fullmatch(text) or int(text) > MOST_COUNTED:
        raise ValueError(f"{quoted(text)} is not a count, a whole number from 0 up")
    return int(text)


def read_switch(text: str) -> bool:
    """Read true or false. Raises ValueError with a clause as reason."""
    word = text.lower()
    if word not in _YES | _NO:
        raise ValueError(f"{quoted(text)} is neither true nor false")
    return word in _YES


def read_weight(text: str) -> float:
    """Read a weight of at least 0. Raises ValueError with a clause as reason."""
    weight = float(text) if _DECIMAL.fullmatch(text) else math.nan
    if not math.isfinite(weight):
        raise ValueError(f"{quoted(text)} is not a number")
    if weight < 0:
        raise ValueError(f"{quoted(text)} is negative")
    return weight


def read_whole(text: str, least: int, most: int) -> int:
    """Read a whole number within bounds. Raises ValueError with a clause as reason."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a whole number")
    number = int(text)
    if not least <= number <= most:
        raise ValueError(f"{quoted(text)} is not between {least} and {most}")
    return number


def read_choice(text: str, choices: type[E]) -> E:
    """Read the value of one of the members. Raises ValueError with a clause as reason."""
    values = [member.value for member in choices]
    if text in values:
        return choices(text)
    guess = difflib.get_close_matches(text[:64].lower(), values, n=1)
    hint = f"; did you mean {guess[0]}?" if guess else f": the choice is {', '.join(values)}"
    raise ValueError(f"{quoted(text)} is unknown{hint}")
