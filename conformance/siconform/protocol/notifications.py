"""Notifications of the scheduler, independent of the revision, as received facts and as patterns.

A fact read from the wire has every field set, to ``UNSUPPORTED`` if the revision has no field for
what a test may expect. A pattern leaves irrelevant fields at ``ANY``; resources compare as sparse
maps (a missing type counts as zero), tags as plain ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from siconform.protocol.availability import since, until
from siconform.protocol.fact_text import field_names, shown, words_of
from siconform.protocol.matchers import ANY, agree
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk, ask_subject


class Termination(Enum):
    """Why an allocation or ask ends; the SI's TerminationType without its numbers."""

    UNKNOWN = "UNKNOWN_TERMINATION_TYPE"
    STOPPED_BY_RM = "STOPPED_BY_RM"
    TIMEOUT = "TIMEOUT"
    PREEMPTED_BY_SCHEDULER = "PREEMPTED_BY_SCHEDULER"
    PLACEHOLDER_REPLACED = "PLACEHOLDER_REPLACED"
    UNDEFINED = "a number the revision does not define"


BY_THE_SCHEDULER: Final = frozenset(
    {
        Termination.TIMEOUT,
        Termination.PREEMPTED_BY_SCHEDULER,
        Termination.PLACEHOLDER_REPLACED,
    }
)
"""Terminations the scheduler may initiate; the RM confirms them with the same type."""


class UpdateKind(Enum):
    """The three conversations of an RM; in 2021-02 they share one stream."""

    NODES = "nodes"
    APPLICATIONS = "applications"
    ALLOCATIONS = "allocations"

    __hash__ = object.__hash__  # called a million times per run; Enum's is slow Python code


@dataclass(frozen=True, slots=True)
class PreemptionPolicy:
    """Whether an ask may be preempted and may preempt others."""

    allow_preempt_self: bool
    allow_preempt_other: bool

    def __str__(self) -> str:
        itself = "" if self.allow_preempt_self else "not "
        others = "" if self.allow_preempt_other else "not "
        return f"may {itself}be preempted and may {others}preempt others"


@dataclass(frozen=True, slots=True)
class Fact:
    """Base of all facts received from a scheduler."""

    def matches(self, received: "Fact") -> bool:
        """Return whether ``received`` has this type and agrees in every field set here."""
        if type(received) is not type(self):
            return False
        kind: type = type(self)
        for name in field_names(kind):
            wanted = getattr(self, name)
            given = getattr(received, name)
            if wanted is not ANY and given is not ANY and not agree(wanted, given):
                return False
        return True

    def __str__(self) -> str:
        return self._without(frozenset())

    def _without(self, left_out: frozenset[str]) -> str:
        """Return the text without these fields."""
        kind: type = type(self)
        values = [
            shown(name, value)
            for name in field_names(kind)
            if name != "timestamp"
            and name not in left_out
            and (value := getattr(self, name)) is not ANY
            and value
        ]
        return f"{self.words()} {', '.join(values)}".strip()

    def in_short(self) -> str:
        """Return what happened, without the objects."""
        return self.words()

    def in_brief(self) -> str:
        """Return the text without fields that are the same in nearly every message."""
        return self._without(_obvious(self))

    def comparable_text(self) -> str:
        """Return the text without fields that schedulers may word or name differently."""
        return self._without(_obvious(self) | _WORDED_FREELY)

    @classmethod
    def words(cls) -> str:
        """Return the fact's type in words: ``NodeAccepted`` becomes ``node accepted``."""
        return words_of(cls.__name__)


_WORDED_FREELY: Final = frozenset({"message", "reason", "identity", "tags", "details", "timestamp"})


def _obvious(fact: Fact) -> frozenset[str]:
    """Return uninformative fields: the default partition, a repeated key, a copy of the ask."""
    key, identity = getattr(fact, "key", ANY), getattr(fact, "identity", ANY)
    obvious = {"preemption_policy"}
    if getattr(fact, "partition", ANY) == "default":
        obvious.add("partition")
    if key is not ANY and key == identity:
        obvious.add("identity")
    return frozenset(obvious)


@dataclass(frozen=True, slots=True)
class NodeAccepted(Fact):
    """A node registration was accepted."""

    node: str = ANY


@dataclass(frozen=True, slots=True)
class NodeRejected(Fact):
    """A node registration (or another node action) was rejected."""

    node: str = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class ApplicationAccepted(Fact):
    """An application was accepted."""

    application: str = ANY


@dataclass(frozen=True, slots=True)
class ApplicationRejected(Fact):
    """An application was rejected."""

    application: str = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class ApplicationUpdated(Fact):
    """An application changed its state; ``timestamp`` is an integer without a stated unit."""

    application: str = ANY
    state: str = ANY
    timestamp: int = ANY
    message: str = ANY

    def in_short(self) -> str:
        """Return the state."""
        return f"state {self.state}"


@dataclass(frozen=True, slots=True)
class Allocated(Fact):
    """A new allocation. ``identity``: UUID up to 2023-08, allocationID in 2023-12, then the key."""

    key: str = ANY
    application: str = ANY
    node: str = ANY
    identity: str = ANY
    resource: Mapping[str, int] = ANY
    task_group: str = ANY
    placeholder: bool = ANY
    priority: int = ANY
    tags: Mapping[str, str] = ANY
    partition: str = ANY
    originator: bool = field(default=ANY, metadata=since("2023-12"))
    preemption_policy: PreemptionPolicy | None = field(default=ANY, metadata=since("2023-12"))
    queue: str = field(default=ANY, metadata=until("2021-02"))
    priority_class: str = field(default=ANY, metadata=until("2021-02"))


@dataclass(frozen=True, slots=True)
class Released(Fact):
    """An allocation ends: the scheduler's decision, or its confirmation of the RM's release."""

    key: str = ANY
    application: str = ANY
    identity: str = ANY
    termination: Termination = ANY
    message: str = ANY
    partition: str = ANY

    @property
    def subject(self) -> OneAllocation | AllOf:
        """What ends: without an identity, everything of the application."""
        if self.identity == "":
            return AllOf(self.application, self.key)
        return OneAllocation(self.application, self.identity, self.key)


@dataclass(frozen=True, slots=True)
class AskReleased(Fact):
    """An ask ends without allocation, or its release by the RM is confirmed."""

    key: str = ANY
    application: str = ANY
    termination: Termination = ANY
    message: str = ANY
    partition: str = ANY

    @property
    def subject(self) -> OneAsk | AllOf | AllThereIs:
        """What ends: without a key, every ask of the application, or of the partition."""
        return ask_subject(self.application, self.key)


@dataclass(frozen=True, slots=True)
class AskRejected(Fact):
    """An ask was rejected."""

    key: str = ANY
    application: str = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class AllocationRejected(Fact):
    """An existing allocation the RM reported, or an update, was rejected (2023-08 on)."""

    key: str = ANY
    application: str = ANY
    reason: str = ANY


@dataclass(frozen=True, slots=True)
class RegistrationWanted(Fact):
    """The RM has to register again because of an error (2021-02: the action RESYNC)."""


@dataclass(frozen=True, slots=True)
class NodeRecommended(Fact):
    """Resources recommended for some node, which is not named (2021-02)."""

    resource: Mapping[str, int] = ANY
    message: str = ANY


@dataclass(frozen=True, slots=True)
class StreamEnded(Fact):
    """The sender ended a stream; ``status`` is the gRPC status name (OK, UNIMPLEMENTED, ...).

    If conversations share the stream, each of them has ended.
    """

    kind: UpdateKind = ANY
    status: str = ANY
    details: str = ANY


@dataclass(frozen=True, slots=True)
class Nothing(Fact):
    """A response with no element in any of its lists."""

    kind: UpdateKind = ANY

    def _without(self, left_out: frozenset[str]) -> str:  # noqa: ARG002  # no fields to show
        return f"a message on the {self.kind.value} stream without elements"


@dataclass(frozen=True, slots=True)
class Unreadable(Fact):
    """Bytes that do not parse as the stream's message type in the run's revision."""

    kind: UpdateKind = ANY
    problem: str = ANY


@dataclass(frozen=True, slots=True)
class NotInSpec(Fact):
    """The edited spec that the RM uses cannot express this element of the run's revision.

    ``element`` is its full name; ``kind`` is None outside the conversations.
    """

    kind: UpdateKind | None = ANY
    element: str = ANY
    why: str = ANY
    sent: bool = False  # by the RM, not by the scheduler

    def _without(self, left_out: frozenset[str]) -> str:  # noqa: ARG002  # a single sentence
        return f"{self.element} is not in the edited spec: {self.why}"


CONVERSATIONS: Final[Mapping[type[Fact], UpdateKind]] = {
    NodeAccepted: UpdateKind.NODES,
    NodeRejected: UpdateKind.NODES,
    NodeRecommended: UpdateKind.NODES,
    RegistrationWanted: UpdateKind.NODES,  # of all kinds: nodes are registered again first
    ApplicationAccepted: UpdateKind.APPLICATIONS,
    ApplicationRejected: UpdateKind.APPLICATIONS,
    ApplicationUpdated: UpdateKind.APPLICATIONS,
    Allocated: UpdateKind.ALLOCATIONS,
    Released: UpdateKind.ALLOCATIONS,
    AskReleased: UpdateKind.ALLOCATIONS,
    AskRejected: UpdateKind.ALLOCATIONS,
    AllocationRejected: UpdateKind.ALLOCATIONS,
}
"""Facts on an update stream, with their conversation."""

CONNECTION_FACTS: Final = (StreamEnded, Nothing, Unreadable, NotInSpec)
"""Facts about a stream or its messages; each carries the conversation."""


def kind_of(fact: Fact) -> UpdateKind | None:
    """Return the conversation of a fact or pattern; None outside of them."""
    if isinstance(fact, CONNECTION_FACTS):
        return fact.kind
    return CONVERSATIONS.get(type(fact))
