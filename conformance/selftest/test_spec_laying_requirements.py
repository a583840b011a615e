"""What a new text means for requirements: their sources stand, move, or are for people."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import yaml
from selftest.spec_samples import hash_of, requirement
from siconform.catalogue import Requirement
from siconform.spec.laying.decisions import Topic, of_requirements, of_returning
from siconform.spec.laying.requirement_work import (
    RequirementWork,
    catalogue_edits,
    requirement_work,
    returning,
)
from siconform.spec.laying.source_edits import NotLaidError
from siconform.spec.laying.wire_records import Succession
from siconform.spec.places import Footing
from siconform.spec.sources import from_text

BEFORE, NAME = "2026-04", "2027-01"
OF = Succession(BEFORE, NAME)
AREA = "conformance/siconform/catalogue/nodes.yaml"
TEXT = """\
# Scheduler Interface Spec

A node must be told once.

## RPC Interface

Nodes of others are ignored. Two streams are open.

```protobuf
syntax = "proto3";
package si.v1;

message NodeInfo {
  // Names the node, as it has to be.
  string nodeID = 1;
  // Said twice.
  string rack = 2;
  // Said twice.
  string zone = 3;
  // What the node has. It may be left out.
  int64 room = 4;
}
```
"""
"""A text in which capacity is called room, the rule of section moved, nodeID reads otherwise."""


def standing_on(*places: tuple[str, str]) -> Requirement:
    return requirement("SI-NODE-001", *places, revision=BEFORE)


def work(*requirements: Requirement) -> tuple[RequirementWork, ...]:
    return requirement_work(requirements, BEFORE, Footing(from_text("text.md", TEXT)))


def only(found: tuple[RequirementWork, ...]) -> RequirementWork:
    (one,) = found
    return one


def test_a_sentence_in_its_place_is_no_work() -> None:
    one = only(work(standing_on(('section "RPC Interface"', "Nodes of others are ignored."))))

    assert (one.to_decide, one.moved, one.has_lost_all) == ((), (), False)


@pytest.mark.parametrize(
    ("where", "sentence", "moved_to"),
    [
        ("NodeInfo.capacity", "What the node has. It may be left out.", "NodeInfo.room"),
        ('section "Objective"', "Nodes of others are ignored.", 'section "RPC Interface"'),
    ],
)
def test_a_sentence_in_one_other_place_has_moved(where: str, sentence: str, moved_to: str) -> None:
    one = only(work(standing_on((where, sentence))))

    assert [moved.moved_to for moved in one.moved] == [moved_to]
    assert not one.to_decide


@pytest.mark.parametrize(
    ("where", "sentence", "says"),
    [
        ("NodeInfo.row", "Said twice.", "NodeInfo.row; it ends with 2026-04?"),
        ("NodeInfo.room", "Names the node, as it has to be.", "NodeInfo.room reads differently"),
        ("NodeInfo.nodeID", "Names the node.", "NodeInfo.nodeID reads differently"),
        ('section "RPC Interface"', "Something else.", "does not have the sentence"),
        ("NodeInfo.gone", "Nobody says this.", "NodeInfo.gone; it ends with 2026-04?"),
    ],
)
def test_what_is_gone_otherwise_or_in_several_places_is_for_people(
    where: str, sentence: str, says: str
) -> None:
    found = work(standing_on((where, sentence)))

    assert only(found).to_decide
    (decision,) = of_requirements(found, OF)
    assert says in decision.says


def test_what_stands_there_now_is_told_as_a_source_to_add() -> None:
    found = work(standing_on(("NodeInfo.nodeID", "Names the node.")))

    (decision,) = of_requirements(found, OF)
    now = hash_of("Names the node, as it has to be.")
    assert f"{{where: NodeInfo.nodeID, since: {NAME}, sha256: {now}}}" in decision.says


def test_only_a_requirement_that_has_lost_all_may_have_to_end() -> None:
    gone = ("NodeInfo.gone", "Nobody says this.")
    stays = ('section "RPC Interface"', "Nodes of others are ignored.")

    topics = [
        [one.topic for one in of_requirements(work(standing_on(*places)), OF)]
        for places in ([gone], [gone, stays])
    ]
    assert topics == [[Topic.END], [Topic.GO_ON]]


def test_a_requirement_that_had_ended_may_be_back() -> None:
    last = ("NodeInfo.room", "What the node has. It may be left out.")
    ended = replace(requirement("SI-NODE-002", last, revision="2023-04"), retired="It was gone.")

    found = returning([ended], BEFORE, Footing(from_text("text.md", TEXT)))
    (decision,) = of_returning(found)
    assert decision.topic is Topic.BACK
    assert decision.says.endswith("which ended: It was gone.")


def area(item: str) -> Mapping[str, str]:
    entry = "requirements:\n  - id: SI-NODE-001\n    title: A node\n    sources:\n"
    other = "    given: a node\n  - id: SI-NODE-002\n    sources:\n      - {where: X, sha256: 0}\n"
    return {AREA: f"area: NODE\n\n{entry}{item}\n{other}"}


@pytest.mark.parametrize(
    "item",
    [
        "      - {where: NodeInfo.capacity, sha256: HASH}",
        "      - {where: NodeInfo.capacity, since: 2023-08, sha256: HASH}",
        "      - where: NodeInfo.capacity\n        since: 2023-08\n        sha256: HASH",
    ],
)
def test_a_source_that_moved_ends_and_another_begins(item: str) -> None:
    sentence = "What the node has. It may be left out."
    found = work(standing_on(("NodeInfo.capacity", sentence)))
    areas = area(item.replace("HASH", hash_of(sentence)))

    edited = catalogue_edits(found, areas, BEFORE, NAME)[AREA]

    was, now = (yaml.load(text, yaml.BaseLoader)["requirements"] for text in (areas[AREA], edited))  # noqa: S506 - text only
    old, new = now[0]["sources"]
    assert old == {**was[0]["sources"][0], "until": BEFORE}
    assert new == {"where": "NodeInfo.room", "since": NAME, "sha256": hash_of(sentence)}
    assert now[1] == was[1]
    assert list(old)[-1] == "sha256"


def test_a_source_that_has_ended_is_not_ended_again() -> None:
    sentence = "What the node has. It may be left out."
    ended = "      - {where: NodeInfo.capacity, until: 2021-02, sha256: HASH}\n"
    item = f"{ended}      - {{where: NodeInfo.capacity, since: 2023-08, sha256: HASH}}"
    areas = area(item.replace("HASH", hash_of(sentence)))

    found = work(standing_on(("NodeInfo.capacity", sentence)))
    edited = catalogue_edits(found, areas, BEFORE, NAME)[AREA]

    assert edited.count("until: 2021-02,") == 1
    assert edited.count(f"since: 2023-08, until: {BEFORE},") == 1


def test_a_source_the_area_file_does_not_have_is_refused() -> None:
    found = work(standing_on(("NodeInfo.capacity", "What the node has. It may be left out.")))

    with pytest.raises(NotLaidError, match=r"has no open source NodeInfo\.capacity"):
        catalogue_edits(found, area("      - {where: Y, sha256: 0}"), BEFORE, NAME)
