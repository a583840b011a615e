"""What is said in one go, and of what: the same for all revisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from google.protobuf.message import Message
from siwire import Capability, Revision

RM: Final = "rm"
PARTITION: Final = "default"
POLICY_GROUP: Final = "mixed"
MEMORY: Final = "memory"


class NoWordsError(Exception):
    """The revision has no words for it; the text says for what."""


class Conversation(Enum):
    """What is spoken about on a stream."""

    NODES = "UpdateNode"
    APPLICATIONS = "UpdateApplication"
    ALLOCATIONS = "UpdateAllocation"

    def method(self, revision: Revision) -> str:
        """The method it travels on in this revision."""
        return "Update" if revision.can(Capability.ONE_UPDATE_STREAM) else self.value


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of an RM and where it belongs."""

    conversation: Conversation
    message: Message


@dataclass(frozen=True, slots=True)
class Item:
    """An allocation as an RM speaks of it, or the ask for one."""

    key: str
    application: str = "a1"
    memory: int = 2
    node: str = ""  # where it exists
    identity: str = ""  # of one that exists
    priority: int = 0
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    many: int = 1
    opts_out: bool = False  # of preemption, and does not preempt others
    tags: Mapping[str, str] | None = None


def identity_field(message: Message) -> str:
    """The field of an Allocation or an AllocationRelease that says which allocation it is."""
    names = ("UUID", "allocationID", "allocationKey")
    return next(name for name in names if has_field(message, name))


def says_key_too(release: Message) -> bool:
    """Whether an AllocationRelease has a key beside the identity."""
    return has_field(release, "allocationKey") and identity_field(release) != "allocationKey"


def has_field(message: Message, name: str) -> bool:
    """Whether its revision has this field there."""
    return name in message.DESCRIPTOR.fields_by_name
