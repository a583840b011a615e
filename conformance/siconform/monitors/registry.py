"""All monitors of each side, in reporting order."""

from collections.abc import Mapping
from typing import Final

from siconform.catalogue import Side
from siconform.monitors import (
    absent_nodes,
    allocations,
    application_activity,
    application_timeouts,
    application_verdicts,
    applications,
    asks,
    callbacks,
    configuration_changes,
    draining,
    event_causes,
    event_records,
    foreign_reports,
    gangs,
    isolation,
    node_limits,
    node_verdicts,
    nodes,
    preemption_tags,
    queue_limits,
    recovered_excess,
    recovered_identities,
    recovery,
    registrations,
    releases,
    rm_applications,
    rm_callbacks,
    rm_confirmations,
    rm_connections,
    rm_gangs,
    rm_keys,
    rm_names,
    rm_nodes,
    rm_recovery,
    rm_releases,
    rm_wire,
    undefined_fields,
    unrequested_ends,
    updates,
    utilisation,
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
    *node_limits.MONITORS,
    *updates.MONITORS,
    *wire.MONITORS,
    *node_verdicts.MONITORS,
    *absent_nodes.MONITORS,
    *draining.MONITORS,
    *application_verdicts.MONITORS,
    *application_activity.MONITORS,
    *application_timeouts.MONITORS,
    *unrequested_ends.MONITORS,
    *queue_limits.MONITORS,
    *recovered_identities.MONITORS,
    *recovered_excess.MONITORS,
    *foreign_reports.MONITORS,
    *event_records.MONITORS,
    *event_causes.MONITORS,
    *configuration_changes.MONITORS,
    *preemption_tags.MONITORS,
    *undefined_fields.MONITORS,
    *registrations.MONITORS,
    *isolation.MONITORS,
    *callbacks.MONITORS,
    *utilisation.MONITORS,
)

MONITORS_OF: Final[Mapping[Side, tuple[Monitor, ...]]] = {
    Side.SCHEDULER: MONITORS,
    Side.RM: (
        *rm_connections.MONITORS,
        *rm_keys.MONITORS,
        *rm_releases.MONITORS,
        *rm_wire.MONITORS,
        *rm_confirmations.MONITORS,
        *rm_applications.MONITORS,
        *rm_nodes.MONITORS,
        *rm_gangs.MONITORS,
        *rm_recovery.MONITORS,
        *rm_names.MONITORS,
        *rm_callbacks.MONITORS,
    ),
}
"""The monitors of the peer that is tested."""

_SIDES: Final = {one.name: side for side, monitors in MONITORS_OF.items() for one in monitors}


def side_of(monitor: str) -> Side:
    """Return the side whose messages a monitor evaluates."""
    return _SIDES[monitor]
