"""What one side says to the other, in no revision's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

IDENTITY: Final = "identity"
"""The concept of what says which allocation it is, whatever the field is called."""


class Kind(Enum):
    """What a statement is about, as it is said in a sentence."""

    REGISTRATION = "a registration"
    # of nodes
    CREATE = "the creation of node {}"
    CREATE_DRAINED = "the creation of node {}, closed"
    UPDATE_NODE = "an update of node {}"
    DRAIN = "the draining of node {}"
    UNDRAIN = "the end of the draining of node {}"
    DECOMMISSION = "the decommissioning of node {}"
    NO_ACTION = "a word about node {} without an action"
    NODE_ACCEPTED = "the acceptance of node {}"
    NODE_REJECTED = "the rejection of node {}"
    # of applications
    SUBMIT = "the submission of application {}"
    REMOVE = "the removal of application {}"
    APPLICATION_ACCEPTED = "the acceptance of application {}"
    APPLICATION_REJECTED = "the rejection of application {}"
    APPLICATION_STATE = "the state of application {}"
    # of asks and allocations
    ASK = "an ask {}"
    EXISTING = "the report of an existing allocation {}"
    UPDATE = "an update of the allocation {}"
    FOREIGN = "the report of a foreign allocation {}"
    WITHDRAWAL = "the withdrawal of the ask {}"
    WITHDRAWAL_OF_ALL = "the withdrawal of all asks of application {}"
    RELEASE = "the release of the allocation {}"
    RELEASE_OF_ALL = "the release of all allocations of application {}"
    ALLOCATED = "the new allocation {}"
    ASK_REJECTED = "the rejection of the ask {}"
    ALLOCATION_REJECTED = "the rejection of the existing allocation {}"
    RELEASED = "the end of the allocation {}"
    RELEASED_ALL = "the end of all allocations of application {}"
    ASK_RELEASED = "the end of the ask {}"
    # beside them
    UTILISATION = "a report of the utilisation of {}"
    RESYNC = "the wish that the RM registers again"


REJECTIONS = frozenset(
    {
        Kind.NODE_REJECTED,
        Kind.APPLICATION_REJECTED,
        Kind.ASK_REJECTED,
        Kind.ALLOCATION_REJECTED,
    }
)
"""The answers that refuse something."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One item of a message.

    ``subject`` names what it is about: a node, an application, or the key of an ask or an
    allocation. ``values`` is everything else that is set, by the concept; ``wire`` has the name
    that the message has for each.
    """

    kind: Kind
    subject: str
    application: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    wire: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """As part of a sentence."""
        name = self.subject.encode("unicode_escape").decode() or "without a name"
        return self.kind.value.format(name)

    def named(self, concept: str) -> str:
        """What the message calls that value."""
        return self.wire.get(concept, concept)


@dataclass
class Known:
    """What is asked for and what lives, as both sides were told up to now.

    From 2024-10 on one message is an ask, an existing allocation or an update of one, and one
    release is of an ask or of an allocation: by what its key is to both.
    """

    live: set[str] = field(default_factory=set)  # keys of allocations, foreign ones among them
    identities: dict[str, str] = field(default_factory=dict)  # to the keys they designate

    def note(self, statement: Statement) -> None:
        """What was said by the one who knows it: the RM of its own, the scheduler of its own."""
        if statement.kind in (Kind.ALLOCATED, Kind.EXISTING, Kind.FOREIGN):
            self.live.add(statement.subject)

    def designated(self, identity: str) -> str:
        """The key of the allocation with this identity."""
        return self.identities.get(identity, identity)
