"""Effects of the core as responses of 2021-02."""

from collections.abc import Iterator, Sequence
from typing import Final

from siwire.r2021_02 import si_pb2 as si

from sireference.codec.elements import (
    accepted_application,
    accepted_node,
    amounts,
    rejected_application,
    rejected_node,
    rejected_request,
    updated_application,
)
from sireference.codec.one_stream_reading import TERMINATION_TYPES
from sireference.codec.packing import Slot, pack
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Answer,
    Ask,
    NewAllocation,
    RecommendedNode,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.states import TerminationType

_NUMBERS: Final = {kind: number for number, kind in TERMINATION_TYPES.items()}


def _new_allocation(answer: NewAllocation, message: si.Allocation) -> None:
    allocation = answer.allocation
    ask = allocation.ask
    message.UUID = allocation.identity
    message.allocationKey = ask.key
    message.applicationID = ask.application_id
    message.nodeID = allocation.node_id
    message.partitionName = ask.partition
    message.queueName = answer.queue
    _priority(ask, message.priority)
    amounts(ask.resource, message.resourcePerAlloc)
    if ask.tags:
        message.allocationTags.update(ask.tags)
    if ask.task_group:
        message.taskGroupName = ask.task_group
        message.placeholder = ask.placeholder


def _priority(ask: Ask, message: si.Priority) -> None:
    """As the RM said it: the name if it gave one."""
    if ask.priority_class:
        message.priorityClassName = ask.priority_class
    else:
        message.priorityValue = ask.priority


def _released_allocation(answer: ReleasedAllocation, message: si.AllocationRelease) -> None:
    release = answer.release
    message.UUID = release.identity
    message.partitionName = release.partition
    message.applicationID = release.application_id
    message.terminationType = _NUMBERS[release.termination]
    message.message = release.message


def _released_ask(answer: ReleasedAsk, message: si.AllocationAskRelease) -> None:
    release = answer.release
    message.partitionName = release.partition
    message.applicationID = release.application_id
    message.allocationkey = release.key
    message.message = release.message


def _recommendation(answer: RecommendedNode, message: si.NodeRecommendation) -> None:
    amounts(answer.capacity, message.recommendedSchedulableResource)
    message.message = answer.message


_ACCEPTED, _REJECTED, _CHANGED = "accepted", "rejected", "changed"
_SLOTS: Final = {
    AcceptedNode: Slot("acceptedNodes", accepted_node, _ACCEPTED),
    AcceptedApplication: Slot("acceptedApplications", accepted_application, _ACCEPTED),
    RejectedNode: Slot("rejectedNodes", rejected_node, _REJECTED),
    RejectedApplication: Slot("rejectedApplications", rejected_application, _REJECTED),
    RejectedAsk: Slot("rejectedAllocations", rejected_request, _REJECTED),
    # a placeholder timeout in one message, as the gang scheduling design has it (SI-GANG-041)
    UpdatedApplication: Slot("updatedApplications", updated_application, _CHANGED),
    ReleasedAllocation: Slot("releasedAllocations", _released_allocation, _CHANGED),
    ReleasedAsk: Slot("releasedAllocationAsks", _released_ask, _CHANGED),
    NewAllocation: Slot("newAllocations", _new_allocation, "new"),
    RecommendedNode: Slot("nodeRecommendations", _recommendation, "recommended"),
}


def responses(answers: Sequence[Answer]) -> Iterator[si.UpdateResponse]:
    """Messages that say ``answers`` in order, several kinds in one where the order is no matter.

    The text's list of released asks is for those the scheduler gives up; without a type a
    confirmation would be taken for that. So asks the RM withdrew are not confirmed.
    """
    return pack(si.UpdateResponse, _SLOTS, [one for one in answers if not _is_confirmation(one)])


def _is_confirmation(answer: Answer) -> bool:
    return (
        isinstance(answer, ReleasedAsk)
        and answer.release.termination is TerminationType.STOPPED_BY_RM
    )
