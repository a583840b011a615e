"""Requests of 2023-04, 2023-08 and 2023-12 as records of the core."""

from typing import Any, Final

from siwire import Capability, Revision, constants

from sireference.codec.subjects import allocations_meant, asks_meant
from sireference.core.model import (
    AllocationRecord,
    Ask,
    AskReleaseRequest,
    NewApplication,
    NodeInfo,
    PreemptionPolicy,
    ReleaseRequest,
    RemoveApplication,
    partition_name,
)
from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeAction, TerminationType

_REQUIRED_NODE: Final = constants.DOMAIN_YUNIKORN + constants.KEY_REQUIRED_NODE
_MILLISECONDS: Final = 1000.0

TERMINATION_TYPES: Final = {
    TerminationType.UNSET: "UNKNOWN_TERMINATION_TYPE",
    TerminationType.STOPPED_BY_RM: "STOPPED_BY_RM",
    TerminationType.TIMEOUT: "TIMEOUT",
    TerminationType.PREEMPTED_BY_SCHEDULER: "PREEMPTED_BY_SCHEDULER",
    TerminationType.PLACEHOLDER_REPLACED: "PLACEHOLDER_REPLACED",
}
_NODE_ACTIONS: Final = {
    NodeAction.UNSET: "UNKNOWN_ACTION_FROM_RM",
    NodeAction.CREATE: "CREATE",
    NodeAction.UPDATE: "UPDATE",
    NodeAction.DRAIN_NODE: "DRAIN_NODE",
    NodeAction.DECOMMISSION: "DECOMISSION",
    NodeAction.DRAIN_TO_SCHEDULABLE: "DRAIN_TO_SCHEDULABLE",
    NodeAction.CREATE_DRAIN: "CREATE_DRAIN",
}


def resource(message: Any) -> Resource:
    """A Resource message as amounts."""
    return Resource({name: quantity.value for name, quantity in message.resources.items()})


class Reading:
    """Reads the parts of requests of one revision."""

    def __init__(self, revision: Revision) -> None:
        self._identity = (
            "allocationID" if revision.can(Capability.IDENTITY_IN_ALLOCATION_ID) else "UUID"
        )
        self._has_policy = revision.can(Capability.POLICY_AND_ORIGINATOR_IN_ALLOCATION)
        types = revision.si.TerminationType
        self._types = {types.Value(name): kind for kind, name in TERMINATION_TYPES.items()}
        actions = revision.si.NodeInfo.ActionFromRM
        self._actions = {
            actions.Value(name): action
            for action, name in _NODE_ACTIONS.items()
            if name in actions.keys()  # noqa: SIM118  # a protobuf enum has no containment
        }

    def termination(self, number: int) -> TerminationType:
        """The type; a number the revision does not know is UNRECOGNISED."""
        return self._types.get(number, TerminationType.UNRECOGNISED)

    def ask(self, message: Any) -> Ask:
        """An AllocationAsk; the placeholder flag counts only with a task group (C-34)."""
        tags = dict(message.tags)
        task_group = message.taskGroupName
        return Ask(
            key=message.allocationKey,
            application_id=message.applicationID,
            partition=partition_name(message.partitionName),
            resource=resource(message.resourceAsk) if message.HasField("resourceAsk") else NOTHING,
            max_allocations=message.maxAllocations,
            priority=message.priority,
            execution_timeout=message.executionTimeoutMilliSeconds / _MILLISECONDS,
            tags=tags,
            task_group=task_group,
            placeholder=message.placeholder and task_group != "",
            originator=message.Originator,
            preemption_policy=_policy(message),
            required_node=tags.get(_REQUIRED_NODE, ""),
        )

    def allocation(self, message: Any) -> AllocationRecord:
        """An existing Allocation, with the ask it would have come from."""
        ask = Ask(
            key=message.allocationKey,
            application_id=message.applicationID,
            partition=partition_name(message.partitionName),
            resource=resource(message.resourcePerAlloc),
            priority=message.priority,
            tags=dict(message.allocationTags),
            task_group=message.taskGroupName,
            placeholder=message.placeholder and message.taskGroupName != "",
            originator=message.originator if self._has_policy else False,
            preemption_policy=_policy(message) if self._has_policy else None,
        )
        return AllocationRecord(getattr(message, self._identity), ask, message.nodeID)

    def release(self, message: Any) -> ReleaseRequest:
        """An AllocationRelease."""
        return ReleaseRequest(
            partition=partition_name(message.partitionName),
            subject=allocations_meant(
                message.applicationID, getattr(message, self._identity), message.allocationKey
            ),
            termination=self.termination(message.terminationType),
            message=message.message,
        )

    def ask_release(self, message: Any) -> AskReleaseRequest:
        """An AllocationAskRelease."""
        return AskReleaseRequest(
            partition=partition_name(message.partitionName),
            subject=asks_meant(message.applicationID, message.allocationKey),
            termination=self.termination(message.terminationType),
            message=message.message,
        )

    def node(self, message: Any) -> NodeInfo:
        """A NodeInfo; the partition is an attribute of the node."""
        attributes = dict(message.attributes)
        has = message.HasField
        return NodeInfo(
            node_id=message.nodeID,
            action=self._actions.get(message.action, NodeAction.UNSET),
            partition=partition_name(attributes.get(constants.NODE_PARTITION, "")),
            attributes=attributes,
            capacity=(
                resource(message.schedulableResource) if has("schedulableResource") else None
            ),
            occupied=resource(message.occupiedResource) if has("occupiedResource") else None,
            allocations=tuple(map(self.allocation, message.existingAllocations)),
        )


def application(message: Any) -> NewApplication:
    """An AddApplicationRequest."""
    return NewApplication(
        application_id=message.applicationID,
        queue=message.queueName,
        partition=partition_name(message.partitionName),
        user=message.ugi.user,
        groups=tuple(message.ugi.groups),
        tags=dict(message.tags),
        execution_timeout=message.executionTimeoutMilliSeconds / _MILLISECONDS,
        placeholder_ask=(
            resource(message.placeholderAsk) if message.HasField("placeholderAsk") else None
        ),
        gang_style=message.gangSchedulingStyle,
    )


def removal(message: Any) -> RemoveApplication:
    """A RemoveApplicationRequest."""
    return RemoveApplication(message.applicationID, partition_name(message.partitionName))


def _policy(message: Any) -> PreemptionPolicy | None:
    if not message.HasField("preemptionPolicy"):
        return None
    policy = message.preemptionPolicy
    return PreemptionPolicy(policy.allowPreemptSelf, policy.allowPreemptOther)
