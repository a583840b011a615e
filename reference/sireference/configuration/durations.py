"""Durations in Go notation, `1m30s` or `500ms`, as used in queue properties.

Source: Go `time.ParseDuration`.
"""

import re
from fractions import Fraction

from sireference.configuration.problems import quoted
from sireference.seconds import MOST_NANOSECONDS

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "\N{MICRO SIGN}s": 10**3,
    "\N{GREEK SMALL LETTER MU}s": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_UNITS = "|".join(_NANOSECONDS)
# Lengths are limited: Go ends at 292 years, and Python rejects very long digit strings.
_PART = re.compile(rf"(?P<number>[0-9]{{1,40}}\.?[0-9]{{0,40}}|\.[0-9]{{1,40}})(?P<unit>{_UNITS})")
_LONGEST_TEXT = 1000


def read_duration(text: str) -> float:
    """Read a duration in seconds; it may be negative.

    Raises ValueError with a clause as reason.
    """
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"{quoted(text)} is not a duration: it is too long")
    unsigned = text[1:] if text[:1] in {"+", "-"} else text
    nanoseconds = Fraction(0)
    position = 0
    while unsigned != "0" and position < len(unsigned):
        part = _PART.match(unsigned, position)
        if part is None:
            break
        nanoseconds += Fraction(part["number"]) * _NANOSECONDS[part["unit"]]
        position = part.end()
    if unsigned != "0" and (position == 0 or position < len(unsigned)):
        raise ValueError(f"{quoted(text)} is not a duration such as 30s, 500ms or 1m30s")
    if nanoseconds > MOST_NANOSECONDS:
        raise ValueError(f"{quoted(text)} is longer than a duration can be (292 years)")
    seconds = float(nanoseconds / 10**9)
    return -seconds if text.startswith("-") else seconds
