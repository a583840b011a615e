"""The owners of a field number, by revision, and free numbers."""

import pytest
from selftest.spec_edits import unedited
from sispec.owners import memory_before
from sispec.schema import Reserved, revision_schema, schema_of


def test_all_owners_of_a_number_are_known_with_their_revisions() -> None:
    memory = memory_before(revision_schema("2026-04"), revision_schema("2026-04"))
    assert [str(owner) for owner in memory.owners("EventRecord", 4)] == [
        "EventRecord.reason (2021-02)"
    ]
    uuid = memory.owners("AllocationRelease", 3)
    assert [str(owner) for owner in uuid] == ["AllocationRelease.UUID (2021-02 to 2023-08)"]


def test_moved_enum_keeps_its_owners() -> None:
    memory = memory_before(revision_schema("2024-10"), revision_schema("2024-10"))
    assert [str(owner) for owner in memory.owners("TerminationType", 1)] == [
        "AllocationRelease.TerminationType.TIMEOUT (2021-02)",
        "TerminationType.STOPPED_BY_RM (2023-04 to 2024-10)",
    ]


@pytest.mark.parametrize("name", ["2021-02", "2023-08", "2026-04"])
def test_later_revisions_do_not_count(name: str) -> None:
    memory = memory_before(revision_schema(name), revision_schema("2026-04"))
    assert memory.revisions[-1] == name


def test_edited_text_has_history_of_its_revision() -> None:
    schema = schema_of(unedited().file)
    assert memory_before(schema, schema).revisions[-1] == "2024-10"


def test_respellings_of_an_owner_are_the_owner() -> None:
    memory = memory_before(revision_schema("2024-10"), revision_schema("2024-10"))
    place = "UpdateContainerSchedulingStateRequest"
    assert memory.others(place, 1, "applicationID") == ()
    assert [owner.name for owner in memory.others(place, 1, "node")] == [
        "applicartionID",
        "applicationID",
    ]


def test_free_number_is_above_all_used_and_reserved_ones() -> None:
    memory = memory_before(revision_schema("2024-10"), revision_schema("2024-10"))
    nothing = Reserved()
    assert memory.next_free("NodeInfo", (), nothing) == 7
    assert memory.next_free("NodeInfo", (9,), nothing) == 10
    assert memory.next_free("NodeInfo", (), Reserved(frozenset({(7, 11)}))) == 12
    assert memory.next_free("NodeInfo", (18999,), nothing) == 20000


def test_foreign_schema_has_no_history() -> None:
    file = unedited().file.__class__(package="shop", name="shop.proto")
    file.message_type.add(name="Basket")
    assert memory_before(schema_of(file), schema_of(file)).revisions == ()
