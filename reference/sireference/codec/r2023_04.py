"""2023-04: three update streams; later revisions build on this module."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from google.protobuf.message import Message
from siwire import REVISIONS, constants
from siwire.r2023_04 import si_pb2 as si

from sireference.codec import callbacks, messages, reading, writing
from sireference.codec.chunks import Elements
from sireference.codec.packing import Slot
from sireference.codec.subjects import allocations_meant, asks_meant
from sireference.codec.three_streams import Reading, Slots, codec
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    AllocationRecord,
    Ask,
    AskRelease,
    AskReleaseRequest,
    NewAllocation,
    NewApplication,
    NodeInfo,
    PreemptionPolicy,
    PreemptionQuestion,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    Release,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    UpdatedApplication,
    partition_name,
)
from sireference.core.resources import NOTHING
from sireference.core.states import NodeAction, TerminationType

REQUIRED_NODE: Final = constants.DOMAIN_YUNIKORN + constants.KEY_REQUIRED_NODE

# The numbers below are the same in later revisions
TERMINATION_TYPES: Final[Mapping[int, TerminationType]] = {
    si.UNKNOWN_TERMINATION_TYPE: TerminationType.UNSET,
    si.STOPPED_BY_RM: TerminationType.STOPPED_BY_RM,
    si.TIMEOUT: TerminationType.TIMEOUT,
    si.PREEMPTED_BY_SCHEDULER: TerminationType.PREEMPTED_BY_SCHEDULER,
    si.PLACEHOLDER_REPLACED: TerminationType.PLACEHOLDER_REPLACED,
}
TERMINATION_NUMBERS: Final = {kind: number for number, kind in TERMINATION_TYPES.items()}
NODE_ACTIONS: Final[Mapping[int, NodeAction]] = {
    si.NodeInfo.CREATE: NodeAction.CREATE,
    si.NodeInfo.UPDATE: NodeAction.UPDATE,
    si.NodeInfo.DRAIN_NODE: NodeAction.DRAIN_NODE,
    si.NodeInfo.DECOMISSION: NodeAction.DECOMMISSION,
    si.NodeInfo.DRAIN_TO_SCHEDULABLE: NodeAction.DRAIN_TO_SCHEDULABLE,
}


def node(reads: Reading, message: messages.RecoveringNode) -> NodeInfo:
    """Read a NodeInfo with its existing allocations."""
    action = reads.node_actions.get(message.action, NodeAction.UNSET)
    existing_ones = map(reads.allocation, message.existingAllocations)
    return reading.occupied_node(message, action, existing_ones)


def allocation_lists(reads: Reading, message: messages.AllocationRequest) -> Iterable[Elements]:
    """Read asks and releases."""
    releases = message.releases
    return (
        Elements("asks", partial(ask, reads), message.asks),
        Elements("ask_releases", ask_release, releases.allocationAsksToRelease),
        Elements("releases", reads.release, releases.allocationsToRelease),
    )


def ask(reads: Reading, message: messages.Ask) -> Ask:
    """Read an AllocationAsk; the placeholder flag counts only with a task group (C-34)."""
    tags = reading.strings(message.tags)
    task_group = message.taskGroupName
    has_resource = message.HasField("resourceAsk")
    read = Ask(
        key=message.allocationKey,
        application_id=message.applicationID,
        partition=partition_name(message.partitionName),
        resource=reading.resource(message.resourceAsk) if has_resource else NOTHING,
        max_allocations=message.maxAllocations,
        priority=message.priority,
        tags=tags,
        task_group=task_group,
        placeholder=message.placeholder and task_group != "",
        originator=message.Originator,
        preemption_policy=policy(message),
        required_node=tags.get(REQUIRED_NODE, ""),
    )
    return reading.completed(read, reads.copied_by_asks, message)


def policy(message: messages.AskWithPolicy) -> PreemptionPolicy | None:
    """Read a preemption policy, None without one."""
    if not message.HasField("preemptionPolicy"):
        return None
    given = message.preemptionPolicy
    return PreemptionPolicy(given.allowPreemptSelf, given.allowPreemptOther)


def allocation(message: messages.AllocationWithUUID) -> AllocationRecord:
    """Read an existing Allocation, which has neither policy nor originator."""
    return existing(message, message.UUID)


def existing(
    message: messages.Allocation,
    identity: str,
    *,
    originator: bool = False,
    preemption_policy: PreemptionPolicy | None = None,
) -> AllocationRecord:
    """Read an existing Allocation, with an equivalent ask."""
    task_group = message.taskGroupName
    of_it = Ask(
        key=message.allocationKey,
        application_id=message.applicationID,
        partition=partition_name(message.partitionName),
        resource=reading.resource(message.resourcePerAlloc),
        priority=message.priority,
        tags=reading.strings(message.allocationTags),
        task_group=task_group,
        placeholder=message.placeholder and task_group != "",
        originator=originator,
        preemption_policy=preemption_policy,
    )
    return AllocationRecord(identity, of_it, message.nodeID)


def release(message: messages.ReleaseWithUUID) -> ReleaseRequest:
    """Read an AllocationRelease."""
    return released(message, message.UUID)


def released(message: messages.ReleaseWithIdentity, identity: str) -> ReleaseRequest:
    """Read an AllocationRelease by identity, of all allocations without one."""
    return ReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=allocations_meant(message.applicationID, identity, message.allocationKey),
        termination=termination(message.terminationType),
        message=message.message,
    )


def ask_release(message: messages.AskRelease) -> AskReleaseRequest:
    """Read an AllocationAskRelease."""
    return AskReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=asks_meant(message.applicationID, message.allocationKey),
        termination=termination(message.terminationType),
        message=message.message,
    )


def termination(number: int) -> TerminationType:
    """Read a termination type; an unknown number is UNRECOGNISED."""
    return TERMINATION_TYPES.get(number, TerminationType.UNRECOGNISED)


def accepted_node(answer: AcceptedNode, response: messages.NodeResponse) -> Message:
    """Write accepted nodes."""
    return writing.accepted_node(answer, response.accepted.add())


def rejected_node(answer: RejectedNode, response: messages.NodeResponse) -> Message:
    """Write failed node actions."""
    return writing.rejected_node(answer, response.rejected.add())


def accepted_application(
    answer: AcceptedApplication, response: messages.ApplicationResponse
) -> Message:
    """Write accepted applications."""
    return writing.accepted_application(answer, response.accepted.add())


def rejected_application(
    answer: RejectedApplication, response: messages.ApplicationResponse
) -> Message:
    """Write rejected applications."""
    return writing.rejected_application(answer, response.rejected.add())


def updated_application(
    answer: UpdatedApplication, response: messages.ApplicationResponse
) -> Message:
    """Write application states."""
    return writing.updated_application(answer, response.updated.add())


def rejected_ask(answer: RejectedAsk, response: messages.AllocationResponse) -> Message:
    """Write rejected asks."""
    return writing.rejected_request(answer, response.rejected.add())


def new_allocation(answer: NewAllocation, response: messages.ResponseWithUUID) -> Message:
    """Write new allocations, without policy and originator."""
    message = response.new.add()
    message.UUID = answer.allocation.identity
    write_allocation(answer.allocation, message)
    return message


def write_allocation(made: AllocationRecord, message: messages.Allocation) -> None:
    """Write an Allocation without its identity."""
    its_ask = made.ask
    message.allocationKey = its_ask.key
    message.applicationID = its_ask.application_id
    message.nodeID = made.node_id
    message.partitionName = its_ask.partition
    if its_ask.priority:
        message.priority = its_ask.priority
    writing.amounts(its_ask.resource, message.resourcePerAlloc)
    if its_ask.tags:
        message.allocationTags.update(its_ask.tags)
    if its_ask.task_group:
        message.taskGroupName = its_ask.task_group
        message.placeholder = its_ask.placeholder


def released_allocation(answer: ReleasedAllocation, response: messages.ResponseWithUUID) -> Message:
    """Write ended allocations."""
    end = answer.release
    message = response.released.add(terminationType=TERMINATION_NUMBERS[end.termination])
    message.UUID = end.identity
    write_end(end, message)
    return message


def released_ask(answer: ReleasedAsk, response: messages.AllocationResponse) -> Message:
    """Write ended asks."""
    end = answer.release
    message = response.releasedAsks.add(terminationType=TERMINATION_NUMBERS[end.termination])
    write_end(end, message)
    return message


def write_end(end: Release | AskRelease, message: messages.Release | messages.AskRelease) -> None:
    """Write an AllocationRelease or an AllocationAskRelease without identity and type."""
    message.partitionName = end.partition
    message.applicationID = end.application_id
    message.allocationKey = end.key
    message.message = end.message


READING: Final = Reading(
    node=node,
    node_actions=NODE_ACTIONS,
    application=reading.application,
    removal=reading.removal,
    allocation_lists=allocation_lists,
    allocation=allocation,
    release=release,
    copied_by_asks=reading.copied(Ask, si.AllocationAsk),
    copied_by_applications=reading.copied(NewApplication, si.AddApplicationRequest),
)
SLOTS: Final = Slots(
    node={
        AcceptedNode: Slot(accepted_node, "accepted"),
        RejectedNode: Slot(rejected_node, "rejected"),
    },
    application={
        AcceptedApplication: Slot(accepted_application, "accepted"),
        RejectedApplication: Slot(rejected_application, "rejected"),
        UpdatedApplication: Slot(updated_application, "updated"),
    },
    allocation={
        NewAllocation: Slot(new_allocation, "new"),
        ReleasedAllocation: Slot(released_allocation, "released"),
        ReleasedAsk: Slot(released_ask, "releasedAsks"),
        RejectedAsk: Slot(rejected_ask, "rejected"),
    },
)
CALLBACKS: Final = callbacks.CallbackCodec(
    callbacks.all_of(
        si.PredicatesArgs,
        partial(callbacks.change_records, si.EventRecord),
        partial(callbacks.misspelled_state, si.UpdateContainerSchedulingStateRequest),
    )
    | {PreemptionQuestion: partial(callbacks.preemption, si.PreemptionPredicatesArgs)},
    partial(callbacks.preemption_answer, si.PreemptionPredicatesResponse),
)
CODEC: Final = codec(REVISIONS["2023-04"], READING, SLOTS, CALLBACKS)
