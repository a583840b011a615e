"""The records inside events and effects, and what the operator chooses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from sireference.core.model.subjects import AllocationSubject, AskSubject
from sireference.core.placement_constraints import PlacementConstraint
from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeAction, TerminationType
from sireference.seconds import check_times

DEFAULT_PARTITION: Final = "default"


def partition_name(given: str) -> str:
    """The partition meant by ``given``; without a name it is the default one."""
    return given or DEFAULT_PARTITION


def quoted(name: str) -> str:
    """``name`` as a reason quotes it: odd characters escaped, a long one cut short."""
    longest: Final = 80
    return repr(name) if len(name) <= longest else f"{name[:longest]!r}..."


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator chooses; times in seconds, at most LONGEST_SECONDS (ValueError).

    ``identity_prefix`` starts the identity of every allocation, so that two processes that know
    the same RM one after the other never announce the same identity twice.
    """

    completing_timeout: float = 30.0  # an application waits this long before it is completed
    starting_timeout: float = 300.0  # Starting becomes Running after this, whatever happens
    placeholder_timeout: float = 900.0  # for the placeholders of a gang, from the first allocation
    gang_turn_timeout: float = 900.0  # a gang that has nothing keeps younger ones waiting so long
    # yunikorn's reading (C-10): an application's execution timeout is that of its placeholders, and
    # does not bound how long it runs
    placeholder_timeout_from_application: bool = False
    empty_queue_timeout: float = (
        10.0  # a queue made by a placement rule goes when empty for so long
    )
    retention: float = 3 * 24 * 3600.0  # a finished application is remembered this long
    max_finished: int = 10_000  # finished applications of a partition that are remembered
    connection_loss_timeout: float = 60.0  # a lost RM is stopped after this
    stopped_retention: float = 3600.0  # a stopped RM is remembered this long, to be told so
    longest_name: int = 1024  # characters of an id, a key, a queue or a type of resource
    identity_prefix: str = ""

    def __post_init__(self) -> None:
        check_times(self)


@dataclass(frozen=True, slots=True)
class ProposedTimers:
    """Timers that an RM wants to have for itself, in seconds; None where it proposes none."""

    placeholder_timeout: float | None = None
    completing_timeout: float | None = None
    connection_loss_timeout: float | None = None

    def in_place_of(self, settings: Settings) -> Settings:
        """The settings, with these timers in place of what the operator chose."""
        proposed: dict[str, Any] = {
            one.name: seconds
            for one in fields(self)
            if (seconds := getattr(self, one.name)) is not None
        }
        return replace(settings, **proposed) if proposed else settings


NO_PROPOSAL: Final = ProposedTimers()


@dataclass(frozen=True, slots=True)
class PreemptionPolicy:
    """What an ask says about preemption; absent means the scheduler's default."""

    allow_preempt_self: bool = False
    allow_preempt_other: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """What the RM wants: up to ``max_allocations`` times ``resource`` for an application."""

    key: str
    application_id: str
    partition: str = DEFAULT_PARTITION
    resource: Resource = NOTHING
    max_allocations: int = 1
    priority: int = 0
    priority_class: str = ""  # the name the RM gave the priority, if it gave one
    execution_timeout: float = 0.0  # seconds from allocation; zero or less: never
    tags: Mapping[str, str] = field(default_factory=dict)
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    preemption_policy: PreemptionPolicy | None = None
    required_node: str = ""  # by tag: nowhere else
    constraint: PlacementConstraint | None = None

    @property
    def is_placeholder(self) -> bool:
        """Whether it only keeps room for a member of a task group; without group it is real."""
        return self.placeholder and self.task_group != ""


@dataclass(frozen=True, slots=True)
class AllocationRecord:
    """``ask`` served once on a node, under an identity of its own."""

    identity: str
    ask: Ask
    node_id: str


@dataclass(frozen=True, slots=True)
class ForeignAllocation:
    """Room on a node that somebody else uses; it belongs to no application, queue or user."""

    key: str
    node_id: str
    partition: str = DEFAULT_PARTITION
    resource: Resource = NOTHING
    is_static: bool = False  # it stays where it is for as long as the node is there
    application_id: str = ""  # said by mistake; repeated in a rejection


Entry = Ask | AllocationRecord | ForeignAllocation
"""What a list can hold of which each element is asked for, exists, or is somebody else's."""


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """What the RM says of the end of allocations: it wants it, or confirms it."""

    partition: str
    subject: AllocationSubject
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True, slots=True)
class AskReleaseRequest:
    """What the RM says of the end of pending asks; with ``at_most`` no more than so many end."""

    partition: str
    subject: AskSubject
    termination: TerminationType
    message: str = ""
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """The end of one allocation, as the RM is told of it or asked for it."""

    partition: str
    application_id: str
    identity: str
    termination: TerminationType
    key: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class AskRelease:
    """The end of one pending ask, as the RM is told of it."""

    partition: str
    application_id: str
    key: str
    termination: TerminationType
    message: str = ""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """What the RM says of a node; a resource that was not sent is None.

    With ``at_most`` no more than so many of its allocations end, and a node that is decommissioned
    stays until that is said again.
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
    execution_timeout: float = 0.0  # seconds in a running state; zero or less: never
    placeholder_ask: Resource | None = None
    gang_style: str = ""

    def tag(self, name: str) -> str:
        """The value of a tag, whatever case its name is written in; empty without.

        Source: yunikorn-core 1.5 ``scheduler/objects/application.go``.
        """
        if name in self.tags:
            return self.tags[name]
        wanted = name.casefold()
        return next((self.tags[given] for given in self.tags if given.casefold() == wanted), "")

    @property
    def member_of(self) -> tuple[str, ...]:
        """The user's groups; without any told, a group of the same name is assumed."""
        return self.groups or ((self.user,) if self.user else ())


@dataclass(frozen=True, slots=True)
class RemoveApplication:
    """An application the RM takes back with everything it has.

    With ``at_most`` it goes on having what is more than that, until it is removed again.
    """

    application_id: str
    partition: str = DEFAULT_PARTITION
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class UtilisationReport:
    """What a node or an allocation really uses; ``object_id`` is the id of one or the other."""

    object_id: str
    used: Resource
