"""Requests of an RM to a scheduler, independent of the revision, element by element."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final, TypedDict

from siconform.protocol.availability import sent_as, since, until
from siconform.protocol.constraints import Constraint
from siconform.protocol.notifications import Allocated, PreemptionPolicy, Termination, UpdateKind
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk

REQUIRED_NODE: Final = "yunikorn.apache.org/requiredNode"
"""The tag that may tie an ask to a node."""

Amounts = Mapping[str, int]
"""Resource type -> amount in the RM's smallest unit, as on the wire (int64)."""


class Action(Enum):
    """The action on a node; the SI's ActionFromRM."""

    UNSET = "UNKNOWN_ACTION_FROM_RM"
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DRAIN = "DRAIN_NODE"
    DECOMMISSION = "DECOMISSION"
    UNDRAIN = "DRAIN_TO_SCHEDULABLE"
    CREATE_DRAINING = "CREATE_DRAIN"
    UNDEFINED = "99"


@dataclass(frozen=True, slots=True)
class Registration:
    """One RegisterResourceManagerRequest; the maps and config exist from 2023-04 on.

    Before that the policy group refers to a configuration the scheduler already has.
    """

    rm: str
    version: str
    policy_group: str
    config: str
    build_info: Mapping[str, str] = field(default_factory=dict)
    extra_config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamOpening:
    """A message with only the rmID, which opens a stream for an RM."""

    kind: UpdateKind

    def __str__(self) -> str:
        return f"opens the {self.kind.value} stream"


@dataclass(frozen=True, slots=True)
class LegacyNodeFields:
    """Node fields of 2023-12 that are reserved later."""

    occupied: Amounts = field(default_factory=dict)
    existing: tuple[Allocated, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """One NodeInfo. ``None`` omits a resource message; an empty mapping sends it empty."""

    kind: ClassVar = UpdateKind.NODES
    node: str = field(metadata=sent_as("nodeID"))
    action: Action
    capacity: Amounts | None = None
    occupied: Amounts | None = field(default=None, metadata=until("2023-12"))
    attributes: Mapping[str, str] = field(default_factory=dict)
    existing: tuple[Allocated, ...] = field(default=(), metadata=until("2023-12"))
    unknown_field: bool = False
    legacy_fields: LegacyNodeFields | None = field(default=None, metadata=since("2024-10"))

    def __str__(self) -> str:
        words = [f"node {self.node} {self.action.name.lower().replace('_', ' ')}"]
        if self.capacity is not None:
            words.append(_amounts(self.capacity))
        if self.occupied is not None:
            words.append(f"occupied {_amounts(self.occupied)}")
        if self.attributes:
            words.append(f"attributes {_pairs(self.attributes)}")
        if self.existing:
            words.append(f"with {len(self.existing)} existing allocations")
        if self.legacy_fields is not None:
            words.append("with fields of an older RM")
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class UtilisationRequest:
    """One UtilizationReport: actual use of a node, or of an allocation by its identity."""

    kind: ClassVar = UpdateKind.NODES
    subject: str
    used: Amounts

    def __str__(self) -> str:
        return f"{self.subject} uses {_amounts(self.used)}"


class ApplicationFields(TypedDict, total=False):
    """Optional fields of an ApplicationRequest that steps of an RM take and pass on."""

    groups: tuple[str, ...]
    tags: Mapping[str, str]
    timeout_ms: int
    gang_style: str


@dataclass(frozen=True, slots=True)
class ApplicationRequest:
    """One AddApplicationRequest."""

    kind: ClassVar = UpdateKind.APPLICATIONS
    application: str = field(metadata=sent_as("applicationID"))
    queue: str = field(metadata=sent_as("queueName"))
    partition: str = field(metadata=sent_as("partitionName"))
    user: str | None
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: int = field(default=0, metadata=sent_as("executionTimeoutMilliSeconds"))
    placeholder_ask: Amounts | None = None
    gang_style: str = field(default="", metadata=sent_as("gangSchedulingStyle") | since("2023-04"))

    def __str__(self) -> str:
        gang = f", placeholders {_amounts(self.placeholder_ask)}" if self.placeholder_ask else ""
        return f"application {self.application} for {self.queue}{gang}"


@dataclass(frozen=True, slots=True)
class ApplicationRemoval:
    """One RemoveApplicationRequest."""

    kind: ClassVar = UpdateKind.APPLICATIONS
    application: str
    partition: str

    def __str__(self) -> str:
        return f"removes application {self.application}"


class AskFields(TypedDict, total=False):
    """Optional fields of an AskRequest that steps of an RM take by these names and pass on."""

    priority: int
    timeout_ms: int
    tags: Mapping[str, str]
    task_group: str
    placeholder: bool
    originator: bool
    priority_class: str
    constraint: Constraint | None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """One AllocationAsk; from 2024-10 on an Allocation without a node."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    key: str = field(metadata=sent_as("allocationKey"))
    application: str = field(metadata=sent_as("applicationID"))
    partition: str = field(metadata=sent_as("partitionName"))
    resource: Amounts | None
    max_allocations: int = field(default=1, metadata=sent_as("maxAllocations") | until("2023-12"))
    priority: int = 0
    timeout_ms: int = field(
        default=0, metadata=sent_as("executionTimeoutMilliSeconds") | until("2023-12")
    )
    tags: Mapping[str, str] = field(default_factory=dict)
    task_group: str = field(default="", metadata=sent_as("taskGroupName"))
    placeholder: bool = field(default=False, metadata=sent_as("placeholder"))
    originator: bool = field(default=False, metadata=since("2023-04"))
    preemption_policy: PreemptionPolicy | None = field(default=None, metadata=since("2023-04"))
    priority_class: str = field(default="", metadata=until("2021-02"))
    constraint: Constraint | None = field(default=None, metadata=until("2021-02"))

    def __str__(self) -> str:
        words = [f"ask {self.key} of {self.application}", _amounts(self.resource or {})]
        if self.max_allocations != 1:
            words.append(f"max {self.max_allocations}")
        if self.task_group:
            words.append(
                f"{'placeholder, ' if self.placeholder else ''}task group {self.task_group}"
            )
        if self.priority:
            words.append(f"priority {self.priority}")
        if self.priority_class:
            words.append(f"priority class {self.priority_class}")
        if self.constraint is not None:
            words.append(str(self.constraint))
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """One AllocationRelease: initiated by the RM, or its confirmation of the scheduler's."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    subject: OneAllocation | AllOf
    termination: Termination
    partition: str = "default"
    message: str = ""

    def __str__(self) -> str:
        match self.subject:
            case OneAllocation(identity=identity):
                what = identity
            case AllOf(application=application):
                what = f"everything of {application}"
        return f"release {what} {self.termination.value}"


@dataclass(frozen=True, slots=True)
class AskReleaseRequest:
    """One AllocationAskRelease; from 2024-10 on an AllocationRelease of a pending ask."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    subject: OneAsk | AllOf | AllThereIs
    partition: str
    termination: Termination = field(default=Termination.STOPPED_BY_RM, metadata=since("2023-04"))

    def __str__(self) -> str:
        match self.subject:
            case OneAsk(key=key):
                what = key
            case AllOf(application=application):
                what = f"every ask of {application}"
            case AllThereIs():
                what = "every ask of the partition"
        return f"withdraws {what}"


@dataclass(frozen=True, slots=True)
class ExistingAllocationRequest:
    """One existing allocation in AllocationRequest.allocations (2023-08 on)."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    allocation: Allocated

    def __str__(self) -> str:
        one = self.allocation
        words = f"existing allocation {one.identity} of {one.application} on {one.node}"
        return f"{words}, {_amounts(one.resource)}" if isinstance(one.resource, Mapping) else words


@dataclass(frozen=True, slots=True)
class AllocationUpdate:
    """New values of an allocation, under its key (2024-10 on)."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    allocation: Allocated

    def __str__(self) -> str:
        return f"updates {self.allocation.key} to {_amounts(self.allocation.resource)}"


@dataclass(frozen=True, slots=True)
class ForeignAllocationRequest:
    """A foreign allocation on a node (2024-10 on), without application and marked by a tag."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    key: str
    node: str
    partition: str
    resource: Amounts | None
    tags: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"foreign allocation {self.key} on {self.node}, {_amounts(self.resource or {})}"


@dataclass(frozen=True, slots=True)
class LegacyRequest:
    """An ask or its withdrawal as in 2023-12, in a field reserved from 2024-10 on."""

    kind: ClassVar = UpdateKind.ALLOCATIONS
    sent: AskRequest | AskReleaseRequest

    def __str__(self) -> str:
        return f"in fields of an older RM: {self.sent}"


Request = (
    StreamOpening
    | NodeRequest
    | UtilisationRequest
    | ApplicationRequest
    | ApplicationRemoval
    | AskRequest
    | ReleaseRequest
    | AskReleaseRequest
    | ExistingAllocationRequest
    | AllocationUpdate
    | ForeignAllocationRequest
    | LegacyRequest
)
"""All requests of an RM; ``kind`` is the conversation."""


def _amounts(amounts: Amounts) -> str:
    return _pairs(amounts)


def _pairs(named: Mapping[str, object]) -> str:
    return "{" + " ".join(f"{k}={v}" for k, v in sorted(named.items())) + "}"
