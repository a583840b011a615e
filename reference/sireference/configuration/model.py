"""Records of a queue configuration, as the scheduler uses them.

Everything is resolved: defaults are filled in, properties are inherited, names are lower case.
Resource amounts are integers in the RM's smallest unit (vcore in thousandths of a core, memory in
bytes), time is float seconds. `None` for an amount or a count means: not limited. Source:
yunikorn-core 1.5.1 `common/configs/config.go`, `scheduler/objects/queue.go`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from sireference.configuration.expressions import Expression

DEFAULT_PARTITION = "default"
ROOT_QUEUE = "root"
DEFAULT_PREEMPTION_DELAY = 30.0


class SortPolicy(Enum):
    """Order of the applications of a leaf queue (`application.sort.policy`)."""

    FIFO = "fifo"
    FAIR = "fair"
    STATE_AWARE = "stateaware"


class PriorityPolicy(Enum):
    """Whether priorities of a queue are visible outside of it (`priority.policy`)."""

    DEFAULT = "default"
    FENCE = "fence"


class QueuePreemptionPolicy(Enum):
    """Whether preemption crosses or touches a queue (`preemption.policy`)."""

    DEFAULT = "default"
    FENCE = "fence"
    DISABLED = "disabled"


class NodeSortType(Enum):
    """Which node is tried first: the least used (fair) or the most used (binpacking)."""

    FAIR = "fair"
    BINPACKING = "binpacking"


class RuleName(Enum):
    """Source of the queue name in a placement rule."""

    PROVIDED = "provided"
    USER = "user"
    TAG = "tag"
    FIXED = "fixed"


class FilterType(Enum):
    """Whether a placement filter allows or denies the listed users and groups."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Acl:
    """Allowed users: those named, the members of the named groups, or all.

    An ACL without names allows no user.
    """

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    all: bool = False

    def allows(self, user: str, groups: Collection[str]) -> bool:
        """Return whether the user, with these groups, is allowed."""
        return self.all or user in self.users or not self.groups.isdisjoint(groups)


@dataclass(frozen=True, slots=True)
class QueueProperties:
    """The effective properties of one queue, inheritance included.

    `sort_policy` and `preemption_delay` apply to leaf queues only; on a parent they are what its
    leaves inherit. Without a `quota_preemption_delay` a lowered maximum is not enforced by
    preemption (`quota.preemption.delay`, yunikorn-core 1.9). `others` are unknown properties: kept
    and inherited, but not used.
    """

    sort_policy: SortPolicy = SortPolicy.FIFO
    sort_priority: bool = True
    priority_policy: PriorityPolicy = PriorityPolicy.DEFAULT
    priority_offset: int = 0
    preemption_policy: QueuePreemptionPolicy = QueuePreemptionPolicy.DEFAULT
    preemption_delay: float = DEFAULT_PREEMPTION_DELAY
    quota_preemption_delay: float | None = None
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limit:
    """What each listed user, and each listed group as one pool, may use in a queue and below.

    `*` stands for every user (or group) that no other limit of the queue names.
    """

    users: tuple[str, ...]
    groups: tuple[str, ...]
    max_resources: Mapping[str, int] | None = None
    max_applications: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class ChildTemplate:
    """What a leaf queue created by a placement rule gets from its parent.

    The properties are complete: such a leaf inherits none from its parent (yunikorn-core 1.5.1
    `queue.go`, applyTemplate).
    """

    max: Mapping[str, int] | None = None
    guaranteed: Mapping[str, int] | None = None
    max_applications: int | None = None
    properties: QueueProperties = field(default_factory=QueueProperties)


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """One queue and everything below it.

    `name` is one segment in lower case (queue names are case-insensitive); the full name consists
    of the names from `root` on, joined by dots. A queue is a parent if declared so or if it has
    children. `child_template` is the queue's own, None on leaves and where none is written.
    """

    name: str
    is_parent: bool
    max: Mapping[str, int] | None = None
    guaranteed: Mapping[str, int] | None = None
    max_applications: int | None = None
    properties: QueueProperties = field(default_factory=QueueProperties)
    submit_acl: Acl = field(default_factory=Acl)
    admin_acl: Acl = field(default_factory=Acl)
    child_template: ChildTemplate | None = None
    limits: tuple[Limit, ...] = ()
    queues: tuple["QueueConfig", ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementFilter:
    """The applications a placement rule applies to.

    A filter without names applies to all: `ALLOW` lets all through, `DENY` none. The expressions
    replace a list and are searched for in the name.
    """

    type: FilterType = FilterType.ALLOW
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    user_expression: Expression | None = None
    group_expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """One rule that derives a queue name from an application.

    `value` is the tag name of a `TAG` rule or the queue of a `FIXED` rule (lower case), else None.
    `create` permits the rule to name a queue that does not exist yet.
    """

    name: RuleName
    create: bool = False
    filter: PlacementFilter = field(default_factory=PlacementFilter)
    parent: "PlacementRule | None" = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class NodeSortPolicy:
    """The order of nodes, and how much each resource type counts in a node's usage."""

    type: NodeSortType = NodeSortType.FAIR
    weights: Mapping[str, float] = field(default_factory=lambda: {"vcore": 1.0, "memory": 1.0})


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """One partition: its queue tree from `root` down and its policies.

    `limits` are also those of the root queue, wherever they were written.
    """

    name: str
    root: QueueConfig
    placement_rules: tuple[PlacementRule, ...] = ()
    limits: tuple[Limit, ...] = ()
    preemption_enabled: bool = True
    quota_preemption_enabled: bool = False
    node_sort_policy: NodeSortPolicy = field(default_factory=NodeSortPolicy)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A whole queue configuration: one partition or more."""

    partitions: tuple[PartitionConfig, ...]
