"""Contents of a scheduler snapshot, as facts that patterns can match."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from siconform.protocol.matchers import ANY, Matcher
from siconform.protocol.notifications import Fact


class Phase(Enum):
    """The phase of an RM in the scheduler."""

    UNKNOWN = "unknown"  # never registered, or forgotten
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    UNSET = "not set"


class Seen(Fact):
    """Base of everything a snapshot shows."""

    __slots__ = ()

    @classmethod
    def words(cls) -> str:
        """Return the type in words, without "seen"."""
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
    attributes: Mapping[str, str] | Matcher = ANY
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
    """A queue, by its full name, including everything below it."""

    queue: str = ANY
    most: Mapping[str, int] = ANY
    allocated: Mapping[str, int] = ANY


@dataclass(frozen=True, slots=True)
class SettingSeen(Seen):
    """A setting outside the policy group, from extraConfig."""

    key: str = ANY
    value: str = ANY
