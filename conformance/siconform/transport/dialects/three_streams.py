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
    NodeAccepted,
    NodeRejected,
    PreemptionPolicy,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    Request,
    StreamOpening,
)
from siconform.transport.dialects.amounts import amounts_in, resource_of

METHODS: Final = {
    UpdateKind.NODES: "UpdateNode",
    UpdateKind.APPLICATIONS: "UpdateApplication",
    UpdateKind.ALLOCATIONS: "UpdateAllocation",
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

    def method(self, kind: UpdateKind) -> str:
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

    def request(self, kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """One NodeRequest, ApplicationRequest or AllocationRequest."""
        message: Any = {
            UpdateKind.NODES: self._si.NodeRequest,
            UpdateKind.APPLICATIONS: self._si.ApplicationRequest,
            UpdateKind.ALLOCATIONS: self._si.AllocationRequest,
        }[kind](rmID=rm_id)
        for said in requests:
            self._add(message, said)
        request: Message = message
        return request

    def _add(self, message: Any, said: Request) -> None:
        match said:
            case StreamOpening():
                pass
            case NodeRequest():
                message.nodes.append(self._node(said))
            case ApplicationRequest():
                message.new.append(self._application(said))
            case ApplicationRemoval():
                message.remove.add(applicationID=said.application, partitionName=said.partition)
            case AskRequest(constraint=None, priority_class=""):
                message.asks.append(self._ask(said))
            case ReleaseRequest():
                message.releases.allocationsToRelease.append(self._release(said))
            case AskReleaseRequest():
                message.releases.allocationAsksToRelease.add(
                    partitionName=said.partition,
                    applicationID=said.application,
                    allocationKey=said.key,
                    terminationType=self._termination_number(said.termination),
                )
            case ExistingAllocationRequest():
                message.allocations.append(self._allocation(said.allocation))
            case _:
                problem = f"SI {self.revision} has no words for {said}"
                raise LookupError(problem)

    def _node(self, said: NodeRequest) -> Any:
        node = self._si.NodeInfo(nodeID=said.node, attributes=said.attributes)
        if said.unknown_field:
            node.MergeFromString(UNKNOWN_FIELD_500)
        if said.action is Action.UNDEFINED:
            node.action = UNDEFINED_ACTION
        else:
            node.action = self._si.NodeInfo.ActionFromRM.Value(said.action.value)
        if said.capacity is not None:
            node.schedulableResource.CopyFrom(resource_of(self._si, said.capacity))
        if said.occupied is not None:
            node.occupiedResource.CopyFrom(resource_of(self._si, said.occupied))
        node.existingAllocations.extend(self._allocation(a) for a in said.existing)
        return node

    def _application(self, said: ApplicationRequest) -> Any:
        request = self._si.AddApplicationRequest(
            applicationID=said.application,
            queueName=said.queue,
            partitionName=said.partition,
            tags=said.tags,
            executionTimeoutMilliSeconds=said.timeout_ms,
            gangSchedulingStyle=said.gang_style,
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
            priority=said.priority,
            executionTimeoutMilliSeconds=said.timeout_ms,
            tags=said.tags,
            taskGroupName=said.task_group,
            placeholder=said.placeholder,
            Originator=said.originator,
        )
        if said.resource is not None:
            ask.resourceAsk.CopyFrom(resource_of(self._si, said.resource))
        if said.preemption_policy is not None:
            ask.preemptionPolicy.CopyFrom(self._policy(said.preemption_policy))
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

    def _release(self, said: ReleaseRequest) -> Any:
        release = self._si.AllocationRelease(
            partitionName=said.partition,
            applicationID=said.application,
            allocationKey=said.key,
            message=said.message,
            terminationType=self._termination_number(said.termination),
        )
        setattr(release, self._identity, said.identity)
        return release

    def _policy(self, policy: PreemptionPolicy) -> Any:
        return self._si.PreemptionPolicy(
            allowPreemptSelf=policy.allow_preempt_self,
            allowPreemptOther=policy.allow_preempt_other,
        )

    def _termination_number(self, termination: Termination) -> int:
        number: int = self._si.TerminationType.Value(termination.value)
        return number

    def response(self, kind: UpdateKind, data: bytes) -> Message:
        """One NodeResponse, ApplicationResponse or AllocationResponse."""
        response: Message = {
            UpdateKind.NODES: self._si.NodeResponse,
            UpdateKind.APPLICATIONS: self._si.ApplicationResponse,
            UpdateKind.ALLOCATIONS: self._si.AllocationResponse,
        }[kind].FromString(data)
        return response

    def facts(self, kind: UpdateKind, message: Message) -> list[Fact]:
        """Rejections and acceptances, updates, new allocations, releases, in field order."""
        response: Any = message
        told: Iterable[Fact]
        match kind:
            case UpdateKind.NODES:
                told = self._node_facts(response)
            case UpdateKind.APPLICATIONS:
                told = self._application_facts(response)
            case UpdateKind.ALLOCATIONS:
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
