"""Mutants of callbacks to the RM in addition to the SI's streams."""

from collections.abc import Collection
from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext

from mutation.lists import CONTAINER_STATES, EVENTS, EVICTION_CHECKS, PLACEMENT_CHECKS
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row
from mutation.parts import Edit

_EVENT_AREAS: Final = ("EVT",)
_DETAIL: Final = si.EventRecord
_STATE: Final = si.UpdateContainerSchedulingStateRequest
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
_OLD_GROUP: Final = b"\x1a\x01g"  # field 3, a string
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)
_event_row: Final = partial(_row, areas=_EVENT_AREAS)


@_mutant(
    "checks-not-made",
    "The RM is not asked whether an ask fits a node.",
    *_CHECKS,
    breaks=("SI-CB-002",),
)
def _(sent: ext.FromRm) -> None:
    if sent.HasField("offer"):
        kinds = [kind for kind in sent.offer.kinds if kind != ext.PLACEMENT_CHECK]
        del sent.offer.kinds[:]
        sent.offer.kinds.extend(kinds)


@_mutant(
    "checks-refused",
    "Every predicate check of the RM counts as failed.",
    *_CHECKS,
    breaks=("SI-CB-003",),
)
def _(sent: ext.FromRm) -> None:
    if sent.HasField("answer"):
        sent.answer.ok = False


@_mutant(
    "more-evicted-than-allowed",
    "All victims are preempted, regardless of how many the RM allows.",
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
    "checks-name-unknown-node",
    "Checks name an unknown node.",
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
    "Victim checks name unknown allocations.",
    EVICTION_CHECKS.each(_unowned),
    breaks=("SI-CB-005",),
    areas=_CHECKS,
)


@_mutant(
    "no-allocation-without-callbacks",
    "For an RM without callbacks nothing is allocated.",
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
    "container-states-of-unknown-asks",
    "Container states name unknown asks.",
    CONTAINER_STATES.change("allocationKey", lambda key: f"{key}-x"),
    breaks=("SI-CB-009",),
    areas=_CHECKS,
)
_row(
    "container-states-run-ahead",
    "A pending ask is reported as reserved.",
    CONTAINER_STATES.put(state=si.UpdateContainerSchedulingStateRequest.RESERVED),
    breaks=("SI-CB-009",),
)
_row(
    "skipped-asks-reported-as-reserved",
    "A pending ask that is skipped is reported as reserved.",
    CONTAINER_STATES.turn("state", {_STATE.SKIPPED: _STATE.RESERVED}),
    breaks=("SI-CB-009",),
)
_row(
    "container-states-unset",
    "Container states are empty.",
    CONTAINER_STATES.without("state"),
    breaks=("SI-WIRE-010", "SI-CB-009"),
)
_event_row(
    "events-not-reported",
    "No events are sent.",
    EVENTS.none(),
    breaks=("SI-EVT-001",),
)


def _of_another_kind(record: si.EventRecord) -> None:
    if record.eventChangeDetail:
        record.eventChangeDetail = si.EventRecord.QUEUE_MAX
        if record.type == si.EventRecord.QUEUE:
            record.eventChangeDetail = si.EventRecord.NODE_ALLOC


def _of_twice_the_maximum(record: si.EventRecord) -> None:
    if record.eventChangeDetail == _DETAIL.QUEUE_MAX:
        for quantity in record.resource.resources.values():
            quantity.value *= 2


def _is_about_an_allocation(record: si.EventRecord) -> bool:
    return record.eventChangeDetail in (
        _DETAIL.APP_ALLOC,
        _DETAIL.NODE_ALLOC,
        _DETAIL.ALLOC_CANCEL,
    )


def _is_about_a_request(record: si.EventRecord) -> bool:
    return record.eventChangeDetail in (_DETAIL.APP_REQUEST, _DETAIL.REQUEST_ALLOC)


def _of_its_memory(record: si.EventRecord) -> None:
    for name in set(record.resource.resources) - {"memory"}:
        del record.resource.resources[name]


_TURNED_ROUND: Final = {_DETAIL.ADD: _DETAIL.REMOVE, _DETAIL.REMOVE: _DETAIL.ADD}


def _turned_round_if(record: si.EventRecord, details: Collection[int]) -> None:
    if record.eventChangeDetail in details:
        change = record.eventChangeType
        record.eventChangeType = _TURNED_ROUND.get(change, change)


def _of_the_application(record: si.EventRecord) -> None:
    if record.type == si.EventRecord.REQUEST:
        record.objectID, record.referenceID = record.referenceID, record.objectID


_event_row(
    "events-of-nothing",
    "Events name no object.",
    EVENTS.without("objectID"),
    breaks=("SI-EVT-002",),
)
_event_row(
    "events-without-time",
    "Events have no time.",
    EVENTS.without("timestampNano"),
    breaks=("SI-EVT-002",),
)
_event_row(
    "events-in-seconds",
    "The time of an event is in seconds.",
    EVENTS.change("timestampNano", lambda nano: nano // 1_000_000_000),
    breaks=("SI-EVT-002",),
)
_event_row(
    "events-without-detail",
    "Events do not say what changed.",
    EVENTS.without("eventChangeDetail"),
    breaks=("SI-EVT-013",),
)
_event_row(
    "events-of-another-kind",
    "The detail of an event belongs to another type of object.",
    EVENTS.each(_of_another_kind),
    breaks=("SI-EVT-006", "SI-EVT-009", "SI-EVT-010"),
)
_event_row(
    "events-without-reference",
    "Events name no reference object.",
    EVENTS.without("referenceID"),
    breaks=("SI-EVT-011",),
)
_event_row(
    "events-without-resource",
    "Events have no resources.",
    EVENTS.without("resource"),
    breaks=("SI-EVT-011",),
)
_event_row(
    "events-always-set",
    "Every change is a SET.",
    EVENTS.put(eventChangeType=si.EventRecord.SET),
    breaks=("SI-EVT-005",),
)
_event_row(
    "allocations-reported-backwards",
    "A new allocation is reported as removed, one that ended as added.",
    EVENTS.each(
        partial(
            _turned_round_if, details=(_DETAIL.APP_ALLOC, _DETAIL.NODE_ALLOC, _DETAIL.QUEUE_ALLOC)
        )
    ),
    breaks=("SI-EVT-005",),
)
_event_row(
    "ends-of-allocations-reported-as-added",
    "The end of an allocation is reported as added.",
    EVENTS.each(partial(_turned_round_if, details=(_DETAIL.ALLOC_CANCEL,))),
    breaks=("SI-EVT-005",),
)
_event_row(
    "queues-reported-backwards",
    "A new queue of the configuration is reported as removed, one that is gone as added.",
    EVENTS.each(partial(_turned_round_if, details=(_DETAIL.QUEUE_CONFIG,))),
    breaks=("SI-EVT-005",),
)
_event_row(
    "queues-report-applications-backwards",
    "An application that comes to a queue is reported as removed, one that leaves as added.",
    EVENTS.each(partial(_turned_round_if, details=(_DETAIL.QUEUE_APP,))),
    breaks=("SI-EVT-005",),
)
_event_row(
    "events-of-requests-are-of-applications",
    "Events of requests name the application.",
    EVENTS.each(_of_the_application),
    breaks=("SI-EVT-002",),
)
_event_row(
    "events-of-a-group",
    "Events name a group, by a removed field number.",
    EVENTS.each(lambda record: record.MergeFromString(_OLD_GROUP)),
    breaks=("SI-WIRE-008",),
)
_event_row(
    "drains-reported-as-occupied",
    "The schedulability of a node is reported as its foreign allocations.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.NODE_SCHEDULABLE: _DETAIL.NODE_OCCUPIED}),
    breaks=("SI-EVT-009",),
)
_event_row(
    "rights-reported-as-limits",
    "The guaranteed resources of a queue are reported as its maximum.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.QUEUE_GUARANTEED: _DETAIL.QUEUE_MAX}),
    breaks=("SI-EVT-010",),
)
_event_row(
    "twice-the-maximum-of-a-queue-reported",
    "The maximum of a queue is reported twice as high as it is.",
    EVENTS.each(_of_twice_the_maximum),
    breaks=("SI-EVT-011",),
)
_event_row(
    "twice-the-allocated-amount-reported",
    "Records of an allocation have twice its resources.",
    EVENTS.where(_is_about_an_allocation).amounts("resource", lambda amount: 2 * amount),
    breaks=("SI-EVT-011",),
)
_event_row(
    "twice-the-amount-of-a-queue-reported",
    "Records of a queue about an allocation have twice its resources.",
    EVENTS.where(lambda record: record.eventChangeDetail == _DETAIL.QUEUE_ALLOC).amounts(
        "resource", lambda amount: 2 * amount
    ),
    breaks=("SI-EVT-011",),
)
_event_row(
    "only-memory-of-allocations-reported",
    "Records of an allocation have its memory only.",
    EVENTS.where(_is_about_an_allocation).each(_of_its_memory),
    breaks=("SI-EVT-011",),
)
_event_row(
    "twice-the-requested-amount-reported",
    "Records of a request have twice its resources.",
    EVENTS.where(_is_about_a_request).amounts("resource", lambda amount: 2 * amount),
    breaks=("SI-EVT-011",),
)
_event_row(
    "allocations-of-an-application-refer-to-it",
    "The record of an application about an allocation names the application as the second object.",
    EVENTS.where(lambda record: record.eventChangeDetail == _DETAIL.APP_ALLOC).copy(
        "objectID", to="referenceID"
    ),
    breaks=("SI-EVT-011",),
)
_event_row(
    "causes-mixed-up",
    "The details of requests and allocations state other causes.",
    EVENTS.turn("eventChangeDetail", _OTHER_DETAILS),
    breaks=("SI-EVT-008",),
)
_event_row(
    "allocations-reported-as-requests",
    "An allocation of an application is reported as a request.",
    EVENTS.turn("eventChangeDetail", {_DETAIL.APP_ALLOC: _DETAIL.APP_REQUEST}),
    breaks=("SI-EVT-012",),
)


@_mutant(
    "events-out-of-order",
    "Events are sent newest first.",
    *_EVENT_AREAS,
    breaks=("SI-EVT-007",),
)
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        payloads = list(received.payloads)
        del received.payloads[:]
        received.payloads.extend(reversed(payloads))


def _without_details(*details: int) -> Edit:
    """Remove events with any of these details."""
    return EVENTS.only(lambda record: record.eventChangeDetail not in details)


_event_row(
    "no-request-events",
    "The ends of requests are not reported.",
    _without_details(100, 101, 102),
    breaks=("SI-EVT-013",),
)
_event_row(
    "no-application-events",
    "Events of applications are not sent.",
    _without_details(*range(200, 217)),
    breaks=("SI-EVT-013",),
)
_event_row(
    "no-node-events",
    "Events of nodes are not sent.",
    _without_details(*range(300, 307)),
    breaks=("SI-EVT-013",),
)
_event_row(
    "no-allocation-events",
    "The ends of allocations are not reported.",
    _without_details(*range(500, 505)),
    breaks=("SI-EVT-013",),
)
