"""The words of 2021-02: one update stream for everything, and the numbers of that text.

Its messages are read and written laxly (``lax.py``); where that shows a message has no type here.
What the text has no field for (a gang's style, say) is left unsaid.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si

from siconform.outcomes import NotForThisTarget
from siconform.protocol.callbacks import Assumed, Forgotten
from siconform.protocol.constraints import Affinity, Condition, Constraint, Operator
from siconform.protocol.matchers import UNSAID
from siconform.protocol.notifications import (
    Allocated,
    AskReleased,
    Fact,
    NodeRecommended,
    RegistrationWanted,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import QueueConfiguration
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    StreamOpening,
    UtilisationRequest,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.transport.dialects import elements
from siconform.transport.dialects.amounts import read_amounts, write_amounts
from siconform.transport.dialects.enums import write_enum, write_undefined
from siconform.transport.dialects.lax import lax_messages
from siconform.transport.dialects.tables import Conversation, NoWords, Payload, Reader, Tables

EMPTY_OPERATOR: Final = b"\x0a\x00"  # field 1 as the text types it: a message, empty
_UNSAYABLE: Final = (Termination.UNKNOWN, Termination.UNDEFINED)  # left out: the zero has a meaning


def register(request: si.RegisterResourceManagerRequest, said: Registration) -> None:
    """Names the policy group; its queue configuration the scheduler has to have already."""
    if not isinstance(said.config, QueueConfiguration):
        raise NotForThisTarget("SI 2021-02 has no way to send queues: its groups are files")
    request.rmID, request.version, request.policyGroup = said.rm, said.version, said.policy_group


def node(request: si.UpdateRequest, said: NodeRequest) -> None:
    """A creation and an update are two messages; allocations exist on new nodes only."""
    if said.action is Action.CREATE:
        new = request.newSchedulableNodes.add()
        elements.write_node(new, said)
        write_amounts(new.occupiedResource, said.occupied)
        for existing in said.existing:
            _existing_allocation(new.existingAllocations.add(), existing)
    elif said.existing:
        raise NoWords
    else:
        updated = request.updatedNodes.add()
        elements.write_node(updated, said)
        write_amounts(updated.occupiedResource, said.occupied)
        if said.action is Action.UNDEFINED:
            write_undefined(updated, "action")
        elif said.action is not Action.UNSET:  # the zero value is an action
            write_enum(updated, "action", said.action)


def utilisation(request: si.UpdateRequest, said: UtilisationRequest) -> None:
    """Of a node or an allocation."""
    write_amounts(request.utilizationReports.add(ID=said.subject).actualUsedResource, said.used)


def application(request: si.UpdateRequest, said: ApplicationRequest) -> None:
    """A new application."""
    elements.write_application(request.newApplications.add(), said)


def removal(request: si.UpdateRequest, said: ApplicationRemoval) -> None:
    """The end of an application."""
    request.removeApplications.add(applicationID=said.application, partitionName=said.partition)


def ask(request: si.UpdateRequest, said: AskRequest) -> None:
    """An ask, with its constraint."""
    message = request.asks.add()
    elements.write_ask(message, said)
    _prioritise(message, said.priority, said.priority_class)
    if said.constraint is not None:
        _constrain(message.placementConstraint.simpleConstraint, said.constraint)


def _prioritise(message: Any, number: int, name: str) -> None:
    if number:
        message.priority.priorityValue = number
    if name:
        message.priority.priorityClassName = name


def _constrain(simple: si.SimplePlacementConstraint, constraint: Constraint) -> None:
    simple.SetInParent()
    if constraint.node:
        expressions = simple.nodeAffinityConstraint.targetExpressions
        _write_conditions(expressions, constraint.node)
    if constraint.others is not None:
        _write_affinity(simple.allocationAffinityAttribute, constraint.others)


def _write_affinity(message: si.AllocationAffinityConstraints, affinity: Affinity) -> None:
    message.SetInParent()
    message.scope = affinity.scope
    message.minCardinality = affinity.at_least
    message.maxCardinality = affinity.at_most
    message.required = affinity.required
    _write_conditions(message.tragetExpressions, affinity.tags)


def _write_conditions(expressions: Any, conditions: Iterable[Condition]) -> None:
    for condition in conditions:
        expression = expressions.add(targetKey=condition.key, targetValues=condition.values)
        if condition.operator is Operator.EMPTY:
            expression.MergeFromString(EMPTY_OPERATOR)
        else:
            expression.targetOperator = condition.operator.name


def _existing_allocation(message: si.Allocation, said: Allocated) -> None:
    elements.write_allocation(message, said)
    message.UUID = said.identity
    message.queueName = said.queue
    _prioritise(message, said.priority, said.priority_class)


def release(request: si.UpdateRequest, said: ReleaseRequest) -> None:
    """By its identity; without one it is everything of the application."""
    message = request.releases.allocationsToRelease.add(
        partitionName=said.partition,
        applicationID=said.subject.application,
        message=said.message,
    )
    if isinstance(said.subject, OneAllocation):
        message.UUID = said.subject.identity
    if said.termination not in _UNSAYABLE:
        write_enum(message, "terminationType", said.termination)


def ask_release(request: si.UpdateRequest, said: AskReleaseRequest) -> None:
    """By its key; without one it is every ask of the application."""
    message = request.releases.allocationAsksToRelease.add(
        partitionName=said.partition, applicationID=said.subject.application
    )
    if isinstance(said.subject, OneAsk):
        message.allocationkey = said.subject.key


def registration_wanted(action: int) -> RegistrationWanted | None:
    """Where the scheduler says RESYNC."""
    return RegistrationWanted() if action == si.UpdateResponse.RESYNC else None


def allocated(told: si.Allocation) -> Fact:
    """A new allocation."""
    return replace(
        elements.read_allocation(told),
        identity=told.UUID,
        priority=told.priority.priorityValue,
        priority_class=told.priority.priorityClassName,
        queue=told.queueName,
    )


def released(told: si.AllocationRelease) -> Fact:
    """The end of an allocation, whose key has no field here."""
    return replace(elements.read_release(told), identity=told.UUID, key=UNSAID)


def ask_released(told: si.AllocationAskRelease) -> Fact:
    """Without a type on the wire: the text's list is for asks whose placeholders timed out."""
    return AskReleased(
        key=told.allocationkey,
        application=told.applicationID,
        termination=Termination.TIMEOUT,
        message=told.message,
        partition=told.partitionName,
    )


def node_recommended(told: si.NodeRecommendation) -> Fact:
    """What a node should have."""
    return NodeRecommended(read_amounts(told.recommendedSchedulableResource), told.message)


def event(told: si.EventRecord, offer: int) -> Iterator[Fact]:
    """A record with its group and reason."""
    yield replace(elements.read_event(told, offer), group=told.groupID, reason=told.reason)


def synchronisation(told: si.ReSyncSchedulerCacheArgs, offer: int) -> Iterator[Fact]:
    """What the RM can take as made, and what it can forget."""
    for assumed in told.assumedAllocations:
        yield Assumed(assumed.allocationKey, assumed.nodeID, offer)
    for forgotten in told.forgetAllocations:
        yield Forgotten(forgotten.allocationKey, offer)


_UPDATE: Final = Conversation("Update", "UpdateRequest", "UpdateResponse")
_READERS: Final[Mapping[str, Reader]] = {
    "action": registration_wanted,
    "rejectedNodes": elements.node_rejected,
    "acceptedNodes": elements.node_accepted,
    "rejectedApplications": elements.application_rejected,
    "acceptedApplications": elements.application_accepted,
    "updatedApplications": elements.application_updated,
    "newAllocations": allocated,
    "releasedAllocations": released,
    "releasedAllocationAsks": ask_released,
    "rejectedAllocations": elements.ask_rejected,
    "nodeRecommendations": node_recommended,
}

TABLES: Final = Tables(
    messages=lax_messages,
    conversations=dict.fromkeys(UpdateKind, _UPDATE),
    foreign_method="UpdateNode",  # one of the three streams of later texts
    registers=register,
    writers={
        StreamOpening: elements.open_stream,
        NodeRequest: node,
        UtilisationRequest: utilisation,
        ApplicationRequest: application,
        ApplicationRemoval: removal,
        AskRequest: ask,
        ReleaseRequest: release,
        AskReleaseRequest: ask_release,
    },
    readers=dict.fromkeys(UpdateKind, _READERS),
    payloads={
        ext.PLACEMENT_CHECK: Payload("PredicatesArgs", elements.placement_check),
        ext.EVENT_BATCH: Payload("EventRecord", event),
        ext.CONTAINER_STATE: Payload("UpdateContainerSchedulingStateRequest", elements.scheduling),
        ext.CACHE_SYNC: Payload("ReSyncSchedulerCacheArgs", synchronisation),
    },
    ask_releases_say_why=False,
)
