"""JSON keeps every name as in the specification, and int64 as a string."""

import json
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format
from siwire import REVISIONS, Revision

FIRST_THREE = {"2021-02", "2023-04", "2023-08"}
THREE_OF_2023 = {"2023-04", "2023-08", "2023-12"}
FROM_2024_10 = {"2024-10", "2026-04"}
FROM_2023_12 = {"2023-12", *FROM_2024_10}
FROM_2023_04 = THREE_OF_2023 | FROM_2024_10
CONTAINER_STATE = "UpdateContainerSchedulingStateRequest"
# message, key in JSON, a value, the revisions that have it
IRREGULAR: list[tuple[str, str, Any, set[str]]] = [
    ("Allocation", "UUID", "id-1", FIRST_THREE),
    ("AllocationRelease", "UUID", "id-1", FIRST_THREE),
    ("UtilizationReport", "ID", "node-1", {"2021-02"}),
    ("AllocationAffinityConstraints", "tragetExpressions", [{"targetKey": "k"}], {"2021-02"}),
    ("AllocationAskRelease", "allocationkey", "key-1", {"2021-02"}),
    ("AllocationAskRelease", "allocationKey", "key-1", THREE_OF_2023),
    (CONTAINER_STATE, "applicartionID", "app-1", FIRST_THREE),
    (CONTAINER_STATE, "applicationID", "app-1", FROM_2023_12),
    ("AllocationAsk", "Originator", True, THREE_OF_2023),
    ("Allocation", "originator", True, FROM_2023_12),
    ("Allocation", "allocationID", "id-1", {"2023-12"}),
]
RESERVED = [
    ("Allocation", "queueName", FROM_2023_04),
    ("Allocation", "UUID", FROM_2023_12),
    ("Allocation", "allocationID", FROM_2024_10),
    ("AllocationRelease", "UUID", FROM_2023_12),
    ("AllocationRelease", "allocationID", FROM_2024_10),
    ("AllocationReleasesRequest", "allocationAsksToRelease", FROM_2024_10),
    ("AllocationRequest", "asks", FROM_2024_10),
    ("AllocationResponse", "releasedAsks", FROM_2024_10),
    ("AllocationResponse", "rejected", FROM_2024_10),
    ("NodeInfo", "existingAllocations", FROM_2024_10),
    ("NodeInfo", "occupiedResource", FROM_2024_10),
    ("UpdateConfigurationRequest", "configs", FROM_2023_04),
    ("EventRecord", "groupID", FROM_2023_04),
    ("EventRecord", "reason", FROM_2023_04),
]

each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)


@each_revision
def test_no_field_has_another_name_in_json(revision: Revision) -> None:
    renamed = {
        field.full_name: field.json_name
        for message in revision.si.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
        if field.json_name != field.name
    }

    assert renamed == {}


# requirement: SI-WIRE-014
@each_revision
@pytest.mark.parametrize(("message", "key", "value", "known_in"), IRREGULAR)
def test_irregular_name_is_read_and_written_in_its_revisions(
    revision: Revision, message: str, key: str, value: Any, known_in: set[str]
) -> None:
    kinds = revision.si.DESCRIPTOR.message_types_by_name
    if revision.name not in known_in:
        assert message not in kinds or key not in kinds[message].fields_by_name
        return

    read = json_format.Parse(json.dumps({key: value}), getattr(revision.si, message)())

    assert json_format.MessageToDict(read) == {key: value}


def reserved_names(revision: Revision, message: str) -> list[str]:
    proto = descriptor_pb2.DescriptorProto()
    if kind := revision.si.DESCRIPTOR.message_types_by_name.get(message):
        kind.CopyToProto(proto)
    return list(proto.reserved_name)


def test_every_reserved_name_of_a_message_is_tested() -> None:
    reserved = {
        (message, key, revision.name)
        for revision in REVISIONS.values()
        for message in revision.si.DESCRIPTOR.message_types_by_name
        for key in reserved_names(revision, message)
    }

    assert reserved == {(message, key, name) for message, key, names in RESERVED for name in names}


# requirement: SI-WIRE-008
@each_revision
@pytest.mark.parametrize(("message", "key", "reserved_in"), RESERVED)
def test_reserved_name_is_not_a_key(
    revision: Revision, message: str, key: str, reserved_in: set[str]
) -> None:
    if revision.name not in reserved_in:
        assert key not in reserved_names(revision, message)
        return

    kind = getattr(revision.si, message)
    with pytest.raises(json_format.ParseError, match=key):
        json_format.ParseDict({key: "x"}, kind())


# requirement: SI-WIRE-008
@each_revision
@pytest.mark.parametrize("detail", ["APP_STARTING", "NODE_READY"])
def test_reserved_name_is_not_an_enum_value(revision: Revision, detail: str) -> None:
    record = revision.si.EventRecord
    named = {"eventChangeDetail": detail}
    if revision.name in {"2023-08", "2023-12"}:
        assert json_format.MessageToDict(json_format.ParseDict(named, record())) == named
        return

    with pytest.raises(json_format.ParseError, match="eventChangeDetail"):
        json_format.ParseDict(named, record())


@each_revision
@pytest.mark.parametrize("regular", ["rmId", "rm_id", "RmID"])
def test_camel_case_variant_of_a_name_is_refused(revision: Revision, regular: str) -> None:
    with pytest.raises(json_format.ParseError, match=regular):
        json_format.ParseDict({regular: "rm"}, revision.si.RegisterResourceManagerRequest())


# requirement: SI-WIRE-014
@each_revision
@pytest.mark.parametrize("amount", [2**63 - 1, -(2**63), 2**53 + 1])
def test_amount_is_a_string_without_loss_of_precision(revision: Revision, amount: int) -> None:
    sent = json_format.MessageToJson(revision.si.Quantity(value=amount), indent=None)

    assert sent == f'{{"value": "{amount}"}}'
    assert json_format.Parse(sent, revision.si.Quantity()).value == amount


@each_revision
def test_int32_is_a_number_and_an_enum_its_name(revision: Revision) -> None:
    names = ("Allocation", "priority"), ("AllocationAsk", "maxAllocations")
    kind, field = names[revision.name == "2021-02"]  # where priority is a message
    message = getattr(revision.si, kind)(**{field: -1})
    event = revision.si.EventRecord(type=revision.si.EventRecord.QUEUE)

    assert json_format.MessageToDict(message) == {field: -1}
    assert json_format.MessageToDict(event) == {"type": "QUEUE"}
