"""The dialect of 2024-10: one list for all keys, and the key is the identity.

Asks, existing allocations, updates and foreign allocations are all Allocations; a release names a
key, or ends everything of an application. The answers do not state which of these they concern, so
each dialect remembers what its RM sent under a key (``keys.py``).
"""

from dataclasses import replace
from typing import Any, Final

from siwire.r2023_12.si_pb2 import AllocationRequest as AllocationRequest2023
from siwire.r2023_12.si_pb2 import NodeInfo as NodeInfo2023

from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    AskReleased,
    Fact,
    PreemptionPolicy,
    Released,
    UpdateKind,
)
from siconform.protocol.requests import (
    AllocationUpdate,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    LegacyRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.transport.dialects import elements, messages, r2023_04, r2023_12
from siconform.transport.dialects.amounts import write_amounts
from siconform.transport.dialects.keys import Keys, SentAs
from siconform.transport.dialects.tables import NoWords, Tables


def node(request: messages.KeyedNodeRequest, sent: NodeRequest) -> None:
    """Write a node with its action; its allocations are sent separately."""
    message = request.nodes.add()
    elements.write_node(message, replace(sent, legacy_fields=None))
    r2023_04.write_action(message, sent)
    if sent.legacy_fields is not None:
        older = NodeInfo2023()
        write_amounts(older.occupiedResource, sent.legacy_fields.occupied)
        for existing in sent.legacy_fields.existing:
            r2023_12.write_existing(older.existingAllocations.add(), existing)
        message.MergeFromString(older.SerializeToString())


def write_legacy_request(request: messages.KeyedAllocationRequest, sent: LegacyRequest) -> None:
    """Write a request as in 2023-12, in a field this message does not have."""
    older = AllocationRequest2023()
    _BEFORE.writers[type(sent.sent)](older, sent.sent)
    request.MergeFromString(older.SerializeToString())


def write_allocation(message: messages.KeyedAllocation, sent: Allocated) -> None:
    """Write an allocation under its key."""
    r2023_04.write_allocation(message, sent)
    message.allocationKey = sent.identity
    message.originator = sent.originator
    r2023_04.write_policy(message.preemptionPolicy, sent.preemption_policy)


def read_allocation(received: messages.KeyedAllocation) -> Allocated:
    """Read a new allocation."""
    policy = received.preemptionPolicy
    return replace(
        r2023_04.read_allocation(received),
        identity=received.allocationKey,
        originator=received.originator,
        preemption_policy=PreemptionPolicy(policy.allowPreemptSelf, policy.allowPreemptOther)
        if received.HasField("preemptionPolicy")
        else None,
    )


class Words:
    """Writers and readers of keys on one connection."""

    def __init__(self) -> None:
        self._keys = Keys()

    def ask(self, request: messages.KeyedAllocationRequest, sent: AskRequest) -> None:
        """Write an ask: an allocation without a node."""
        asked = Allocated(
            key=sent.key,
            application=sent.application,
            node="",
            identity=sent.key,
            resource=sent.resource,  # type: ignore[arg-type]  # None omits it
            task_group=sent.task_group,
            placeholder=sent.placeholder,
            priority=sent.priority,
            tags=sent.tags,
            partition=sent.partition,
            originator=sent.originator,
            preemption_policy=sent.preemption_policy,
        )
        write_allocation(request.allocations.add(), asked)
        self._keys.sent(sent.key, sent.application, SentAs.REQUEST)

    def existing(
        self,
        request: messages.KeyedAllocationRequest,
        sent: ExistingAllocationRequest | AllocationUpdate,
    ) -> None:
        """Write an existing allocation, or an update of one."""
        self._send_all(request, sent.allocation)

    def foreign(
        self, request: messages.KeyedAllocationRequest, sent: ForeignAllocationRequest
    ) -> None:
        """Write a foreign allocation: no application, and a tag that marks it."""
        theirs = Allocated(
            key=sent.key,
            application="",
            node=sent.node,
            identity=sent.key,
            resource=sent.resource,  # type: ignore[arg-type]  # None omits it
            task_group="",
            placeholder=False,
            priority=0,
            tags=sent.tags,
            partition=sent.partition,
            originator=False,
            preemption_policy=None,
        )
        self._send_all(request, theirs)

    def release(self, request: messages.KeyedAllocationRequest, sent: ReleaseRequest) -> None:
        """Write a release by key, or of everything of the application without one."""
        match sent.subject:
            case AllOf(key=key) if key:
                raise NoWords  # a key identifies what ends
            case OneAllocation(application=application, identity=key):
                self._keys.sent_end(key, application)
            case AllOf(application=application):
                key = ""
                self._keys.sent_end_of_all(application)
        message = request.releases.allocationsToRelease.add()
        r2023_04.write_release(message, sent)
        message.allocationKey = key

    def ask_release(
        self, request: messages.KeyedAllocationRequest, sent: AskReleaseRequest
    ) -> None:
        """Write a withdrawal; it is the same message as a release."""
        subject: OneAllocation | AllOf
        match sent.subject:
            case AllThereIs():
                raise NoWords
            case OneAsk(application=application, key=key):
                subject = OneAllocation(application, key, key)
            case AllOf() as subject:
                pass
        self.release(request, ReleaseRequest(subject, sent.termination, sent.partition))

    def allocated(self, received: messages.KeyedAllocation) -> Fact:
        """Read a new allocation."""
        self._keys.announced(received.allocationKey)
        return read_allocation(received)

    def released(self, received: messages.KeyedAllocationRelease) -> Fact:
        """Read the end of an allocation, of an ask, or of everything of an application."""
        release = replace(r2023_04.read_release(received), identity=received.allocationKey)
        to_be_confirmed = release.termination in BY_THE_SCHEDULER
        if not release.key:
            self._keys.released_all(release.application, to_be_confirmed=to_be_confirmed)
            return release
        ended = self._keys.released(release.key, to_be_confirmed=to_be_confirmed)
        if ended is SentAs.REQUEST:
            return _of_a_request(release)
        return release

    def rejected(self, received: messages.RejectedAllocation) -> Fact:
        """Read the rejection of an ask, an allocation or an update."""
        if self._keys.rejected(received.allocationKey) is SentAs.REQUEST:
            return elements.ask_rejected(received)
        return AllocationRejected(received.allocationKey, received.applicationID, received.reason)

    def _send_all(self, request: messages.KeyedAllocationRequest, sent: Allocated) -> None:
        write_allocation(request.allocations.add(), sent)
        sent_as = SentAs.ALLOCATION if sent.node else SentAs.UPDATE
        self._keys.sent(sent.identity, sent.application, sent_as)


def _of_a_request(release: Released) -> AskReleased:
    return AskReleased(
        key=release.key,
        application=release.application,
        termination=release.termination,
        message=release.message,
        partition=release.partition,
    )


_BEFORE: Final = r2023_12.TABLES


def tables() -> Tables:
    """Return new tables for one dialect."""
    words = Words()
    writers: dict[Any, Any] = {
        **_BEFORE.writers,
        NodeRequest: node,
        AskRequest: words.ask,
        ExistingAllocationRequest: words.existing,
        AllocationUpdate: words.existing,
        ForeignAllocationRequest: words.foreign,
        LegacyRequest: write_legacy_request,
        ReleaseRequest: words.release,
        AskReleaseRequest: words.ask_release,
    }
    return replace(
        _BEFORE,
        writers=writers,
        readers={
            **_BEFORE.readers,
            UpdateKind.ALLOCATIONS: {
                "new": words.allocated,
                "released": words.released,
                "rejectedAllocations": words.rejected,
            },
        },
        identity=Identity.KEY_OF_THE_ASK,
        applications_start=False,
    )
