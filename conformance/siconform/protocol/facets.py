"""What a target offers beside the SI: the facets of the extension, and what they are called."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from siconform.protocol.timers import UNKNOWN, Timers


class Facet(Enum):
    """A part of the extension a target may offer; the value is its name for people."""

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
    """What a target says of itself; nothing, where it does not have the extension."""

    offered: frozenset[Facet] = frozenset()
    revision: str = ""  # it speaks, by the name of the project
    several_rms: bool | None = None  # None: it does not say
    timers: Timers = UNKNOWN


NONE: Final = Facets()
