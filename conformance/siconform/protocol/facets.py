"""Facets: the optional parts of the extension, and their names."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from siconform.protocol.timers import UNKNOWN, Timers


class Facet(Enum):
    """A part of the extension that a target may offer; the value is its display name."""

    SNAPSHOT = "snapshot"
    CONFIGURATION = "configuration"
    METRICS = "metrics"
    VIRTUAL_CLOCK = "virtual clock"
    PLACEMENT_CHECKS = "placement checks"
    EVICTION_CHECKS = "eviction checks"
    EVENTS = "events"
    CONTAINER_STATES = "container states"
    CACHE_SYNCHRONISATION = "cache synchronisation"


@dataclass(frozen=True, slots=True)
class Facets:
    """What a target declares about itself; empty without the extension."""

    offered: frozenset[Facet] = frozenset()
    revision: str = ""  # in use, by its name in this project
    several_rms: bool | None = None  # None: not stated
    timers: Timers = UNKNOWN


NONE: Final = Facets()
