"""The catalogue is complete, its reader strict, and its pages up to date."""

import re

import pytest
from mutation.known import load
from mutation.mutant import of_side
from siconform import shipped
from siconform.catalogue import CatalogueError, Level, Side, catalogue, find_requirement
from siconform.catalogue.lint import complaints, complaints_about_challenges, complaints_about_tests
from siconform.catalogue.reading import read_area
from siconform.catalogue.requirement import Source
from siconform.running.index import citations, cited
from siwire import REVISIONS, Revision

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


RM_TESTS_TO_COME = 50


def test_catalogue_is_consistent() -> None:
    assert complaints(tuple(catalogue().values())) == []


def test_scheduler_requirements_are_tested_or_excluded() -> None:
    assert list(complaints_about_tests(catalogue().values(), cited())) == []


def test_rm_requirements_without_test_or_reason_become_fewer() -> None:
    found = list(complaints_about_tests(catalogue().values(), cited(Side.RM), Side.RM))
    untested = [one for one in found if one.endswith("is not tested and gives no reason")]
    assert found == untested
    assert len(untested) <= RM_TESTS_TO_COME


def test_challenged_tests_cite_their_requirement() -> None:
    tests = {
        i: [name for by in citations().values() for name in by.get(i, ())] for i in catalogue()
    }
    assert list(complaints_about_challenges(catalogue().values(), tests)) == []


def test_tested_requirements_have_mutant_or_reason() -> None:
    load()
    schedulers = of_side(Side.SCHEDULER).values()
    broken = {identifier for change in schedulers for identifier in change.breaks}
    tested = [
        entry
        for entry in catalogue().values()
        if Side.SCHEDULER in entry.sides and entry.level is not Level.MAY and entry.id in cited()
    ]
    assert tested
    assert [one.id for one in tested if (one.id in broken) == bool(one.no_mutant)] == []


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_no_field_is_marked_si_secret(revision: Revision) -> None:
    messages = list(revision.si.DESCRIPTOR.message_types_by_name.values())
    assert messages
    while messages:
        message = messages.pop()
        messages += message.nested_types
        for field in message.fields:
            assert field.GetOptions().SerializeToString() == b"", field.full_name


def test_contradictions_are_explained_and_name_requirements() -> None:
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
        ("SI-NODE-4", 'unknown requirement "SI-NODE-4"; did you mean SI-NODE-004?'),
        ("node-004", 'unknown requirement "node-004"; did you mean SI-NODE-004?'),
        ("si-node-0004", 'unknown requirement "si-node-0004"; did you mean SI-NODE-004?'),
        ("SI-NODES-004", 'unknown requirement "SI-NODES-004"; did you mean SI-NODE-004?'),
        ("banana", 'unknown requirement "banana"'),
        ("", 'unknown requirement ""'),
    ],
)
def test_unknown_id_suggests_nearest(asked: str, sentence: str) -> None:
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
            'nodes.yaml: line 20, column 5: the key "given" is duplicated',
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
