"""Traits of a target, named in its file: peculiarities the kit takes into account."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LOSES_PARTITION: Final = "loses-partition-on-reregistration"
OUT_OF_ORDER: Final = "takes-requests-out-of-order"
REMOVES_MEANWHILE: Final = "removes-applications-while-scheduling"

RACES: Final[Mapping[str, str]] = MappingProxyType(
    {
        LOSES_PARTITION: (
            "a race here: the target removes the partition of the earlier registration later, and"
            " sometimes the new one with it"
        ),
        REMOVES_MEANWHILE: (
            "a race here: the target removes an application while it still allocates for it, and"
            " sometimes releases what it never announced, or keeps its capacity"
        ),
        OUT_OF_ORDER: "a race here: the target may take the second of two requests first",
    }
)
"""Reason why tests have no certain outcome with a trait: they are skipped, never green."""

LATENCY: Final = 0.1  # seconds; enough for a busy target that mixes up requests to process one


def latency_for(traits: frozenset[str]) -> float:
    """Return the seconds an RM waits between messages that must be processed in order."""
    return LATENCY if OUT_OF_ORDER in traits else 0.0
