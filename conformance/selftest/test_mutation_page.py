"""Mutants: how they are described and made, and that they are killed."""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from mutation.known import load
from mutation.lists import ASKS, EVENTS, EXISTING, NODES
from mutation.main_revision import NAME, si
from mutation.mutant import CHANGES, Change, Wire, keep, mutant, variant
from mutation.parts import Edit, Elements
from mutation.proxy import NONE, reference
from siconform.catalogue import catalogue
from siwire import find_revision
from siwire.ext import extension_pb2 as ext
from siwire.r2023_12 import si_pb2 as si_2023_12

from .commands import python, results_in, siconform

pytestmark = pytest.mark.end_to_end

REPOSITORY = Path(__file__).parents[2]

load()
MAIN = find_revision(NAME)
AREAS = {requirement.area for requirement in catalogue().values()}


def test_mutants_have_a_description() -> None:
    assert [one.name for one in CHANGES.values() if not one.summary.endswith(".")] == []
    mutants = [one for one in CHANGES.values() if not one.is_variant]
    assert [one.name for one in mutants if not one.breaks] == []
    assert {area for one in CHANGES.values() for area in one.areas} <= AREAS


def test_broken_requirements_are_in_catalogue() -> None:
    wrong = [
        (one.name, identifier)
        for one in CHANGES.values()
        for identifier in one.breaks
        if identifier not in catalogue()
        or one.side not in catalogue()[identifier].sides
        or one.revision not in {str(name) for name in catalogue()[identifier].revisions}
    ]

    assert wrong == []


def test_files_named_by_options_exist() -> None:
    words = [word for change in CHANGES.values() for word in change.received if "/" in word]

    assert words
    assert [word for word in words if not (REPOSITORY / word).exists()] == []


def test_duplicate_name_is_rejected() -> None:
    def nothing(response: si.NodeResponse) -> None:
        del response

    with pytest.raises(ValueError, match=r"duplicate name .*: drain-ignored"):
        mutant("drain-ignored", "Again.", "NODE", revision=NAME)(nothing)


def test_message_change_needs_revision() -> None:
    def nothing(response: si.NodeResponse) -> None:
        del response

    with pytest.raises(ValueError, match="a-mutant changes messages: name their revision"):
        mutant("a-mutant", "Wrong.", breaks=("SI-NODE-001",))(nothing)
    with pytest.raises(ValueError, match="a-variant is for SI 2023-08 and changes a NodeResponse"):
        variant("a-variant", "Free.", revision="2023-08")(nothing)


def test_proxy_rejects_other_revision() -> None:
    done = python("-P", "-m", "mutation.proxy", "drain-ignored", "--revision", "2021-02")

    assert done.returncode == 2
    assert "drain-ignored changes messages of SI 2024-10, not of 2021-02" in done.stderr


def test_areas_of_changes() -> None:
    faulty = Change("x", "X.", breaks=("SI-NODE-001", "SI-NODE-002"), more_areas=("RES", "NODE"))

    assert faulty.areas == ("NODE", "RES")
    assert Change("y", "Y.", is_variant=True).areas == ()


def test_change_is_made_inside_or_on_the_wire() -> None:
    on_the_wire, patch = CHANGES["drain-ignored"], CHANGES["pass-each-half-second"]
    plain = reference(NONE, MAIN)

    assert reference(on_the_wire, MAIN) == plain
    assert "pass-each-half-second+" in reference(patch, MAIN)
    assert "+pass-each-half-second" in reference(on_the_wire, MAIN, variant=patch)
    assert (on_the_wire.is_on_the_wire, on_the_wire.is_inside) == (True, False)
    assert (patch.is_on_the_wire, patch.is_inside) == (False, True)


def test_state_depends_on_defining_file() -> None:
    assert [file.name for file in CHANGES["drain-ignored"].sources] == ["changes.py"]
    assert [file.name for file in CHANGES["pass-each-half-second"].sources] == ["latency.py"]


def test_keep_drops_elements() -> None:
    numbers = [1, 2, 3, 4]

    gone = keep(numbers, lambda number: number % 2 == 0)

    assert (numbers, gone) == ([2, 4], [1, 3])


def test_keep_of_all_leaves_message_unchanged() -> None:
    request = si.AllocationRequest(rmID="rm")

    keep(request.releases.allocationsToRelease, lambda _: False)

    assert request == si.AllocationRequest(rmID="rm")


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (NODES.without("nodeID", "attributes"), [("", 3), ("", 4)]),
        (NODES.put(nodeID="x"), [("x", 3), ("x", 4)]),
        (NODES.change("nodeID", lambda name: f"{name}!"), [("a!", 3), ("b!", 4)]),
        (NODES.turn("nodeID", {"b": "c"}), [("a", 3), ("c", 4)]),
        (NODES.where(lambda node: node.nodeID == "a").put(nodeID="x"), [("x", 3), ("b", 4)]),
        (NODES.where(lambda node: node.nodeID == "a").none(), [("b", 4)]),
        (NODES.amounts("schedulableResource", lambda value: 2 * value), [("a", 6), ("b", 8)]),
        (NODES.only(lambda node: node.nodeID == "b"), [("b", 4)]),
        (NODES.none(), []),
        (NODES.twice(), [("a", 3), ("b", 4), ("a", 3), ("b", 4)]),
    ],
)
def test_row_edits_every_list_element(edit: Edit, after: list[tuple[str, int]]) -> None:
    capacities = ("a", 3), ("b", 4)
    request = si.NodeRequest()
    for name, memory in capacities:
        node = request.nodes.add(nodeID=name)
        node.schedulableResource.resources["memory"].value = memory

    edit.make(request)

    left = [(one.nodeID, one.schedulableResource.resources["memory"]) for one in request.nodes]
    assert [(name, memory.value) for name, memory in left] == after


def test_row_edits_nested_lists_and_payloads() -> None:
    node = si_2023_12.NodeInfo(existingAllocations=[si_2023_12.Allocation(placeholder=True)])
    request = si_2023_12.NodeRequest(nodes=[node])
    existing = Elements(si_2023_12.NodeRequest, "nodes.existingAllocations")
    record = si.EventRecord(objectID="n", message="m").SerializeToString()
    received = ext.ToRm(kind=ext.EVENT_BATCH, payloads=[ext.SiPayload(data=record)])

    existing.without("placeholder").make(request)
    EVENTS.without("objectID").make(received)

    assert request.nodes[0].existingAllocations[0] == si_2023_12.Allocation()
    assert si.EventRecord.FromString(received.payloads[0].data) == si.EventRecord(message="m")


def test_asks_existing_and_foreign_are_distinguished() -> None:
    request = si.AllocationRequest(
        allocations=[
            si.Allocation(allocationKey="asked"),
            si.Allocation(allocationKey="there", nodeID="n"),
            si.Allocation(allocationKey="theirs", nodeID="n", allocationTags={"foreign": ""}),
        ]
    )

    ASKS.put(priority=1).make(request)
    EXISTING.put(priority=2).make(request)

    assert [one.priority for one in request.allocations] == [1, 2, 0]


def test_row_with_unknown_field_is_rejected() -> None:
    with pytest.raises(LookupError, match="has no field nodeId"):
        NODES.without("nodeId")


def _wire(sent: list[Any]) -> Wire:
    return Wire(sent.append, sent.append, lambda *_: None, defaultdict(set))


def test_edits_of_one_message_type_combine() -> None:
    change = CHANGES["node-verdict-twice"]
    response = si.NodeResponse(
        accepted=[si.AcceptedNode(nodeID="a")], rejected=[si.RejectedNode(nodeID="r")]
    )

    sent: list[Any] = []
    change.change(response, _wire(sent))

    assert (len(response.accepted), len(response.rejected)) == (2, 2)
    assert [file.name for file in change.sources] == ["nodes.py", "parts.py"]


def test_mutant_changes_message_in_place() -> None:
    sent: list[Any] = []
    request = si.NodeRequest(nodes=[si.NodeInfo(nodeID="n", action=si.NodeInfo.DRAIN_NODE)])

    CHANGES["drain-ignored"].change(request, _wire(sent))

    assert list(request.nodes) == []
    assert sent == []


@pytest.mark.parametrize(
    ("name", "requirement", "verdict"),
    [
        ("none", "SI-NODE-002", "pass"),
        ("node-accepted-twice", "SI-NODE-002", "fail"),
        ("confirmation-not-awaited", "SI-GANG-020", "fail"),
    ],
)
def test_mutant_is_killed(name: str, requirement: str, verdict: str, tmp_path: Path) -> None:
    proxy = f"{sys.executable} -P -m mutation.proxy {name} --listen {{address}}"
    run = ("run", "--target-command", proxy, "--revision", NAME, "-k", requirement)

    siconform(*run, "--no-reference", "--results", tmp_path)

    found = results_in(tmp_path)["requirements"]
    assert [one["verdict"] for one in found if one["id"] == requirement] == [verdict]
