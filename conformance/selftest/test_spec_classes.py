"""What each change breaks, which peers misread it, and what to do instead."""

import pytest
from selftest.spec_edits import (
    INTO_A_ONEOF,
    ONE_IN_FRONT,
    UNARY,
    VERDICTS,
    edited,
    unedited,
)
from sispec.changes import Kind
from sispec.classes import Class, Evaluation, evaluate
from sispec.misreading import Decoding
from sispec.model import ApiMethod, Constant, Spec, UnreadableSpec
from sispec.sources import read_spec

MISREAD, WIRE, JSON = Class.MISREAD, Class.WIRE_BREAKING, Class.JSON_BREAKING
SOURCE, COMPATIBLE = Class.SOURCE_BREAKING, Class.COMPATIBLE


def _evaluated(*edits: tuple[str, str]) -> dict[str, Evaluation]:
    """Return evaluations by place; the last one of each place."""
    return {j.change.where: j for j in evaluate(unedited(), edited(*edits))}


def test_field_inserted_first_is_taken_for_another_kind() -> None:
    evaluated = _evaluated(*ONE_IN_FRONT)

    assert "for a drained one" in evaluated["NodeResponse.rejected"].new_peer
    assert evaluated["NodeResponse.drained"].advice == "Append drained as 3."


_ACTION, _REGISTRATION = "NodeInfo.ActionFromRM", "RegisterResourceManagerRequest"
_CREATE_DRAIN = "    CREATE_DRAIN = 6; // register, closed until DRAIN_TO_SCHEDULABLE\n"
_EDITS = [
    ("partitionName = 10;", "partitionName = 16;", "Allocation.partitionName", (WIRE,)),
    (_CREATE_DRAIN, "", f"{_ACTION}.CREATE_DRAIN", (WIRE, JSON, SOURCE)),
    (
        *(_CREATE_DRAIN, "    CREATE_DRAIN = 6;\n    CREATE_CORDONED = 7;\n"),
        *(f"{_ACTION}.CREATE_CORDONED", (COMPATIBLE,)),
    ),
    ("DRAIN_NODE = 3", "EVICT_ALL = 3", f"{_ACTION}.EVICT_ALL", (MISREAD, JSON, SOURCE)),
    ("DECOMISSION = 4", "DECOMMISSION = 4", f"{_ACTION}.DECOMMISSION", (JSON, SOURCE)),
    ("int32 priority = 6", "sint32 priority = 6", "Allocation.priority", (MISREAD, SOURCE)),
    ("int32 priority = 6", "string priority = 6", "Allocation.priority", (WIRE, JSON, SOURCE)),
    ("int32 priority = 6", "optional int32 priority = 6", "Allocation.priority", (SOURCE,)),
    ("int64 value = 1", "int32 value = 1", "Quantity.value", (MISREAD, JSON, SOURCE)),
    (
        "repeated string groups",
        "string groups",
        "UserGroupInformation.groups",
        (WIRE, JSON, SOURCE),
    ),
    (
        "gangSchedulingStyle = 8",
        "gang_scheduling_style = 8",
        "AddApplicationRequest.gang_scheduling_style",
        (SOURCE,),
    ),
    ("string policyGroup = 3", "string group = 3", f"{_REGISTRATION}.group", (JSON, SOURCE)),
    ("version = 2", 'version = 2 [json_name = "v"]', f"{_REGISTRATION}.version", (JSON,)),
    (*UNARY[0], "Scheduler.UpdateNode", (WIRE, SOURCE)),
    ("package si.v1", "package si.v2", "package", (WIRE, SOURCE)),
    ('"lib/go/si"', '"lib/go/si/v2"', "go_package", (SOURCE,)),
    ("message AcceptedNode", "message Probe {}\nmessage AcceptedNode", "Probe", (COMPATIBLE,)),
    (
        "  // Human-readable, as every reason and message below.\n  string reason = 2;\n",
        "",
        "RejectedApplication.reason",
        (WIRE, JSON, SOURCE),
    ),
    ("bool si_secret = 1059", "bool si_secret = 1060", "si_secret", (SOURCE,)),
]


@pytest.mark.parametrize(
    ("before", "after", "place", "classes"),
    _EDITS,
)
def test_edit_classes_match_expert(
    before: str, after: str, place: str, classes: tuple[Class, ...]
) -> None:
    evaluated = _evaluated((before, after))
    assert evaluated[place].classes == classes
    assert all(j.old_peer and j.new_peer for j in evaluated.values())
    assert all(bool(j.advice) for j in evaluated.values() if j.breaks)


def test_fields_put_into_a_oneof_break_wire_and_source() -> None:
    assert _evaluated(*INTO_A_ONEOF)["Allocation.taskGroupName"].classes == (WIRE, SOURCE)


def test_single_field_moved_into_new_oneof_is_source_breaking() -> None:
    oneof = "oneof gang { string taskGroupName = 11; string gangID = 16; }"
    evaluated = _evaluated(("string taskGroupName = 11;", oneof))
    assert evaluated["Allocation.taskGroupName"].classes == (SOURCE,)
    assert evaluated["Allocation.gangID"].classes == (COMPATIBLE,)


def test_swapped_verdicts_are_misread_both_ways() -> None:
    swapped = VERDICTS.replace("rejected = 1", "rejected = 2").replace(
        "accepted = 2", "accepted = 1"
    )
    evaluated = _evaluated((VERDICTS, swapped))
    both = evaluated["NodeResponse.rejected"], evaluated["NodeResponse.accepted"]
    assert [j.classes for j in both] == [(MISREAD,)] * 2
    assert both[0].advice == "Keep rejected = 1 and accepted = 2: a number is never moved."


def test_a_method_with_other_messages_decodes_to_something_else() -> None:
    evaluated = _evaluated(
        ("returns (stream NodeResponse)", "returns (stream ApplicationResponse)")
    )
    method = evaluated["Scheduler.UpdateNode"]
    assert method.classes == (MISREAD, WIRE, SOURCE)
    assert "A new RM takes a rejected node for a rejected application" in method.new_peer


def test_changed_role_of_field_is_reported() -> None:
    evaluated = _evaluated(
        ("// The identity: updates and releases name it.\n", "// A label for people to read.\n")
    )
    key = evaluated["Allocation.allocationKey"]
    assert key.change.kind is Kind.FIELD_ROLE
    assert key.classes == (COMPATIBLE,)
    assert key.advice


def test_lost_identity_is_read_as_release_of_application() -> None:
    evaluated = {j.change.where: j for j in evaluate(read_spec("2023-08"), read_spec("2023-12"))}
    uuid = evaluated["AllocationRelease.UUID"]
    assert uuid.worst is MISREAD
    assert "ends every allocation of the application" in uuid.new_peer
    assert evaluated["Allocation.UUID"].worst is WIRE


def test_constants_and_go_methods_have_their_classes() -> None:
    schema = unedited().file
    old = Spec(
        "old",
        schema,
        {n: Constant(n, v) for n, v in (("Zone", "si/zone"), ("Rack", "si/rack"), ("Os", "si/os"))},
        api={"SchedulerAPI.UpdateNode": ApiMethod("SchedulerAPI.UpdateNode", "()")},
        has_text=True,
        has_constants=True,
    )
    new = Spec(
        "new",
        schema,
        {
            n: Constant(n, v)
            for n, v in (("Zone", "si/area"), ("Shelf", "si/rack"), ("Cpu", "si/cpu"))
        },
        api={
            "SchedulerAPI.UpdateNode": ApiMethod("SchedulerAPI.UpdateNode", "() error"),
            "SchedulerAPI.Stop": ApiMethod("SchedulerAPI.Stop", "()"),
            "Dump.State": ApiMethod("Dump.State", "()"),
        },
        has_text=True,
        has_constants=True,
    )
    assert {j.change.where: j.classes for j in evaluate(old, new)} == {
        "Zone": (WIRE,),
        "Shelf": (SOURCE,),
        "Cpu": (COMPATIBLE,),
        "Os": (SOURCE,),
        "SchedulerAPI.UpdateNode": (SOURCE,),
        "SchedulerAPI.Stop": (SOURCE,),
        "Dump.State": (COMPATIBLE,),
    }


def test_every_misreading_of_the_chain_was_decoded() -> None:
    evaluated = evaluate(read_spec("2021-02"), read_spec("2023-04"))
    misread = [j for j in evaluated if j.worst is MISREAD]
    assert len(misread) >= 15
    for evaluation in misread:
        outcomes = {reading.outcome for reading in evaluation.readings}
        assert outcomes & {Decoding.MISREAD, Decoding.LOST}, evaluation.change


def test_missing_import_is_refused() -> None:
    spec = edited()
    spec.file.dependency.append("other/thing.proto")
    with pytest.raises(UnreadableSpec, match=r'new: no peer .* imports "other/thing.proto"'):
        evaluate(unedited(), spec)
