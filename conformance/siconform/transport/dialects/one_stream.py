"""The dialect of 2021-02: one update stream for everything, and the numbers of that text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

from siconform.outcomes import NotForThisTarget
from siconform.protocol.constraints import Affinity, Condition, Constraint, Operator
from siconform.protocol.notifications import (
    ANY,
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRecommended,
    NodeRejected,
    RegistrationWanted,
    Released,
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
    Request,
    StreamOpening,
    UtilisationRequest,
)
from siconform.transport.dialects.amounts import amounts_in, resource_of
from siconform.transport.dialects.lax import lax_messages

UPDATE: Final = "Update"
UNKNOWN_FIELD_500: Final = b"\xa2\x1f\x03new"  # field 500, length-delimited, "new"
EMPTY_OPERATOR: Final = b"\x0a\x00"  # field 1 as the text types it: a message, empty
UNDEFINED_ACTION: Final = 99  # the text does not define it
RESYNC: Final = 1

ACTIONS: Final = {
    Action.UPDATE: 0,
    Action.DRAIN: 1,
    Action.DECOMMISSION: 2,
    Action.UNDRAIN: 3,
    Action.UNSET: 0,  # the zero value: not on the wire
    Action.UNDEFINED: UNDEFINED_ACTION,
}
TERMINATIONS: Final = {
    Termination.STOPPED_BY_RM: 0,
    Termination.TIMEOUT: 1,
    Termination.PREEMPTED_BY_SCHEDULER: 2,
    Termination.PLACEHOLDER_REPLACED: 3,
}
OPERATORS: Final = {
    Operator.IN: 0,
    Operator.NOT_IN: 1,
    Operator.EXIST: 2,
    Operator.NOT_EXIST: 3,
}


class OneStream:
    """Speaks 2021-02. What that text has no field for (a gang's style, say) is left unsaid."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._si: Any = lax_messages(revision)

    def method(self, _kind: UpdateKind) -> str:
        """The one stream."""
        return UPDATE

    def foreign_method(self) -> str:
        """One of the three streams of later texts."""
        return "UpdateNode"

    def registration(self, registration: Registration) -> Message:
        """Names the policy group; its queue configuration the scheduler has to have already."""
        if not isinstance(registration.config, QueueConfiguration):
            problem = f"SI {self.revision} has no way to send queues: its groups are files"
            raise NotForThisTarget(problem)
        request: Message = self._si.RegisterResourceManagerRequest(
            rmID=registration.rm,
            version=registration.version,
            policyGroup=registration.policy_group,
        )
        return request

    def request(self, _kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """One UpdateRequest, whatever the requests are about."""
        message = self._si.UpdateRequest(rmID=rm_id)
        for said in requests:
            self._add(message, said)
        request: Message = message
        return request

    def _add(self, message: Any, said: Request) -> None:
        match said:
            case StreamOpening():
                pass
            case NodeRequest(action=Action.CREATE):
                message.newSchedulableNodes.append(self._new_node(said))
            case NodeRequest(action=action, existing=()) if action in ACTIONS:
                message.updatedNodes.append(self._updated_node(said))
            case UtilisationRequest():
                message.utilizationReports.add(
                    ID=said.subject, actualUsedResource=resource_of(self._si, said.used)
                )
            case ApplicationRequest():
                message.newApplications.append(self._application(said))
            case ApplicationRemoval():
                message.removeApplications.add(
                    applicationID=said.application, partitionName=said.partition
                )
            case AskRequest():
                message.asks.append(self._ask(said))
            case ReleaseRequest():
                message.releases.allocationsToRelease.add(
                    partitionName=said.partition,
                    applicationID=said.application,
                    UUID=said.identity,
                    terminationType=TERMINATIONS.get(said.termination, 0),
                    message=said.message,
                )
            case AskReleaseRequest():
                message.releases.allocationAsksToRelease.add(
                    partitionName=said.partition,
                    applicationID=said.application,
                    allocationkey=said.key,
                )
            case _:
                problem = f"SI {self.revision} has no words for {said}"
                raise LookupError(problem)

    def _new_node(self, said: NodeRequest) -> Any:
        node = self._si.NewNodeInfo(nodeID=said.node, attributes=said.attributes)
        node.existingAllocations.extend(self._allocation(a) for a in said.existing)
        self._equip(node, said)
        return node

    def _updated_node(self, said: NodeRequest) -> Any:
        node = self._si.UpdateNodeInfo(nodeID=said.node, attributes=said.attributes)
        node.action = ACTIONS[said.action]
        self._equip(node, said)
        return node

    def _equip(self, node: Any, said: NodeRequest) -> None:
        if said.unknown_field:
            node.MergeFromString(UNKNOWN_FIELD_500)
        if said.capacity is not None:
            node.schedulableResource.CopyFrom(resource_of(self._si, said.capacity))
        if said.occupied is not None:
            node.occupiedResource.CopyFrom(resource_of(self._si, said.occupied))

    def _application(self, said: ApplicationRequest) -> Any:
        request = self._si.AddApplicationRequest(
            applicationID=said.application,
            queueName=said.queue,
            partitionName=said.partition,
            tags=said.tags,
            executionTimeoutMilliSeconds=said.timeout_ms,
        )
        if said.user is not None:
            request.ugi.user = said.user
            request.ugi.groups.extend(said.groups)
        if said.placeholder_ask is not None:
            request.placeholderAsk.CopyFrom(resource_of(self._si, said.placeholder_ask))
        return request

    def _ask(self, said: AskRequest) -> Any:
        ask = self._si.AllocationAsk(
            allocationKey=said.key,
            applicationID=said.application,
            partitionName=said.partition,
            maxAllocations=said.max_allocations,
            executionTimeoutMilliSeconds=said.timeout_ms,
            tags=said.tags,
            taskGroupName=said.task_group,
            placeholder=said.placeholder,
        )
        if said.resource is not None:
            ask.resourceAsk.CopyFrom(resource_of(self._si, said.resource))
        self._prioritise(ask, said.priority, said.priority_class)
        if said.constraint is not None:
            ask.placementConstraint.simpleConstraint.CopyFrom(self._simple(said.constraint))
        return ask

    def _prioritise(self, message: Any, number: int, name: str) -> None:
        if number:
            message.priority.priorityValue = number
        if name:
            message.priority.priorityClassName = name

    def _simple(self, constraint: Constraint) -> Any:
        simple = self._si.SimplePlacementConstraint()
        if constraint.node:
            conditions = self._conditions(constraint.node)
            simple.nodeAffinityConstraint.targetExpressions.extend(conditions)
        if constraint.others is not None:
            simple.allocationAffinityAttribute.CopyFrom(self._affinity(constraint.others))
        return simple

    def _affinity(self, affinity: Affinity) -> Any:
        return self._si.AllocationAffinityConstraints(
            scope=affinity.scope,
            tragetExpressions=self._conditions(affinity.tags),
            minCardinality=affinity.at_least,
            maxCardinality=affinity.at_most,
            required=affinity.required,
        )

    def _conditions(self, conditions: Iterable[Condition]) -> Iterator[Any]:
        for condition in conditions:
            expression = self._si.AffinityTargetExpression(
                targetKey=condition.key, targetValues=condition.values
            )
            if condition.operator is Operator.EMPTY:
                expression.MergeFromString(EMPTY_OPERATOR)
            else:
                expression.targetOperator = OPERATORS[condition.operator]
            yield expression

    def _allocation(self, allocation: Allocated) -> Any:
        message = self._si.Allocation(
            allocationKey=allocation.key,
            applicationID=allocation.application,
            nodeID=allocation.node,
            partitionName=allocation.partition,
            taskGroupName=allocation.task_group,
            placeholder=allocation.placeholder,
            allocationTags=allocation.tags,
            resourcePerAlloc=resource_of(self._si, allocation.resource),
            UUID=allocation.identity,
            queueName=allocation.queue,
        )
        self._prioritise(message, allocation.priority, allocation.priority_class)
        return message

    def response(self, _kind: UpdateKind, data: bytes) -> Message:
        """An UpdateResponse, whatever the schema thinks of it."""
        message: Message = self._si.UpdateResponse.FromString(data)
        return message

    def facts(self, _kind: UpdateKind, message: Message) -> list[Fact]:
        """What is wanted, rejected, accepted, updated, allocated, released and recommended."""
        response: Any = message
        told: list[Fact] = []
        if response.action == RESYNC:
            told.append(RegistrationWanted())
        told += (NodeRejected(one.nodeID, one.reason) for one in response.rejectedNodes)
        told += (NodeAccepted(one.nodeID) for one in response.acceptedNodes)
        told += (
            ApplicationRejected(one.applicationID, one.reason)
            for one in response.rejectedApplications
        )
        told += (ApplicationAccepted(one.applicationID) for one in response.acceptedApplications)
        told += (
            ApplicationUpdated(
                one.applicationID, one.state, one.stateTransitionTimestamp, one.message
            )
            for one in response.updatedApplications
        )
        told += (_allocated(one) for one in response.newAllocations)
        told += (_released(one) for one in response.releasedAllocations)
        told += (_ask_released(one) for one in response.releasedAllocationAsks)
        told += (
            AskRejected(one.allocationKey, one.applicationID, one.reason)
            for one in response.rejectedAllocations
        )
        told += (
            NodeRecommended(amounts_in(one.recommendedSchedulableResource), one.message)
            for one in response.nodeRecommendations
        )
        return told


def _allocated(allocation: Any) -> Allocated:
    return Allocated(
        key=allocation.allocationKey,
        application=allocation.applicationID,
        node=allocation.nodeID,
        identity=allocation.UUID,
        resource=amounts_in(allocation.resourcePerAlloc),
        task_group=allocation.taskGroupName,
        placeholder=allocation.placeholder,
        priority=allocation.priority.priorityValue,
        priority_class=allocation.priority.priorityClassName,
        tags=dict(allocation.allocationTags),
        partition=allocation.partitionName,
        originator=False,
        preemption_policy=None,
        queue=allocation.queueName,
    )


def _released(release: Any) -> Released:
    types = {number: termination for termination, number in TERMINATIONS.items()}
    return Released(
        key=ANY,  # the text has none
        application=release.applicationID,
        identity=release.UUID,
        termination=types.get(release.terminationType, Termination.UNDEFINED),
        message=release.message,
        partition=release.partitionName,
    )


def _ask_released(ask: Any) -> AskReleased:
    """Without a type on the wire: the text's list is for asks whose placeholders timed out."""
    return AskReleased(
        key=ask.allocationkey,
        application=ask.applicationID,
        termination=Termination.TIMEOUT,
        message=ask.message,
        partition=ask.partitionName,
    )
