"""Validation of durations in seconds."""

from dataclasses import fields
from typing import Any, Final

# Go and the SI count nanoseconds in an int64
MOST_NANOSECONDS: Final = 2**63 - 1
LONGEST_SECONDS: Final = float(MOST_NANOSECONDS // 10**9)  # 292 years


def checked_seconds(seconds: float) -> float:
    """Return ``seconds`` if they are within 0 and LONGEST_SECONDS.

    Raises ValueError with a sentence for any other number, infinity and non-numbers.
    """
    if not 0 <= seconds <= LONGEST_SECONDS:
        raise ValueError(f"{seconds!r} is not from 0 to {LONGEST_SECONDS:.0f} seconds (292 years)")
    return seconds


def check_times(record: Any) -> None:
    """Check every float of a dataclass. Raises ValueError that names the field and its value."""
    for one in fields(record):
        if one.type is float:
            try:
                checked_seconds(getattr(record, one.name))
            except ValueError as why:
                raise ValueError(f"{one.name}: {why}") from None
