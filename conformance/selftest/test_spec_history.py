"""Edits that happened to the SI over the years, each in a small specification."""

import pytest
from sispec.changes import Change, Kind, compare
from sispec.classes import Class, Evaluation, evaluate
from sispec.comments import states_otherwise
from sispec.model import Spec
from sispec.naming import Rename
from sispec.rules import RuleChangeKind, compare_rules
from sispec.sources import from_text
from sispec.text import read_spec_text

TEXT = """\
# Scheduler Interface Spec

```protobuf
syntax = "proto3";
package si.v1;

service Scheduler {
  rpc Update(stream Told) returns (stream Answer) { }
}

message Told {
  // Says who tells, and must not change.
  string rmId = 1;
  // What is to be done.
  Order order = 2;
  ParcelReturnNote back = 3;
}

message Answer {
  repeated ParcelTaken taken = 1;
}

enum Order {
  KEEP = 0;
  BURN = 1;
}

// What goes back.
message ParcelReturnNote {
  string shelf = 1;
  string owner = 2;
  string parcel = 3;
  string message = 4;
}

message ParcelTaken {
  string parcel = 1;
  string message = 2;
}
```

```golang
package api

const (
	Shelf = "old.example/shelf"
	BIG_DOOR = "old.example/door"
)

type StoreApi interface {
	Update(told *si.Told) error
}
```
"""


def _edited(*edits: tuple[str, str]) -> Spec:
    text = TEXT
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return from_text("new.md", text)


def _evaluated(*edits: tuple[str, str]) -> list[Evaluation]:
    return evaluate(from_text("old.md", TEXT), _edited(*edits))


def _changes(*edits: tuple[str, str]) -> list[Change]:
    return compare(from_text("old.md", TEXT), _edited(*edits))


def test_constants_are_read_from_go_block_without_labelled_block() -> None:
    text = read_spec_text("old.md", TEXT)
    assert {name: c.value for name, c in text.constants.items()} == {
        "Shelf": "old.example/shelf",
        "BIG_DOOR": "old.example/door",
    }
    line = TEXT[: TEXT.index("```golang")].count("\n") + 1
    assert text.guesses == (
        f"line {line}: constants are in a Go block; they are read as constants",
    )
    labelled = read_spec_text("new.md", f'{TEXT}\n```constants\nShelf = "shelf"\n```\n')
    assert list(labelled.constants) == ["Shelf"]
    assert labelled.guesses == ()


def test_go_that_is_no_constant_is_no_error() -> None:
    text = TEXT.replace('"old.example/door"\n', '"old.example/door"\n\tFirst = iota\n')
    assert list(read_spec_text("old.md", text).constants) == ["Shelf", "BIG_DOOR"]


def test_respelled_constant_with_new_value_is_not_new() -> None:
    found = _changes(
        ("BIG_DOOR", "BigDoor"),
        ("old.example/door", "new.example/door"),
        ("old.example/shelf", "new.example/shelf"),
    )
    assert [(change.kind, change.where, change.old_place) for change in found] == [
        (Kind.CONSTANT_VALUE, "Shelf", "Shelf"),
        (Kind.CONSTANT_VALUE, "BigDoor", "BIG_DOOR"),
    ]
    (door,) = _evaluated(("BIG_DOOR", "BigDoor"), ("old.example/door", "new.example/door"))
    assert door.classes == (Class.WIRE_BREAKING, Class.SOURCE_BREAKING)
    assert door.advice == ('Keep BIG_DOOR = "old.example/door" as well until no peer looks for it.')


def test_respelled_go_interface_keeps_its_methods() -> None:
    added = "Update(told *si.Told) error\n\tStop()"
    renamed, stop = _evaluated(
        ("type StoreApi interface", "type StoreAPI interface"),
        ("Update(told *si.Told) error", added),
    )
    assert (renamed.change.kind, stop.change.kind) == (Kind.API_RENAMED, Kind.API_ADDED)
    assert renamed.change.line
    assert [j.worst for j in (renamed, stop)] == [Class.SOURCE_BREAKING] * 2
    assert renamed.old_peer == "An old RM names StoreApi and does not compile."
    assert stop.new_peer == "A new scheduler does not compile without StoreAPI.Stop."


def test_new_go_interface_does_not_affect_existing_ones() -> None:
    plugin = "type DumpPlugin interface {\n\tDump() string\n}\n\ntype StoreApi"
    (dump,) = _evaluated(("type StoreApi", plugin))
    assert dump.worst is Class.COMPATIBLE
    assert dump.new_peer == "A new RM may have Dump: DumpPlugin is a new interface."


def test_message_renamed_by_one_word_is_matched() -> None:
    found = _changes(
        ("ParcelReturnNote back", "ParcelReturn back"),
        ("message ParcelReturnNote {", "message ParcelReturn {"),
        (
            "  string parcel = 3;\n  string message = 4;",
            "  string parcel = 3;\n  Order order = 4;\n  string message = 5;",
        ),
    )
    assert [(change.kind, change.where) for change in found] == [
        (Kind.MESSAGE_RENAMED, "ParcelReturn"),
        (Kind.FIELD_ADDED, "ParcelReturn.order"),
        (Kind.FIELD_NUMBER, "ParcelReturn.message"),
    ]
    assert found[0].rename is Rename.NAME


def test_field_with_other_message_type_shows_misreading() -> None:
    (taken,) = _evaluated(("repeated ParcelTaken taken", "repeated ParcelReturnNote taken"))[-1:]
    assert taken.worst is Class.MISREAD
    assert taken.old_peer == (
        "An old RM takes a parcel return note for a parcel taken "
        "(in Answer.taken it reads shelf as parcel and owner as message)."
    )


@pytest.mark.parametrize(
    ("zero", "worst", "message"),
    [
        ("KEEP", Class.MISREAD, "A new scheduler does not see Told.order: it is taken for KEEP"),
        ("UNKNOWN_ORDER", Class.WIRE_BREAKING, "A new scheduler does not see Told.order."),
    ],
)
def test_unknown_enum_value_is_read_as_zero(zero: str, worst: Class, message: str) -> None:
    old = from_text("old.md", TEXT.replace("KEEP", zero))
    new = _edited(("Order order = 2;", "Order order = 4;"), ("KEEP", zero))
    (order,) = evaluate(old, new)
    assert order.worst is worst
    assert order.new_peer.startswith(message)


def test_enum_value_with_other_meaning_is_reported_alone() -> None:
    evaluated = _evaluated(("Order order = 2;", "Order order = 4;"), ("BURN = 1", "SELL = 1"))
    (sell,) = [j for j in evaluated if j.change.kind is Kind.VALUE_REPLACED]
    assert sell.worst is Class.MISREAD
    assert (
        sell.old_peer
        == "An old scheduler knows BURN = 1; no message of both specifications carries it."
    )
    assert (
        sell.new_peer
        == "A new scheduler knows SELL = 1; no message of both specifications carries it."
    )


def test_an_enum_that_is_new_is_not_known_to_an_old_peer() -> None:
    (shade,) = _evaluated(("enum Order", "enum Shade { DARK = 0; }\nenum Order"))
    assert shade.old_peer == "An old peer does not know Shade."


def test_rule_of_respelled_field_has_not_moved() -> None:
    old = from_text("old.md", TEXT)
    assert compare_rules(old, _edited(("string rmId", "string rmID"))) == ()
    (moved,) = compare_rules(old, _edited(("string rmId", "string teller")))
    assert moved.kind is RuleChangeKind.MOVED


@pytest.mark.parametrize(
    ("old", "new", "otherwise"),
    [
        ("Which shelf to empty, required.", "Which shelf to empty the rack of, required.", False),
        ("Id of the parcel.", "The id of the parcel that is taken", False),
        ("The parcel", "The parcel, if it has no owner", True),
        ("The parcel", "Not the parcel", True),
        ("Parcels that are there.", "A parcel to take in or to change.", True),
        ("Takes the place of one (with the same parcelID)", "", False),
        (
            "New ones, or those that take the place of others (with the same parcelID)",
            "New ones, or those that take the place of others (with the same parcelKey)",
            True,
        ),
        (
            "New ones, or those that take the place of others (with the same parcelId)",
            "New ones, or those that take the place of others (with the same parcelID)",
            False,
        ),
        ("What the parcel wieghs now, in grams", "What the parcel weighs now, in grams", False),
        ("When it was taken in, in seconds", "When it was taken in, in milliseconds", True),
        ("Taken in (true) or given (false)", "Taken in (false) or given (true)", True),
        ("The shelf with the lower number", "The shelf with the higher number", True),
        ("The shelf with the number", "The first shelf with the number", False),
    ],
)
def test_comment_with_new_wording_or_name_changes_role(
    old: str,
    new: str,
    otherwise: bool,  # noqa: FBT001
) -> None:
    assert (bool(old and new) and states_otherwise(old, new)) is otherwise
