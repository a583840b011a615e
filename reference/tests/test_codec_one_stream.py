"""Codec of 2021-02: every field of every request."""

from typing import Any

import pytest
from sireference.codec import NoPolicyError, Policies, codec_for
from sireference.configuration.parsing import parse_configuration
from sireference.core import model
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from siwire import REVISIONS
from siwire.r2021_02 import si_pb2 as si
from tests.coding import resource

REVISION = REVISIONS["2021-02"]
CODEC = codec_for(REVISION)
OPERATOR = b"\x08"  # field 1 as a varint, which is what the specification means


def read(**fields: Any) -> list[Any]:
    return list(CODEC.events("Update", si.UpdateRequest(rmID="rm", **fields)))


def read_ask(**fields: Any) -> model.Ask:
    ((ask,),) = (event.asks for event in read(asks=[si.AllocationAsk(**fields)]))
    assert isinstance(ask, model.Ask)
    return ask


def test_registration_names_its_policy_group() -> None:
    queues = parse_configuration("partitions: [{name: p, queues: [{name: root}]}]")
    codec = codec_for(REVISION, Policies(groups={"pg": queues}))

    event = codec.register(
        si.RegisterResourceManagerRequest(rmID="rm", version="v", policyGroup="pg")
    )

    assert event == model.Register("rm", queues, "v", "pg")


# requirement: SI-REG-002, SI-REG-012
def test_unknown_policy_group_is_refused_once_groups_are_configured() -> None:
    queues = parse_configuration("partitions: [{name: p, queues: [{name: root}]}]")
    grouped, ungrouped = Policies(groups={"pg": queues}), Policies(default=queues)

    with pytest.raises(NoPolicyError, match="'other' is not configured"):
        grouped.configuration("other")
    assert grouped.configuration("") == Policies().default
    assert grouped.configuration("other", sent="partitions: [{name: q, queues: [{name: root}]}]")
    assert ungrouped.configuration("other") is ungrouped.configuration("") is queues


CONSTRAINT = si.PlacementConstraint(
    simpleConstraint=si.SimplePlacementConstraint(
        nodeAffinityConstraint=si.NodeAffinityConstraints(
            targetExpressions=[
                si.AffinityTargetExpression(targetKey="zone", targetValues=["a", "b"])
            ]
        ),
        allocationAffinityAttribute=si.AllocationAffinityConstraints(
            scope="si/hostname",
            tragetExpressions=[si.AffinityTargetExpression(targetKey="app", targetValues=["x"])],
            minCardinality=1,
            maxCardinality=3,
            required=True,
        ),
    )
)


def test_ask_fields_are_read() -> None:
    ask = read_ask(
        allocationKey="k",
        applicationID="a",
        partitionName="p",
        resourceAsk=resource(si, memory=-5, gpu=0),
        maxAllocations=-3,
        priority=si.Priority(priorityValue=-7),
        executionTimeoutMilliSeconds=1500,
        tags={"t": "v"},
        placementConstraint=CONSTRAINT,
        taskGroupName="tg",
        placeholder=True,
    )

    assert ask == model.Ask(
        key="k",
        application_id="a",
        partition="p",
        resource=Resource({"memory": -5, "gpu": 0}),
        max_allocations=-3,
        priority=-7,
        execution_timeout=1.5,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
        constraint=PlacementConstraint(
            node=(TargetExpression("zone", TargetOperator.IN, frozenset({"a", "b"})),),
            affinity=AllocationAffinity(
                "si/hostname",
                (TargetExpression("app", TargetOperator.IN, frozenset({"x"})),),
                min_cardinality=1,
                max_cardinality=3,
                required=True,
            ),
        ),
    )


def test_empty_ask_has_default_values() -> None:
    assert read_ask() == model.Ask("", "", "default", max_allocations=0)


# requirement: SI-GANG-028
def test_placeholder_without_group_is_a_normal_ask() -> None:
    old = si.Allocation(placeholder=True)
    ((node,),) = (
        event.nodes
        for event in read(newSchedulableNodes=[si.NewNodeInfo(existingAllocations=[old])])
    )

    assert not read_ask(placeholder=True).placeholder
    assert not node.allocations[0].ask.placeholder


# requirement: SI-WIRE-012, SI-ASK-013
def test_priority_is_a_number_or_a_name_with_a_number() -> None:
    codec = codec_for(REVISION, Policies(priority_classes={"high": 9}))
    priorities = [
        si.Priority(),
        si.Priority(priorityValue=3),
        si.Priority(priorityClassName="high"),
        si.Priority(priorityClassName="no-such-class"),
        si.Priority.FromString(b"\x12\x04high" + b"\x08\x05"),  # both: the last one wins
        si.Priority.FromString(b"\x08\x05" + b"\x12\x04high"),
    ]
    request = si.UpdateRequest(asks=[si.AllocationAsk(priority=one) for one in priorities])

    (event,) = codec.events("Update", request)

    assert isinstance(event, model.UpdateAllocations)
    assert [(ask.priority, ask.priority_class) for ask in event.asks] == [
        (0, ""),
        (3, ""),
        (9, "high"),
        (0, "no-such-class"),
        (5, ""),
        (9, "high"),
    ]


# requirement: SI-PLACE-002, SI-PLACE-003, SI-PLACE-004
@pytest.mark.parametrize(
    ("prefix", "operator"),
    [
        (b"", TargetOperator.IN),
        (b"\x0a\x00", TargetOperator.IN),  # as the specification declares it: a message, and empty
        (OPERATOR + b"\x00", TargetOperator.IN),
        (OPERATOR + b"\x01", TargetOperator.NOT_IN),
        (OPERATOR + b"\x02", TargetOperator.EXIST),
        (OPERATOR + b"\x03", TargetOperator.NOT_EXIST),
        (OPERATOR + b"\x04", TargetOperator.UNRECOGNISED),
        (OPERATOR + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", TargetOperator.UNRECOGNISED),
        (OPERATOR + b"\x01" + OPERATOR + b"\x02", TargetOperator.EXIST),
        (b"\x0a\x00" + OPERATOR + b"\x01", TargetOperator.NOT_IN),
        (b"\x20\x01", TargetOperator.IN),  # another unknown field
        (b"\x0d\x01\x00\x00\x00", TargetOperator.IN),  # another wire type
    ],
)
def test_operator_is_read_from_the_corrected_field(prefix: bytes, operator: TargetOperator) -> None:
    expression = si.AffinityTargetExpression.FromString(prefix + b"\x12\x01k")
    simple = si.SimplePlacementConstraint(
        nodeAffinityConstraint=si.NodeAffinityConstraints(targetExpressions=[expression])
    )

    ask = read_ask(placementConstraint=si.PlacementConstraint(simpleConstraint=simple))

    assert ask.constraint == PlacementConstraint((TargetExpression("k", operator),))


def test_empty_constraint_is_no_constraint() -> None:
    empty = si.PlacementConstraint()
    hollow = si.PlacementConstraint(
        simpleConstraint=si.SimplePlacementConstraint(
            nodeAffinityConstraint=si.NodeAffinityConstraints()
        )
    )

    assert read_ask(placementConstraint=empty).constraint is None
    assert read_ask(placementConstraint=hollow).constraint is None


def test_zero_maximum_is_no_limit() -> None:
    simple = si.SimplePlacementConstraint(
        allocationAffinityAttribute=si.AllocationAffinityConstraints(scope="s")
    )

    ask = read_ask(placementConstraint=si.PlacementConstraint(simpleConstraint=simple))

    assert ask.constraint == PlacementConstraint(affinity=AllocationAffinity("s"))
    assert ask.constraint.affinity is not None
    assert ask.constraint.affinity.max_cardinality is None


def test_application_fields_are_read_and_its_gang_style_is_hard() -> None:
    message = si.AddApplicationRequest(
        applicationID="a",
        queueName="q",
        partitionName="p",
        ugi=si.UserGroupInformation(user="u", groups=["g", "h"]),
        tags={"t": "v"},
        executionTimeoutMilliSeconds=-1,
        placeholderAsk=resource(si, memory=3),
    )
    removal = si.RemoveApplicationRequest(applicationID="b", partitionName="p")

    came, went = read(newApplications=[message], removeApplications=[removal])

    assert came.new == (
        model.NewApplication(
            application_id="a",
            queue="q",
            partition="p",
            user="u",
            groups=("g", "h"),
            tags={"t": "v"},
            execution_timeout=-0.001,
            placeholder_ask=Resource({"memory": 3}),
            gang_style="hard",
        ),
    )
    assert went.remove == (model.RemoveApplication("b", "p"),)
    (plain,) = read(newApplications=[si.AddApplicationRequest()])
    assert plain.new == (model.NewApplication("", gang_style="hard"),)


def test_new_node_is_created_with_its_existing_allocations() -> None:
    old = si.Allocation(
        allocationKey="k",
        allocationTags={"t": "v"},
        UUID="id",
        resourcePerAlloc=resource(si, memory=2),
        priority=si.Priority(priorityValue=4),
        queueName="somewhere",
        nodeID="n",
        applicationID="a",
        partitionName="p",
        taskGroupName="tg",
        placeholder=True,
    )
    message = si.NewNodeInfo(
        nodeID="n",
        attributes={"si/node-partition": "p"},
        schedulableResource=resource(si, memory=9),
        occupiedResource=resource(si, memory=1),
        existingAllocations=[old],
    )

    ((node,),) = (event.nodes for event in read(newSchedulableNodes=[message]))

    ask = model.Ask(
        "k",
        "a",
        "p",
        resource=Resource({"memory": 2}),
        priority=4,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
    )
    assert node == model.NodeInfo(
        "n",
        NodeAction.CREATE,
        "p",
        {"si/node-partition": "p"},
        Resource({"memory": 9}),
        Resource({"memory": 1}),
        (model.AllocationRecord("id", ask, "n"),),
    )


# requirement: SI-WIRE-009, SI-WIRE-011
def test_node_actions_have_their_own_numbers() -> None:
    actions: list[Any] = [None, 0, 1, 2, 3, 4, 9, -1]
    messages = [si.UpdateNodeInfo(nodeID="n", action=action) for action in actions]

    (event,) = read(updatedNodes=messages)

    assert [node.action for node in event.nodes] == [
        NodeAction.UPDATE,
        NodeAction.UPDATE,
        NodeAction.DRAIN_NODE,
        NodeAction.DECOMMISSION,
        NodeAction.DRAIN_TO_SCHEDULABLE,
        NodeAction.UNSET,
        NodeAction.UNSET,
        NodeAction.UNSET,
    ]
    assert event.nodes[0].capacity is None


# requirement: SI-WIRE-009, SI-REL-006
def test_termination_types_have_their_own_numbers() -> None:
    types: list[Any] = [None, 0, 1, 2, 3, 4, -1]
    messages = [si.AllocationRelease(terminationType=kind) for kind in types]
    request = si.AllocationReleasesRequest(allocationsToRelease=messages)

    (event,) = read(releases=request)

    assert [release.termination for release in event.releases] == [
        TerminationType.STOPPED_BY_RM,
        TerminationType.STOPPED_BY_RM,
        TerminationType.TIMEOUT,
        TerminationType.PREEMPTED_BY_SCHEDULER,
        TerminationType.PLACEHOLDER_REPLACED,
        TerminationType.UNRECOGNISED,
        TerminationType.UNRECOGNISED,
    ]


def test_release_fields_are_read() -> None:
    release = si.AllocationRelease(
        partitionName="p",
        applicationID="a",
        UUID="id",
        terminationType=si.AllocationRelease.TIMEOUT,
        message="m",
    )
    withdrawal = si.AllocationAskRelease(
        partitionName="p", applicationID="a", allocationkey="k", message="m"
    )
    request = si.AllocationReleasesRequest(
        allocationsToRelease=[release], allocationAsksToRelease=[withdrawal]
    )

    (event,) = read(releases=request)

    stopped, timeout = TerminationType.STOPPED_BY_RM, TerminationType.TIMEOUT
    assert event.releases == (
        model.ReleaseRequest("p", model.OneAllocation("a", "id"), timeout, "m"),
    )
    assert event.ask_releases == (
        model.AskReleaseRequest("p", model.OneOfKey("a", "k"), stopped, "m"),
    )


def test_utilisation_is_read() -> None:
    report = si.UtilizationReport(ID="n", actualUsedResource=resource(si, memory=2))

    (event,) = read(utilizationReports=[report])

    reports = (model.UtilisationReport("n", Resource({"memory": 2})),)
    assert event == model.ReportUtilisation("rm", reports)


# requirement: SI-CONN-016
def test_parts_of_a_request_are_read_in_dependency_order() -> None:
    events = read(
        asks=[si.AllocationAsk()],
        releases=si.AllocationReleasesRequest(),
        newSchedulableNodes=[si.NewNodeInfo(nodeID="new")],
        updatedNodes=[si.UpdateNodeInfo(nodeID="old")],
        utilizationReports=[si.UtilizationReport()],
        newApplications=[si.AddApplicationRequest()],
        removeApplications=[si.RemoveApplicationRequest()],
    )

    assert [type(event) for event in events] == [
        model.UpdateApplications,
        model.UpdateNodes,
        model.UpdateAllocations,
        model.ReportUtilisation,
        model.UpdateApplications,
    ]
    assert [node.node_id for node in events[1].nodes] == ["new", "old"]
    assert (len(events[0].new), len(events[0].remove)) == (1, 0)
    assert {event.rm_id for event in events} == {"rm"}


def test_empty_request_is_an_event_of_its_rm() -> None:
    assert read() == [model.UpdateAllocations("rm")]
