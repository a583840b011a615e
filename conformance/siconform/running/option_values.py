"""Numeric option values, and the error for invalid ones."""

import math


class BadOption(Exception):  # a sentence for the user
    """An invalid option value; the message names it and what is valid."""


def seconds(flag: str, text: str | None) -> float | None:
    """Return the seconds, or None if the option was not given."""
    return None if text is None else number_above_zero(flag, text)


def number_above_zero(flag: str, text: str) -> float:
    """Return the number; raise BadOption for anything else, including infinity."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise BadOption(f'{flag} "{text}" must be a positive number')
    return number
