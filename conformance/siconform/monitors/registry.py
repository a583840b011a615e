"""All monitors of each side, in reporting order."""

from collections.abc import Mapping
from typing import Final

from siconform.catalogue import Side
from siconform.monitors import (
    allocations,
    applications,
    asks,
    capacity,
    gangs,
    nodes,
    recovery,
    releases,
    rm_connections,
    rm_keys,
    rm_releases,
    rm_wire,
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

MONITORS_OF: Final[Mapping[Side, tuple[Monitor, ...]]] = {
    Side.SCHEDULER: MONITORS,
    Side.RM: (
        *rm_connections.MONITORS,
        *rm_keys.MONITORS,
        *rm_releases.MONITORS,
        *rm_wire.MONITORS,
    ),
}
"""The monitors of the peer that is tested."""
