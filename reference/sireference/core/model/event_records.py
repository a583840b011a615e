"""Event records: changes of one object of the scheduler, for observers."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from sireference.core.resources import Resource


class RecordType(Enum):
    """The kind of object a record is about."""

    REQUEST = "request"
    APP = "application"
    NODE = "node"
    QUEUE = "queue"
    USERGROUP = "user or group"  # from 2024-10 on


class ChangeType(Enum):
    """How the object changed."""

    NONE = "no change"
    SET = "a value changed"
    ADD = "it was added, or something was added to it"
    REMOVE = "it was removed, or something was removed from it"


class ChangeDetail(Enum):
    """What changed, by the names of the specification; the hundreds are the kinds."""

    DETAILS_NONE = 0
    REQUEST_CANCEL = 100
    REQUEST_ALLOC = 101
    REQUEST_TIMEOUT = 102
    APP_ALLOC = 200
    APP_REQUEST = 201
    APP_REJECT = 202
    APP_NEW = 203
    APP_ACCEPTED = 204
    APP_STARTING = 205
    APP_RUNNING = 206
    APP_COMPLETING = 207
    APP_COMPLETED = 208
    APP_FAILING = 209
    APP_FAILED = 210
    APP_RESUMING = 211
    APP_EXPIRED = 212
    APP_CANNOTRUN_QUEUE = 213
    APP_RUNNABLE_QUEUE = 214
    APP_CANNOTRUN_QUOTA = 215
    APP_RUNNABLE_QUOTA = 216
    NODE_DECOMISSION = 300  # the SI's spelling
    NODE_READY = 301
    NODE_SCHEDULABLE = 302
    NODE_ALLOC = 303
    NODE_CAPACITY = 304
    NODE_OCCUPIED = 305
    NODE_RESERVATION = 306
    QUEUE_CONFIG = 400
    QUEUE_DYNAMIC = 401
    QUEUE_TYPE = 402
    QUEUE_MAX = 403
    QUEUE_GUARANTEED = 404
    QUEUE_APP = 405
    QUEUE_ALLOC = 406
    QUEUE_PREEMPTION = 407
    ALLOC_CANCEL = 500
    ALLOC_PREEMPT = 501
    ALLOC_TIMEOUT = 502
    ALLOC_REPLACED = 503
    ALLOC_NODEREMOVED = 504
    UG_USER_LIMIT = 600
    UG_GROUP_LIMIT = 601
    UG_APP_LINK = 602
    UG_USER_RESOURCE = 603
    UG_GROUP_RESOURCE = 604


DETAILS_UNTIL_2023_12: Final = frozenset(ChangeDetail) - {
    ChangeDetail.APP_CANNOTRUN_QUEUE,
    ChangeDetail.APP_RUNNABLE_QUEUE,
    ChangeDetail.APP_CANNOTRUN_QUOTA,
    ChangeDetail.APP_RUNNABLE_QUOTA,
    ChangeDetail.QUEUE_PREEMPTION,
    ChangeDetail.UG_USER_LIMIT,
    ChangeDetail.UG_GROUP_LIMIT,
    ChangeDetail.UG_APP_LINK,
    ChangeDetail.UG_USER_RESOURCE,
    ChangeDetail.UG_GROUP_RESOURCE,
}
"""The details sent in revisions up to 2023-12, whether the revision has names for them or not."""


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A change of ``object_id`` at ``at`` (seconds since the epoch).

    ``reference_id`` names the other object involved, ``group_id`` the parent object: the
    application of a request, the queue of an application.
    """

    type: RecordType
    object_id: str
    at: float
    change: ChangeType
    detail: ChangeDetail
    message: str
    reference_id: str = ""
    group_id: str = ""
    resource: Resource | None = None
