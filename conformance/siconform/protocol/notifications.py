"""What the scheduler tells an RM, revision-neutral: received facts, and patterns to expect them by.

A fact read from the wire has every field set, to ``UNSAID`` where the revision has no field for
what a test may expect. A pattern leaves the fields it does not care about at ``ANY``; resources
compare as sparse maps (a type left out counts as zero), tags as plain ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from siconform.protocol.fact_text import field_names, shown, words_of
from siconform.protocol.matchers import agree
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk


class _Any:
    """Matches everything; the default of every field a pattern may leave open."""

    def __repr__(self) -> str:
        return "any"


ANY: Final[Any] = _Any()


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
"""What the scheduler may start by itself, and the RM therefore confirms with the same type."""


class UpdateKind(Enum):
    """The three conversations of an RM; in 2021-02 they share one stream."""

    NODES = "nodes"
    APPLICATIONS = "applications"
    ALLOCATIONS = "allocations"

    __hash__ = object.__hash__  # a million times in a run; Enum's is Python and hashes the name


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
    """Base of everything that can be told."""

    def matches(self, received: "Fact") -> bool:
        """Whether ``received`` is of this kind and agrees in every field this pattern names."""
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
        """As text, without these fields."""
        kind: type = type(self)
        named = {n: getattr(self, n) for n in field_names(kind) if n not in left_out}
        received = ", ".join(shown(n, v) for n, v in named.items() if _worth(n, v))
        return f"{self.words()} {received}".strip()

    def in_short(self) -> str:
        """What happened, without whom it happened to."""
        return self.words()

    def in_brief(self) -> str:
        """As text, without what is the same in nearly every message."""
        return self._without(_obvious(self))

    def in_essence(self) -> str:
        """As text, without what two schedulers may well word or name in ways of their own."""
        return self._without(_obvious(self) | _WORDED_FREELY)

    @classmethod
    def words(cls) -> str:
        """The fact's kind in words: ``NodeAccepted`` becomes ``node accepted``."""
        return words_of(cls.__name__)


_WORDED_FREELY: Final = frozenset({"message", "reason", "identity", "tags", "details", "timestamp"})


def _obvious(fact: Fact) -> frozenset[str]:
    """Fields that tell nothing: the one partition, the key once more, what its ask said."""
    key, identity = getattr(fact, "key", ANY), getattr(fact, "identity", ANY)
    obvious = {"preemption_policy"}
    if getattr(fact, "partition", ANY) == "default":
        obvious.add("partition")
    if key is not ANY and key == identity:
        obvious.add("identity")
    return frozenset(obvious)


def _worth(name: str, value: Any) -> bool:
    return value is not ANY and name != "timestamp" and bool(value)


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
        """The state it is in."""
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
    originator: bool = ANY
    preemption_policy: PreemptionPolicy | None = ANY
    queue: str = ANY  # 2021-02
    priority_class: str = ANY  # 2021-02


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
        """What ends: without an identity it is everything of the application."""
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
        """What ends: without a key it is every ask of the application, or of the partition."""
        if self.key:
            return OneAsk(self.application, self.key)
        return AllOf(self.application) if self.application else AllThereIs()


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
    """Something is wrong and the RM has to register again (2021-02: the action RESYNC)."""


@dataclass(frozen=True, slots=True)
class NodeRecommended(Fact):
    """What the scheduler would have some node offer; which one is not said (2021-02)."""

    resource: Mapping[str, int] = ANY
    message: str = ANY


@dataclass(frozen=True, slots=True)
class StreamEnded(Fact):
    """The scheduler ended a stream; ``status`` is the gRPC status name (OK, UNIMPLEMENTED, ...).

    Where the conversations share a stream each of them has ended.
    """

    kind: UpdateKind = ANY
    status: str = ANY
    details: str = ANY


@dataclass(frozen=True, slots=True)
class Nothing(Fact):
    """A response none of whose lists has an element."""

    kind: UpdateKind = ANY

    def _without(self, left_out: frozenset[str]) -> str:  # noqa: ARG002  # it has no fields to show
        return f"a message on the {self.kind.value} stream that tells nothing"


@dataclass(frozen=True, slots=True)
class Unreadable(Fact):
    """Bytes that are no message of the stream's type in the run's revision."""

    kind: UpdateKind = ANY
    problem: str = ANY


@dataclass(frozen=True, slots=True)
class NotInTheText(Fact):
    """The RM speaks an edited text of the run's revision, and that has no words for this of it.

    ``element`` is its full name; ``kind`` is None outside the conversations.
    """

    kind: UpdateKind | None = ANY
    element: str = ANY
    why: str = ANY
    sent: bool = False  # by the RM; not by the scheduler

    def _without(self, left_out: frozenset[str]) -> str:  # noqa: ARG002  # it is one sentence
        return f"{self.element} is not in the edited text: {self.why}"


CONVERSATIONS: Final[Mapping[type[Fact], UpdateKind]] = {
    NodeAccepted: UpdateKind.NODES,
    NodeRejected: UpdateKind.NODES,
    NodeRecommended: UpdateKind.NODES,
    RegistrationWanted: UpdateKind.NODES,  # of none in particular: nodes come again first
    ApplicationAccepted: UpdateKind.APPLICATIONS,
    ApplicationRejected: UpdateKind.APPLICATIONS,
    ApplicationUpdated: UpdateKind.APPLICATIONS,
    Allocated: UpdateKind.ALLOCATIONS,
    Released: UpdateKind.ALLOCATIONS,
    AskReleased: UpdateKind.ALLOCATIONS,
    AskRejected: UpdateKind.ALLOCATIONS,
    AllocationRejected: UpdateKind.ALLOCATIONS,
}
"""What a scheduler tells on an update stream, and the conversation it belongs to."""

CONNECTION_FACTS: Final = (StreamEnded, Nothing, Unreadable, NotInTheText)
"""What became of a stream, or of what came on it; each carries the conversation."""


def kind_of(fact: Fact) -> UpdateKind | None:
    """The conversation a fact, or a pattern for one, belongs to; None outside of them."""
    if isinstance(fact, CONNECTION_FACTS):
        return fact.kind
    return CONVERSATIONS.get(type(fact))
