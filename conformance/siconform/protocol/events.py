"""Events that the scheduler sends by callback: what happened to which object."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Fact


class Subject(Enum):
    """The kind of object an event is about."""

    UNSET = "UNKNOWN_EVENTRECORD_TYPE"
    REQUEST = "REQUEST"
    APPLICATION = "APP"
    NODE = "NODE"
    QUEUE = "QUEUE"
    USERS = "USERGROUP"
    UNDEFINED = "a number the revision does not define"


class EventChange(Enum):
    """How the object changed."""

    NONE = "NONE"
    SET = "SET"
    ADD = "ADD"
    REMOVE = "REMOVE"
    UNDEFINED = "a number the revision does not define"


class Detail(Enum):
    """What changed, from 2023-08 on; the names are those of the SI."""

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
    APP_CANNOT_RUN_QUEUE = "APP_CANNOTRUN_QUEUE"
    APP_RUNNABLE_QUEUE = "APP_RUNNABLE_QUEUE"
    APP_CANNOT_RUN_QUOTA = "APP_CANNOTRUN_QUOTA"
    APP_RUNNABLE_QUOTA = "APP_RUNNABLE_QUOTA"
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
    QUEUE_PREEMPTION = "QUEUE_PREEMPTION"
    ALLOC_CANCEL = "ALLOC_CANCEL"
    ALLOC_PREEMPT = "ALLOC_PREEMPT"
    ALLOC_TIMEOUT = "ALLOC_TIMEOUT"
    ALLOC_REPLACED = "ALLOC_REPLACED"
    ALLOC_NODE_REMOVED = "ALLOC_NODEREMOVED"
    USER_LIMIT = "UG_USER_LIMIT"
    GROUP_LIMIT = "UG_GROUP_LIMIT"
    GROUP_LINK = "UG_APP_LINK"
    USER_USAGE = "UG_USER_RESOURCE"
    GROUP_USAGE = "UG_GROUP_RESOURCE"
    UNDEFINED = "a number the revision does not define"


@cache
def details_of(subject: Subject) -> frozenset[Detail]:
    """Return the details that belong to a kind of object.

    The end of an allocation belongs to every kind that can hold one, so not to users and groups.
    """
    blocks = {
        Subject.REQUEST: ("REQUEST_", "ALLOC_"),
        Subject.APPLICATION: ("APP_", "ALLOC_"),
        Subject.NODE: ("NODE_", "ALLOC_"),
        Subject.QUEUE: ("QUEUE_", "ALLOC_"),
        Subject.USERS: ("UG_",),
    }
    starts = ("DETAILS_NONE", *blocks.get(subject, ("ALLOC_",)))
    return frozenset(detail for detail in Detail if detail.value.startswith(starts))


REQUEST_ENDINGS: Final = frozenset(
    {Detail.REQUEST_CANCEL, Detail.REQUEST_ALLOC, Detail.REQUEST_TIMEOUT}
)
WAITING_TURNS: Final = frozenset(
    {
        Detail.APP_CANNOT_RUN_QUEUE,
        Detail.APP_RUNNABLE_QUEUE,
        Detail.APP_CANNOT_RUN_QUOTA,
        Detail.APP_RUNNABLE_QUOTA,
    }
)
ALLOCATION_ENDINGS: Final = frozenset(d for d in Detail if d.value.startswith("ALLOC_"))


@dataclass(frozen=True, slots=True)
class EventReceived(Fact):
    """A record. ``reference`` is the second object, ``group`` and ``reason`` are of 2021-02.

    ``time`` is in nanoseconds since 1970; ``resource`` is None if the record has none.
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
    """A batch without events."""

    offer: int = ANY
