"""Bytes of one revision parsed as another: why the revision is configured and never guessed."""

from typing import Any

import pytest
from google.protobuf import unknown_fields
from google.protobuf.message import DecodeError, Message
from siwire import REVISIONS, Capability, Revision, constants
from siwire.r2021_02 import si_pb2 as si_2021_02
from siwire.r2023_04 import si_pb2 as si_2023_04
from siwire.r2023_08 import si_pb2 as si_2023_08
from siwire.r2023_12 import si_pb2 as si_2023_12
from siwire.r2024_10 import si_pb2 as si_2024_10
from siwire.r2026_04 import si_pb2 as si_2026_04


def unknown_numbers(message: Message) -> list[int]:
    unknown = unknown_fields.UnknownFieldSet(message)
    return [unknown[index].field_number for index in range(len(unknown))]


def test_a_release_of_one_allocation_of_2023_12_reads_as_release_all_in_2023_08() -> None:
    sent = si_2023_12.AllocationRelease(applicationID="app", allocationID="id-1")

    read = si_2023_08.AllocationRelease.FromString(sent.SerializeToString())

    assert (read.applicationID, read.UUID, read.allocationKey) == ("app", "", "")
    assert unknown_numbers(read) == [7]


def test_a_release_of_one_allocation_of_2023_08_reads_as_release_all_in_2023_12() -> None:
    sent = si_2023_08.AllocationRelease(applicationID="app", UUID="id-1")

    read = si_2023_12.AllocationRelease.FromString(sent.SerializeToString())

    assert (read.applicationID, read.allocationID, read.allocationKey) == ("app", "", "")
    assert unknown_numbers(read) == [3]


def test_an_allocation_loses_its_identity_between_2023_08_and_2023_12() -> None:
    older = si_2023_08.Allocation(allocationKey="key", UUID="id-1")
    newer = si_2023_12.Allocation(allocationKey="key", allocationID="id-1")

    read_newer = si_2023_12.Allocation.FromString(older.SerializeToString())
    read_older = si_2023_08.Allocation.FromString(newer.SerializeToString())

    assert (read_newer.allocationKey, read_newer.allocationID) == ("key", "")
    assert (read_older.allocationKey, read_older.UUID) == ("key", "")


def test_a_placeholder_ask_of_2021_02_reads_as_a_real_originator_in_2023_04() -> None:
    sent = si_2021_02.AllocationAsk(allocationKey="key", taskGroupName="tg", placeholder=True)

    read = si_2023_04.AllocationAsk.FromString(sent.SerializeToString())

    assert (read.Originator, read.placeholder, read.taskGroupName) == (True, False, "")
    assert unknown_numbers(read) == [10]


def test_a_placement_constraint_of_2021_02_reads_as_a_task_group_in_2023_04() -> None:
    constraint = si_2021_02.PlacementConstraint()
    nodes = constraint.simpleConstraint.nodeAffinityConstraint
    nodes.targetExpressions.add(targetKey="disk", targetValues=["ssd"])
    sent = si_2021_02.AllocationAsk(placementConstraint=constraint)

    read = si_2023_04.AllocationAsk.FromString(sent.SerializeToString())

    assert read.taskGroupName.encode() == constraint.SerializeToString()


def test_placement_constraint_with_invalid_utf8_fails_to_parse_in_2023_04() -> None:
    constraint = si_2021_02.PlacementConstraint()
    constraint.simpleConstraint.allocationAffinityAttribute.maxCardinality = -1
    sent = si_2021_02.AllocationAsk(placementConstraint=constraint)

    with pytest.raises(DecodeError):
        si_2023_04.AllocationAsk.FromString(sent.SerializeToString())


WITH_TASK_GROUPS = [
    r for r in REVISIONS.values() if r.name > "2023" and r.can(Capability.ASKS_APART)
]


@pytest.mark.parametrize("revision", WITH_TASK_GROUPS, ids=str)
def test_task_group_of_2023_fails_to_parse_in_2021_02(revision: Revision) -> None:
    sent = revision.si.AllocationAsk(allocationKey="key", taskGroupName="tg")

    with pytest.raises(DecodeError):
        si_2021_02.AllocationAsk.FromString(sent.SerializeToString())


def test_a_priority_is_unknown_across_2021_02_and_2023_04() -> None:
    older = si_2021_02.AllocationAsk(priority=si_2021_02.Priority(priorityValue=5))
    newer = si_2023_04.AllocationAsk(priority=5)

    read_newer = si_2023_04.AllocationAsk.FromString(older.SerializeToString())
    read_older = si_2021_02.AllocationAsk.FromString(newer.SerializeToString())

    assert (read_newer.priority, unknown_numbers(read_newer)) == (0, [6])
    assert (read_older.HasField("priority"), unknown_numbers(read_older)) == (False, [6])


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        ("STOPPED_BY_RM", "UNKNOWN_TERMINATION_TYPE"),
        ("TIMEOUT", "STOPPED_BY_RM"),
        ("PREEMPTED_BY_SCHEDULER", "TIMEOUT"),
        ("PLACEHOLDER_REPLACED", "PREEMPTED_BY_SCHEDULER"),
    ],
)
def test_a_termination_type_of_2021_02_reads_as_its_neighbour_in_2023_04(
    sent: str, understood: str
) -> None:
    kind = si_2021_02.AllocationRelease.TerminationType.Value(sent)
    message = si_2021_02.AllocationRelease(terminationType=kind)

    read = si_2023_04.AllocationRelease.FromString(message.SerializeToString())

    assert si_2023_04.TerminationType.Name(read.terminationType) == understood


def test_the_message_of_an_ask_release_of_2021_02_is_lost_in_2023_04() -> None:
    sent = si_2021_02.AllocationAskRelease(allocationkey="key", message="no longer needed")

    read = si_2023_04.AllocationAskRelease.FromString(sent.SerializeToString())

    assert (read.allocationKey, read.message) == ("key", "")
    assert read.terminationType == si_2023_04.UNKNOWN_TERMINATION_TYPE
    assert unknown_numbers(read) == [4]


def test_operator_of_a_corrected_2021_02_becomes_an_unknown_enum_number() -> None:
    not_in = bytes.fromhex("0801")  # varint 1 on field 1, where the specification has a message
    key = bytes.fromhex("12046469736b")  # targetKey "disk"

    read = si_2021_02.AffinityTargetExpression.FromString(not_in + key)

    assert (read.HasField("targetOperator"), read.targetKey) == (False, "disk")
    unknown = unknown_fields.UnknownFieldSet(read)
    assert [(unknown[0].field_number, unknown[0].data)] == [(1, 1)]


def test_a_new_node_of_2021_02_has_garbage_attributes_and_no_action_in_2023_04() -> None:
    sent = si_2021_02.NewNodeInfo(nodeID="node")
    sent.schedulableResource.resources["memory"].value = 10

    read = si_2023_04.NodeInfo.FromString(sent.SerializeToString())

    assert list(read.attributes) == ["\n\x06memory\x12\x02\x08\n"]
    assert not read.HasField("schedulableResource")
    assert read.action == si_2023_04.NodeInfo.UNKNOWN_ACTION_FROM_RM


def test_the_action_of_a_node_update_of_2021_02_is_lost_in_2023_04() -> None:
    sent = si_2021_02.UpdateNodeInfo(nodeID="node", action=si_2021_02.UpdateNodeInfo.DECOMISSION)

    read = si_2023_04.NodeInfo.FromString(sent.SerializeToString())

    assert (read.nodeID, read.action) == ("node", si_2023_04.NodeInfo.UNKNOWN_ACTION_FROM_RM)


def test_a_node_created_draining_has_an_undefined_action_in_2023_04() -> None:
    sent = si_2023_08.NodeInfo(nodeID="node", action=si_2023_08.NodeInfo.CREATE_DRAIN)

    read = si_2023_04.NodeInfo.FromString(sent.SerializeToString())

    assert read.action == 6
    assert read.action not in si_2023_04.NodeInfo.ActionFromRM.values()


def test_existing_allocations_of_2023_08_are_not_seen_by_2023_04() -> None:
    sent = si_2023_08.AllocationRequest(rmID="rm")
    sent.allocations.add(allocationKey="key")

    read = si_2023_04.AllocationRequest.FromString(sent.SerializeToString())

    assert (read.rmID, unknown_numbers(read)) == ("rm", [4])


def test_ask_of_2023_12_is_not_seen_in_2024_10() -> None:
    sent = si_2023_12.AllocationRequest(rmID="rm")
    sent.asks.add(allocationKey="key", applicationID="app", maxAllocations=1)

    read = si_2024_10.AllocationRequest.FromString(sent.SerializeToString())

    assert (read.rmID, list(read.allocations), read.HasField("releases")) == ("rm", [], False)
    assert unknown_numbers(read) == [1]


def test_a_release_by_identity_of_2023_12_reads_as_release_all_in_2024_10() -> None:
    sent = si_2023_12.AllocationRelease(applicationID="app", allocationID="id-1")

    read = si_2024_10.AllocationRelease.FromString(sent.SerializeToString())

    assert (read.applicationID, read.allocationKey) == ("app", "")
    assert unknown_numbers(read) == [7]


def test_a_release_of_2023_12_that_has_its_key_too_reads_as_that_key_in_2024_10() -> None:
    sent = si_2023_12.AllocationRelease(applicationID="app", allocationID="id", allocationKey="key")

    read = si_2024_10.AllocationRelease.FromString(sent.SerializeToString())

    assert (read.applicationID, read.allocationKey) == ("app", "key")


def test_withdrawal_of_2023_12_is_not_seen_in_2024_10() -> None:
    sent = si_2023_12.AllocationRequest()
    sent.releases.allocationAsksToRelease.add(applicationID="app", allocationKey="key")

    read = si_2024_10.AllocationRequest.FromString(sent.SerializeToString())

    assert list(read.releases.allocationsToRelease) == []
    assert unknown_numbers(read.releases) == [2]


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        (si_2023_08.Allocation(allocationKey="key", UUID="id-1", nodeID="node"), 3),
        (si_2023_12.Allocation(allocationKey="key", allocationID="id-1", nodeID="node"), 13),
    ],
)
def test_allocation_of_2023_12_is_only_its_key_in_2024_10(sent: Message, number: int) -> None:
    read = si_2024_10.Allocation.FromString(sent.SerializeToString())

    assert (read.allocationKey, read.nodeID) == ("key", "node")
    assert unknown_numbers(read) == [number]


def test_a_node_of_2023_12_has_all_its_capacity_free_in_2024_10() -> None:
    sent = si_2023_12.NodeInfo(nodeID="node", action=si_2023_12.NodeInfo.CREATE)
    sent.schedulableResource.resources["memory"].value = 10
    sent.occupiedResource.resources["memory"].value = 4
    sent.existingAllocations.add(allocationKey="key").resourcePerAlloc.resources["memory"].value = 6

    read = si_2024_10.NodeInfo.FromString(sent.SerializeToString())

    assert (read.nodeID, read.action) == ("node", si_2024_10.NodeInfo.CREATE)
    assert read.schedulableResource.resources["memory"].value == 10
    assert unknown_numbers(read) == [5, 6]


def test_ask_results_of_a_2023_12_scheduler_are_not_seen_in_2024_10() -> None:
    sent = si_2023_12.AllocationResponse()
    sent.rejected.add(allocationKey="key-1", applicationID="app", reason="no queue")
    sent.releasedAsks.add(allocationKey="key-2", applicationID="app")

    read = si_2024_10.AllocationResponse.FromString(sent.SerializeToString())

    assert read.ListFields() == []
    assert unknown_numbers(read) == [3, 4]


def test_a_request_of_2024_10_reads_as_an_allocation_on_no_node_in_2023_12() -> None:
    sent = si_2024_10.AllocationRequest()
    sent.allocations.add(allocationKey="key", applicationID="app")

    read = si_2023_12.AllocationRequest.FromString(sent.SerializeToString())

    (existing,) = read.allocations
    assert (existing.allocationKey, existing.applicationID) == ("key", "app")
    assert (existing.allocationID, existing.nodeID) == ("", "")
    assert list(read.asks) == []
    assert unknown_numbers(read) == []


def test_an_update_of_2024_10_reads_as_one_more_allocation_without_identity_in_2023_12() -> None:
    sent = si_2024_10.AllocationRequest()
    update = sent.allocations.add(allocationKey="key", applicationID="app", nodeID="node")
    update.resourcePerAlloc.resources["memory"].value = 20

    read = si_2023_12.AllocationRequest.FromString(sent.SerializeToString())

    (existing,) = read.allocations
    assert (existing.allocationID, existing.nodeID) == ("", "node")
    assert existing.resourcePerAlloc.resources["memory"].value == 20


def test_foreign_allocation_of_2024_10_has_no_application_in_2023_12() -> None:
    sent = si_2024_10.AllocationRequest()
    tags = {constants.FOREIGN: constants.ALLOC_TYPE_DEFAULT}
    sent.allocations.add(allocationKey="pod", nodeID="node", allocationTags=tags)

    read = si_2023_12.AllocationRequest.FromString(sent.SerializeToString())

    (existing,) = read.allocations
    assert (existing.applicationID, existing.allocationID) == ("", "")
    assert constants.FOREIGN not in constants.KNOWN_IN["2023-12"]


def test_a_release_by_key_of_2024_10_reads_as_release_all_in_2023_12() -> None:
    sent = si_2024_10.AllocationRequest()
    sent.releases.allocationsToRelease.add(applicationID="app", allocationKey="key")

    read = si_2023_12.AllocationRequest.FromString(sent.SerializeToString())

    (release,) = read.releases.allocationsToRelease
    assert (release.applicationID, release.allocationID) == ("app", "")
    assert release.allocationKey == "key"  # in addition to the identity, not instead of it
    assert list(read.releases.allocationAsksToRelease) == []  # so no pending ask is withdrawn


def test_allocations_of_a_2024_10_scheduler_have_no_identity_in_2023_12() -> None:
    sent = si_2024_10.AllocationResponse()
    sent.new.add(allocationKey="key", applicationID="app", nodeID="node")
    sent.released.add(allocationKey="key", applicationID="app", terminationType=si_2024_10.TIMEOUT)

    read = si_2023_12.AllocationResponse.FromString(sent.SerializeToString())

    assert [one.allocationID for one in read.new] == [""]
    assert [one.allocationID for one in read.released] == [""]
    assert list(read.releasedAsks) == []  # even where a pending ask timed out


def test_a_refused_request_of_2024_10_reads_as_a_refused_allocation_in_2023_12() -> None:
    sent = si_2024_10.AllocationResponse()
    sent.rejectedAllocations.add(allocationKey="key", applicationID="app", reason="no queue")

    read = si_2023_12.AllocationResponse.FromString(sent.SerializeToString())

    assert [one.allocationKey for one in read.rejectedAllocations] == ["key"]
    assert list(read.rejected) == []


@pytest.mark.parametrize(
    ("sent", "receiver"),
    [
        (si_2023_12.EventRecord(eventChangeDetail=si_2023_12.EventRecord.APP_STARTING), si_2024_10),
        (si_2023_12.EventRecord(eventChangeDetail=si_2023_12.EventRecord.NODE_READY), si_2024_10),
        (si_2024_10.EventRecord(eventChangeDetail=si_2024_10.EventRecord.UG_APP_LINK), si_2023_12),
        (si_2024_10.EventRecord(type=si_2024_10.EventRecord.USERGROUP), si_2023_12),
        (
            si_2026_04.EventRecord(eventChangeDetail=si_2026_04.EventRecord.QUEUE_PREEMPTION),
            si_2024_10,
        ),
    ],
)
def test_event_unknown_to_the_other_revision_is_an_unnamed_number(
    sent: Message, receiver: Any
) -> None:
    read = receiver.EventRecord.FromString(sent.SerializeToString())

    ((field, number),) = read.ListFields()
    assert number not in field.enum_type.values_by_number
    assert read.SerializeToString() == sent.SerializeToString()


@pytest.mark.parametrize("sender", REVISIONS.values(), ids=str)
@pytest.mark.parametrize("receiver", REVISIONS.values(), ids=str)
def test_registration_is_parsed_identically_everywhere_so_gives_no_warning(
    sender: Revision, receiver: Revision
) -> None:
    sent = sender.si.RegisterResourceManagerRequest(rmID="rm", version="1", policyGroup="queues")

    read = receiver.si.RegisterResourceManagerRequest.FromString(sent.SerializeToString())

    assert (read.rmID, read.version, read.policyGroup) == ("rm", "1", "queues")
