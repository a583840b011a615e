"""Permitted variants of events about users and groups, and waiting for a slot."""

from collections.abc import Callable
from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext

from mutation.event_batches import keep_records
from mutation.main_revision import si
from mutation.mutant import Wire, variant

_RECORD: Final = si.EventRecord
_LIMITS: Final = {_RECORD.UG_USER_LIMIT, _RECORD.UG_GROUP_LIMIT}
_SLOTS: Final = range(213, 217)
_FREE_SLOTS: Final = {_RECORD.APP_RUNNABLE_QUEUE, _RECORD.APP_RUNNABLE_QUOTA}
_on_the_wire: Final = partial(variant, revision="2024-10", areas=("EVT",))


def _each(received: ext.ToRm, change: Callable[[si.EventRecord], None]) -> None:
    if received.kind == ext.EVENT_BATCH:
        for payload in received.payloads:
            record = _RECORD.FromString(payload.data)
            if record.type == _RECORD.USERGROUP:
                change(record)
                payload.data = record.SerializeToString()


@_on_the_wire("users-reported-as-information", "Events of users and groups have no change type.")
def _(received: ext.ToRm) -> None:
    _each(received, lambda record: record.ClearField("eventChangeType"))


@_on_the_wire("users-reported-as-set", "Every change of a user or a group is a SET.")
def _(received: ext.ToRm) -> None:
    def sets(record: si.EventRecord) -> None:
        record.eventChangeType = _RECORD.SET

    _each(received, sets)


@_on_the_wire("no-usage-left", "The end of usage is reported as zero usage.")
def _(received: ext.ToRm) -> None:
    def ends(record: si.EventRecord) -> None:
        if record.eventChangeType == _RECORD.REMOVE:
            record.ClearField("resource")

    _each(received, ends)


@_on_the_wire("only-limits-of-users", "Of users and groups only limits are reported.")
def _(received: ext.ToRm, wire: Wire) -> None:
    def is_limit_or_other(record: si.EventRecord) -> bool:
        return record.type != _RECORD.USERGROUP or record.eventChangeDetail in _LIMITS

    keep_records(received, wire, is_limit_or_other)


@_on_the_wire("slots-not-reported", "Waiting for a slot and having one are not reported.")
def _(received: ext.ToRm, wire: Wire) -> None:
    keep_records(received, wire, lambda record: record.eventChangeDetail not in _SLOTS)


@_on_the_wire("only-waiting-reported", "Waiting for a slot is reported, having one is not.")
def _(received: ext.ToRm, wire: Wire) -> None:
    keep_records(received, wire, lambda record: record.eventChangeDetail not in _FREE_SLOTS)
