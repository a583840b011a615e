"""2023-08: draining on node creation, separate existing allocations, change types in records."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from google.protobuf.message import Message
from siwire import REVISIONS
from siwire.r2023_08 import si_pb2 as si

from sireference.codec import callbacks, messages, r2023_04, writing
from sireference.codec.chunks import Elements
from sireference.codec.packing import Slot
from sireference.codec.three_streams import Reading, codec
from sireference.core.model import PreemptionQuestion, RejectedAllocation
from sireference.core.states import NodeAction


def allocation_lists(reads: Reading, message: messages.RecoveringRequest) -> Iterable[Elements]:
    """Read existing allocations first, then asks and releases."""
    return (
        Elements("allocations", reads.allocation, message.allocations),
        *r2023_04.allocation_lists(reads, message),
    )


def rejected_allocation(
    answer: RejectedAllocation, response: messages.RecoveringResponse
) -> Message:
    """Write rejected existing allocations."""
    return writing.rejected_request(answer, response.rejectedAllocations.add())


READING: Final = replace(
    r2023_04.READING,
    node_actions={**r2023_04.NODE_ACTIONS, si.NodeInfo.CREATE_DRAIN: NodeAction.CREATE_DRAIN},
    allocation_lists=allocation_lists,
)
SLOTS: Final = replace(
    r2023_04.SLOTS,
    allocation={
        **r2023_04.SLOTS.allocation,
        RejectedAllocation: Slot(rejected_allocation, "rejectedAllocations"),
    },
)
CALLBACKS: Final = callbacks.CallbackCodec(
    callbacks.all_of(
        si.PredicatesArgs,
        partial(callbacks.detail_records, si.EventRecord),
        partial(callbacks.misspelled_state, si.UpdateContainerSchedulingStateRequest),
    )
    | {PreemptionQuestion: partial(callbacks.preemption, si.PreemptionPredicatesArgs)},
    partial(callbacks.preemption_answer, si.PreemptionPredicatesResponse),
)
CODEC: Final = codec(REVISIONS["2023-08"], READING, SLOTS, CALLBACKS)
