"""The catalogue is complete, its reader strict, and its pages are those of the catalogue."""

import re
from collections import Counter

import pytest
from siconform import shipped
from siconform.catalogue import (
    AREA_FILES,
    AREAS,
    CatalogueError,
    Level,
    Side,
    catalogue,
    find_requirement,
)
from siconform.catalogue.lint import committed_ids, complaints, complaints_about_tests
from siconform.catalogue.reading import read_area
from siconform.catalogue.requirement import Source
from siconform.running.index import cited
from siwire import REVISIONS, Revision

COUNTS = {  # total, MUST, SHOULD, MAY, the revisions from the oldest on, scheduler, rm
    "WIRE": (16, 12, 4, 0, 12, 12, 12, 12, 13, 13, 16, 11),
    "CONN": (21, 10, 11, 0, 18, 18, 18, 18, 18, 18, 18, 3),
    "REG": (19, 11, 7, 1, 15, 19, 19, 19, 19, 19, 16, 3),
    "NODE": (43, 27, 14, 2, 38, 37, 41, 41, 39, 39, 39, 5),
    "APP": (39, 23, 12, 4, 39, 39, 39, 39, 38, 38, 35, 4),
    "ASK": (32, 17, 10, 5, 24, 25, 25, 25, 24, 24, 31, 2),
    "ALLOC": (18, 12, 5, 1, 8, 7, 7, 8, 15, 15, 16, 2),
    "RES": (3, 3, 0, 0, 3, 3, 3, 3, 3, 3, 3, 0),
    "REL": (29, 16, 12, 1, 22, 25, 25, 25, 22, 22, 24, 6),
    "PRE": (9, 6, 0, 3, 3, 7, 7, 8, 8, 9, 9, 0),
    "PLACE": (11, 10, 1, 0, 11, 0, 0, 0, 0, 0, 11, 0),
    "UTIL": (2, 1, 1, 0, 2, 0, 0, 0, 0, 0, 2, 0),
    "NREC": (2, 0, 1, 1, 2, 0, 0, 0, 0, 0, 2, 1),
    "AUTO": (2, 2, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0),
    "GANG": (71, 46, 20, 5, 69, 70, 70, 70, 69, 69, 64, 7),
    "REC": (26, 14, 12, 0, 15, 16, 23, 23, 22, 22, 22, 5),
    "CFG": (8, 6, 2, 0, 2, 7, 7, 7, 7, 7, 7, 1),
    "CB": (15, 12, 2, 1, 5, 13, 13, 13, 14, 14, 10, 6),
    "EVT": (16, 14, 2, 0, 3, 4, 12, 12, 14, 15, 16, 0),
    "CONST": (11, 3, 3, 5, 2, 9, 10, 8, 8, 8, 9, 3),
    "FOR": (11, 0, 9, 2, 0, 0, 0, 0, 11, 11, 10, 1),
}
ENTRY = """\
area: NODE
subject: Nodes
requirements:
  - id: SI-NODE-001
    title: A new node is accepted
    level: MUST
    level_reason: a list for it exists
    authority: proto
    since: 2023-04
    sides: [scheduler]
    observations: [plain]
    deadline: ack
    text: A new node is accepted.
    sources:
      - where: AcceptedNode.nodeID
        until: 2023-04
        sha256: 0123456789012345
    given: on
    when: no
    then: 1.10
"""


def test_the_catalogue_holds_together() -> None:
    assert complaints(tuple(catalogue().values()), committed_ids()) == []


def test_what_the_scheduler_owes_is_tested_or_says_why_not() -> None:
    assert list(complaints_about_tests(catalogue().values(), cited())) == []


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_no_field_is_marked_secret_as_the_catalogue_says(revision: Revision) -> None:
    messages = list(revision.si.DESCRIPTOR.message_types_by_name.values())
    assert messages
    while messages:
        message = messages.pop()
        messages += message.nested_types
        for field in message.fields:
            assert field.GetOptions().SerializeToString() == b"", field.full_name


def test_there_are_twenty_one_areas_and_nothing_beside_them() -> None:
    assert len(catalogue()) == sum(number for number, *_ in COUNTS.values())
    assert tuple(COUNTS) == AREAS == tuple(AREA_FILES)


@pytest.mark.parametrize("area", AREAS)
def test_an_area_has_its_counts(area: str) -> None:
    entries = [entry for entry in catalogue().values() if entry.area == area]
    levels = Counter(entry.level for entry in entries)
    revisions = Counter(name for entry in entries for name in entry.revisions)
    sides = Counter(side for entry in entries for side in entry.sides)
    assert COUNTS[area] == (
        len(entries),
        *(levels[level] for level in Level),
        *(revisions[name] for name in REVISIONS),
        *(sides[side] for side in Side),
    )


def test_every_contradiction_that_is_named_is_explained_and_names_its_requirements() -> None:
    lines = (shipped.CHECKOUT / "docs" / "contradictions.md").read_text("utf-8").splitlines()
    explained = {
        line.split(" ")[1]: line.rsplit("|", 2)[1] for line in lines if line.startswith("| C-")
    }
    named = {
        (number, entry.id)
        for entry in catalogue().values()
        for number in re.findall(r"\bC-\d\d\b", f"{entry.interpretation} {entry.level_reason}")
    }
    assert {number for number, _ in named} <= explained.keys()
    assert {(number, entry) for number, entry in named if entry not in explained[number]} == set()
    for requirements in explained.values():
        assert set(re.findall(r"SI-[A-Z]+-\d+", requirements)) <= catalogue().keys()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("SI-NODE-4", '"SI-NODE-4" is no requirement. Did you mean SI-NODE-004?'),
        ("node-004", '"node-004" is no requirement. Did you mean SI-NODE-004?'),
        ("si-node-0004", '"si-node-0004" is no requirement. Did you mean SI-NODE-004?'),
        ("SI-NODES-004", '"SI-NODES-004" is no requirement. Did you mean SI-NODE-004?'),
        ("banana", '"banana" is no requirement.'),
        ("", '"" is no requirement.'),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest(asked: str, sentence: str) -> None:
    with pytest.raises(LookupError) as caught:
        find_requirement(asked)
    assert caught.value.args == (sentence,)


def test_a_known_id_is_found() -> None:
    assert find_requirement("SI-NODE-004").area == "NODE"


def test_every_scalar_is_text() -> None:
    entry = read_area(ENTRY, "nodes.yaml").requirements[0]
    assert (entry.given, entry.when, entry.then) == ("on", "no", "1.10")
    assert entry.sources == (Source("2023-04", "AcceptedNode.nodeID", "0123456789012345"),)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "    when: no\n",
            "    when: no\n    given: twice\n",
            'nodes.yaml: line 20, column 5: the key "given" comes twice',
        ),
        (
            "level: MUST",
            "level: MUSTN'T",
            'nodes.yaml: SI-NODE-001: Invalid enum value "MUSTN\'T" - at `$.level`',
        ),
        (
            "text:",
            "txt:",
            "nodes.yaml: SI-NODE-001: Object contains unknown field `txt`",
        ),
        (
            "    deadline: ack\n",
            "",
            "nodes.yaml: SI-NODE-001: Object missing required field `deadline`",
        ),
        (
            "  - id: SI-NODE-001\n    title",
            "  - title",
            "nodes.yaml: requirement number 1: Object missing required field `id`",
        ),
        ("subject: Nodes", "subject: [", "nodes.yaml: line 4, column "),
        (
            "    given: on",
            "    ? [given]\n    : on",
            "nodes.yaml: line 18, column 7: found unhashable key",
        ),
        ("area: NODE\n", "", "nodes.yaml: Object missing required field `area`"),
    ],
)
def test_a_bad_entry_is_named_with_its_file(old: str, new: str, sentence: str) -> None:
    assert old in ENTRY
    with pytest.raises(CatalogueError) as caught:
        read_area(ENTRY.replace(old, new, 1), "nodes.yaml")
    assert str(caught.value).startswith(sentence)
