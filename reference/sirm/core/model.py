"""Records of the core: what the cluster holds, events and effects; all of them frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

Resource: TypeAlias = Mapping[str, int]  # amounts in smallest units by type; absent is zero

PARTITION: Final = "default"


class NodeAction(Enum):
    """Action of a node report, named as in the SI."""

    CREATE = "create"
    CREATE_DRAIN = "create, draining"
    UPDATE = "update"
    DRAIN_NODE = "drain"
    DRAIN_TO_SCHEDULABLE = "drain to schedulable"
    DECOMMISSION = "decommission"


class Termination(Enum):
    """Why an allocation ends; the reason states who began the release."""

    UNSET = "unset"  # also of an ask release of 2021-02, which has no type
    STOPPED_BY_RM = "stopped by RM"
    TIMEOUT = "timeout"
    PREEMPTED_BY_SCHEDULER = "preempted by scheduler"
    PLACEHOLDER_REPLACED = "placeholder replaced"


class Covered(Enum):
    """What a release is about."""

    ALLOCATIONS = "allocations"
    REQUESTS = "requests"  # up to 2023-12, where asks have a release message of their own
    BOTH = "both"  # from 2024-10 on


@dataclass(frozen=True)
class Rules:
    """How the RM has to report in the revision it implements."""

    create_draining: bool = True  # otherwise create, then drain
    allocations_with_node: bool = False  # existing allocations are part of their node's report
    reports_foreign: bool = True
    key_is_identity: bool = True  # a release by key also covers an allocation on its way
    updates_running: bool = True  # a running container can be resized under its key


# What users and administrators give to the RM


@dataclass(frozen=True)
class Group:
    """Containers of one shape; with a task group they are the members of a gang."""

    resource: Resource
    members: int = 1  # placeholders in a gang, containers otherwise
    task_group: str = ""
    real_containers: int = 0  # that follow the placeholders of a gang
    priority: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    allowed_nodes: tuple[str, ...] = ()  # empty: any
    stopping: float = 0.0  # seconds from the stop until the container is gone
    runs: float | None = None  # seconds until the container exits by itself; None: never


@dataclass(frozen=True)
class Workload:
    """An application as a user submits it."""

    application_id: str
    groups: tuple[Group, ...]
    queue: str = ""
    user: str = ""
    placeholder_timeout: float = 0.0  # seconds; 0: the scheduler's default
    gang_style: str = ""


# Effects for the scheduler


@dataclass(frozen=True)
class ContainerRecord:
    """A container as the SI describes it, in a request and in an allocation alike."""

    key: str
    application_id: str
    resource: Resource
    tags: Mapping[str, str]
    priority: int = 0
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    partition: str = PARTITION


@dataclass(frozen=True)
class Register:
    """Call RegisterResourceManager, then open the streams."""


@dataclass(frozen=True)
class Disconnect:
    """End all streams."""


@dataclass(frozen=True)
class ReportNode:
    """A node for the scheduler; ``allocations`` where the revision reports them with it."""

    node_id: str
    action: NodeAction
    attributes: Mapping[str, str] = field(default_factory=dict)
    capacity: Resource | None = None
    allocations: tuple["ReportAllocation", ...] = ()


@dataclass(frozen=True)
class AddApplication:
    """An application for the scheduler; ``placeholder_ask`` only of a gang."""

    application_id: str
    queue: str
    user: str
    placeholder_ask: Resource | None = None
    execution_timeout: float = 0.0  # seconds
    gang_style: str = ""
    partition: str = PARTITION


@dataclass(frozen=True)
class RemoveApplication:
    """The end of an application, sent by its RM."""

    application_id: str
    partition: str = PARTITION


@dataclass(frozen=True)
class RequestAllocation:
    """A request for a waiting container; a repeated key updates it."""

    container: ContainerRecord


@dataclass(frozen=True)
class ReportAllocation:
    """An allocation of a running container: an existing one, or one that has a new size."""

    container: ContainerRecord
    node_id: str
    identity: str  # from the scheduler; the key from 2024-10 on


@dataclass(frozen=True)
class ReportForeign:
    """A container of no application on one of the RM's nodes."""

    key: str
    node_id: str
    resource: Resource
    is_static: bool
    partition: str = PARTITION


@dataclass(frozen=True)
class Release:
    """The end of an allocation or of a request: by the RM, or confirmed by it."""

    application_id: str
    key: str
    identity: str  # empty for a request
    termination: Termination
    partition: str = PARTITION


# Effects for others


@dataclass(frozen=True)
class Notice:
    """One line for people about something that happened."""

    text: str


Update: TypeAlias = (
    ReportNode
    | AddApplication
    | RemoveApplication
    | RequestAllocation
    | ReportAllocation
    | ReportForeign
    | Release
)
Effect: TypeAlias = Update | Register | Disconnect | Notice

# Events of the connection


@dataclass(frozen=True)
class Started:
    """The RM has been started or restarted."""


@dataclass(frozen=True)
class Registered:
    """The scheduler has accepted the registration, and the streams are open."""


@dataclass(frozen=True)
class ConnectionLost:
    """A stream was aborted, or the registration failed."""

    reason: str


@dataclass(frozen=True)
class ResyncRequested:
    """2021-02: the scheduler wants the RM to register again."""


# Events from the scheduler


@dataclass(frozen=True)
class AcceptedNode:
    """The scheduler has accepted a node."""

    node_id: str


@dataclass(frozen=True)
class RejectedNode:
    """The scheduler has rejected a node or a change of it."""

    node_id: str
    reason: str = ""


@dataclass(frozen=True)
class AcceptedApplication:
    """The scheduler has accepted an application."""

    application_id: str


@dataclass(frozen=True)
class RejectedApplication:
    """The scheduler has rejected an application."""

    application_id: str
    reason: str = ""


@dataclass(frozen=True)
class UpdatedApplication:
    """An application has a new state in the scheduler."""

    application_id: str
    state: str
    message: str = ""


@dataclass(frozen=True)
class Allocated:
    """A request was allocated."""

    key: str
    application_id: str
    node_id: str
    identity: str


@dataclass(frozen=True)
class RejectedRequest:
    """A request, an update or an existing allocation was rejected."""

    key: str
    application_id: str
    reason: str = ""


@dataclass(frozen=True)
class Released:
    """A release from the scheduler: its own decision, or a confirmation."""

    application_id: str
    termination: Termination
    covered: Covered
    key: str = ""
    identity: str = ""


# Events from users and administrators


@dataclass(frozen=True)
class AddNode:
    """A node joins the cluster."""

    node_id: str
    capacity: Resource
    attributes: Mapping[str, str] = field(default_factory=dict)
    cordoned: bool = False


@dataclass(frozen=True)
class Cordon:
    """No further container on this node."""

    node_id: str


@dataclass(frozen=True)
class Uncordon:
    """The node is available again."""

    node_id: str


@dataclass(frozen=True)
class RemoveNode:
    """The node leaves the cluster, with its containers."""

    node_id: str


@dataclass(frozen=True)
class ResizeNode:
    """The node has another capacity, and other attributes if there are any."""

    node_id: str
    capacity: Resource
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submit:
    """A user submits an application."""

    workload: Workload


@dataclass(frozen=True)
class EndApplication:
    """A user ends an application."""

    application_id: str


@dataclass(frozen=True)
class ContainerExited:
    """A container has exited by itself."""

    key: str


@dataclass(frozen=True)
class ResizeContainer:
    """A container gets another size and keeps its key."""

    key: str
    resource: Resource


@dataclass(frozen=True)
class AddForeign:
    """A container of others is on a node."""

    name: str
    node_id: str
    resource: Resource
    is_static: bool = False


@dataclass(frozen=True)
class RemoveForeign:
    """A container of others is gone."""

    name: str


@dataclass(frozen=True)
class Reset:
    """Everything goes: applications, containers and nodes."""


FromScheduler: TypeAlias = (
    AcceptedNode
    | RejectedNode
    | AcceptedApplication
    | RejectedApplication
    | UpdatedApplication
    | Allocated
    | RejectedRequest
    | Released
    | ResyncRequested
)
Action: TypeAlias = (
    AddNode
    | Cordon
    | Uncordon
    | RemoveNode
    | ResizeNode
    | Submit
    | EndApplication
    | ContainerExited
    | ResizeContainer
    | AddForeign
    | RemoveForeign
    | Reset
)
Event: TypeAlias = Started | Registered | ConnectionLost | FromScheduler | Action


class RefusedError(Exception):
    """The RM refuses an action of a user; the sentence states why. Nothing has changed."""
