"""What a target offers beside the SI: the facets of the extension, and what they are called."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.targets.timers import UNKNOWN, Timers

MILLISECOND: Final = 0.001


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


CALLBACKS: Final = {
    ext.PLACEMENT_CHECK: Facet.PLACEMENT_CHECKS,
    ext.EVICTION_CHECK: Facet.EVICTION_CHECKS,
    ext.EVENT_BATCH: Facet.EVENTS,
    ext.CONTAINER_STATE: Facet.CONTAINER_STATES,
    ext.CACHE_SYNC: Facet.CACHE_SYNCHRONISATION,
}
"""The callbacks a scheduler makes, by their numbers in the extension."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What a target says of itself; nothing, where it does not have the extension."""

    offered: frozenset[Facet] = frozenset()
    revision: str = ""  # it speaks, by the name of the project
    several_rms: bool | None = None  # None: it does not say
    timers: Timers = UNKNOWN


NONE: Final = Facets()


def read_facets(told: ext.Facets) -> Facets:
    """The answer to Describe."""
    offered = {CALLBACKS[kind] for kind in told.callbacks if kind in CALLBACKS}
    simple = {
        Facet.SNAPSHOT: told.snapshot,
        Facet.CONFIGURATION: told.configuration,
        Facet.METRICS: told.metrics,
        Facet.VIRTUAL_CLOCK: told.virtual_clock,
    }
    offered |= {facet for facet, is_offered in simple.items() if is_offered}
    return Facets(frozenset(offered), told.si_profile, told.several_rms, _timers(told.timers))


def _timers(told: ext.Timers) -> Timers:
    return Timers(
        placeholder=_seconds(told.placeholder_default),
        placeholder_from_application_timeout=told.placeholder_from_application_timeout,
        waiting_to_completed=_seconds(told.waiting_to_completed),
        connection_loss=_seconds(told.connection_loss),
    )


def _seconds(milliseconds: int) -> float | None:
    """Zero is unknown or unlimited: either way nothing to wait for."""
    return milliseconds * MILLISECOND if milliseconds > 0 else None
