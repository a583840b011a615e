"""Events as the scheduler tells them by callback: what happened to which of its objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from siconform.protocol.notifications import ANY, Fact


class Subject(Enum):
    """The kind of object an event is about."""

    UNSET = "UNKNOWN_EVENTRECORD_TYPE"
    REQUEST = "REQUEST"
    APPLICATION = "APP"
    NODE = "NODE"
    QUEUE = "QUEUE"
    UNDEFINED = "a number the revision does not define"


class EventChange(Enum):
    """How the object changed."""

    NONE = "NONE"
    SET = "SET"
    ADD = "ADD"
    REMOVE = "REMOVE"
    UNDEFINED = "a number the revision does not define"


class Detail(Enum):
    """What changed, from 2023-08 on; the names are the text's."""

    NONE = "DETAILS_NONE"
    REQUEST_CANCEL = "REQUEST_CANCEL"
    REQUEST_ALLOC = "REQUEST_ALLOC"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    APP_ALLOC = "APP_ALLOC"
    APP_REQUEST = "APP_REQUEST"
    APP_REJECT = "APP_REJECT"
    APP_NEW = "APP_NEW"
    APP_ACCEPTED = "APP_ACCEPTED"
    APP_STARTING = "APP_STARTING"
    APP_RUNNING = "APP_RUNNING"
    APP_COMPLETING = "APP_COMPLETING"
    APP_COMPLETED = "APP_COMPLETED"
    APP_FAILING = "APP_FAILING"
    APP_FAILED = "APP_FAILED"
    APP_RESUMING = "APP_RESUMING"
    APP_EXPIRED = "APP_EXPIRED"
    NODE_DECOMMISSION = "NODE_DECOMISSION"
    NODE_READY = "NODE_READY"
    NODE_SCHEDULABLE = "NODE_SCHEDULABLE"
    NODE_ALLOC = "NODE_ALLOC"
    NODE_CAPACITY = "NODE_CAPACITY"
    NODE_OCCUPIED = "NODE_OCCUPIED"
    NODE_RESERVATION = "NODE_RESERVATION"
    QUEUE_CONFIG = "QUEUE_CONFIG"
    QUEUE_DYNAMIC = "QUEUE_DYNAMIC"
    QUEUE_TYPE = "QUEUE_TYPE"
    QUEUE_MAX = "QUEUE_MAX"
    QUEUE_GUARANTEED = "QUEUE_GUARANTEED"
    QUEUE_APP = "QUEUE_APP"
    QUEUE_ALLOC = "QUEUE_ALLOC"
    ALLOC_CANCEL = "ALLOC_CANCEL"
    ALLOC_PREEMPT = "ALLOC_PREEMPT"
    ALLOC_TIMEOUT = "ALLOC_TIMEOUT"
    ALLOC_REPLACED = "ALLOC_REPLACED"
    ALLOC_NODE_REMOVED = "ALLOC_NODEREMOVED"
    UNDEFINED = "a number the revision does not define"


def details_of(subject: Subject) -> frozenset[Detail]:
    """The block of details that belongs to a kind of object; the end of an allocation to any."""
    blocks = {
        Subject.REQUEST: "REQUEST_",
        Subject.APPLICATION: "APP_",
        Subject.NODE: "NODE_",
        Subject.QUEUE: "QUEUE_",
    }
    start = blocks.get(subject, "?")
    return frozenset(
        detail for detail in Detail if detail.value.startswith((start, "ALLOC_", "DETAILS_NONE"))
    )


REQUEST_ENDINGS: Final = frozenset(
    {Detail.REQUEST_CANCEL, Detail.REQUEST_ALLOC, Detail.REQUEST_TIMEOUT}
)
ALLOCATION_ENDINGS: Final = frozenset(d for d in Detail if d.value.startswith("ALLOC_"))


@dataclass(frozen=True, slots=True)
class EventTold(Fact):
    """A record. ``reference`` is the second object, ``group`` and ``reason`` are of 2021-02.

    ``time`` is in nanoseconds since 1970; ``resource`` None where the record has none.
    """

    about: str = ANY
    subject: Subject = ANY
    change: EventChange = ANY
    detail: Detail = ANY
    reference: str = ANY
    resource: Mapping[str, int] | None = ANY
    message: str = ANY
    time: int = ANY
    group: str = ANY
    reason: str = ANY
    offer: int = ANY


@dataclass(frozen=True, slots=True)
class EmptyBatch(Fact):
    """A batch of events without an event."""

    offer: int = ANY
