"""The requirements based on an element, by rules, tests, monitors, dialects and mutants."""

from dataclasses import replace
from pathlib import Path

import pytest
from mutation.known import load
from mutation.mutant import CHANGES
from selftest.spec_samples import requirement
from siconform.catalogue import Requirement, catalogue
from siconform.running.index import citations
from sispec.changes import Change, Kind, compare
from sispec.citations import Citation, kit_names, read_citations
from sispec.impact import Impact, impact
from sispec.impact_reasons import ReasonKind
from sispec.schema import Schema, schema_of
from sispec.sources import from_bytes, read_spec
from sispec.traceability import Traceability

PROTOS = Path(__file__).parents[2] / "proto" / "si"
TERMINATIONS = (
    ("STOPPED_BY_RM = 1;", "EVICTED = 1;\n  STOPPED_BY_RM = 2;"),
    (" TIMEOUT = 2;", " TIMEOUT = 3;"),
    ("PREEMPTED_BY_SCHEDULER = 3;", "PREEMPTED_BY_SCHEDULER = 4;"),
    ("PLACEHOLDER_REPLACED = 4;", "PLACEHOLDER_REPLACED = 5;"),
)
SUITE = '''\
"""A test with its helpers."""

KINDS = {"kind": Termination.TIMEOUT}


def served(rm, kind):
    rm.sees(termination=kind)


@pytest.mark.parametrize("kind", KINDS)
@requirement("SI-NODE-901", "SI-NODE-902")
def test_a_node_is_served(rm, kind):
    served(rm, kind=rm.asks(priority=5))


@requirement("SI-NODE-903")
def test_nothing(rm):
    rm.rests()
'''
MONITORS = """\
def nodes_exist():
    return [entry.node for entry in ()]


MONITORS: Final = (Monitor(nodes_exist, ("SI-NODE-904",), outlives_registrations=True),)
"""
MUTANTS = """\
NODES: Final = Elements(si.NodeRequest, "nodes")

_row(
    "node-nameless",
    NODES.without("nodeID"),
    breaks=("SI-NODE-905",),
)


@_mutant("node-small", breaks=("SI-NODE-906",))
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.schedulableResource.resources["memory"].value -= 1


@variant("node-late", once_failed_by=("SI-NODE-907",))
def _(request: si.NodeRequest) -> None:
    request.rmID = ""
"""


def edited(revision: str, *edits: tuple[str, str]) -> Impact:
    """Return the impact of edits of our schema of a revision."""
    path = PROTOS / revision / "si.proto"
    text = path.read_text("utf-8")
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after, 1)
    old, new = read_spec(str(path)), from_bytes("draft", text.encode(), ".proto")
    return impact(old, new, compare(old, new), catalogue().values())


@pytest.mark.parametrize(
    ("revision", "edits", "expected"),
    [
        ("2024-10", [("int32 priority = 6;", "int32 priority = 16;")], {"PRE-005"}),
        ("2023-12", [("int32 priority = 6;", "sint32 priority = 6;")], {"PRE-005"}),
        (
            "2023-12",
            [("int32 maxAllocations = 5;", "int32 maxAllocations = 15;")],
            {"ALLOC-002", "GANG-029", "GANG-030"},
        ),
        (
            "2023-12",
            [("  int32 maxAllocations = 5;\n", "")],
            {"ALLOC-002", "GANG-029", "GANG-030"},
        ),
        ("2023-12", TERMINATIONS, {"REL-014", "REL-026"}),
        ("2024-10", TERMINATIONS, {"REL-014", "REL-026"}),
        ("2021-02", [("RESYNC = 1;", "RESYNC = 2;")], {"CONN-012"}),
    ],
)
def test_requirement_about_element_depends_on_it(
    revision: str, edits: list[tuple[str, str]], expected: set[str]
) -> None:
    found = edited(revision, *edits)

    touched = {identifier for one in found.changes for identifier in one.touched}
    assert {f"SI-{identifier}" for identifier in expected} <= touched


@pytest.mark.parametrize(
    ("revision", "element", "others"),
    [
        ("2024-10", "EventRecord.type", {"REL-014", "REL-026"}),  # of a termination
        ("2024-10", "EventRecord.resource", {"RES-001", "ALLOC-002"}),  # of a node or an ask
        ("2024-10", "EventRecord.Type.NODE", {"NODE-003", "NODE-011"}),  # in `see SI-NODE-002`
        ("2024-10", "AddApplicationRequest.tags", {"ASK-029", "ALLOC-003"}),  # of an ask
        ("2024-10", "AddApplicationRequest.queueName", {"PRE-001", "PRE-005"}),  # a set-up
        ("2024-10", "NodeRequest.nodes", {"ALLOC-015", "GANG-021"}),  # a list is no value
        ("2024-10", "UpdatedApplication.message", {"CONN-003", "ASK-027"}),  # of protobuf
    ],
)
def test_requirement_with_only_the_word_does_not_depend_on_element(
    revision: str, element: str, others: set[str]
) -> None:
    traces = Traceability(schema(revision), revision, read_citations())

    named = {one.id for one in catalogue().values() if bases(traces, one, element)}

    assert named.isdisjoint({f"SI-{identifier}" for identifier in others})


def test_no_element_has_large_part_of_catalogue() -> None:
    traces = Traceability(schema("2024-10"), "2024-10", read_citations())
    known = [one for one in catalogue().values() if "2024-10" in one.revisions]

    for element in ("Allocation.placeholder", "AllocationRelease.terminationType"):
        named = [one for one in known if bases(traces, one, element)]
        assert 0 < len(named) < len(known) / 6


def schema(revision: str) -> Schema:
    return schema_of(read_spec(revision).file)


def bases(traces: Traceability, rule: Requirement, element: str) -> set[ReasonKind]:
    change = Change(Kind.FIELD_NUMBER, element, "1", "2")
    return {reason.kind for reason in traces.reasons(rule, [change])}


PRIORITY = "AllocationAsk.priority"


@pytest.mark.parametrize(
    ("text", "citation", "expected"),
    [
        ("An ask has a priority.", Citation((), frozenset({"priority"})), {ReasonKind.USED}),
        ("An ask has a priority.", Citation((), frozenset({"queue"})), set()),
        ("It has a priority.", Citation((), frozenset({"priority"})), set()),  # of what?
        ("An ask waits.", Citation((), frozenset({"priority"})), set()),
        ("It is as AllocationAsk.priority has it.", None, {ReasonKind.STATED}),
        (
            "An ask waits.",
            Citation(
                (),
                frozenset(),
                frozenset({"priority"}),
                frozenset({"AllocationRequest", "asks", "priority"}),
            ),
            {ReasonKind.ALTERED},
        ),
        (
            "An ask waits.",
            Citation(
                (),
                frozenset(),
                frozenset({"priority"}),
                frozenset({"AllocationResponse", "new", "priority"}),
            ),
            set(),
        ),
    ],
)
def test_common_word_needs_test_that_uses_the_field(
    text: str, citation: Citation | None, expected: set[ReasonKind]
) -> None:
    rule = replace(requirement("SI-ASK-901", text=text), control="")
    cited = [replace(citation, requirements=(rule.id,))] if citation is not None else []

    traces = Traceability(schema("2023-12"), "2023-12", cited)

    assert bases(traces, rule, PRIORITY) == expected


def test_requirement_linked_by_mutant_alone_is_near() -> None:
    assert ReasonKind.ALTERED.is_near
    assert not ReasonKind.STATED.is_near
    assert not ReasonKind.USED.is_near


def test_new_element_has_no_requirements() -> None:
    rule = replace(requirement("SI-ASK-901", text="As maxAllocations says."), control="")
    traces = Traceability(schema("2023-12"), "2023-12", ())
    element = "AllocationAsk.maxAllocations"

    assert bases(traces, rule, element) == {ReasonKind.STATED}
    for kind in (Kind.FIELD_ADDED, Kind.FIELD_ROLE, Kind.RESERVED_ADDED):
        assert [*traces.reasons(rule, [Change(kind, element)])] == []


def test_tests_monitors_and_mutants_are_read_from_their_source(tmp_path: Path) -> None:
    package, mutants = tmp_path / "siconform", tmp_path / "mutation"
    for folder, name, source in (
        (package / "suite", "test_nodes.py", SUITE),
        (package / "monitors", "nodes.py", MONITORS),
        (mutants / "mutants", "nodes.py", MUTANTS),
    ):
        folder.mkdir(parents=True)
        (folder / name).write_text(source, "utf-8")

    test, idle, monitor, row, function = read_citations(package, mutants)

    names = [(one.name, one.is_mutant) for one in (test, monitor, row)]
    assert names == [
        ("suite/test_nodes.py::test_a_node_is_served", False),
        ("monitor nodes_exist", False),
        ("node-nameless", True),
    ]
    assert test.requirements == ("SI-NODE-901", "SI-NODE-902")
    assert {"priority", "termination", "TIMEOUT"} <= test.uses
    assert idle.requirements == ("SI-NODE-903",)
    assert "priority" not in idle.uses
    assert monitor.requirements == ("SI-NODE-904",)
    assert monitor.uses == {"node"}
    assert row.requirements == ("SI-NODE-905",)
    assert row.sets == {"nodeID"}
    assert {"NodeRequest", "nodes"} <= row.words
    assert function.requirements == ("SI-NODE-906",)
    assert function.sets == {"schedulableResource"}


def test_an_installed_kit_has_its_own_tests_monitors_and_mutants() -> None:
    installed = read_citations()
    checkout = read_citations(mutants=PROTOS.parents[1] / "conformance" / "mutation")

    assert {"SI-PRE-005", "SI-CONN-012"} <= {i for one in installed for i in one.requirements}
    assert any(one.sets for one in installed)
    assert len(checkout) > len(installed)


def test_tests_monitors_and_mutants_of_requirement_are_found() -> None:
    load()
    read = read_citations(mutants=PROTOS.parents[1] / "conformance" / "mutation")

    found = {(id_, one.name) for one in read for id_ in one.requirements}

    assert found == {
        *(
            (id_, name)
            for by in citations().values()
            for id_, names in by.items()
            for name in names
        ),
        *((id_, change.name) for change in CHANGES.values() for id_ in change.breaks),
    }


def test_dialects_state_what_the_kit_calls_a_field() -> None:
    fields = ("queueName", "terminationType", "priority", "allocationTags", "user", "released")

    assert kit_names(fields) == {
        "queueName": {"queue"},
        "terminationType": {"termination"},
        "priority": {"priority", "priorityValue", "priority_class"},
        "allocationTags": {"tags"},
        "user": {"user"},
        "released": set(),
    }
