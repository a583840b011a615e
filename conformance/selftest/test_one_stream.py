"""The dialect of 2021-02: requests match its schema, and responses become facts."""

from typing import Any

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import NotForThisTarget
from siconform.protocol.constraints import Affinity, Constraint, Operator, where
from siconform.protocol.matchers import UNSUPPORTED
from siconform.protocol.notifications import (
    AskReleased,
    NodeAccepted,
    NodeRecommended,
    Nothing,
    RegistrationWanted,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import (
    UNUSABLE,
    policy_groups,
    queues,
    queues_without_limits,
)
from siconform.protocol.requests import (
    Action,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.rm.resource_manager import ResourceManager
from siconform.transport.dialects import dialect_for
from siwire import find_revision
from siwire.r2021_02 import si_pb2

from .resource_managers import RecordingConnection, rm_on

REVISION = find_revision("2021-02")
DIALECT = dialect_for(REVISION)
TIMEOUT = si_pb2.AllocationRelease.TIMEOUT


@pytest.fixture
def connection() -> RecordingConnection:
    return RecordingConnection(REVISION, UpdateKind.NODES)


@pytest.fixture
def rm(connection: RecordingConnection) -> ResourceManager:
    return rm_on(connection, Deadlines())


def encoded(*requests: Request) -> si_pb2.UpdateRequest:
    """Return what a peer with the original schema reads."""
    request = DIALECT.request(UpdateKind.NODES, "rm", requests)
    return si_pb2.UpdateRequest.FromString(request.SerializeToString())


def received(response: si_pb2.UpdateResponse) -> list[Any]:
    data = response.SerializeToString()
    return list(DIALECT.facts(UpdateKind.NODES, DIALECT.response(UpdateKind.NODES, data)))


def test_node_creation_and_update_are_two_messages() -> None:
    request = encoded(NodeRequest("new", Action.CREATE), NodeRequest("old", Action.DRAIN))

    assert [node.nodeID for node in request.newSchedulableNodes] == ["new"]
    assert [node.nodeID for node in request.updatedNodes] == ["old"]
    assert request.updatedNodes[0].action == si_pb2.UpdateNodeInfo.DRAIN_NODE


def test_termination_types_match_revision() -> None:
    release = ReleaseRequest(OneAllocation("a", "id"), Termination.PLACEHOLDER_REPLACED)

    (read,) = encoded(release).releases.allocationsToRelease

    assert read.terminationType == si_pb2.AllocationRelease.PLACEHOLDER_REPLACED
    assert read.UUID == "id"


@pytest.mark.parametrize(
    ("operator", "on_the_wire"),  # field, wire type, number
    [
        (Operator.IN, []),
        (Operator.NOT_IN, [(1, 0, 1)]),
        (Operator.EXIST, [(1, 0, 2)]),
        (Operator.NOT_EXIST, [(1, 0, 3)]),
    ],
)
def test_operator_is_sent_as_number(
    operator: Operator, on_the_wire: list[tuple[int, int, int]]
) -> None:
    constraint = Constraint((where("zone", "a", "b", operator=operator),))

    (ask,) = encoded(AskRequest("k", "a", "default", {}, constraint=constraint)).asks

    simple = ask.placementConstraint.simpleConstraint
    (expression,) = simple.nodeAffinityConstraint.targetExpressions
    assert (expression.targetKey, list(expression.targetValues)) == ("zone", ["a", "b"])
    unknown: Any = UnknownFieldSet(expression)
    assert [(one.field_number, one.wire_type, one.data) for one in unknown] == on_the_wire
    assert not expression.HasField("targetOperator")


def test_operator_can_be_empty_message() -> None:
    constraint = Constraint((where("zone", "a", operator=Operator.EMPTY),))

    (ask,) = encoded(AskRequest("k", "a", "default", {}, constraint=constraint)).asks

    simple = ask.placementConstraint.simpleConstraint
    (expression,) = simple.nodeAffinityConstraint.targetExpressions
    assert expression.HasField("targetOperator")
    assert expression.targetOperator == si_pb2.AffinityTargetExpression()


def test_allocation_constraints_are_sent() -> None:
    affinity = Affinity("zone", (where("app", "x"),), at_least=2, at_most=3, required=True)

    (ask,) = encoded(
        AskRequest("k", "a", "default", {}, constraint=Constraint(others=affinity))
    ).asks

    simple = ask.placementConstraint.simpleConstraint
    read = simple.allocationAffinityAttribute
    assert not simple.HasField("nodeAffinityConstraint")
    assert (read.scope, read.minCardinality, read.maxCardinality, read.required) == (
        "zone",
        2,
        3,
        True,
    )
    assert [one.targetKey for one in read.tragetExpressions] == ["app"]


def test_both_priority_members_can_be_sent() -> None:
    request = AskRequest("k", "a", "default", {}, priority=7, priority_class="gold")

    data = DIALECT.request(UpdateKind.ALLOCATIONS, "", [request]).SerializeToString()

    assert b"\x32\x08\x08\x07\x12\x04gold" in data  # field 6, of 8 bytes: 1 is 7, 2 is "gold"
    assert encoded(request).asks[0].priority.WhichOneof("priority") == "priorityClassName"


@pytest.mark.parametrize(("number", "name"), [(0, ""), (7, ""), (0, "gold")])
def test_priority_has_at_most_one_member(number: int, name: str) -> None:
    request = AskRequest("k", "a", "default", {}, priority=number, priority_class=name)

    (ask,) = encoded(request).asks

    assert ask.HasField("priority") is bool(number or name)
    assert (ask.priority.priorityValue, ask.priority.priorityClassName) == (number, name)


def test_every_part_of_response_is_reported() -> None:
    release = si_pb2.AllocationRelease(UUID="id", terminationType=TIMEOUT)
    node = si_pb2.NodeRecommendation(message="more")
    node.recommendedSchedulableResource.resources["memory"].value = 5
    response = si_pb2.UpdateResponse(
        action=si_pb2.UpdateResponse.RESYNC,
        acceptedNodes=[si_pb2.AcceptedNode(nodeID="n")],
        releasedAllocations=[release],
        nodeRecommendations=[node],
    )

    assert received(response) == [
        RegistrationWanted(),
        NodeAccepted("n"),
        Released(UNSUPPORTED, "", "id", Termination.TIMEOUT, "", ""),
        NodeRecommended({"memory": 5}, "more"),
    ]


def test_release_without_key_matches_any_key() -> None:
    (fact,) = received(si_pb2.UpdateResponse(releasedAllocations=[si_pb2.AllocationRelease()]))

    assert Released(key="k", termination=Termination.STOPPED_BY_RM).matches(fact)
    assert not Released(key="k", identity="id").matches(fact)


def test_stream_end_ends_all_conversations(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    connection.ends()

    for kind in UpdateKind:
        rm.expect(StreamEnded(kind, status="UNAVAILABLE"))


def test_empty_response_is_one_element(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    connection.receives(si_pb2.UpdateResponse())

    assert [entry.content for entry in rm.exchange.entries()] == [Nothing(UpdateKind.NODES)]


def test_joint_requests_share_one_message(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    with rm.one_message():
        rm.registers_node()
        rm.submits_application()
        rm.asks("a")

    (request,) = connection.messages
    assert [request.kind for request in request] == list(UpdateKind)


def test_scheduler_ask_release_is_confirmed(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    connection.receives(ask_released())

    rm.expect(AskReleased("k", termination=Termination.TIMEOUT))
    confirmation = AskReleaseRequest(OneAsk("a", "k"), "default")  # it has no type in 2021-02
    assert connection.messages == [[confirmation]]


def test_confirmation_of_withdrawal_is_not_confirmed(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    withdrawal = AskReleaseRequest(OneAsk("a", "k"), "default")
    connection.history.add("rm", [withdrawal], sent_by_rm=True)

    connection.receives(ask_released())

    rm.expect(AskReleased("k"))
    assert connection.requests == []


def ask_released() -> si_pb2.UpdateResponse:
    release = si_pb2.AllocationAskRelease(
        partitionName="default", applicationID="a", allocationkey="k"
    )
    return si_pb2.UpdateResponse(releasedAllocationAsks=[release])


def test_registration_names_policy_group() -> None:
    registration = Registration("rm", "2021-02", "only-first", queues("only-first"))

    data = DIALECT.registration(registration).SerializeToString()

    read = si_pb2.RegisterResourceManagerRequest.FromString(data)
    assert (read.rmID, read.version, read.policyGroup) == ("rm", "2021-02", "only-first")
    assert not list(UnknownFieldSet(read))  # type: ignore[call-overload]  # it has no stubs


def test_configuration_without_group_is_rejected() -> None:
    with pytest.raises(NotForThisTarget, match="no way to send queues"):
        DIALECT.registration(Registration("rm", "", "conformance", queues_without_limits("a")))


def test_policy_groups_have_files() -> None:
    groups = policy_groups()

    assert "conformance" in groups
    assert all(file.is_file() for file in groups.values())
    assert {queues(name).policy_group for name in groups if name != "conformance"} == (
        set(groups) - {"conformance"}
    )
    assert UNUSABLE.policy_group not in groups
