"""Records inside events and effects, and the operator's settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from sireference.core.model.subjects import AllocationSubject, AskSubject
from sireference.core.placement_constraints import PlacementConstraint
from sireference.core.record import record
from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeAction, TerminationType
from sireference.seconds import check_times

DEFAULT_PARTITION: Final = "default"


def copied_from(name: str, *, divided_by: int = 1) -> dict[str, object]:
    """Return the metadata of a field that codecs copy from this field of the SI.

    That is a scalar: unset or zero, it means the default. ``divided_by`` converts its unit.
    """
    return {"copied_from": name, "divided_by": divided_by}


def partition_name(given: str) -> str:
    """Return the partition name for ``given``; an empty name is the default partition."""
    return given or DEFAULT_PARTITION


def quoted(name: str) -> str:
    """Quote ``name`` for a reason: odd characters escaped, long names cut."""
    longest: Final = 80
    return repr(name) if len(name) <= longest else f"{name[:longest]!r}..."


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings; times in seconds, at most LONGEST_SECONDS (ValueError).

    ``identity_prefix`` starts the identity of every allocation, so that successive processes that
    serve the same RM never reuse an identity.
    """

    completing_timeout: float = 30.0  # an application waits this long before it completes
    starting_timeout: float = 300.0  # Starting becomes Running after this in any case
    placeholder_timeout: float = 900.0  # of a gang, from its first placeholder allocation
    gang_turn_timeout: float = 900.0  # a gang with nothing blocks younger ones this long
    # As in yunikorn-core (C-10): an application's execution timeout is that of its placeholders and
    # does not limit its running time
    placeholder_timeout_from_application: bool = False
    # As in yunikorn-core (C-33): each existing allocation that is taken over is sent back as new
    echo_recovered_allocations: bool = False
    empty_queue_timeout: float = 10.0  # an empty dynamic queue is removed after this
    retention: float = 3 * 24 * 3600.0  # a finished application is remembered this long
    max_finished: int = 10_000  # finished applications of a partition that are remembered
    connection_loss_timeout: float = 60.0  # a lost RM is stopped after this
    stopped_retention: float = 3600.0  # a stopped RM is remembered this long
    longest_name: int = 1024  # characters of an id, a key, a queue or a resource type
    identity_prefix: str = ""

    def __post_init__(self) -> None:
        check_times(self)


@dataclass(frozen=True, slots=True)
class ProposedTimers:
    """Timers that an RM proposes, in seconds; None where it proposes none."""

    placeholder_timeout: float | None = None
    completing_timeout: float | None = None
    connection_loss_timeout: float | None = None

    def in_place_of(self, settings: Settings) -> Settings:
        """Return the settings with these timers replacing the operator's."""
        proposed: dict[str, Any] = {
            one.name: seconds
            for one in fields(self)
            if (seconds := getattr(self, one.name)) is not None
        }
        return replace(settings, **proposed) if proposed else settings


NO_PROPOSAL: Final = ProposedTimers()


@dataclass(frozen=True, slots=True)
class PreemptionPolicy:
    """The preemption policy of an ask; None means the scheduler's default."""

    allow_preempt_self: bool = False
    allow_preempt_other: bool = False


@record
class Ask:
    """A request for up to ``max_allocations`` times ``resource`` for an application."""

    key: str
    application_id: str
    partition: str = DEFAULT_PARTITION
    resource: Resource = NOTHING
    max_allocations: int = 1
    priority: int = 0
    priority_class: str = ""  # the name the RM gave the priority, if any
    # Seconds from allocation; zero or less: never
    execution_timeout: float = field(
        default=0.0, metadata=copied_from("executionTimeoutMilliSeconds", divided_by=1000)
    )
    tags: Mapping[str, str] = field(default_factory=dict)
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    preemption_policy: PreemptionPolicy | None = None
    required_node: str = ""  # by tag: the only possible node
    constraint: PlacementConstraint | None = None

    @property
    def is_placeholder(self) -> bool:
        """Return whether this is a placeholder of a task group; without group it is a real ask."""
        return self.placeholder and self.task_group != ""


@record
class AllocationRecord:
    """One allocation of ``ask`` on a node, with its own identity."""

    identity: str
    ask: Ask
    node_id: str


@dataclass(frozen=True, slots=True)
class ForeignAllocation:
    """Resources used on a node outside this scheduler; it has no application, queue or user."""

    key: str
    node_id: str
    partition: str = DEFAULT_PARTITION
    resource: Resource = NOTHING
    is_static: bool = False  # it exists for as long as the node
    application_id: str = ""  # sent by mistake; repeated in a rejection


Entry = Ask | AllocationRecord | ForeignAllocation
"""An element of a list with asks, existing and foreign allocations."""


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The RM requests or confirms the end of allocations."""

    partition: str
    subject: AllocationSubject
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True, slots=True)
class AskReleaseRequest:
    """The RM requests or confirms the end of pending asks; at most ``at_most`` of them end."""

    partition: str
    subject: AskSubject
    termination: TerminationType
    message: str = ""
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """The end of one allocation, reported to or requested from the RM."""

    partition: str
    application_id: str
    identity: str
    termination: TerminationType
    key: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class AskRelease:
    """The end of one pending ask, reported to the RM."""

    partition: str
    application_id: str
    key: str
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node as the RM reports it; a resource that was not sent is None.

    With ``at_most``, at most so many of its allocations end, and a node that is decommissioned
    stays until the update is repeated.
    """

    node_id: str
    action: NodeAction
    partition: str = DEFAULT_PARTITION
    attributes: Mapping[str, str] = field(default_factory=dict)
    capacity: Resource | None = None
    occupied: Resource | None = None
    allocations: tuple[AllocationRecord, ...] = ()
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class NewApplication:
    """An application the RM submits."""

    application_id: str
    queue: str = ""
    partition: str = DEFAULT_PARTITION
    user: str = ""
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    # Seconds in a running state; zero or less: never
    execution_timeout: float = field(
        default=0.0, metadata=copied_from("executionTimeoutMilliSeconds", divided_by=1000)
    )
    placeholder_ask: Resource | None = None
    gang_style: str = field(default="", metadata=copied_from("gangSchedulingStyle"))

    def tag(self, name: str) -> str:
        """Return the value of a tag, ignoring case in its name; empty if missing.

        Source: yunikorn-core 1.5 ``scheduler/objects/application.go``.
        """
        if name in self.tags:
            return self.tags[name]
        wanted = name.casefold()
        return next((self.tags[given] for given in self.tags if given.casefold() == wanted), "")

    @property
    def member_of(self) -> tuple[str, ...]:
        """Return the user's groups; without any, the group with the user's name."""
        return self.groups or ((self.user,) if self.user else ())


@dataclass(frozen=True, slots=True)
class RemoveApplication:
    """The RM removes an application with everything it has.

    With ``at_most`` the application keeps the rest until it is removed again.
    """

    application_id: str
    partition: str = DEFAULT_PARTITION
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class UtilisationReport:
    """Actual usage of a node or an allocation, identified by ``object_id``."""

    object_id: str
    used: Resource
