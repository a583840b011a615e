"""All monitors, in reporting order."""

from typing import Final

from siconform.monitors import (
    allocations,
    applications,
    asks,
    capacity,
    gangs,
    nodes,
    recovery,
    releases,
    updates,
    wire,
)
from siconform.monitors.monitor import Monitor

MONITORS: Final[tuple[Monitor, ...]] = (
    *allocations.MONITORS,
    *applications.MONITORS,
    *asks.MONITORS,
    *gangs.MONITORS,
    *nodes.MONITORS,
    *recovery.MONITORS,
    *releases.MONITORS,
    *capacity.MONITORS,
    *updates.MONITORS,
    *wire.MONITORS,
)
