"""Liberties in what events tell of users and groups, and of who waits for a slot."""

from collections.abc import Callable
from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2024_10 import si_pb2 as si

from mutation.mutant import keep, variant

_RECORD: Final = si.EventRecord
_SLOTS: Final = range(213, 217)
_on_the_wire: Final = partial(variant, revision="2024-10", areas=("EVT",))


def _each(received: ext.ToRm, change: Callable[[si.EventRecord], None]) -> None:
    if received.kind == ext.EVENT_BATCH:
        for payload in received.payloads:
            record = _RECORD.FromString(payload.data)
            if record.type == _RECORD.USERGROUP:
                change(record)
                payload.data = record.SerializeToString()


@_on_the_wire("users-told-as-information", "Events of users and groups tell no kind of change.")
def _(received: ext.ToRm) -> None:
    _each(received, lambda record: record.ClearField("eventChangeType"))


@_on_the_wire("users-told-as-set", "Whatever changes for a user or a group is set.")
def _(received: ext.ToRm) -> None:
    def sets(record: si.EventRecord) -> None:
        record.eventChangeType = _RECORD.SET

    _each(received, sets)


@_on_the_wire("no-usage-left", "What is used no more is told as nothing.")
def _(received: ext.ToRm) -> None:
    def ends(record: si.EventRecord) -> None:
        if record.eventChangeType == _RECORD.REMOVE:
            record.ClearField("resource")

    _each(received, ends)


@_on_the_wire("only-limits-of-users", "Of users and groups nothing is told but their limits.")
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        limits = {_RECORD.UG_USER_LIMIT, _RECORD.UG_GROUP_LIMIT}
        keep(
            received.payloads,
            lambda one: (
                _record(one).type != _RECORD.USERGROUP or _record(one).eventChangeDetail in limits
            ),
        )


@_on_the_wire("slots-not-told", "Nobody is told who waits for a slot, and who has one.")
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        keep(received.payloads, lambda one: _record(one).eventChangeDetail not in _SLOTS)


@_on_the_wire("only-waiting-told", "Who waits for a slot is told, and not who has one.")
def _(received: ext.ToRm) -> None:
    free = {_RECORD.APP_RUNNABLE_QUEUE, _RECORD.APP_RUNNABLE_QUOTA}
    if received.kind == ext.EVENT_BATCH:
        keep(received.payloads, lambda one: _record(one).eventChangeDetail not in free)


def _record(payload: ext.SiPayload) -> si.EventRecord:
    return _RECORD.FromString(payload.data)
