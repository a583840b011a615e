"""The dialect of 2023-04 and later: three update streams, one for each kind of thing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Capability, Revision

from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    Kind,
    NodeAccepted,
    NodeRejected,
    PreemptionPolicy,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationSaying,
    AskReleaseSaying,
    AskSaying,
    ExistingAllocationSaying,
    Hello,
    NodeSaying,
    Registration,
    ReleaseSaying,
    Saying,
)
from siconform.transport.dialects.amounts import amounts_in, resource_of

METHODS: Final = {
    Kind.NODES: "UpdateNode",
    Kind.APPLICATIONS: "UpdateApplication",
    Kind.ALLOCATIONS: "UpdateAllocation",
}
UNKNOWN_FIELD_500: Final = b"\xa2\x1f\x03new"  # field 500, length-delimited, "new"
UNDEFINED_ACTION: Final = 99  # no revision defines it


class ThreeStreams:
    """Speaks 2023-04, 2023-08 and 2023-12; what differs is asked of the revision's capabilities."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._si: Any = revision.si
        by_id = revision.can(Capability.IDENTITY_IN_ALLOCATION_ID)
        self._identity = "allocationID" if by_id else "UUID"

    def method(self, kind: Kind) -> str:
        """UpdateNode, UpdateApplication or UpdateAllocation."""
        return METHODS[kind]

    def foreign_method(self) -> str:
        """The one stream of 2021-02."""
        return "Update"

    def registration(self, registration: Registration) -> Message:
        """Carries the queue configuration."""
        request: Message = self._si.RegisterResourceManagerRequest(
            rmID=registration.rm,
            version=registration.version,
            policyGroup=registration.policy_group,
            config=registration.config,
            buildInfo=registration.build_info,
            extraConfig=registration.extra_config,
        )
        return request

    def request(self, kind: Kind, rm_id: str, sayings: Sequence[Saying]) -> Message:
        """One NodeRequest, ApplicationRequest or AllocationRequest."""
        message: Any = {
            Kind.NODES: self._si.NodeRequest,
            Kind.APPLICATIONS: self._si.ApplicationRequest,
            Kind.ALLOCATIONS: self._si.AllocationRequest,
        }[kind](rmID=rm_id)
        for saying in sayings:
            self._add(message, saying)
        request: Message = message
        return request

    def _add(self, message: Any, saying: Saying) -> None:
        match saying:
            case Hello():
                pass
            case NodeSaying():
                message.nodes.append(self._node(saying))
            case ApplicationSaying():
                message.new.append(self._application(saying))
            case ApplicationRemoval():
                message.remove.add(applicationID=saying.application, partitionName=saying.partition)
            case AskSaying(constraint=None, priority_class=""):
                message.asks.append(self._ask(saying))
            case ReleaseSaying():
                message.releases.allocationsToRelease.append(self._release(saying))
            case AskReleaseSaying():
                message.releases.allocationAsksToRelease.add(
                    partitionName=saying.partition,
                    applicationID=saying.application,
                    allocationKey=saying.key,
                    terminationType=self._termination_number(saying.termination),
                )
            case ExistingAllocationSaying():
                message.allocations.append(self._allocation(saying.allocation))
            case _:
                problem = f"SI {self.revision} has no words for {saying}"
                raise LookupError(problem)

    def _node(self, saying: NodeSaying) -> Any:
        node = self._si.NodeInfo(nodeID=saying.node, attributes=saying.attributes)
        if saying.unknown_field:
            node.MergeFromString(UNKNOWN_FIELD_500)
        if saying.action is Action.UNDEFINED:
            node.action = UNDEFINED_ACTION
        else:
            node.action = self._si.NodeInfo.ActionFromRM.Value(saying.action.value)
        if saying.capacity is not None:
            node.schedulableResource.CopyFrom(resource_of(self._si, saying.capacity))
        if saying.occupied is not None:
            node.occupiedResource.CopyFrom(resource_of(self._si, saying.occupied))
        node.existingAllocations.extend(self._allocation(a) for a in saying.existing)
        return node

    def _application(self, saying: ApplicationSaying) -> Any:
        request = self._si.AddApplicationRequest(
            applicationID=saying.application,
            queueName=saying.queue,
            partitionName=saying.partition,
            tags=saying.tags,
            executionTimeoutMilliSeconds=saying.timeout_ms,
            gangSchedulingStyle=saying.gang_style,
        )
        if saying.user is not None:
            request.ugi.user = saying.user
            request.ugi.groups.extend(saying.groups)
        if saying.placeholder_ask is not None:
            request.placeholderAsk.CopyFrom(resource_of(self._si, saying.placeholder_ask))
        return request

    def _ask(self, saying: AskSaying) -> Any:
        ask = self._si.AllocationAsk(
            allocationKey=saying.key,
            applicationID=saying.application,
            partitionName=saying.partition,
            maxAllocations=saying.max_allocations,
            priority=saying.priority,
            executionTimeoutMilliSeconds=saying.timeout_ms,
            tags=saying.tags,
            taskGroupName=saying.task_group,
            placeholder=saying.placeholder,
            Originator=saying.originator,
        )
        if saying.resource is not None:
            ask.resourceAsk.CopyFrom(resource_of(self._si, saying.resource))
        if saying.preemption_policy is not None:
            ask.preemptionPolicy.CopyFrom(self._policy(saying.preemption_policy))
        return ask

    def _allocation(self, allocation: Allocated) -> Any:
        message = self._si.Allocation(
            allocationKey=allocation.key,
            applicationID=allocation.application,
            nodeID=allocation.node,
            partitionName=allocation.partition,
            taskGroupName=allocation.task_group,
            placeholder=allocation.placeholder,
            priority=allocation.priority,
            allocationTags=allocation.tags,
            resourcePerAlloc=resource_of(self._si, allocation.resource),
        )
        setattr(message, self._identity, allocation.identity)
        if self.revision.can(Capability.POLICY_AND_ORIGINATOR_IN_ALLOCATION):
            message.originator = allocation.originator
            if allocation.preemption_policy is not None:
                message.preemptionPolicy.CopyFrom(self._policy(allocation.preemption_policy))
        return message

    def _release(self, saying: ReleaseSaying) -> Any:
        release = self._si.AllocationRelease(
            partitionName=saying.partition,
            applicationID=saying.application,
            allocationKey=saying.key,
            message=saying.message,
            terminationType=self._termination_number(saying.termination),
        )
        setattr(release, self._identity, saying.identity)
        return release

    def _policy(self, policy: PreemptionPolicy) -> Any:
        return self._si.PreemptionPolicy(
            allowPreemptSelf=policy.allow_preempt_self,
            allowPreemptOther=policy.allow_preempt_other,
        )

    def _termination_number(self, termination: Termination) -> int:
        number: int = self._si.TerminationType.Value(termination.value)
        return number

    def response(self, kind: Kind, data: bytes) -> Message:
        """One NodeResponse, ApplicationResponse or AllocationResponse."""
        response: Message = {
            Kind.NODES: self._si.NodeResponse,
            Kind.APPLICATIONS: self._si.ApplicationResponse,
            Kind.ALLOCATIONS: self._si.AllocationResponse,
        }[kind].FromString(data)
        return response

    def facts(self, kind: Kind, message: Message) -> list[Fact]:
        """Rejections and acceptances, updates, new allocations, releases, in field order."""
        response: Any = message
        told: Iterable[Fact]
        match kind:
            case Kind.NODES:
                told = self._node_facts(response)
            case Kind.APPLICATIONS:
                told = self._application_facts(response)
            case Kind.ALLOCATIONS:
                told = self._allocation_facts(response)
        return list(told)

    def _node_facts(self, response: Any) -> Iterable[Fact]:
        for node in response.rejected:
            yield NodeRejected(node.nodeID, node.reason)
        for node in response.accepted:
            yield NodeAccepted(node.nodeID)

    def _application_facts(self, response: Any) -> Iterable[Fact]:
        for app in response.rejected:
            yield ApplicationRejected(app.applicationID, app.reason)
        for app in response.accepted:
            yield ApplicationAccepted(app.applicationID)
        for app in response.updated:
            yield ApplicationUpdated(
                app.applicationID, app.state, app.stateTransitionTimestamp, app.message
            )

    def _allocation_facts(self, response: Any) -> Iterable[Fact]:
        for allocation in response.new:
            yield self._allocated(allocation)
        for release in response.released:
            yield Released(
                key=release.allocationKey,
                application=release.applicationID,
                identity=getattr(release, self._identity),
                termination=self._termination(release.terminationType),
                message=release.message,
                partition=release.partitionName,
            )
        for ask in response.releasedAsks:
            yield AskReleased(
                key=ask.allocationKey,
                application=ask.applicationID,
                termination=self._termination(ask.terminationType),
                message=ask.message,
                partition=ask.partitionName,
            )
        for ask in response.rejected:
            yield AskRejected(ask.allocationKey, ask.applicationID, ask.reason)
        if self.revision.can(Capability.RECOVERY_BY_ALLOCATIONS):
            for rejected in response.rejectedAllocations:
                yield AllocationRejected(
                    rejected.allocationKey, rejected.applicationID, rejected.reason
                )

    def _allocated(self, allocation: Any) -> Allocated:
        policy = None
        originator = False
        if self.revision.can(Capability.POLICY_AND_ORIGINATOR_IN_ALLOCATION):
            originator = allocation.originator
            if allocation.HasField("preemptionPolicy"):
                policy = PreemptionPolicy(
                    allocation.preemptionPolicy.allowPreemptSelf,
                    allocation.preemptionPolicy.allowPreemptOther,
                )
        return Allocated(
            key=allocation.allocationKey,
            application=allocation.applicationID,
            node=allocation.nodeID,
            identity=getattr(allocation, self._identity),
            resource=amounts_in(allocation.resourcePerAlloc),
            task_group=allocation.taskGroupName,
            placeholder=allocation.placeholder,
            priority=allocation.priority,
            priority_class="",
            tags=dict(allocation.allocationTags),
            partition=allocation.partitionName,
            originator=originator,
            preemption_policy=policy,
            queue="",
        )

    def _termination(self, number: int) -> Termination:
        names: Mapping[int, str] = {v: k for k, v in self._si.TerminationType.items()}
        return Termination(names[number]) if number in names else Termination.UNDEFINED
