"""2021-02: one update stream for everything, unlike all later revisions."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from siwire import REVISIONS
from siwire.r2021_02 import si_pb2 as si

from sireference.codec import reading
from sireference.codec.chunks import Elements, in_chunks
from sireference.codec.codec import Codec, Stream
from sireference.codec.policies import Policies
from sireference.codec.r2021_02_constraints import constraint
from sireference.codec.r2021_02_writing import CALLBACKS, SLOTS, TERMINATION_TYPES, expect, refusal
from sireference.codec.subjects import allocations_meant, asks_meant
from sireference.core.model import (
    AllocationRecord,
    Ask,
    AskReleaseRequest,
    Event,
    NewApplication,
    NodeInfo,
    Register,
    ReleaseRequest,
    ReportUtilisation,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
    UtilisationReport,
    partition_name,
)
from sireference.core.states import NodeAction, TerminationType

_UPDATE: Final = "Update"
_GANG_STYLE: Final = "hard"  # the revision has no styles: the application fails (SI-GANG-034)
_COPIED_BY_ASKS: Final = reading.copied(Ask, si.AllocationAsk)
_COPIED_BY_APPLICATIONS: Final = reading.copied(NewApplication, si.AddApplicationRequest)

# The first value gives the meaning of zero
_NODE_ACTIONS: Final = {
    si.UpdateNodeInfo.UPDATE: NodeAction.UPDATE,
    si.UpdateNodeInfo.DRAIN_NODE: NodeAction.DRAIN_NODE,
    si.UpdateNodeInfo.DECOMISSION: NodeAction.DECOMMISSION,
    si.UpdateNodeInfo.DRAIN_TO_SCHEDULABLE: NodeAction.DRAIN_TO_SCHEDULABLE,
}


def registration(message: si.RegisterResourceManagerRequest, policies: Policies) -> Register:
    """Read a registration. Raises NoPolicyError for an unknown policy group."""
    return Register(
        rm_id=message.rmID,
        configuration=policies.configuration(message.policyGroup),
        version=message.version,
        policy_group=message.policyGroup,
    )


def events(message: si.UpdateRequest, policies: Policies) -> Iterator[Event]:
    """Yield the events in one request so that references between elements resolve (SI-CONN-016).

    New applications come first, then nodes, whose existing allocations belong to applications; then
    asks and releases, then reports; removals come last.
    """
    rm_id, releases = message.rmID, message.releases
    read_node, read_ask = partial(new_node, policies), partial(ask, policies)
    kinds = (
        in_chunks(UpdateApplications, rm_id, Elements("new", application, message.newApplications)),
        in_chunks(
            UpdateNodes,
            rm_id,
            Elements("nodes", read_node, message.newSchedulableNodes),
            Elements("nodes", updated_node, message.updatedNodes),
        ),
        in_chunks(
            UpdateAllocations,
            rm_id,
            Elements("asks", read_ask, message.asks),
            Elements("ask_releases", ask_release, releases.allocationAsksToRelease),
            Elements("releases", release, releases.allocationsToRelease),
        ),
        in_chunks(
            ReportUtilisation, rm_id, Elements("reports", report, message.utilizationReports)
        ),
        in_chunks(
            UpdateApplications,
            rm_id,
            Elements("remove", reading.removal, message.removeApplications),
        ),
    )
    states_something = False
    for event in chain.from_iterable(kinds):
        if event != type(event)(rm_id):
            states_something = True
            yield event
    if not states_something:
        yield UpdateAllocations(rm_id)


def application(message: si.AddApplicationRequest) -> NewApplication:
    """Read an AddApplicationRequest."""
    read = reading.completed(reading.application(message), _COPIED_BY_APPLICATIONS, message)
    return replace(read, gang_style=_GANG_STYLE)


def new_node(policies: Policies, message: si.NewNodeInfo) -> NodeInfo:
    """Read a NewNodeInfo: it is created schedulable."""
    existing = (allocation(policies, one) for one in message.existingAllocations)
    return reading.occupied_node(message, NodeAction.CREATE, existing)


def updated_node(message: si.UpdateNodeInfo) -> NodeInfo:
    """Read an UpdateNodeInfo; an unknown action is none."""
    return reading.occupied_node(message, _NODE_ACTIONS.get(message.action, NodeAction.UNSET))


def ask(policies: Policies, message: si.AllocationAsk) -> Ask:
    """Read an AllocationAsk; the placeholder flag counts only with a task group (C-34)."""
    task_group = message.taskGroupName
    priority, priority_class = _priority(policies, message.priority)
    is_constrained = message.HasField("placementConstraint")
    read = Ask(
        key=message.allocationKey,
        application_id=message.applicationID,
        partition=partition_name(message.partitionName),
        resource=reading.resource(message.resourceAsk),
        max_allocations=message.maxAllocations,
        priority=priority,
        priority_class=priority_class,
        tags=reading.strings(message.tags),
        task_group=task_group,
        placeholder=message.placeholder and task_group != "",
        constraint=constraint(message.placementConstraint) if is_constrained else None,
    )
    return reading.completed(read, _COPIED_BY_ASKS, message)


def allocation(policies: Policies, message: si.Allocation) -> AllocationRecord:
    """Read an existing Allocation, with an equivalent ask.

    Its queue is that of its application, not the one in the message.
    """
    priority, priority_class = _priority(policies, message.priority)
    of_it = Ask(
        key=message.allocationKey,
        application_id=message.applicationID,
        partition=partition_name(message.partitionName),
        resource=reading.resource(message.resourcePerAlloc),
        priority=priority,
        priority_class=priority_class,
        tags=reading.strings(message.allocationTags),
        task_group=message.taskGroupName,
        placeholder=message.placeholder and message.taskGroupName != "",
    )
    return AllocationRecord(message.UUID, of_it, message.nodeID)


def _priority(policies: Policies, message: si.Priority) -> tuple[int, str]:
    """Read a Priority: a number, or a name with a number configured by the operator."""
    if message.WhichOneof("priority") != "priorityClassName":
        return message.priorityValue, ""
    name = message.priorityClassName
    return policies.priority(name), name


def release(message: si.AllocationRelease) -> ReleaseRequest:
    """Read an AllocationRelease; without a type it is a stop by the RM (SI-REL-006)."""
    given = message.terminationType
    return ReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=allocations_meant(message.applicationID, message.UUID),
        termination=TERMINATION_TYPES.get(given, TerminationType.UNRECOGNISED),
        message=message.message,
    )


def ask_release(message: si.AllocationAskRelease) -> AskReleaseRequest:
    """Read an AllocationAskRelease, which has no type: the RM withdraws the ask.

    If it confirms a release by the scheduler, the ask is already gone and nothing is left to do.
    """
    return AskReleaseRequest(
        partition=partition_name(message.partitionName),
        subject=asks_meant(message.applicationID, message.allocationkey),
        termination=TerminationType.STOPPED_BY_RM,
        message=message.message,
    )


def report(message: si.UtilizationReport) -> UtilisationReport:
    """Read a UtilizationReport."""
    return UtilisationReport(message.ID, reading.resource(message.actualUsedResource))


CODEC: Final = Codec(
    revision=REVISIONS["2021-02"],
    registration=registration,
    streams={_UPDATE: Stream(events, si.UpdateResponse, SLOTS, expect)},
    callbacks=CALLBACKS,
    refusal=refusal,
)
