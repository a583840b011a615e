"""Readers of extension messages: the facets of a target, and snapshots."""

from collections.abc import Iterator
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.protocol.facets import Facet, Facets
from siconform.protocol.notifications import Fact
from siconform.protocol.snapshot_facts import (
    AllocationSeen,
    ApplicationSeen,
    NodeSeen,
    Phase,
    PhaseSeen,
    QueueSeen,
    SettingSeen,
)
from siconform.protocol.timers import Timers

MILLISECOND: Final = 0.001

CALLBACKS: Final = {
    ext.PLACEMENT_CHECK: Facet.PLACEMENT_CHECKS,
    ext.EVICTION_CHECK: Facet.EVICTION_CHECKS,
    ext.EVENT_BATCH: Facet.EVENTS,
    ext.CONTAINER_STATE: Facet.CONTAINER_STATES,
    ext.CACHE_SYNC: Facet.CACHE_SYNCHRONISATION,
}
"""Callbacks of a scheduler, by their numbers in the extension."""

_PHASES: Final = {
    ext.SnapshotResult.UNKNOWN_RM: Phase.UNKNOWN,
    ext.SnapshotResult.RUNNING: Phase.RUNNING,
    ext.SnapshotResult.PAUSED: Phase.PAUSED,
    ext.SnapshotResult.STOPPED: Phase.STOPPED,
}


def read_facets(received: ext.Facets) -> Facets:
    """Read the answer to Describe."""
    offered = {CALLBACKS[kind] for kind in received.callbacks if kind in CALLBACKS}
    simple = {
        Facet.SNAPSHOT: received.snapshot,
        Facet.CONFIGURATION: received.configuration,
        Facet.METRICS: received.metrics,
        Facet.VIRTUAL_CLOCK: received.virtual_clock,
    }
    offered |= {facet for facet, is_offered in simple.items() if is_offered}
    return Facets(
        frozenset(offered), received.si_profile, received.several_rms, _timers(received.timers)
    )


def _timers(received: ext.Timers) -> Timers:
    return Timers(
        placeholder=_seconds(received.placeholder_default),
        placeholder_from_application_timeout=received.placeholder_from_application_timeout,
        waiting_to_completed=_seconds(received.waiting_to_completed),
        connection_loss=_seconds(received.connection_loss),
    )


def _seconds(milliseconds: int) -> float | None:
    """Convert to seconds; zero is unknown or unlimited, and neither can be waited for."""
    return milliseconds * MILLISECOND if milliseconds > 0 else None


def read_snapshot(received: ext.SnapshotResult) -> list[Fact]:
    """Read everything the snapshot shows."""
    return [
        PhaseSeen(_PHASES.get(received.phase, Phase.UNSET)),
        *(_node(node) for node in received.nodes),
        *(fact for application in received.applications for fact in _application(application)),
        *(QueueSeen(q.name, dict(q.max), dict(q.allocated)) for q in received.queues),
        *(SettingSeen(key, value) for key, value in received.extra_config.items()),
    ]


def _node(node: ext.NodeView) -> NodeSeen:
    return NodeSeen(
        node.node_id,
        node.schedulable,
        dict(node.attributes),
        dict(node.capacity),
        dict(node.occupied),
        dict(node.allocated),
    )


def _application(application: ext.AppView) -> Iterator[Fact]:
    yield ApplicationSeen(
        application.application_id,
        application.queue,
        application.state,
        dict(application.allocated_real),
        dict(application.allocated_placeholder),
        tuple(sorted(application.pending_keys)),
    )
    for allocation in application.allocations:
        yield AllocationSeen(
            application.application_id,
            allocation.allocation_key,
            allocation.identity,
            allocation.node_id,
            allocation.task_group,
            allocation.placeholder,
            allocation.release_open,
            dict(allocation.resource),
        )
