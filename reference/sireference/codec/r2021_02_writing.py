"""Responses and callbacks of 2021-02."""

from functools import partial
from typing import Final

from google.protobuf.message import Message
from siwire.r2021_02 import si_pb2 as si

from sireference.codec import callbacks, writing
from sireference.codec.packing import Slot
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Answer,
    Ask,
    ChangeDetail,
    EventRecord,
    NewAllocation,
    RecommendedNode,
    Refused,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    SentEvents,
    SyncedCache,
    UpdatedApplication,
)
from sireference.core.states import TerminationType

TERMINATION_TYPES: Final = {
    si.AllocationRelease.STOPPED_BY_RM: TerminationType.STOPPED_BY_RM,
    si.AllocationRelease.TIMEOUT: TerminationType.TIMEOUT,
    si.AllocationRelease.PREEMPTED_BY_SCHEDULER: TerminationType.PREEMPTED_BY_SCHEDULER,
    si.AllocationRelease.PLACEHOLDER_REPLACED: TerminationType.PLACEHOLDER_REPLACED,
}
_TERMINATION_NUMBERS: Final = {kind: number for number, kind in TERMINATION_TYPES.items()}


def _accepted_node(answer: AcceptedNode, response: si.UpdateResponse) -> Message:
    return writing.accepted_node(answer, response.acceptedNodes.add())


def _rejected_node(answer: RejectedNode, response: si.UpdateResponse) -> Message:
    return writing.rejected_node(answer, response.rejectedNodes.add())


def _accepted_application(answer: AcceptedApplication, response: si.UpdateResponse) -> Message:
    return writing.accepted_application(answer, response.acceptedApplications.add())


def _rejected_application(answer: RejectedApplication, response: si.UpdateResponse) -> Message:
    return writing.rejected_application(answer, response.rejectedApplications.add())


def _updated_application(answer: UpdatedApplication, response: si.UpdateResponse) -> Message:
    return writing.updated_application(answer, response.updatedApplications.add())


def _rejected_ask(answer: RejectedAsk, response: si.UpdateResponse) -> Message:
    return writing.rejected_request(answer, response.rejectedAllocations.add())


def _new_allocation(answer: NewAllocation, response: si.UpdateResponse) -> Message:
    message = response.newAllocations.add()
    made = answer.allocation
    its_ask = made.ask
    message.UUID = made.identity
    message.allocationKey = its_ask.key
    message.applicationID = its_ask.application_id
    message.nodeID = made.node_id
    message.partitionName = its_ask.partition
    message.queueName = answer.queue
    _write_priority(its_ask, message.priority)
    writing.amounts(its_ask.resource, message.resourcePerAlloc)
    if its_ask.tags:
        message.allocationTags.update(its_ask.tags)
    if its_ask.task_group:
        message.taskGroupName = its_ask.task_group
        message.placeholder = its_ask.placeholder
    return message


def _write_priority(its_ask: Ask, message: si.Priority) -> None:
    """Write the priority as the RM sent it: by name if it gave one."""
    if its_ask.priority_class:
        message.priorityClassName = its_ask.priority_class
    else:
        message.priorityValue = its_ask.priority


def _released_allocation(answer: ReleasedAllocation, response: si.UpdateResponse) -> Message:
    message, end = response.releasedAllocations.add(), answer.release
    message.UUID = end.identity
    message.partitionName = end.partition
    message.applicationID = end.application_id
    message.terminationType = _TERMINATION_NUMBERS[end.termination]
    message.message = end.message
    return message


def _released_ask(answer: ReleasedAsk, response: si.UpdateResponse) -> Message:
    message, end = response.releasedAllocationAsks.add(), answer.release
    message.partitionName = end.partition
    message.applicationID = end.application_id
    message.allocationkey = end.key
    message.message = end.message
    return message


def _recommendation(answer: RecommendedNode, response: si.UpdateResponse) -> Message:
    message = response.nodeRecommendations.add()
    writing.amounts(answer.capacity, message.recommendedSchedulableResource)
    message.message = answer.message
    return message


def expect(answer: Answer) -> bool:
    """Leave out confirmations of ask releases.

    The list of released asks is for those that the scheduler gives up; without a type a
    confirmation would be mistaken for one. So asks withdrawn by the RM are not confirmed.
    """
    return not (
        isinstance(answer, ReleasedAsk)
        and answer.release.termination is TerminationType.STOPPED_BY_RM
    )


def refusal(refused: Refused) -> list[Message]:
    """Return the response before the stream of an RM that is not running ends: register again."""
    if not refused.rm_id:
        return []  # no RM could register
    return [si.UpdateResponse(action=si.UpdateResponse.RESYNC)]


def _event_records(call: SentEvents) -> list[si.EventRecord]:
    return [_event_record(given) for given in call.records]


def _event_record(given: EventRecord) -> si.EventRecord:
    """Write a record with its parent object, and a one-word reason."""
    message = callbacks.record(si.EventRecord, given)
    message.groupID = given.group_id
    message.reason = _reason(given)
    return message


def _reason(record: EventRecord) -> str:
    """Return one word for a change without a number in 2021-02, such as APP_RUNNING."""
    if record.detail is not ChangeDetail.DETAILS_NONE:
        return record.detail.name
    return f"{record.type.name}_{record.change.name}"


def _cache(call: SyncedCache) -> list[Message]:
    given = si.ReSyncSchedulerCacheArgs(
        assumedAllocations=[
            si.AssumedAllocation(allocationKey=key, nodeID=node_id) for key, node_id in call.assumed
        ],
        forgetAllocations=[si.ForgotAllocation(allocationKey=key) for key in call.forgotten],
    )
    return [given]


_ACCEPTED, _REJECTED, _CHANGED = "accepted", "rejected", "changed"
SLOTS: Final = {
    AcceptedNode: Slot(_accepted_node, _ACCEPTED),
    AcceptedApplication: Slot(_accepted_application, _ACCEPTED),
    RejectedNode: Slot(_rejected_node, _REJECTED),
    RejectedApplication: Slot(_rejected_application, _REJECTED),
    RejectedAsk: Slot(_rejected_ask, _REJECTED),
    # a placeholder timeout in one message, as in the gang scheduling design (SI-GANG-041)
    UpdatedApplication: Slot(_updated_application, _CHANGED),
    ReleasedAllocation: Slot(_released_allocation, _CHANGED),
    ReleasedAsk: Slot(_released_ask, _CHANGED),
    NewAllocation: Slot(_new_allocation, "new"),
    RecommendedNode: Slot(_recommendation, "recommended"),
}
CALLBACKS: Final = callbacks.CallbackCodec(
    callbacks.all_of(
        si.PredicatesArgs,
        _event_records,
        partial(callbacks.misspelled_state, si.UpdateContainerSchedulingStateRequest),
    )
    | {SyncedCache: _cache}
)
