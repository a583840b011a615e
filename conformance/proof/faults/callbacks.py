"""Faults about what a scheduler asks and tells the RM beside the SI's streams."""

from collections.abc import Callable
from typing import Final, TypeVar

from google.protobuf.message import Message
from siwire.ext import extension_pb2 as ext
from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_EVENTS: Final = ("EVT",)
_CHECKS: Final = ("CB",)
_OLD_GROUP: Final = b"\x1a\x01g"  # number 3, a string


@fault(
    "checks-not-made", "The RM is not asked where an ask may go.", *_CHECKS, breaks=("SI-CB-002",)
)
def _(said: ext.FromRm) -> None:
    if said.HasField("offer"):
        kinds = [kind for kind in said.offer.kinds if kind != ext.PLACEMENT_CHECK]
        del said.offer.kinds[:]
        said.offer.kinds.extend(kinds)


@fault(
    "checks-refused", "Every answer of the RM is taken for a no.", *_CHECKS, breaks=("SI-CB-003",)
)
def _(said: ext.FromRm) -> None:
    if said.HasField("answer"):
        said.answer.ok = False


@fault(
    "more-evicted-than-allowed",
    "All victims go, however many the RM allows.",
    *_CHECKS,
    breaks=("SI-CB-007",),
)
def _(told: ext.ToRm, wire: Wire) -> None:
    if told.kind == ext.EVICTION_CHECK:
        for payload in told.payloads:
            asked = si.PreemptionPredicatesArgs.FromString(payload.data)
            wire.memory[str(told.call_id)] = len(asked.preemptAllocationKeys)


all_go = _


@all_go.also
def _(said: ext.FromRm, wire: Wire) -> None:
    victims = wire.memory[str(said.answer.call_id)]
    if said.HasField("answer") and victims:
        answer = si.PreemptionPredicatesResponse(success=True, index=victims - 1)
        said.answer.payload.data = answer.SerializeToString()


M = TypeVar("M", bound=Message)


def _each(told: ext.ToRm, kind: int, of: type[M], change: Callable[[M], None]) -> None:
    """Change every message of this type that is told by a callback of this kind."""
    if told.kind == kind:
        for payload in told.payloads:
            message = of.FromString(payload.data)
            change(message)
            payload.data = message.SerializeToString()


@fault(
    "checks-about-nobody", "Checks name a node that is not there.", *_CHECKS, breaks=("SI-CB-003",)
)
def _(told: ext.ToRm) -> None:
    def elsewhere(asked: si.PredicatesArgs) -> None:
        asked.nodeID += "-x"

    _each(told, ext.PLACEMENT_CHECK, si.PredicatesArgs, elsewhere)


@fault(
    "victims-unknown", "Victims that are checked are not there.", *_CHECKS, breaks=("SI-CB-005",)
)
def _(told: ext.ToRm) -> None:
    def nobody(asked: si.PreemptionPredicatesArgs) -> None:
        victims = [f"{key}-x" for key in asked.preemptAllocationKeys]
        del asked.preemptAllocationKeys[:]
        asked.preemptAllocationKeys.extend(victims)

    _each(told, ext.EVICTION_CHECK, si.PreemptionPredicatesArgs, nobody)


@fault(
    "nothing-for-who-takes-no-calls",
    "An RM that takes no callbacks is allocated nothing.",
    breaks=("SI-CB-004",),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    if not wire.memory["callers"]:
        del response.new[:]


only_called = _


@only_called.also
def _(said: ext.FromRm, wire: Wire) -> None:
    wire.memory["callers"].add(said.offer.rm_id)


@fault(
    "container-states-of-nobody",
    "Container states name unknown asks.",
    *_CHECKS,
    breaks=("SI-CB-009",),
)
def _(told: ext.ToRm) -> None:
    def nobody(state: si.UpdateContainerSchedulingStateRequest) -> None:
        state.allocationKey += "-x"

    _each(told, ext.CONTAINER_STATE, si.UpdateContainerSchedulingStateRequest, nobody)


@fault(
    "container-states-run-ahead",
    "An ask that has to wait is told as reserved.",
    breaks=("SI-CB-009",),
)
def _(told: ext.ToRm) -> None:
    def reserved(state: si.UpdateContainerSchedulingStateRequest) -> None:
        state.state = si.UpdateContainerSchedulingStateRequest.RESERVED

    _each(told, ext.CONTAINER_STATE, si.UpdateContainerSchedulingStateRequest, reserved)


@fault(
    "container-states-unset",
    "Container states say nothing.",
    breaks=("SI-WIRE-010", "SI-CB-009"),
)
def _(told: ext.ToRm) -> None:
    def nothing(state: si.UpdateContainerSchedulingStateRequest) -> None:
        state.ClearField("state")

    _each(told, ext.CONTAINER_STATE, si.UpdateContainerSchedulingStateRequest, nothing)


@fault("events-not-told", "No event is told.", *_EVENTS, breaks=("SI-EVT-001",))
def _(told: ext.ToRm) -> None:
    if told.kind == ext.EVENT_BATCH:
        del told.payloads[:]


def _event(
    name: str, says: str, *, breaks: tuple[str, ...] = ()
) -> Callable[[Callable[[si.EventRecord], None]], None]:
    def makes(change: Callable[[si.EventRecord], None]) -> None:
        @fault(name, says, *_EVENTS, breaks=breaks)
        def _(told: ext.ToRm) -> None:
            _each(told, ext.EVENT_BATCH, si.EventRecord, change)

    return makes


@_event("events-of-nothing", "Events name no object.", breaks=("SI-EVT-002",))
def _(record: si.EventRecord) -> None:
    record.objectID = ""


@_event("events-without-time", "Events have no time.", breaks=("SI-EVT-002",))
def _(record: si.EventRecord) -> None:
    record.timestampNano = 0


@_event("events-in-seconds", "The time of an event is in seconds.", breaks=("SI-EVT-002",))
def _(record: si.EventRecord) -> None:
    record.timestampNano //= 1_000_000_000


@_event("events-without-detail", "Events do not say what changed.", breaks=("SI-EVT-013",))
def _(record: si.EventRecord) -> None:
    record.eventChangeDetail = si.EventRecord.DETAILS_NONE


@_event(
    "events-of-another-kind",
    "The detail of an event is of another kind of object.",
    breaks=("SI-EVT-006", "SI-EVT-009", "SI-EVT-010"),
)
def _(record: si.EventRecord) -> None:
    if record.eventChangeDetail:
        record.eventChangeDetail = si.EventRecord.QUEUE_MAX
        if record.type == si.EventRecord.QUEUE:
            record.eventChangeDetail = si.EventRecord.NODE_ALLOC


@_event("events-without-reference", "Events name no other object.", breaks=("SI-EVT-011",))
def _(record: si.EventRecord) -> None:
    record.referenceID = ""


@_event("events-without-resource", "Events say no amount.", breaks=("SI-EVT-011",))
def _(record: si.EventRecord) -> None:
    record.ClearField("resource")


@_event("events-always-set", "Every change is the set of a value.", breaks=("SI-EVT-005",))
def _(record: si.EventRecord) -> None:
    record.eventChangeType = si.EventRecord.SET


@_event(
    "events-of-requests-are-of-applications",
    "Events of requests name the application.",
    breaks=("SI-EVT-002",),
)
def _(record: si.EventRecord) -> None:
    if record.type == si.EventRecord.REQUEST:
        record.objectID, record.referenceID = record.referenceID, record.objectID


@_event(
    "events-of-a-group",
    "Events name a group, by the number that once was for it.",
    breaks=("SI-WIRE-008",),
)
def _(record: si.EventRecord) -> None:
    record.MergeFromString(_OLD_GROUP)


@_event(
    "readiness-told-as-occupied",
    "Whether a node is ready is told as what others have of it.",
    breaks=("SI-EVT-009",),
)
def _(record: si.EventRecord) -> None:
    if record.eventChangeDetail == si.EventRecord.NODE_READY:
        record.eventChangeDetail = si.EventRecord.NODE_OCCUPIED


@_event(
    "rights-told-as-limits",
    "What a queue has a right to is told as what it may have at most.",
    breaks=("SI-EVT-010",),
)
def _(record: si.EventRecord) -> None:
    if record.eventChangeDetail == si.EventRecord.QUEUE_GUARANTEED:
        record.eventChangeDetail = si.EventRecord.QUEUE_MAX


_OTHER_DETAILS = {100: 101, 101: 102, 102: 100, 500: 502, 501: 500, 502: 503, 503: 504, 504: 500}


@_event(
    "causes-mixed-up",
    "The details of requests and allocations tell other causes.",
    breaks=("SI-EVT-008",),
)
def _(record: si.EventRecord) -> None:
    detail = _OTHER_DETAILS.get(record.eventChangeDetail)
    if detail is not None:
        record.eventChangeDetail = si.EventRecord.ChangeDetail.ValueType(detail)


@_event(
    "allocations-told-as-requests",
    "What an application is allocated is told as what it requests.",
    breaks=("SI-EVT-012",),
)
def _(record: si.EventRecord) -> None:
    if record.eventChangeDetail == si.EventRecord.APP_ALLOC:
        record.eventChangeDetail = si.EventRecord.APP_REQUEST


@fault(
    "events-out-of-order", "Events come with the newest first.", *_EVENTS, breaks=("SI-EVT-007",)
)
def _(told: ext.ToRm) -> None:
    if told.kind == ext.EVENT_BATCH:
        payloads = list(told.payloads)
        del told.payloads[:]
        told.payloads.extend(reversed(payloads))


def _without(name: str, says: str, *details: int, breaks: tuple[str, ...]) -> None:
    @fault(name, says, *_EVENTS, breaks=breaks)
    def _(told: ext.ToRm) -> None:
        if told.kind != ext.EVENT_BATCH:
            return
        keep(
            told.payloads,
            lambda payload: (
                si.EventRecord.FromString(payload.data).eventChangeDetail not in details
            ),
        )


_Record = si.EventRecord
_without(
    "no-request-events",
    "What became of requests is not told.",
    100,
    101,
    102,
    breaks=("SI-EVT-013",),
)
_without(
    "no-application-events",
    "Nothing is told of applications.",
    *range(200, 213),
    breaks=("SI-EVT-013",),
)
_without("no-node-events", "Nothing is told of nodes.", *range(300, 307), breaks=("SI-EVT-013",))
_without(
    "no-allocation-events",
    "Ends of allocations are not told.",
    *range(500, 505),
    breaks=("SI-EVT-013",),
)
