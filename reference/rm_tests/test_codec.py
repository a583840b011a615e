"""Codecs: every update as bytes of its revision, and every response as events."""

from typing import Any

import pytest
from sirm.codec import codec_for
from sirm.codec.codec import Codec, Identity
from sirm.core import model as m
from siwire import REVISIONS, Capability

CODECS = [codec_for(revision) for revision in REVISIONS.values()]
NEW = [codec for codec in CODECS if not codec.revision.can(Capability.ASKS_APART)]
OLD = [codec for codec in CODECS if codec.revision.can(Capability.ASKS_APART)]
STREAMED = [codec for codec in OLD if codec.revision.can(Capability.THREE_UPDATE_STREAMS)]
OLDEST = codec_for(REVISIONS["2021-02"])

CONTAINER = m.ContainerRecord(
    key="k1",
    application_id="a1",
    resource={"memory": 3},
    tags={"d/label/x": "y"},
    priority=5,
    task_group="w",
    placeholder=True,
    originator=True,
)
EXISTING = m.ReportAllocation(CONTAINER, "n1", "u1")
IDENTITY = {"2021-02": "UUID", "2023-04": "UUID", "2023-08": "UUID", "2023-12": "allocationID"}


def by_name(codec: Codec) -> str:
    return codec.revision.name


def written(codec: Codec, *updates: m.Update) -> list[Any]:
    return [message for _, message in codec.requests(updates, "rm1")]


def updates(codec: Codec) -> list[m.Update]:
    """Return one update of every kind the revision has."""
    release = m.Release("a1", "k1", "u1", m.Termination.STOPPED_BY_RM)
    common: list[m.Update] = [
        m.ReportNode("n1", m.NodeAction.CREATE, {"x": "y"}, {"memory": 1}),
        m.AddApplication("a1", "root.default", "alice", {"memory": 4}, 2.0, "Soft"),
        m.RequestAllocation(CONTAINER),
        release,
        m.RemoveApplication("a1"),
    ]
    others = (EXISTING, m.ReportForeign("f", "n1", {"memory": 1}, is_static=True))
    return common + [one for one in others if type(one) in codec.writers]


# requirement: SI-CONN-020
@pytest.mark.parametrize("codec", CODECS, ids=by_name)
def test_every_request_carries_the_rm_id(codec: Codec) -> None:
    messages = written(codec, *updates(codec)) + [codec.opening(s, "rm1") for s in codec.readers]

    assert {message.rmID for message in messages} == {"rm1"}


# requirement: SI-WIRE-006, SI-WIRE-008, SI-WIRE-017
@pytest.mark.parametrize("codec", CODECS, ids=by_name)
def test_messages_are_those_of_the_revision(codec: Codec) -> None:
    for message in written(codec, *updates(codec)):
        read = type(message).FromString(message.SerializeToString())
        assert read == message
        assert message.DESCRIPTOR.file.pool is codec.revision.si.POOL


# requirement: SI-REG-010
@pytest.mark.parametrize("codec", CODECS, ids=by_name)
def test_every_instance_registers_under_the_same_id(codec: Codec) -> None:
    messages: list[Any] = [codec.register(Identity("rm1", "g", "c", n)) for n in (1, 2)]

    assert [(one.rmID, one.policyGroup) for one in messages] == [("rm1", "g"), ("rm1", "g")]


@pytest.mark.parametrize("codec", NEW, ids=by_name)
def test_requests_and_allocations_share_a_message(codec: Codec) -> None:
    (message,) = written(codec, m.RequestAllocation(CONTAINER), EXISTING)

    request, existing = message.allocations
    assert (request.nodeID, existing.nodeID) == ("", "n1")
    existing.nodeID = ""
    assert request == existing
    assert (request.priority, request.taskGroupName, request.placeholder) == (5, "w", True)
    assert (request.originator, dict(request.allocationTags)) == (True, {"d/label/x": "y"})


# requirement: SI-FOR-011
@pytest.mark.parametrize("codec", NEW, ids=by_name)
@pytest.mark.parametrize(("is_static", "tag"), [(True, "static"), (False, "default")])
def test_a_foreign_allocation_has_the_tag_and_no_application(
    codec: Codec,
    is_static: bool,  # noqa: FBT001  # a parameter
    tag: str,
) -> None:
    (message,) = written(codec, m.ReportForeign("f", "n1", {"memory": 1}, is_static=is_static))

    (foreign,) = message.allocations
    assert (dict(foreign.allocationTags), foreign.applicationID) == ({"foreign": tag}, "")


# requirement: SI-GANG-029
@pytest.mark.parametrize("codec", OLD, ids=by_name)
def test_an_ask_is_for_one_allocation(codec: Codec) -> None:
    (message,) = written(codec, m.RequestAllocation(CONTAINER))

    (ask,) = message.asks
    assert (ask.maxAllocations, ask.taskGroupName, ask.placeholder) == (1, "w", True)
    assert ask.resourceAsk.resources["memory"].value == 3


# requirement: SI-REL-020
@pytest.mark.parametrize("codec", OLD, ids=by_name)
def test_the_release_of_an_ask_names_partition_application_and_key(codec: Codec) -> None:
    (message,) = written(codec, m.Release("a1", "k1", "", m.Termination.TIMEOUT))

    (release,) = message.releases.allocationAsksToRelease
    key = release.allocationkey if codec is OLDEST else release.allocationKey
    assert (release.partitionName, release.applicationID, key) == ("default", "a1", "k1")


# requirement: SI-WIRE-009, SI-WIRE-010
@pytest.mark.parametrize("codec", CODECS, ids=by_name)
@pytest.mark.parametrize("why", [one for one in m.Termination if one is not m.Termination.UNSET])
def test_a_release_has_its_type_in_both_directions(codec: Codec, why: m.Termination) -> None:
    (message,) = written(codec, m.Release("a1", "k1", "u1", why))
    (release,) = message.releases.allocationsToRelease
    number = list(m.Termination).index(why) - (codec is OLDEST)

    assert release.terminationType == number
    assert [one.termination for one in answered(codec, number)] == [why]


def answered(codec: Codec, number: int) -> list[m.Released]:
    """Return the events of a released allocation of this type."""
    method, is_oldest = list(codec.readers)[-1], codec is OLDEST
    response: Any = getattr(
        codec.revision.si, "UpdateResponse" if is_oldest else "AllocationResponse"
    )()
    released = response.releasedAllocations if is_oldest else response.released
    subject = {IDENTITY.get(codec.revision.name, "allocationKey"): "u1"}
    released.add(applicationID="a1", terminationType=number, **subject)
    return [one for one in codec.events(method, response) if isinstance(one, m.Released)]


# requirement: SI-REC-018, SI-REC-010
@pytest.mark.parametrize("codec", OLD, ids=by_name)
def test_an_existing_allocation_repeats_its_fields_up_to_2023_12(codec: Codec) -> None:
    with_node = codec.rules.allocations_with_node
    node = m.ReportNode("n1", m.NodeAction.CREATE, {}, {}, (EXISTING,))
    (message,) = written(codec, node if with_node else EXISTING)
    nodes: Any = message.newSchedulableNodes if codec is OLDEST else getattr(message, "nodes", None)
    (found,) = nodes[0].existingAllocations if with_node else message.allocations

    assert (found.allocationKey, found.applicationID, found.nodeID) == ("k1", "a1", "n1")
    assert getattr(found, IDENTITY[codec.revision.name]) == "u1"
    assert (found.taskGroupName, found.placeholder) == ("w", True)
    assert (found.priority.priorityValue if codec is OLDEST else found.priority) == 5
    assert dict(found.allocationTags) == {"d/label/x": "y"}


@pytest.mark.parametrize("codec", CODECS, ids=by_name)
@pytest.mark.parametrize("action", list(m.NodeAction))
def test_node_actions_have_their_names(codec: Codec, action: m.NodeAction) -> None:
    if action is m.NodeAction.CREATE_DRAIN and not codec.rules.create_draining:
        return
    (message,) = written(codec, m.ReportNode("n1", action))
    if codec is OLDEST and action is m.NodeAction.CREATE:
        assert message.newSchedulableNodes[0].nodeID == "n1"
        return
    (node,) = message.updatedNodes if codec is OLDEST else message.nodes

    wire_name = action.name.replace("DECOMMISSION", "DECOMISSION")
    kind = type(node).DESCRIPTOR.fields_by_name["action"].enum_type
    assert kind.values_by_number[node.action].name == wire_name


def test_consecutive_updates_of_one_list_share_a_message() -> None:
    release = m.Release("a1", "k1", "k1", m.Termination.STOPPED_BY_RM)
    request = m.RequestAllocation(CONTAINER)
    codec = codec_for(REVISIONS["2024-10"])

    messages = written(codec, release, request, request, release)

    sizes = [(len(m.allocations), len(m.releases.allocationsToRelease)) for m in messages]
    assert sizes == [(0, 1), (2, 0), (0, 1)]


# requirement: SI-CONN-011, SI-NREC-001
def test_in_2021_02_resync_is_read_and_a_recommendation_ignored() -> None:
    si = OLDEST.revision.si
    response = si.UpdateResponse(action=si.UpdateResponse.RESYNC)
    recommendation = si.UpdateResponse(nodeRecommendations=[si.NodeRecommendation()])

    assert OLDEST.events("Update", response) == [m.ResyncRequested()]
    assert OLDEST.events("Update", recommendation) == []


# requirement: SI-GANG-040
def test_in_2021_02_asks_come_before_allocations_and_applications() -> None:
    si = OLDEST.revision.si
    response = si.UpdateResponse(
        releasedAllocations=[
            si.AllocationRelease(applicationID="a1", UUID="u1", terminationType=1)
        ],
        releasedAllocationAsks=[si.AllocationAskRelease(applicationID="a1", allocationkey="k2")],
        updatedApplications=[si.UpdatedApplication(applicationID="a1", state="Failed")],
    )

    assert OLDEST.events("Update", response) == [
        m.Released("a1", m.Termination.UNSET, m.Covered.REQUESTS, key="k2"),
        m.Released("a1", m.Termination.TIMEOUT, m.Covered.ALLOCATIONS, identity="u1"),
        m.UpdatedApplication("a1", "Failed"),
    ]


# requirement: SI-GANG-040
@pytest.mark.parametrize("codec", STREAMED, ids=by_name)
def test_asks_come_before_allocations_up_to_2023_12(codec: Codec) -> None:
    response = codec.revision.si.AllocationResponse()
    response.released.add(applicationID="a1", terminationType=2)
    response.releasedAsks.add(applicationID="a1", terminationType=2, allocationKey="k2")

    found = codec.events("UpdateAllocation", response)

    assert [one.covered for one in found if isinstance(one, m.Released)] == [
        m.Covered.REQUESTS,
        m.Covered.ALLOCATIONS,
    ]


@pytest.mark.parametrize("codec", [one for one in CODECS if one is not OLDEST], ids=by_name)
def test_verdicts_and_allocations_are_read(codec: Codec) -> None:
    si = codec.revision.si
    nodes, applications = si.NodeResponse(), si.ApplicationResponse()
    nodes.accepted.add(nodeID="n1")
    nodes.rejected.add(nodeID="n2", reason="no")
    applications.accepted.add(applicationID="a1")
    applications.rejected.add(applicationID="a2", reason="no")
    made = si.AllocationResponse()
    made.new.add(allocationKey="k1", applicationID="a1", nodeID="n1")

    assert codec.events("UpdateNode", nodes) == [m.AcceptedNode("n1"), m.RejectedNode("n2", "no")]
    assert codec.events("UpdateApplication", applications) == [
        m.AcceptedApplication("a1"),
        m.RejectedApplication("a2", "no"),
    ]
    (allocated,) = codec.events("UpdateAllocation", made)
    assert isinstance(allocated, m.Allocated)
    assert (allocated.key, allocated.node_id) == ("k1", "n1")


@pytest.mark.parametrize("codec", CODECS, ids=by_name)
def test_rejections_of_requests_are_read(codec: Codec) -> None:
    is_oldest = codec is OLDEST
    name = "UpdateResponse" if is_oldest else "AllocationResponse"
    response: Any = getattr(codec.revision.si, name)()
    fields = [field for field in ("rejected", "rejectedAllocations") if hasattr(response, field)]
    for field in fields:
        getattr(response, field).add(allocationKey="k1", applicationID="a1", reason="no")

    found = codec.events(list(codec.readers)[-1], response)

    assert found == [m.RejectedRequest("k1", "a1", "no")] * len(fields)
