"""How real bytes and JSON of one schema are read with another."""

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from selftest.spec_edits import INTO_A_ONEOF, ONE_IN_FRONT, VALUE_IN_FRONT, edited, unedited
from sispec.classes import Class, evaluate
from sispec.meanings import absence_of
from sispec.misreading import Decoder, Decoding, Form, Route
from sispec.schema import Field, Message
from sispec.sentences import article, takes
from sispec.wire_rules import Breaks, broken_rules

_FIELD = FieldDescriptorProto
_REPEATED, _SINGLE = _FIELD.LABEL_REPEATED, _FIELD.LABEL_OPTIONAL
_FIXED64, _FLOAT = _FIELD.TYPE_FIXED64, _FIELD.TYPE_FLOAT
_INT32, _INT64, _SINT32 = _FIELD.TYPE_INT32, _FIELD.TYPE_INT64, _FIELD.TYPE_SINT32
_BOOL, _TEXT, _RAW = _FIELD.TYPE_BOOL, _FIELD.TYPE_STRING, _FIELD.TYPE_BYTES
_SAME, _MISREAD, _LOST = Decoding.SAME, Decoding.MISREAD, Decoding.LOST
_REFUSED, _PARTLY = Decoding.REFUSED, Decoding.PARTLY


def _decoder(side: str, *fields: FieldDescriptorProto) -> Decoder:
    message = DescriptorProto(name="Thing", field=fields)
    file = FileDescriptorProto(
        name="si.proto", package="si.v1", syntax="proto3", message_type=[message]
    )
    return Decoder(side, file)


def _pass(
    old: FieldDescriptorProto, new: FieldDescriptorProto, form: Form = Form.BYTES
) -> tuple[Decoding, Decoding]:
    """Return what becomes of the field on its way to the new side, and back."""
    before, after = _decoder("old", old), _decoder("new", new)
    there = Route(before, after, "Thing", "Thing").pass_field(old.name, new.name, form)
    back = Route(after, before, "Thing", "Thing").pass_field(new.name, old.name, form)
    return there.outcome, back.outcome


def _field(
    type_: "FieldDescriptorProto.Type.ValueType",
    label: "FieldDescriptorProto.Label.ValueType" = _SINGLE,
    number: int = 1,
    name: str = "amount",
) -> FieldDescriptorProto:
    return FieldDescriptorProto(name=name, number=number, type=type_, label=label)


@pytest.mark.parametrize(
    ("old", "new", "there", "back"),
    [
        (_INT32, _INT32, _SAME, _SAME),
        (_INT32, _INT64, _SAME, _MISREAD),  # 2^33 + 7 is 7 in 32 bits
        (_INT32, _SINT32, _MISREAD, _MISREAD),
        (_INT32, _BOOL, _MISREAD, _SAME),
        (_INT64, _FIXED64, _LOST, _LOST),
        (_INT32, _FLOAT, _LOST, _LOST),
        (_INT32, _TEXT, _LOST, _LOST),
        (_TEXT, _RAW, _SAME, _REFUSED),  # not all bytes are UTF-8
    ],
)
def test_number_of_other_type_is_decoded_from_its_bytes(
    old: "FieldDescriptorProto.Type.ValueType",
    new: "FieldDescriptorProto.Type.ValueType",
    there: Decoding,
    back: Decoding,
) -> None:
    assert _pass(_field(old), _field(new)) == (there, back)


@pytest.mark.parametrize(("type_", "back"), [(_TEXT, _PARTLY), (_INT32, _LOST)])
def test_a_list_read_as_one_value_is_cut(
    type_: "FieldDescriptorProto.Type.ValueType", back: Decoding
) -> None:
    assert _pass(_field(type_), _field(type_, _REPEATED)) == (_SAME, back)


def test_renamed_field_is_lost_only_in_json() -> None:
    old, new = _field(_TEXT, name="policy"), _field(_TEXT, name="rules")
    assert _pass(old, new) == (_SAME, _SAME)
    assert _pass(old, new, Form.JSON) == (_LOST, _LOST)


def test_renumbered_field_is_lost_only_in_bytes() -> None:
    old, new = _field(_TEXT), _field(_TEXT, number=2)
    assert _pass(old, new) == (_LOST, _LOST)
    assert _pass(old, new, Form.JSON) == (_SAME, _SAME)


def test_a_reading_has_the_bytes_that_travelled() -> None:
    before, after = _decoder("old", _field(_INT32)), _decoder("new", _field(_SINT32))
    reading = Route(before, after, "Thing", "Thing").pass_field("amount", "amount")
    assert reading.data == bytes([1 << 3, 5])
    assert (reading.wrote, reading.read) == ("5", "-3")
    assert (reading.writer, reading.reader) == ("old", "new")


def test_messages_that_hold_themselves_come_to_an_end() -> None:
    inner = FieldDescriptorProto(
        name="next", number=1, type=_FIELD.TYPE_MESSAGE, label=_SINGLE, type_name=".si.v1.Thing"
    )
    both = _decoder("old", inner), _decoder("new", inner)
    assert Route(*both, "Thing", "Thing").pass_field("next", "next").outcome is _SAME


@pytest.mark.parametrize(
    "edits",
    [
        ONE_IN_FRONT,
        INTO_A_ONEOF,
        (("int32 priority = 6", "sint32 priority = 6"),),
        (("partitionName = 10;", "partitionName = 16;"),),
        (("repeated string groups", "string groups"),),
        (("(stream NodeRequest)", "(NodeRequest)"),),
    ],
)
def test_wire_breaking_by_buf_is_wire_breaking(edits: tuple[tuple[str, str], ...]) -> None:
    new = edited(*edits)
    assert any(rule.breaks is Breaks.WIRE for rule in broken_rules(unedited(), new))
    worst = {evaluation.worst for evaluation in evaluate(unedited(), new)}
    assert worst & {Class.MISREAD, Class.WIRE_BREAKING}


def test_shifted_enum_is_misread_though_buf_reports_only_json() -> None:
    new = edited(*VALUE_IN_FRONT)
    assert {rule.breaks for rule in broken_rules(unedited(), new)} == {Breaks.JSON}
    assert Class.MISREAD in {evaluation.worst for evaluation in evaluate(unedited(), new)}


def test_which_field_names_an_allocation_depends_on_the_fields_there_are() -> None:
    place = "AllocationRelease.allocationKey"
    by_uuid = Message("AllocationRelease", {"UUID": Field("UUID", 3, "string")})
    by_key = Message("AllocationRelease", {})
    assert absence_of(place, by_uuid) is None
    found = absence_of(place, by_key)
    assert found is not None
    assert found.misleads


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("RM", "an RM"),
        ("scheduler", "a scheduler"),
        ("UserGroupInformation", "a UserGroupInformation"),
        ("UpdateRequest", "an UpdateRequest"),
        ("ask", "an ask"),
    ],
)
def test_articles_are_those_of_speech(phrase: str, expected: str) -> None:
    assert article(phrase) == expected


def test_types_are_sent_as_things() -> None:
    assert takes("RejectedNode", "AcceptedNode") == "takes a rejected node for an accepted one"
    assert takes("PreemptionPolicy", "Resource") == "takes a preemption policy for a resource"
