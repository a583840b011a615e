"""The configuration as written: typed and with paths, before rules and defaults.

A count of 0 is the same as none, as in the Go core. Amounts are None if their key is not written.
"""

from dataclasses import dataclass, field

from sireference.configuration.model import (
    Acl,
    NodeSortPolicy,
    PlacementFilter,
    PriorityPolicy,
    QueuePreemptionPolicy,
    SortPolicy,
)

Amounts = dict[str, int]


@dataclass(frozen=True, slots=True)
class WrittenProperties:
    """The properties of one queue; None where a property is not written."""

    sort_policy: SortPolicy | None = None
    sort_priority: bool | None = None
    priority_policy: PriorityPolicy | None = None
    priority_offset: int | None = None
    preemption_policy: QueuePreemptionPolicy | None = None
    preemption_delay: float | None = None
    quota_preemption_delay: float | None = None
    others: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A user or a group in a list."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class WrittenLimit:
    """One limit."""

    path: str
    description: str
    users: tuple[WrittenName, ...]
    groups: tuple[WrittenName, ...]
    max_resources: Amounts | None
    max_applications: int


@dataclass(frozen=True, slots=True)
class WrittenTemplate:
    """A child template."""

    path: str
    max: Amounts | None
    guaranteed: Amounts | None
    max_applications: int
    properties: WrittenProperties


@dataclass(frozen=True, slots=True)
class WrittenQueue:
    """One queue and those below it."""

    path: str
    name: str
    parent: bool = False
    max: Amounts | None = None
    guaranteed: Amounts | None = None
    max_applications: int = 0
    properties: WrittenProperties = field(default_factory=WrittenProperties)
    submit_acl: Acl = field(default_factory=Acl)
    admin_acl: Acl = field(default_factory=Acl)
    template: WrittenTemplate | None = None
    limits: tuple[WrittenLimit, ...] = ()
    queues: tuple["WrittenQueue", ...] = ()

    @property
    def is_parent(self) -> bool:
        """Return whether the queue can have children."""
        return self.parent or bool(self.queues)


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """One placement rule; name and value are in lower case."""

    path: str
    name: str
    create: bool
    filter: PlacementFilter
    parent: "WrittenRule | None"
    value: str


@dataclass(frozen=True, slots=True)
class WrittenPartition:
    """One partition with its queue tree, including a root that is not written."""

    path: str
    name: str
    root: WrittenQueue
    limits: tuple[WrittenLimit, ...]
    rules: tuple[WrittenRule, ...]
    preemption_enabled: bool
    quota_preemption_enabled: bool
    node_sort_policy: NodeSortPolicy
