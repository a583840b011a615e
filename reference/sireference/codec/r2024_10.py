"""2024-10: requests and allocations share one message, distinguished by its fields.

The key identifies both, and no application is Starting. Usage by others is reported as foreign
allocations (C-52).
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from google.protobuf.message import Message
from siwire import REVISIONS, constants
from siwire.r2024_10 import si_pb2 as si

from sireference.codec import callbacks, messages, r2023_04, r2023_12, reading, writing
from sireference.codec.chunks import Elements
from sireference.codec.packing import Slot
from sireference.codec.subjects import keyed_meant
from sireference.codec.three_streams import Reading, Slots, codec
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Entry,
    ForeignAllocation,
    Identification,
    NewAllocation,
    NodeInfo,
    PreemptionQuestion,
    RejectedAllocation,
    RejectedAsk,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    Rules,
    partition_name,
)
from sireference.core.resources import NOTHING, Resource
from sireference.core.states import WITHOUT_STARTING, NodeAction

RULES: Final = Rules(
    Identification.BY_KEY,
    WITHOUT_STARTING,
    callbacks.details(si.EventRecord.ChangeDetail.keys()),
)


def node(reads: Reading, message: messages.BareNode) -> NodeInfo:
    """Read a NodeInfo, which has no existing allocations."""
    return reading.node(message, reads.node_actions.get(message.action, NodeAction.UNSET))


def allocation_lists(reads: Reading, message: messages.OneListRequest) -> Iterable[Elements]:
    """Read requests and existing allocations, then releases."""
    return (
        Elements("entries", partial(entry, reads), message.allocations),
        Elements("releases", reads.release, message.releases.allocationsToRelease),
    )


def entry(reads: Reading, message: messages.KeyedAllocation) -> Entry:
    """Read an Allocation: foreign by its tag, existing by its node, else a request (C-44)."""
    if constants.FOREIGN in message.allocationTags:
        return foreign(message)
    if message.nodeID:
        return reads.allocation(message)
    request, copied = ask(message), reads.copied_by_asks
    return reading.completed(request, copied, message) if copied else request


def foreign(message: messages.KeyedAllocation) -> ForeignAllocation:
    """Read a foreign Allocation."""
    return ForeignAllocation(
        key=message.allocationKey,
        node_id=message.nodeID,
        partition=partition_name(message.partitionName),
        resource=_resource(message),
        is_static=message.allocationTags[constants.FOREIGN] == constants.ALLOC_TYPE_STATIC,
        application_id=message.applicationID,
    )


def allocation(message: messages.KeyedAllocation) -> AllocationRecord:
    """Read an existing Allocation."""
    return AllocationRecord(message.allocationKey, ask(message), message.nodeID)


def ask(message: messages.KeyedAllocation) -> Ask:
    """Read an Allocation as a request; a placeholder only with a task group (C-34)."""
    tags = reading.strings(message.allocationTags)
    task_group = message.taskGroupName
    return Ask(
        key=message.allocationKey,
        application_id=message.applicationID,
        partition=partition_name(message.partitionName),
        resource=_resource(message),
        priority=message.priority,
        tags=tags,
        task_group=task_group,
        placeholder=message.placeholder and task_group != "",
        originator=message.originator,
        preemption_policy=r2023_04.policy(message),
        required_node=tags.get(r2023_04.REQUIRED_NODE, ""),
    )


def release(message: messages.KeyedRelease) -> ReleaseRequest:
    """Read an AllocationRelease."""
    return ReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=keyed_meant(message.applicationID, message.allocationKey),
        termination=r2023_04.termination(message.terminationType),
        message=message.message,
    )


def _resource(message: messages.KeyedAllocation) -> Resource:
    is_sent = message.HasField("resourcePerAlloc")
    return reading.resource(message.resourcePerAlloc) if is_sent else NOTHING


def new_allocation(answer: NewAllocation, response: messages.OneListResponse) -> Message:
    """Write new allocations."""
    message = response.new.add()
    r2023_12.write_allocation(answer.allocation, message)
    return message


def released(
    answer: ReleasedAllocation | ReleasedAsk, response: messages.OneListResponse
) -> Message:
    """Write ended allocations and requests."""
    end = answer.release
    number = r2023_04.TERMINATION_NUMBERS[end.termination]
    message = response.released.add(terminationType=number)
    r2023_04.write_end(end, message)
    return message


def rejected(
    answer: RejectedAsk | RejectedAllocation, response: messages.OneListResponse
) -> Message:
    """Write rejected requests, updates and existing allocations."""
    return writing.rejected_request(answer, response.rejectedAllocations.add())


READING: Final = replace(
    r2023_12.READING,
    node=node,
    allocation_lists=allocation_lists,
    allocation=allocation,
    release=release,
    copied_by_asks=reading.copied(Ask, si.Allocation),
)
SLOTS: Final = Slots(
    node=r2023_12.SLOTS.node,
    application=r2023_12.SLOTS.application,
    allocation={
        NewAllocation: Slot(new_allocation, "new"),
        ReleasedAllocation: Slot(released, "released"),
        ReleasedAsk: Slot(released, "released"),
        RejectedAsk: Slot(rejected, "rejectedAllocations"),
        RejectedAllocation: Slot(rejected, "rejectedAllocations"),
    },
)
CALLBACKS: Final = callbacks.CallbackCodec(
    callbacks.all_of(
        si.PredicatesArgs,
        partial(callbacks.detail_records, si.EventRecord),
        partial(callbacks.spelled_state, si.UpdateContainerSchedulingStateRequest),
    )
    | {PreemptionQuestion: partial(callbacks.preemption, si.PreemptionPredicatesArgs)},
    partial(callbacks.preemption_answer, si.PreemptionPredicatesResponse),
)
CODEC: Final = codec(REVISIONS["2024-10"], READING, SLOTS, CALLBACKS, RULES)
