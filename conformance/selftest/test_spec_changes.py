"""Detection of changes between two specifications, and their names."""

import pytest
from selftest.spec_edits import edited, unedited
from sispec.changes import Change, Kind, compare
from sispec.message_senders import Peer, carried_by_rpc, senders
from sispec.naming import Rename, rename_of, words
from sispec.schema import Reserved, schema_of
from sispec.sources import read_spec


def _changes(*edits: tuple[str, str]) -> list[Change]:
    return compare(unedited(), edited(*edits))


_ONE_CHANGE = [
    ("nodeID = 8;", "nodeID = 16;", (Kind.FIELD_NUMBER, "Allocation.nodeID")),
    (
        "  // The first allocation of the application.\n  bool originator = 14",
        "  // May be evicted before all others.\n  bool expendable = 14",
        (Kind.FIELD_REPLACED, "Allocation.expendable"),
    ),
    ("bool originator", "bool Originator", (Kind.FIELD_RENAMED, "Allocation.Originator")),
    ("int32 priority", "int64 priority", (Kind.FIELD_TYPE, "Allocation.priority")),
    (
        "repeated string groups",
        "string groups",
        (Kind.FIELD_CARDINALITY, "UserGroupInformation.groups"),
    ),
    (
        "bool originator = 14",
        "bool originator = 14 [deprecated = true]",
        (Kind.FIELD_OPTION, "Allocation.originator"),
    ),
    ("  reserved 13;\n", "", (Kind.RESERVED_REMOVED, "Allocation")),
    ("  reserved 13;\n", "  reserved 13, 20 to 29;\n", (Kind.RESERVED_ADDED, "Allocation")),
    (
        "USERGROUP = 5;",
        "USERGROUP = 5;\n    PARTITION = 6;",
        (Kind.VALUE_ADDED, "EventRecord.Type.PARTITION"),
    ),
    ("    USERGROUP = 5;\n", "", (Kind.VALUE_REMOVED, "EventRecord.Type.USERGROUP")),
    ("USERGROUP = 5", "USERGROUP = 6", (Kind.VALUE_NUMBER, "EventRecord.Type.USERGROUP")),
    ("USERGROUP = 5", "USER_GROUP = 5", (Kind.VALUE_RENAMED, "EventRecord.Type.USER_GROUP")),
    ("USERGROUP = 5", "QUOTA = 5", (Kind.VALUE_REPLACED, "EventRecord.Type.QUOTA")),
    (
        "service Scheduler {",
        "service Spare {}\nservice Scheduler {",
        (Kind.SERVICE_ADDED, "Spare"),
    ),
    ("(stream NodeRequest)", "(NodeRequest)", (Kind.METHOD_STREAMING, "Scheduler.UpdateNode")),
    (
        "(stream NodeResponse)",
        "(stream NodeRequest)",
        (Kind.METHOD_TYPES, "Scheduler.UpdateNode"),
    ),
    ("message PredicatesArgs", "message PredicateArgs", (Kind.MESSAGE_RENAMED, "PredicateArgs")),
]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    _ONE_CHANGE,
)
def test_edit_is_one_change(before: str, after: str, expected: tuple[Kind, str]) -> None:
    (change,) = _changes((before, after))
    assert (change.kind, change.where) == expected
    assert change.line


def test_change_has_line_of_new_text_or_of_old_if_removed() -> None:
    (added,) = _changes(("  int64 value = 1;", "  int64 value = 1;\n  string unit = 2;"))
    (gone,) = compare(
        edited(("  int64 value = 1;", "  int64 value = 1;\n  string unit = 2;")), unedited()
    )
    assert added.line == gone.line > 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("// SPDX-License-Identifier: Apache-2.0", "// Another licence"),
        ("  int64 value = 1;", "\n\n    int64   value=1;"),
        ("// May be left empty: the scheduler then", "// May be left empty; the scheduler then"),
    ],
)
def test_prose_and_white_space_are_no_change(before: str, after: str) -> None:
    assert _changes((before, after)) == []


def test_schema_alone_reports_no_constants_or_go() -> None:
    kinds = {change.kind for change in compare(read_spec("2024-10"), unedited())}
    assert not {kind for kind in kinds if "constant" in kind.value or "Go API" in kind.value}


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("allocationkey", "allocationKey", Rename.SPELLING),
        ("rejectedNodes", "rejected_nodes", Rename.SPELLING),
        ("applicartionID", "applicationID", Rename.TYPO),
        ("tragetExpressions", "targetExpressions", Rename.TYPO),
        ("resourceAsk", "resource", Rename.NAME),
        ("partitionName", "partition", Rename.NAME),
        ("applicationID", "application", Rename.NAME),
        ("AllocationReleaseNote", "AllocationRelease", Rename.NAME),
        ("rejected", "accepted", Rename.MEANING),
        ("placeholder", "notPlaceholder", Rename.MEANING),
        ("minCardinality", "maxCardinality", Rename.MEANING),
        ("queueName", "userName", Rename.MEANING),
        ("originator", "preemptible", Rename.MEANING),
    ],
)
def test_renames_are_listed_separately(old: str, new: str, how: Rename) -> None:
    assert rename_of(old, new) is how


def test_rename_with_unchanged_comment_changes_name_only() -> None:
    comment = "How important an ask is, the larger the more."
    assert rename_of("priority", "weight", comment, comment) is Rename.NAME
    assert rename_of("priority", "weight", comment, "Grams of a parcel.") is Rename.MEANING


def test_names_have_their_words() -> None:
    assert words("RejectedAllocationAsk") == ("rejected", "allocation", "ask")
    assert words("rmID") == ("rm", "id")
    assert words("UUID") == ("uuid",)


def test_unreserved_numbers_are_reported_by_ranges() -> None:
    old = Reserved(frozenset({(3, 3), (10, 20)}), frozenset({"UUID"}))
    new = Reserved(frozenset({(12, 14)}), frozenset())
    assert str(old.without(new)) == '3, 10 to 11, 15 to 20, "UUID"'
    assert str(new.without(old)) == ""


def test_sender_of_message_is_known() -> None:
    schema = schema_of(unedited().file)
    sent_by = senders(schema, {})
    assert sent_by["NodeInfo"] == {Peer.RM}
    assert sent_by["RejectedNode"] == {Peer.SCHEDULER}
    assert sent_by["Allocation"] == {Peer.RM, Peer.SCHEDULER}
    assert sent_by["EventRecord"] == {Peer.SCHEDULER}
    assert "UpdateConfigurationRequest" not in sent_by
    assert "EventRecord" not in carried_by_rpc(schema)
    assert "Quantity" in carried_by_rpc(schema)
