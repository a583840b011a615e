"""Faults about what a scheduler asks and tells the RM beside the SI's streams."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext

from mutation.lists import CONTAINER_STATES, EVENTS, EVICTION_CHECKS, PLACEMENT_CHECKS
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row
from mutation.parts import Edit

_EVENT_AREAS: Final = ("EVT",)
_DETAIL: Final = si.EventRecord
_CHECKS: Final = ("CB",)
_OTHER_DETAILS: Final = {
    100: 101,
    101: 102,
    102: 100,
    500: 502,
    501: 500,
    502: 503,
    503: 504,
    504: 500,
}
_OLD_GROUP: Final = b"\x1a\x01g"  # number 3, a string
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)


@_mutant(
    "checks-not-made", "The RM is not asked where an ask may go.", *_CHECKS, breaks=("SI-CB-002",)
)
def _(sent: ext.FromRm) -> None:
    if sent.HasField("offer"):
        kinds = [kind for kind in sent.offer.kinds if kind != ext.PLACEMENT_CHECK]
        del sent.offer.kinds[:]
        sent.offer.kinds.extend(kinds)


@_mutant(
    "checks-refused", "Every answer of the RM is taken for a no.", *_CHECKS, breaks=("SI-CB-003",)
)
def _(sent: ext.FromRm) -> None:
    if sent.HasField("answer"):
        sent.answer.ok = False


@_mutant(
    "more-evicted-than-allowed",
    "All victims go, however many the RM allows.",
    *_CHECKS,
    breaks=("SI-CB-007",),
)
def _(received: ext.ToRm, wire: Wire) -> None:
    if received.kind == ext.EVICTION_CHECK:
        for payload in received.payloads:
            asked = si.PreemptionPredicatesArgs.FromString(payload.data)
            wire.memory[str(received.call_id)] = len(asked.preemptAllocationKeys)


all_go = _


@all_go.also
def _(sent: ext.FromRm, wire: Wire) -> None:
    victims = wire.memory[str(sent.answer.call_id)]
    if sent.HasField("answer") and victims:
        answer = si.PreemptionPredicatesResponse(success=True, index=victims - 1)
        sent.answer.payload.data = answer.SerializeToString()


_row(
    "checks-about-nobody",
    "Checks name a node that is not there.",
    PLACEMENT_CHECKS.change("nodeID", lambda name: f"{name}-x"),
    breaks=("SI-CB-003",),
    areas=_CHECKS,
)


def _unowned(asked: si.PreemptionPredicatesArgs) -> None:
    victims = [f"{key}-x" for key in asked.preemptAllocationKeys]
    del asked.preemptAllocationKeys[:]
    asked.preemptAllocationKeys.extend(victims)


_row(
    "victims-unknown",
    "Victims that are checked are not there.",
    EVICTION_CHECKS.each(_unowned),
    breaks=("SI-CB-005",),
    areas=_CHECKS,
)


@_mutant(
    "nothing-for-who-takes-no-calls",
    "An RM that takes no callbacks is allocated nothing.",
    breaks=("SI-CB-004",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    if not wire.memory["callers"]:
        del response.new[:]


only_called = _


@only_called.also
def _(sent: ext.FromRm, wire: Wire) -> None:
    wire.memory["callers"].add(sent.offer.rm_id)


_row(
    "container-states-of-nobody",
    "Container states name unknown asks.",
    CONTAINER_STATES.change("allocationKey", lambda key: f"{key}-x"),
    breaks=("SI-CB-009",),
    areas=_CHECKS,
)
_row(
    "container-states-run-ahead",
    "An ask that has to wait is told as reserved.",
    CONTAINER_STATES.put(state=si.UpdateContainerSchedulingStateRequest.RESERVED),
    breaks=("SI-CB-009",),
)
_row(
    "container-states-unset",
    "Container states say nothing.",
    CONTAINER_STATES.without("state"),
    breaks=("SI-WIRE-010", "SI-CB-009"),
)
_row(
    "events-not-told",
    "No event is told.",
    EVENTS.none(),
    breaks=("SI-EVT-001",),
    areas=_EVENT_AREAS,
)


def _of_another_kind(record: si.EventRecord) -> None:
    if record.eventChangeDetail:
        record.eventChangeDetail = si.EventRecord.QUEUE_MAX
        if record.type == si.EventRecord.QUEUE:
            record.eventChangeDetail = si.EventRecord.NODE_ALLOC


def _of_the_application(record: si.EventRecord) -> None:
    if record.type == si.EventRecord.REQUEST:
        record.objectID, record.referenceID = record.referenceID, record.objectID


_row(
    "events-of-nothing",
    "Events name no object.",
    EVENTS.without("objectID"),
    breaks=("SI-EVT-002",),
    areas=_EVENT_AREAS,
)
_row(
    "events-without-time",
    "Events have no time.",
    EVENTS.without("timestampNano"),
    breaks=("SI-EVT-002",),
    areas=_EVENT_AREAS,
)
_row(
    "events-in-seconds",
    "The time of an event is in seconds.",
    EVENTS.change("timestampNano", lambda nano: nano // 1_000_000_000),
    breaks=("SI-EVT-002",),
    areas=_EVENT_AREAS,
)
_row(
    "events-without-detail",
    "Events do not say what changed.",
    EVENTS.without("eventChangeDetail"),
    breaks=("SI-EVT-013",),
    areas=_EVENT_AREAS,
)
_row(
    "events-of-another-kind",
    "The detail of an event is of another kind of object.",
    EVENTS.each(_of_another_kind),
    breaks=("SI-EVT-006", "SI-EVT-009", "SI-EVT-010"),
    areas=_EVENT_AREAS,
)
_row(
    "events-without-reference",
    "Events name no other object.",
    EVENTS.without("referenceID"),
    breaks=("SI-EVT-011",),
    areas=_EVENT_AREAS,
)
_row(
    "events-without-resource",
    "Events say no amount.",
    EVENTS.without("resource"),
    breaks=("SI-EVT-011",),
    areas=_EVENT_AREAS,
)
_row(
    "events-always-set",
    "Every change is the set of a value.",
    EVENTS.put(eventChangeType=si.EventRecord.SET),
    breaks=("SI-EVT-005",),
    areas=_EVENT_AREAS,
)
_row(
    "events-of-requests-are-of-applications",
    "Events of requests name the application.",
    EVENTS.each(_of_the_application),
    breaks=("SI-EVT-002",),
    areas=_EVENT_AREAS,
)
_row(
    "events-of-a-group",
    "Events name a group, by the number that once was for it.",
    EVENTS.each(lambda record: record.MergeFromString(_OLD_GROUP)),
    breaks=("SI-WIRE-008",),
    areas=_EVENT_AREAS,
)
_row(
    "drains-told-as-occupied",
    "Whether a node takes work is told as what others have of it.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.NODE_SCHEDULABLE: _DETAIL.NODE_OCCUPIED}),
    breaks=("SI-EVT-009",),
    areas=_EVENT_AREAS,
)
_row(
    "rights-told-as-limits",
    "What a queue has a right to is told as what it may have at most.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.QUEUE_GUARANTEED: _DETAIL.QUEUE_MAX}),
    breaks=("SI-EVT-010",),
    areas=_EVENT_AREAS,
)
_row(
    "causes-mixed-up",
    "The details of requests and allocations tell other causes.",
    EVENTS.turn("eventChangeDetail", _OTHER_DETAILS),
    breaks=("SI-EVT-008",),
    areas=_EVENT_AREAS,
)
_row(
    "allocations-told-as-requests",
    "What an application is allocated is told as what it requests.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.APP_ALLOC: _DETAIL.APP_REQUEST}),
    breaks=("SI-EVT-012",),
    areas=_EVENT_AREAS,
)


@_mutant(
    "events-out-of-order",
    "Events come with the newest first.",
    *_EVENT_AREAS,
    breaks=("SI-EVT-007",),
)
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        payloads = list(received.payloads)
        del received.payloads[:]
        received.payloads.extend(reversed(payloads))


def _without_details(*details: int) -> Edit:
    """No event says one of these details of what changed."""
    return EVENTS.only(lambda record: record.eventChangeDetail not in details)


_row(
    "no-request-events",
    "What became of requests is not told.",
    _without_details(100, 101, 102),
    breaks=("SI-EVT-013",),
    areas=_EVENT_AREAS,
)
_row(
    "no-application-events",
    "Nothing is told of applications.",
    _without_details(*range(200, 217)),
    breaks=("SI-EVT-013",),
    areas=_EVENT_AREAS,
)
_row(
    "no-node-events",
    "Nothing is told of nodes.",
    _without_details(*range(300, 307)),
    breaks=("SI-EVT-013",),
    areas=_EVENT_AREAS,
)
_row(
    "no-allocation-events",
    "Ends of allocations are not told.",
    _without_details(*range(500, 505)),
    breaks=("SI-EVT-013",),
    areas=_EVENT_AREAS,
)
