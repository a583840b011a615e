"""Requests of 2021-02 as records of the core."""

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.unknown_fields import UnknownFieldSet
from siwire import constants
from siwire.r2021_02 import si_pb2 as si

from sireference.codec.policies import Policies
from sireference.codec.reading import resource
from sireference.codec.subjects import allocations_meant, asks_meant
from sireference.core.model import (
    AllocationRecord,
    Ask,
    AskReleaseRequest,
    NewApplication,
    NodeInfo,
    ReleaseRequest,
    UtilisationReport,
    partition_name,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.states import NodeAction, TerminationType

_MILLISECONDS: Final = 1000.0
_GANG_STYLE: Final = "hard"  # the text has no styles: the application fails (SI-GANG-034)

TERMINATION_TYPES: Final = {
    si.AllocationRelease.STOPPED_BY_RM: TerminationType.STOPPED_BY_RM,
    si.AllocationRelease.TIMEOUT: TerminationType.TIMEOUT,
    si.AllocationRelease.PREEMPTED_BY_SCHEDULER: TerminationType.PREEMPTED_BY_SCHEDULER,
    si.AllocationRelease.PLACEHOLDER_REPLACED: TerminationType.PLACEHOLDER_REPLACED,
}
_NODE_ACTIONS: Final = {
    si.UpdateNodeInfo.UPDATE: NodeAction.UPDATE,
    si.UpdateNodeInfo.DRAIN_NODE: NodeAction.DRAIN_NODE,
    si.UpdateNodeInfo.DECOMISSION: NodeAction.DECOMMISSION,
    si.UpdateNodeInfo.DRAIN_TO_SCHEDULABLE: NodeAction.DRAIN_TO_SCHEDULABLE,
}
_OPERATORS: Final = {
    si.AffinityTargetExpression.IN: TargetOperator.IN,
    si.AffinityTargetExpression.NOT_IN: TargetOperator.NOT_IN,
    si.AffinityTargetExpression.EXIST: TargetOperator.EXIST,
    si.AffinityTargetExpression.NOT_EXIST: TargetOperator.NOT_EXIST,
}
_OPERATOR: Final = si.AffinityTargetExpression.TARGETOPERATOR_FIELD_NUMBER
_VARINT: Final = 0


class OneStreamReading:
    """Reads the parts of requests; what a zero means is what the first enum value says."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies

    def ask(self, message: si.AllocationAsk) -> Ask:
        """An AllocationAsk; the placeholder flag counts only with a task group (C-34)."""
        task_group = message.taskGroupName
        return Ask(
            key=message.allocationKey,
            application_id=message.applicationID,
            partition=partition_name(message.partitionName),
            resource=resource(message.resourceAsk),
            max_allocations=message.maxAllocations,
            **self._priority(message.priority),
            execution_timeout=message.executionTimeoutMilliSeconds / _MILLISECONDS,
            tags=dict(message.tags),
            task_group=task_group,
            placeholder=message.placeholder and task_group != "",
            constraint=(
                _constraint(message.placementConstraint)
                if message.HasField("placementConstraint")
                else None
            ),
        )

    def allocation(self, message: si.Allocation) -> AllocationRecord:
        """An existing Allocation, with the ask it would have come from.

        Its queue is that of its application, whatever the message says.
        """
        ask = Ask(
            key=message.allocationKey,
            application_id=message.applicationID,
            partition=partition_name(message.partitionName),
            resource=resource(message.resourcePerAlloc),
            **self._priority(message.priority),
            tags=dict(message.allocationTags),
            task_group=message.taskGroupName,
            placeholder=message.placeholder and message.taskGroupName != "",
        )
        return AllocationRecord(message.UUID, ask, message.nodeID)

    def new_node(self, message: si.NewNodeInfo) -> NodeInfo:
        """A NewNodeInfo: it is created schedulable."""
        allocations = tuple(map(self.allocation, message.existingAllocations))
        return _node(message, NodeAction.CREATE, allocations)

    def _priority(self, message: si.Priority) -> dict[str, Any]:
        """A Priority: a number, or a name with the number the operator gave it."""
        if message.WhichOneof("priority") != "priorityClassName":
            return {"priority": message.priorityValue}
        name = message.priorityClassName
        return {"priority": self._policies.priority(name), "priority_class": name}


def updated_node(message: si.UpdateNodeInfo) -> NodeInfo:
    """An UpdateNodeInfo; an action the text does not know is none."""
    return _node(message, _NODE_ACTIONS.get(message.action, NodeAction.UNSET))


def _node(
    message: si.NewNodeInfo | si.UpdateNodeInfo,
    action: NodeAction,
    allocations: tuple[AllocationRecord, ...] = (),
) -> NodeInfo:
    attributes = dict(message.attributes)
    has = message.HasField
    return NodeInfo(
        node_id=message.nodeID,
        action=action,
        partition=partition_name(attributes.get(constants.NODE_PARTITION, "")),
        attributes=attributes,
        capacity=resource(message.schedulableResource) if has("schedulableResource") else None,
        occupied=resource(message.occupiedResource) if has("occupiedResource") else None,
        allocations=allocations,
    )


def application(message: si.AddApplicationRequest) -> NewApplication:
    """An AddApplicationRequest."""
    has_gang = message.HasField("placeholderAsk")
    return NewApplication(
        application_id=message.applicationID,
        queue=message.queueName,
        partition=partition_name(message.partitionName),
        user=message.ugi.user,
        groups=tuple(message.ugi.groups),
        tags=dict(message.tags),
        execution_timeout=message.executionTimeoutMilliSeconds / _MILLISECONDS,
        placeholder_ask=resource(message.placeholderAsk) if has_gang else None,
        gang_style=_GANG_STYLE,
    )


def release(message: si.AllocationRelease) -> ReleaseRequest:
    """An AllocationRelease; without a type it is a stop by the RM (SI-REL-006)."""
    return ReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=allocations_meant(message.applicationID, message.UUID),
        termination=TERMINATION_TYPES.get(message.terminationType, TerminationType.UNRECOGNISED),
        message=message.message,
    )


def ask_release(message: si.AllocationAskRelease) -> AskReleaseRequest:
    """An AllocationAskRelease, which has no type: the RM withdraws the ask.

    If it confirms a release by the scheduler, the ask is gone already and nothing is left to do.
    """
    return AskReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=asks_meant(message.applicationID, message.allocationkey),
        termination=TerminationType.STOPPED_BY_RM,
        message=message.message,
    )


def report(message: si.UtilizationReport) -> UtilisationReport:
    """A UtilizationReport."""
    return UtilisationReport(message.ID, resource(message.actualUsedResource))


def _constraint(message: si.PlacementConstraint) -> PlacementConstraint | None:
    """A PlacementConstraint, None if it says nothing."""
    simple = message.simpleConstraint
    affinity = simple.allocationAffinityAttribute
    constraint = PlacementConstraint(
        node=_targets(simple.nodeAffinityConstraint.targetExpressions),
        affinity=_affinity(affinity) if simple.HasField("allocationAffinityAttribute") else None,
    )
    return None if constraint == PlacementConstraint() else constraint


def _affinity(message: si.AllocationAffinityConstraints) -> AllocationAffinity:
    """The text cannot tell a maximum of zero from none, so zero is none (B-53)."""
    return AllocationAffinity(
        scope=message.scope,
        targets=_targets(message.tragetExpressions),
        min_cardinality=message.minCardinality,
        max_cardinality=message.maxCardinality or None,
        required=message.required,
    )


def _targets(messages: Iterable[si.AffinityTargetExpression]) -> tuple[TargetExpression, ...]:
    return tuple(
        TargetExpression(one.targetKey, _operator(one), frozenset(one.targetValues))
        for one in messages
    )


def _operator(message: si.AffinityTargetExpression) -> TargetOperator:
    """The operator, which the declared type of its field cannot carry; without one it is IN.

    RMs that declare the field as the enum send a number, which is an unknown field here
    (docs/decisions/0001-wire-as-written.md). The last one counts, as for any field.
    """
    unknown = UnknownFieldSet(message)
    numbers = [
        field.data
        for field in (unknown[place] for place in range(len(unknown)))
        if field.field_number == _OPERATOR and field.wire_type == _VARINT
    ]
    if not numbers:
        return TargetOperator.IN
    return _OPERATORS.get(numbers[-1], TargetOperator.UNRECOGNISED)
