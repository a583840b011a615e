"""The words of callbacks: payloads of one revision become facts, and an answer becomes one."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message
from siwire import Capability, Revision
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import (
    Assumed,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
    StrangeCall,
)
from siconform.protocol.events import Detail, EmptyBatch, EventChange, EventTold, Subject
from siconform.protocol.notifications import Fact

E = TypeVar("E", bound=Enum)
ReadFact = tuple[Fact, Message | None]
"""A fact and the message it was read from."""

_APPLICATION: Final = 1  # number of the field whose name is misspelled in some revisions


class CallbackPayloads:
    """Reads the calls of one stream of callbacks, the ``offer``-th of its RM."""

    def __init__(self, revision: Revision, offer: int) -> None:
        self._revision = revision
        self._si: Any = revision.si
        self._offer = offer
        self._readers: Mapping[int, tuple[str, Callable[[Any], Iterator[Fact]]]] = {
            ext.PLACEMENT_CHECK: ("PredicatesArgs", self._placement_check),
            ext.EVICTION_CHECK: ("PreemptionPredicatesArgs", self._eviction_check),
            ext.EVENT_BATCH: ("EventRecord", self._event),
            ext.CONTAINER_STATE: ("UpdateContainerSchedulingStateRequest", self._scheduling),
            ext.CACHE_SYNC: ("ReSyncSchedulerCacheArgs", self._synchronisation),
        }

    def told(self, call: ext.ToRm) -> Iterator[ReadFact]:
        """Everything one call tells, in its order."""
        if call.kind not in self._readers:
            yield StrangeCall(f"callback {call.kind} was not offered", self._offer), None
            return
        name, read = self._readers[call.kind]
        if call.kind == ext.EVENT_BATCH and not call.payloads:
            yield EmptyBatch(self._offer), None
        if call.kind != ext.EVENT_BATCH and len(call.payloads) != 1:
            problem = f"{len(call.payloads)} payloads where one {name} belongs"
            yield StrangeCall(problem, self._offer), None
            return
        for payload in call.payloads:
            yield from self._read(payload, name, read)

    def answer(self, *, fits: bool, index: int) -> ext.SiPayload:
        """The answer to an eviction check."""
        response = self._si.PreemptionPredicatesResponse(success=fits, index=index)
        return ext.SiPayload(
            full_name=response.DESCRIPTOR.full_name, data=response.SerializeToString()
        )

    def _read(
        self, payload: ext.SiPayload, name: str, read: Callable[[Any], Iterator[Fact]]
    ) -> Iterator[ReadFact]:
        kind = getattr(self._si, name, None)
        if kind is None or payload.full_name != f"si.v1.{name}":
            problem = f"a payload {payload.full_name} where si.v1.{name} belongs"
            yield StrangeCall(problem, self._offer), None
            return
        try:
            message = kind.FromString(payload.data)
        except DecodeError as error:
            yield StrangeCall(f"{name}: {error}: {payload.data.hex()}", self._offer), None
            return
        for fact in read(message):
            yield fact, message

    def _placement_check(self, check: Any) -> Iterator[Fact]:
        yield PlacementCheck(check.allocationKey, check.nodeID, check.allocate, self._offer)

    def _eviction_check(self, check: Any) -> Iterator[Fact]:
        yield EvictionCheck(
            check.allocationKey,
            check.nodeID,
            tuple(check.preemptAllocationKeys),
            check.startIndex,
            self._offer,
        )

    def _scheduling(self, report: Any) -> Iterator[Fact]:
        application = report.DESCRIPTOR.fields_by_number[_APPLICATION].name
        yield SchedulingReported(
            report.allocationKey,
            getattr(report, application),
            _named(Scheduling, report, "state"),
            report.reason,
            self._offer,
        )

    def _synchronisation(self, arguments: Any) -> Iterator[Fact]:
        for assumed in arguments.assumedAllocations:
            yield Assumed(assumed.allocationKey, assumed.nodeID, self._offer)
        for forgotten in arguments.forgetAllocations:
            yield Forgotten(forgotten.allocationKey, self._offer)

    def _event(self, record: Any) -> Iterator[Fact]:
        can = self._revision.can
        resource = None
        if can(Capability.EVENT_CHANGE_DETAIL) and record.HasField("resource"):
            resource = {name: q.value for name, q in record.resource.resources.items()}
        in_detail, grouped = (
            can(Capability.EVENT_CHANGE_DETAIL),
            can(Capability.EVENT_GROUP_AND_REASON),
        )
        yield EventTold(
            about=record.objectID,
            subject=_named(Subject, record, "type"),
            change=(
                _named(EventChange, record, "eventChangeType")
                if can(Capability.EVENT_CHANGE_TYPE)
                else EventChange.NONE
            ),
            detail=_named(Detail, record, "eventChangeDetail") if in_detail else Detail.NONE,
            reference=record.referenceID if in_detail else "",
            resource=resource,
            message=record.message,
            time=record.timestampNano,
            group=record.groupID if grouped else "",
            reason=record.reason if grouped else "",
            offer=self._offer,
        )


def _named(kind: type[E], message: Any, field: str) -> E:
    """The enum's member by the name the revision gives the number; UNDEFINED if it gives none."""
    numbers = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    number = getattr(message, field)
    name = numbers[number].name if number in numbers else ""
    members = {str(member.value): member for member in kind}
    return members.get(name, kind["UNDEFINED"])
