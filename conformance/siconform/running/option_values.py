"""The values of options that are numbers, and the error about any that is wrong."""

import math


class BadOption(Exception):  # a sentence for the user
    """A value nothing can be done with; the message says which and what would do."""


def seconds(flag: str, text: str | None) -> float | None:
    """So many seconds, None where the option was not given."""
    return None if text is None else number_above_zero(flag, text)


def number_above_zero(flag: str, text: str) -> float:
    """The number; BadOption for anything else, infinity included."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise BadOption(f'{flag} "{text}" is no number above 0')
    return number
