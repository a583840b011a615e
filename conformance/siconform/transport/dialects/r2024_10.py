"""The dialect of 2024-10: one list for all keys, and the key is the identity.

Asks, existing allocations, updates and foreign allocations are all Allocations; a release names a
key, or ends everything of an application. The answers do not state which of these they concern, so
each dialect remembers what its RM sent under a key (``keys.py``).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from google.protobuf.unknown_fields import UnknownFieldSet
from siwire.r2023_12.si_pb2 import AllocationRequest as AllocationRequest2023
from siwire.r2023_12.si_pb2 import NodeInfo as NodeInfo2023

from siconform.protocol.availability import lacking
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    Fact,
    Released,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    LegacyNodeFields,
    LegacyRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.transport.dialects import elements, messages, r2023_04, r2023_12
from siconform.transport.dialects.amounts import read_amounts, read_optional, write_amounts
from siconform.transport.dialects.enums import read_enum
from siconform.transport.dialects.keys import Keys, SentAs
from siconform.transport.dialects.scalars import read_scalars, write_scalars
from siconform.transport.dialects.tables import FactWriter, Inexpressible, Tables


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
    if any(lacking(sent.sent, "2023-12")):
        raise Inexpressible
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
    return elements.read_allocation(
        received,
        identity=received.allocationKey,
        priority=received.priority,
        originator=received.originator,
        preemption_policy=r2023_04.read_policy(received),
    )


def read_ask(received: messages.KeyedAllocation) -> AskRequest:
    """Read an ask: an allocation without a node."""
    return AskRequest(
        **read_scalars(AskRequest, received),
        resource=read_optional(received, "resourcePerAlloc"),
        priority=received.priority,
        tags=dict(received.allocationTags),
        originator=received.originator,
        preemption_policy=r2023_04.read_policy(received),
    )


class KeyCodec:
    """Writers and readers of keys on one connection.

    Those of an RM's end, of a scheduler's, or the readers of both ends note the same of each key.
    """

    def __init__(self) -> None:
        self._keys = Keys()

    def ask(self, request: messages.KeyedAllocationRequest, sent: AskRequest) -> None:
        """Write an ask: an allocation without a node."""
        message = request.allocations.add(priority=sent.priority, originator=sent.originator)
        write_scalars(message, sent)
        message.allocationTags.update(sent.tags)
        write_amounts(message.resourcePerAlloc, sent.resource)
        r2023_04.write_policy(message.preemptionPolicy, sent.preemption_policy)
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
                raise Inexpressible  # a key identifies what ends
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
                raise Inexpressible
            case OneAsk(application=application, key=key):
                subject = OneAllocation(application, key, key)
            case AllOf() as subject:
                pass
        self.release(request, ReleaseRequest(subject, sent.termination, sent.partition))

    def read_entry(self, received: messages.KeyedAllocation) -> Request:
        """Read an ask, an existing allocation, an update or a foreign allocation.

        The tag or the lack of an application marks a foreign one, what is known of the key an
        update, and the node what exists already.
        """
        key, application, node = received.allocationKey, received.applicationID, received.nodeID
        if not application:
            self._keys.sent(key, "", SentAs.ALLOCATION)
            resource = read_optional(received, "resourcePerAlloc")
            tags = dict(received.allocationTags)
            return ForeignAllocationRequest(key, node, received.partitionName, resource, tags)
        sent_as = self._keys.requested(key, application, with_node=bool(node))
        self._keys.sent(key, application, sent_as)
        match sent_as:
            case SentAs.UPDATE:
                return AllocationUpdate(read_allocation(received))
            case SentAs.ALLOCATION:
                return ExistingAllocationRequest(read_allocation(received))
            case SentAs.REQUEST:
                return read_ask(received)

    def read_release(self, received: messages.KeyedAllocationRelease) -> Request:
        """Read a release or a withdrawal, as what is known of the key shows."""
        release = r2023_04.release_of(received, received.allocationKey)
        application = release.subject.application
        if not received.allocationKey:
            self._keys.sent_end_of_all(application)
            return release
        ended = self._keys.ends(received.allocationKey)
        self._keys.sent_end(received.allocationKey, application)
        if ended is SentAs.REQUEST:
            subject = OneAsk(application, received.allocationKey)
            return AskReleaseRequest(subject, release.partition, release.termination)
        return release

    def write_allocated(self, message: messages.KeyedAllocation, sent: Allocated) -> None:
        """Write a new allocation."""
        self._keys.announced(sent.key)
        write_allocation(message, sent)

    def write_released(
        self, message: messages.KeyedAllocationRelease, sent: Released | AskReleased
    ) -> None:
        """Write the end of an allocation, of an ask, or of everything of an application."""
        release = sent if isinstance(sent, Released) else _of_an_allocation(sent)
        to_be_confirmed = release.termination in BY_THE_SCHEDULER
        if release.identity:
            self._keys.released(release.identity, to_be_confirmed=to_be_confirmed)
        else:
            self._keys.released_all(release.application, to_be_confirmed=to_be_confirmed)
        r2023_04.write_keyed_release(message, replace(release, key=release.identity))

    def write_rejected(
        self, message: messages.RejectedAllocation, sent: AskRejected | AllocationRejected
    ) -> None:
        """Write the rejection of an ask, an allocation or an update."""
        self._keys.rejected(sent.key)
        elements.write_rejected_ask(message, sent)

    def allocated(self, received: messages.KeyedAllocation) -> Fact:
        """Read a new allocation."""
        self._keys.announced(received.allocationKey)
        return read_allocation(received)

    def released(self, received: messages.KeyedAllocationRelease) -> Fact:
        """Read the end of an allocation, of an ask, or of everything of an application."""
        key = received.allocationKey
        release = elements.read_release(received, key=key, identity=key)
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

    def forget(self, key: str) -> None:
        """Forget a key that ended long ago."""
        self._keys.forget(key)

    def _send_all(self, request: messages.KeyedAllocationRequest, sent: Allocated) -> None:
        write_allocation(request.allocations.add(), sent)
        sent_as = SentAs.ALLOCATION if sent.node else SentAs.UPDATE
        self._keys.sent(sent.identity, sent.application, sent_as)


def read_node(received: messages.KeyedNodeInfo) -> NodeRequest:
    """Read a node with its action, and the fields of an older RM."""
    sent = elements.read_node(received, read_enum(Action, received, "action"))
    if not sent.unknown_field:
        return sent
    older = NodeInfo2023.FromString(received.SerializeToString())
    legacy = LegacyNodeFields(
        read_amounts(older.occupiedResource),
        tuple(map(r2023_12.allocated, older.existingAllocations)),
    )
    is_newer = len(UnknownFieldSet(older)) > 0
    return replace(
        sent,
        unknown_field=is_newer,
        legacy_fields=legacy
        if older.HasField("occupiedResource") or older.existingAllocations
        else None,
    )


def read_legacy_requests(received: messages.KeyedAllocationRequest) -> Iterator[LegacyRequest]:
    """Read asks and withdrawals in the fields of an older RM."""
    if len(UnknownFieldSet(received)) or len(UnknownFieldSet(received.releases)):
        older = AllocationRequest2023.FromString(received.SerializeToString())
        for ask in older.asks:
            yield LegacyRequest(r2023_04.read_ask(ask))
        for release in older.releases.allocationAsksToRelease:
            yield LegacyRequest(r2023_04.read_ask_release(release))


def _of_an_allocation(release: AskReleased) -> Released:
    return Released(
        key=release.key,
        application=release.application,
        identity=release.key,
        termination=release.termination,
        message=release.message,
        partition=release.partition,
    )


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
    words = KeyCodec()
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
        request_readers={
            **_BEFORE.request_readers,
            UpdateKind.NODES: {"nodes": read_node},
            UpdateKind.ALLOCATIONS: {
                "allocations": words.read_entry,
                "releases.allocationsToRelease": words.read_release,
            },
        },
        legacy_requests={UpdateKind.ALLOCATIONS: read_legacy_requests},
        fact_writers={
            **_BEFORE.fact_writers,
            Allocated: FactWriter("new", words.write_allocated),
            Released: FactWriter("released", words.write_released),
            AskReleased: FactWriter("released", words.write_released),
            AskRejected: FactWriter("rejectedAllocations", words.write_rejected),
            AllocationRejected: FactWriter("rejectedAllocations", words.write_rejected),
        },
        identity=Identity.KEY_OF_THE_ASK,
        applications_start=False,
        forget=words.forget,
    )
