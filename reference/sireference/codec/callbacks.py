"""Callbacks of the core as messages of a revision, and the answers of the RM."""

from collections.abc import Sequence
from typing import Any, Final

from siwire import Capability, Revision

from sireference.codec.elements import amounts
from sireference.core.model import (
    Call,
    Callback,
    ChangeDetail,
    ContainerState,
    EventRecord,
    PredicatesQuestion,
    PreemptionQuestion,
    SentEvents,
    SyncedCache,
)

_NANOSECONDS: Final = 1_000_000_000


def callbacks_of(revision: Revision) -> frozenset[Callback]:
    """Those that ``revision`` has messages for."""
    available = {Callback.PREDICATES, Callback.EVENTS, Callback.CONTAINER_STATE}
    if revision.can(Capability.PREEMPTION_PREDICATES):
        available.add(Callback.PREEMPTION_PREDICATES)
    if revision.can(Capability.CACHE_RESYNC):
        available.add(Callback.CACHE_SYNC)
    return frozenset(available)


class CallbackCodec:
    """Writes what one revision says by callback."""

    def __init__(self, revision: Revision) -> None:
        self._si = revision.si
        self._groups = revision.can(Capability.EVENT_GROUP_AND_REASON)
        self._change_types = revision.can(Capability.EVENT_CHANGE_TYPE)
        self._details = revision.can(Capability.EVENT_CHANGE_DETAIL)
        state = revision.si.UpdateContainerSchedulingStateRequest
        # misspelled before 2023-12
        self._application = next(
            name
            for name in ("applicationID", "applicartionID")
            if name in state.DESCRIPTOR.fields_by_name
        )

    def messages(self, call: Call) -> Sequence[Any]:
        """What ``call`` says: one message, or one for each event record."""
        match call:
            case SentEvents():
                return [self._record(record) for record in call.records]
            case PredicatesQuestion():
                return [
                    self._si.PredicatesArgs(
                        allocationKey=call.key, nodeID=call.node_id, allocate=call.allocate
                    )
                ]
            case PreemptionQuestion():
                return [
                    self._si.PreemptionPredicatesArgs(
                        allocationKey=call.key,
                        nodeID=call.node_id,
                        preemptAllocationKeys=call.victims,
                        startIndex=call.start_index,
                    )
                ]
            case ContainerState():
                return [self._state(call)]
            case SyncedCache():
                return [self._cache(call)]

    def preemption_answer(self, data: bytes) -> tuple[bool, int]:
        """Whether the ask fits, and the last victim that has to go for it. Raises DecodeError."""
        message = self._si.PreemptionPredicatesResponse.FromString(data)
        return message.success, message.index

    def _record(self, record: EventRecord) -> Any:
        kinds = self._si.EventRecord
        message = kinds(
            type=kinds.Type.Value(record.type.name),
            objectID=record.object_id,
            message=record.message,
            timestampNano=int(record.at * _NANOSECONDS),
        )
        if self._groups:
            message.groupID = record.group_id
            message.reason = _reason(record)
        if self._change_types:
            message.eventChangeType = kinds.ChangeType.Value(record.change.name)
        if self._details:
            message.eventChangeDetail = kinds.ChangeDetail.Value(record.detail.name)
            message.referenceID = record.reference_id
            if record.resource is not None:
                message.resource.SetInParent()
                amounts(record.resource, message.resource)
        return message

    def _state(self, call: ContainerState) -> Any:
        request = self._si.UpdateContainerSchedulingStateRequest
        return request(
            allocationKey=call.key,
            state=request.SchedulingState.Value(call.state.name),
            reason=call.reason,
            **{self._application: call.application_id},
        )

    def _cache(self, call: SyncedCache) -> Any:
        si = self._si
        return si.ReSyncSchedulerCacheArgs(
            assumedAllocations=[
                si.AssumedAllocation(allocationKey=key, nodeID=node_id)
                for key, node_id in call.assumed
            ],
            forgetAllocations=[si.ForgotAllocation(allocationKey=key) for key in call.forgotten],
        )


def _reason(record: EventRecord) -> str:
    """One word for what 2021-02 has no numbers for, such as APP_RUNNING or NODE_ADD."""
    if record.detail is not ChangeDetail.DETAILS_NONE:
        return record.detail.name
    return f"{record.type.name}_{record.change.name}"
