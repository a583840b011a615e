"""A revision claims exactly the capabilities its messages have, and is found by its names."""

from typing import Any

import pytest
from siwire import (
    DEFAULT_REVISION,
    NEAR_LINES,
    REVISIONS,
    Capability,
    Revision,
    find_revision,
    note_on,
)

# Declarations that a capability requires: names below si.v1, "Service.Method" for a call, an
# enum value below its enum. Each tuple is one alternative.
DECLARED: dict[Capability, list[tuple[str, ...]]] = {
    Capability.ONE_UPDATE_STREAM: [("Scheduler.Update", "UpdateRequest", "UpdateResponse")],
    Capability.THREE_UPDATE_STREAMS: [
        ("Scheduler.UpdateAllocation", "Scheduler.UpdateApplication", "Scheduler.UpdateNode")
    ],
    Capability.CONFIGURATION_IN_REGISTRATION: [
        (
            "RegisterResourceManagerRequest.buildInfo",
            "RegisterResourceManagerRequest.config",
            "RegisterResourceManagerRequest.extraConfig",
        )
    ],
    Capability.ASKS_APART: [("AllocationAsk", "AllocationAskRelease", "RejectedAllocationAsk")],
    Capability.EXISTING_ALLOCATIONS_WITH_NODE: [
        ("NewNodeInfo.existingAllocations",),
        ("NodeInfo.existingAllocations",),
    ],
    Capability.OCCUPIED_RESOURCE: [
        ("NewNodeInfo.occupiedResource",),
        ("NodeInfo.occupiedResource",),
    ],
    Capability.CREATE_DRAIN: [("NodeInfo.ActionFromRM.CREATE_DRAIN",)],
    Capability.GANG_STYLE: [("AddApplicationRequest.gangSchedulingStyle",)],
    Capability.ORIGINATOR: [("AllocationAsk.Originator",), ("Allocation.originator",)],
    Capability.PLACEMENT_CONSTRAINTS: [("AllocationAsk.placementConstraint",)],
    # No message depends on it; records of users and groups came in the same release line, 1.5
    Capability.API_STOP: [("EventRecord.Type.USERGROUP",)],
}

each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)


def names_of(revision: Revision) -> set[str]:
    """Return every message, field, method and enum value of the revision by name below si.v1."""
    file: Any = revision.si.DESCRIPTOR
    enums = [(enum.name, enum) for enum in file.enum_types_by_name.values()]
    names = set()
    for message in file.message_types_by_name.values():
        names |= {message.name, *(f"{message.name}.{field.name}" for field in message.fields)}
        enums += [(f"{message.name}.{enum.name}", enum) for enum in message.enum_types]
    for name, enum in enums:
        names |= {f"{name}.{value.name}" for value in enum.values}
    for service in file.services_by_name.values():
        names |= {f"{service.name}.{method.name}" for method in service.methods}
    return names


@pytest.mark.parametrize("capability", Capability, ids=lambda c: c.name.lower())
def test_capability_is_claimed_by_exactly_the_revisions_that_declare_it(
    capability: Capability,
) -> None:
    declaring = {
        revision.name
        for revision in REVISIONS.values()
        if any(set(way) <= names_of(revision) for way in DECLARED[capability])
    }
    claiming = {revision.name for revision in REVISIONS.values() if revision.can(capability)}

    assert declaring
    assert claiming == declaring


@pytest.mark.parametrize("capability", Capability, ids=lambda c: c.name.lower())
def test_no_revision_declares_half_of_a_capability(capability: Capability) -> None:
    for revision in REVISIONS.values():
        if revision.can(capability):
            continue
        half = {name for way in DECLARED[capability] for name in way} & names_of(revision)
        assert half == set(), (revision.name, half)


@each_revision
def test_revision_is_found_by_name_and_alias(revision: Revision) -> None:
    for name in (revision.name, *revision.aliases):
        assert find_revision(name) is revision


def test_release_line_is_an_alias_only_where_it_matches_exactly() -> None:
    aliases = {
        alias: revision.name for revision in REVISIONS.values() for alias in revision.aliases
    }

    assert aliases == {"1.7": "2024-10", "1.8": "2024-10", "1.9": "2026-04"}


def test_approximate_release_line_is_mapped_to_a_revision() -> None:
    taken = {line: find_revision(line).name for line in NEAR_LINES}

    assert taken == {
        "0.10": "2021-02",
        "1.3": "2023-04",
        "1.4": "2023-08",
        "1.5": "2023-12",
        "1.6": "2024-10",
    }


@pytest.mark.parametrize(
    ("line", "differs"),
    [
        ("0.10", "terminationType as 4 and the message as 5"),
        ("1.3", "groupID as 3 and reason as 4"),
        ("1.4", "spells applicationID right"),
        ("1.5", "nine event details (213-216, 600-604)"),
        ("1.6", "occupiedResource as 5"),
    ],
)
def test_approximate_release_line_is_not_an_exact_match(line: str, differs: str) -> None:
    note = note_on(line)

    assert note is not None
    assert note.startswith(
        f"SI {line} is mapped to {find_revision(line)}, the nearest revision; it differs: "
    )
    assert differs in note
    assert "\n" not in note


def test_exact_name_has_no_note() -> None:
    names = [name for r in REVISIONS.values() for name in (r.name, *r.aliases)]

    assert [name for name in (*names, "", "latest") if note_on(name)] == []


def test_default_is_a_revision() -> None:
    assert DEFAULT_REVISION is REVISIONS["2024-10"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("2023-11", "2023-12"), ("202308", "2023-08"), ("1.5.1", "1.5"), ("1.8.0", "1.8")],
)
def test_misspelled_name_gets_the_nearest_suggestion(name: str, nearest: str) -> None:
    with pytest.raises(LookupError) as refused:
        find_revision(name)

    message = refused.value.args[0]
    assert message.startswith(f'unknown revision "{name}"; did you mean "{nearest}"?')


def test_unknown_name_gets_the_list_of_known_ones() -> None:
    with pytest.raises(LookupError) as refused:
        find_revision("latest")

    assert refused.value.args[0] == (
        'unknown revision "latest" '
        "(known: 2021-02 (near 0.10), 2023-04 (near 1.3), 2023-08 (near 1.4), "
        "2023-12 (near 1.5), 2024-10 (1.7, 1.8, near 1.6), 2026-04 (1.9))"
    )


@each_revision
def test_revision_prints_as_its_name(revision: Revision) -> None:
    assert f"{revision}" == revision.name
