"""Effects of the core as responses of 2023-04, 2023-08 and 2023-12."""

from collections.abc import Iterator, Sequence
from typing import Any

from siwire import Capability, Revision

from sireference.codec.elements import (
    accepted_application,
    accepted_node,
    amounts,
    rejected_application,
    rejected_node,
    rejected_request,
    updated_application,
)
from sireference.codec.packing import Slot, pack
from sireference.codec.reading import TERMINATION_TYPES
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Answer,
    NewAllocation,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)


class Writing:
    """Writes responses of one revision."""

    def __init__(self, revision: Revision) -> None:
        self._identity = (
            "allocationID" if revision.can(Capability.IDENTITY_IN_ALLOCATION_ID) else "UUID"
        )
        self._has_policy = revision.can(Capability.POLICY_AND_ORIGINATOR_IN_ALLOCATION)
        types = revision.si.TerminationType
        self._numbers = {kind: types.Value(name) for kind, name in TERMINATION_TYPES.items()}
        self._slots: dict[type, Slot] = {
            answer: Slot(elements, write, company=elements)
            for answer, elements, write in (
                (AcceptedNode, "accepted", accepted_node),
                (RejectedNode, "rejected", rejected_node),
                (AcceptedApplication, "accepted", accepted_application),
                (RejectedApplication, "rejected", rejected_application),
                (UpdatedApplication, "updated", updated_application),
                (NewAllocation, "new", self._new_allocation),
                (ReleasedAllocation, "released", self._released_allocation),
                (ReleasedAsk, "releasedAsks", self._released_ask),
                (RejectedAsk, "rejected", rejected_request),
            )
        }
        if revision.can(Capability.RECOVERY_BY_ALLOCATIONS):
            rejected = "rejectedAllocations"
            self._slots[RejectedAllocation] = Slot(rejected, rejected_request, company=rejected)

    def responses(self, message: type, answers: Sequence[Answer]) -> Iterator[Any]:
        """Messages that say ``answers`` in order: a run of one kind shares a message."""
        return pack(message, self._slots, answers)

    def _new_allocation(self, answer: NewAllocation, message: Any) -> None:
        allocation = answer.allocation
        ask = allocation.ask
        setattr(message, self._identity, allocation.identity)
        message.allocationKey = ask.key
        message.applicationID = ask.application_id
        message.nodeID = allocation.node_id
        message.partitionName = ask.partition
        message.priority = ask.priority
        amounts(ask.resource, message.resourcePerAlloc)
        if ask.tags:
            message.allocationTags.update(ask.tags)
        if ask.task_group:
            message.taskGroupName = ask.task_group
            message.placeholder = ask.placeholder
        if self._has_policy:
            message.originator = ask.originator
            if ask.preemption_policy is not None:
                policy = message.preemptionPolicy
                policy.SetInParent()
                policy.allowPreemptSelf = ask.preemption_policy.allow_preempt_self
                policy.allowPreemptOther = ask.preemption_policy.allow_preempt_other

    def _released_allocation(self, answer: ReleasedAllocation, message: Any) -> None:
        release = answer.release
        setattr(message, self._identity, release.identity)
        message.partitionName = release.partition
        message.applicationID = release.application_id
        message.allocationKey = release.key
        message.terminationType = self._numbers[release.termination]
        message.message = release.message

    def _released_ask(self, answer: ReleasedAsk, message: Any) -> None:
        release = answer.release
        message.partitionName = release.partition
        message.applicationID = release.application_id
        message.allocationKey = release.key
        message.terminationType = self._numbers[release.termination]
        message.message = release.message
