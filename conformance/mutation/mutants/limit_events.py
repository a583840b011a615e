"""Faults in what events tell of limits, of users and groups, and of who waits for a slot."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2024_10 import si_pb2 as si
from siwire.r2026_04 import si_pb2 as newer

from mutation.mutant import row
from mutation.parts import Payloads

_RECORD: Final = si.EventRecord
_EVENTS: Final = Payloads(ext.EVENT_BATCH, si.EventRecord)
_NEWER_EVENTS: Final = Payloads(ext.EVENT_BATCH, newer.EventRecord)
_OF_USERS: Final = _EVENTS.where(lambda record: record.type == _RECORD.USERGROUP)
_PREEMPTION: Final = _NEWER_EVENTS.where(
    lambda record: record.eventChangeDetail == newer.EventRecord.QUEUE_PREEMPTION
)
_row: Final = partial(row, __file__, "2024-10")
_newer_row: Final = partial(row, __file__, "2026-04")


_row(
    "limits-told-as-usage",
    "That a limit is set is told as what is used.",
    _OF_USERS.turn(
        "eventChangeDetail",
        {
            _RECORD.UG_USER_LIMIT: _RECORD.UG_USER_RESOURCE,
            _RECORD.UG_GROUP_LIMIT: _RECORD.UG_GROUP_RESOURCE,
        },
    ),
    breaks=("SI-EVT-014",),
)
_row(
    "users-told-as-groups",
    "What is about a user is told as about a group.",
    _OF_USERS.turn(
        "eventChangeDetail",
        {
            _RECORD.UG_USER_LIMIT: _RECORD.UG_GROUP_LIMIT,
            _RECORD.UG_USER_RESOURCE: _RECORD.UG_GROUP_RESOURCE,
        },
    ),
    breaks=("SI-EVT-014",),
)
_row(
    "links-to-no-application",
    "A link of a group names no application.",
    _OF_USERS.without("referenceID"),
    breaks=("SI-EVT-014",),
)
_row(
    "usage-told-backwards",
    "What is used more is told as going, what is used less as coming.",
    _OF_USERS.turn("eventChangeType", {_RECORD.ADD: _RECORD.REMOVE, _RECORD.REMOVE: _RECORD.ADD}),
    breaks=("SI-EVT-014",),
)
_row(
    "usage-without-amount",
    "Nobody is told how much is used.",
    _OF_USERS.without("resource"),
    breaks=("SI-EVT-014",),
)
_row(
    "slots-of-queues-told-as-of-owners",
    "Who waits for a slot of a queue is told to wait for one of its owner, and the reverse.",
    _EVENTS.turn(
        "eventChangeDetail",
        {
            _RECORD.APP_CANNOTRUN_QUEUE: _RECORD.APP_CANNOTRUN_QUOTA,
            _RECORD.APP_RUNNABLE_QUEUE: _RECORD.APP_RUNNABLE_QUOTA,
            _RECORD.APP_CANNOTRUN_QUOTA: _RECORD.APP_CANNOTRUN_QUEUE,
            _RECORD.APP_RUNNABLE_QUOTA: _RECORD.APP_RUNNABLE_QUEUE,
        },
    ),
    breaks=("SI-EVT-015",),
)
_row(
    "told-to-run-while-waiting",
    "Who has to wait for a slot is told to have one.",
    _EVENTS.turn(
        "eventChangeDetail",
        {
            _RECORD.APP_CANNOTRUN_QUEUE: _RECORD.APP_RUNNABLE_QUEUE,
            _RECORD.APP_CANNOTRUN_QUOTA: _RECORD.APP_RUNNABLE_QUOTA,
        },
    ),
    breaks=("SI-EVT-015",),
)
_newer_row(
    "quota-preemption-told-of-all-queues",
    "That a quota is enforced is told of the root.",
    _PREEMPTION.put(objectID="root"),
    breaks=("SI-EVT-016",),
)
_newer_row(
    "quota-preemption-told-of-an-application",
    "That the quota of a queue is enforced is told of an application.",
    _PREEMPTION.put(type=newer.EventRecord.APP),
    breaks=("SI-EVT-016",),
)
