"""Traits of a target that its file names: peculiarities the kit takes into account."""

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
            " now and then releases what it never announced, or keeps its room"
        ),
        OUT_OF_ORDER: "a race here: the target may take the second of two requests first",
    }
)
"""Trait to why some tests have no certain outcome there: they are left out, and never green."""

LATENCY: Final = 0.05  # seconds; by then a target that mixes up requests has taken one, busy or not


def latency_for(traits: frozenset[str]) -> float:
    """How long an RM that wants its messages taken in order leaves between two of them."""
    return LATENCY if OUT_OF_ORDER in traits else 0.0
