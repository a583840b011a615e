"""Mutants of events about limits, users and groups, and waiting for a slot."""

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
    "limits-reported-as-usage",
    "The setting of a limit is reported as usage.",
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
    "users-reported-as-groups",
    "Events of users are reported as events of groups.",
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
    "The link of a group does not name the application.",
    _OF_USERS.without("referenceID"),
    breaks=("SI-EVT-014",),
)
_row(
    "usage-reported-backwards",
    "Increased usage is reported as removed, decreased usage as added.",
    _OF_USERS.turn("eventChangeType", {_RECORD.ADD: _RECORD.REMOVE, _RECORD.REMOVE: _RECORD.ADD}),
    breaks=("SI-EVT-014",),
)
_row(
    "usage-without-amount",
    "Usage is not reported.",
    _OF_USERS.without("resource"),
    breaks=("SI-EVT-014",),
)
_row(
    "queue-slots-reported-as-owners",
    "Waiting for a slot of a queue is reported as waiting for one of its owner, and vice versa.",
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
    "reported-running-while-waiting",
    "Waiting for a slot is reported as having one.",
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
    "quota-preemption-on-all-queues",
    "The enforcement of a quota is reported of the root.",
    _PREEMPTION.put(objectID="root"),
    breaks=("SI-EVT-016",),
)
_newer_row(
    "quota-preemption-on-application",
    "The enforcement of a queue's quota is reported of an application.",
    _PREEMPTION.put(type=newer.EventRecord.APP),
    breaks=("SI-EVT-016",),
)
