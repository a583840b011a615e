"""In JSON every name stays as the text spells it, and int64 travels as a string."""

import json
from typing import Any

import pytest
from google.protobuf import json_format
from siwire import REVISIONS, Revision

FIRST_THREE = {"2021-02", "2023-04", "2023-08"}
LAST_THREE = {"2023-04", "2023-08", "2023-12"}
CONTAINER_STATE = "UpdateContainerSchedulingStateRequest"
# message, key in JSON, a value, the revisions that have it
IRREGULAR: list[tuple[str, str, Any, set[str]]] = [
    ("Allocation", "UUID", "id-1", FIRST_THREE),
    ("AllocationRelease", "UUID", "id-1", FIRST_THREE),
    ("UtilizationReport", "ID", "node-1", {"2021-02"}),
    ("AllocationAffinityConstraints", "tragetExpressions", [{"targetKey": "k"}], {"2021-02"}),
    ("AllocationAskRelease", "allocationkey", "key-1", {"2021-02"}),
    ("AllocationAskRelease", "allocationKey", "key-1", LAST_THREE),
    (CONTAINER_STATE, "applicartionID", "app-1", FIRST_THREE),
    (CONTAINER_STATE, "applicationID", "app-1", {"2023-12"}),
    ("AllocationAsk", "Originator", True, LAST_THREE),
    ("Allocation", "originator", True, {"2023-12"}),
    ("Allocation", "allocationID", "id-1", {"2023-12"}),
]
RESERVED = [
    ("Allocation", "queueName", LAST_THREE),
    ("Allocation", "UUID", {"2023-12"}),
    ("AllocationRelease", "UUID", {"2023-12"}),
    ("UpdateConfigurationRequest", "configs", LAST_THREE),
    ("EventRecord", "groupID", LAST_THREE),
    ("EventRecord", "reason", LAST_THREE),
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
def test_an_irregular_name_is_read_and_written_where_the_text_has_it(
    revision: Revision, message: str, key: str, value: Any, known_in: set[str]
) -> None:
    kinds = revision.si.DESCRIPTOR.message_types_by_name
    if revision.name not in known_in:
        assert message not in kinds or key not in kinds[message].fields_by_name
        return

    read = json_format.Parse(json.dumps({key: value}), getattr(revision.si, message)())

    assert json_format.MessageToDict(read) == {key: value}


# requirement: SI-WIRE-008
@each_revision
@pytest.mark.parametrize(("message", "key", "reserved_in"), RESERVED)
def test_a_reserved_name_is_no_key(
    revision: Revision, message: str, key: str, reserved_in: set[str]
) -> None:
    kind = getattr(revision.si, message)
    if revision.name not in reserved_in:
        assert json_format.ParseDict({key: "x"}, kind()) != kind()
        return

    with pytest.raises(json_format.ParseError, match=key):
        json_format.ParseDict({key: "x"}, kind())


@each_revision
@pytest.mark.parametrize("regular", ["rmId", "rm_id", "RmID"])
def test_a_name_made_regular_is_not_accepted(revision: Revision, regular: str) -> None:
    with pytest.raises(json_format.ParseError, match=regular):
        json_format.ParseDict({regular: "rm"}, revision.si.RegisterResourceManagerRequest())


# requirement: SI-WIRE-014
@each_revision
@pytest.mark.parametrize("amount", [2**63 - 1, -(2**63), 2**53 + 1])
def test_an_amount_is_a_string_and_loses_nothing(revision: Revision, amount: int) -> None:
    said = json_format.MessageToJson(revision.si.Quantity(value=amount), indent=None)

    assert said == f'{{"value": "{amount}"}}'
    assert json_format.Parse(said, revision.si.Quantity()).value == amount


@each_revision
def test_an_int32_is_a_number_and_an_enum_its_name(revision: Revision) -> None:
    ask = revision.si.AllocationAsk(maxAllocations=-1)
    event = revision.si.EventRecord(type=revision.si.EventRecord.QUEUE)

    assert json_format.MessageToDict(ask) == {"maxAllocations": -1}
    assert json_format.MessageToDict(event) == {"type": "QUEUE"}
