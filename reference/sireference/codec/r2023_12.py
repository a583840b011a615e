"""2023-12: allocations have another identity field and repeat more of their ask."""

from dataclasses import replace
from functools import partial
from typing import Final

from google.protobuf.message import Message
from siwire import REVISIONS
from siwire.r2023_12 import si_pb2 as si

from sireference.codec import callbacks, messages, r2023_04, r2023_08
from sireference.codec.packing import Slot
from sireference.codec.three_streams import codec
from sireference.core.model import (
    AllocationRecord,
    NewAllocation,
    PreemptionQuestion,
    ReleasedAllocation,
    ReleaseRequest,
)


def allocation(message: si.Allocation) -> AllocationRecord:
    """Read an existing Allocation with the policy and the originator of its ask."""
    return r2023_04.existing(
        message,
        message.allocationID,
        originator=message.originator,
        preemption_policy=r2023_04.policy(message),
    )


def release(message: si.AllocationRelease) -> ReleaseRequest:
    """Read an AllocationRelease."""
    return r2023_04.released(message, message.allocationID)


def new_allocation(answer: NewAllocation, response: si.AllocationResponse) -> Message:
    """Write new allocations with policy and originator of their asks."""
    message = response.new.add()
    message.allocationID = answer.allocation.identity
    write_allocation(answer.allocation, message)
    return message


def write_allocation(made: AllocationRecord, message: messages.AllocationWithPolicy) -> None:
    """Write an Allocation with policy and originator of its ask, without its identity."""
    ask = made.ask
    r2023_04.write_allocation(made, message)
    if ask.originator:
        message.originator = True
    if ask.preemption_policy is not None:
        policy = message.preemptionPolicy
        policy.SetInParent()
        policy.allowPreemptSelf = ask.preemption_policy.allow_preempt_self
        policy.allowPreemptOther = ask.preemption_policy.allow_preempt_other


def released_allocation(answer: ReleasedAllocation, response: si.AllocationResponse) -> Message:
    """Write ended allocations."""
    end = answer.release
    number = r2023_04.TERMINATION_NUMBERS[end.termination]
    message = response.released.add(terminationType=number)
    message.allocationID = end.identity
    r2023_04.write_end(end, message)
    return message


READING: Final = replace(r2023_08.READING, allocation=allocation, release=release)
SLOTS: Final = replace(
    r2023_08.SLOTS,
    allocation={
        **r2023_08.SLOTS.allocation,
        NewAllocation: Slot(new_allocation, "new"),
        ReleasedAllocation: Slot(released_allocation, "released"),
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
CODEC: Final = codec(REVISIONS["2023-12"], READING, SLOTS, CALLBACKS)
