"""What a snapshot of the scheduler shows, as facts a test can name patterns of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.rm.facts import ANY, Fact
from siconform.rm.maps import Including, Lacking


class Phase(Enum):
    """Where the scheduler has an RM in its life."""

    UNKNOWN = "unknown"  # never registered, or forgotten
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    UNSET = "not set"


_PHASES: Final = {
    ext.SnapshotResult.UNKNOWN_RM: Phase.UNKNOWN,
    ext.SnapshotResult.RUNNING: Phase.RUNNING,
    ext.SnapshotResult.PAUSED: Phase.PAUSED,
    ext.SnapshotResult.STOPPED: Phase.STOPPED,
}


class Seen(Fact):
    """Base of everything a snapshot shows."""

    __slots__ = ()

    @classmethod
    def words(cls) -> str:
        """The kind of thing, without that it was seen."""
        return super().words().removesuffix(" seen")


@dataclass(frozen=True, slots=True)
class PhaseSeen(Seen):
    """The RM is in this phase."""

    phase: Phase = ANY


@dataclass(frozen=True, slots=True)
class NodeSeen(Seen):
    """A node the scheduler holds."""

    node: str = ANY
    schedulable: bool = ANY
    attributes: Mapping[str, str] | Including | Lacking = ANY
    capacity: Mapping[str, int] = ANY
    occupied: Mapping[str, int] = ANY
    allocated: Mapping[str, int] = ANY


@dataclass(frozen=True, slots=True)
class ApplicationSeen(Seen):
    """An application the scheduler holds; ``queue`` is where it was placed."""

    application: str = ANY
    queue: str = ANY
    state: str = ANY
    allocated_real: Mapping[str, int] = ANY
    allocated_placeholder: Mapping[str, int] = ANY
    pending: tuple[str, ...] = ANY


@dataclass(frozen=True, slots=True)
class AllocationSeen(Seen):
    """An allocation the scheduler holds."""

    application: str = ANY
    key: str = ANY
    identity: str = ANY
    node: str = ANY
    task_group: str = ANY
    placeholder: bool = ANY
    release_open: bool = ANY
    resource: Mapping[str, int] = ANY


@dataclass(frozen=True, slots=True)
class QueueSeen(Seen):
    """A queue, by its name from the root, with everything below it."""

    queue: str = ANY
    most: Mapping[str, int] = ANY
    allocated: Mapping[str, int] = ANY


@dataclass(frozen=True, slots=True)
class SettingSeen(Seen):
    """A setting outside of the policy group, as extraConfig gave it."""

    key: str = ANY
    value: str = ANY


def read_snapshot(told: ext.SnapshotResult) -> list[Fact]:
    """Everything the snapshot shows."""
    return [
        PhaseSeen(_PHASES.get(told.phase, Phase.UNSET)),
        *(_node(node) for node in told.nodes),
        *(fact for application in told.applications for fact in _application(application)),
        *(QueueSeen(q.name, dict(q.max), dict(q.allocated)) for q in told.queues),
        *(SettingSeen(key, value) for key, value in told.extra_config.items()),
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
