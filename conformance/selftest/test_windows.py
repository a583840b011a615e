"""Windows of revisions are read literally; an empty one is an error with its place."""

import pytest
from siconform.catalogue.reading import CatalogueError, read_area
from siconform.catalogue.windows import KNOWN, in_short, in_words, window

FOUR = ("2021-02", "2023-04", "2023-08", "2023-12")
NEXT = "2031-01"
UNKNOWN = f"is not a revision of the SI; known are {', '.join(KNOWN)}"
EMPTY = "2023-08 is later than until, 2023-04, so the window is empty"
OUTSIDE = "2021-02 is not in the requirement's own window, 2023-04 to 2023-08"
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
    until: 2023-08
    sides: [scheduler]
    observations: [plain]
    deadline: ack
    text: A new node is accepted.
    sources:
      - {where: NodeResponse, sha256: 0123456789012345}
      - {where: AcceptedNode.nodeID, until: 2023-04, sha256: 0123456789012345}
      - {where: section "Nodes", design: gang, sha256: 0123456789012345}
    given: one
    when: two
    then: three
"""


@pytest.mark.parametrize(
    ("since", "until", "revisions"),
    [
        (None, None, FOUR),
        ("2021-02", "2023-12", FOUR),
        ("2023-04", None, ("2023-04", "2023-08", "2023-12")),
        (None, "2023-08", ("2021-02", "2023-04", "2023-08")),
        ("2023-04", "2023-08", ("2023-04", "2023-08")),
        ("2023-04", "2023-04", ("2023-04",)),
    ],
)
def test_window_includes_its_ends(
    since: str | None, until: str | None, revisions: tuple[str, ...]
) -> None:
    assert window(since, until, within=FOUR) == revisions


def test_open_window_includes_new_revision() -> None:
    five = (*FOUR, NEXT)

    assert window(None, None, within=five) == five
    assert window("2023-12", None, within=five) == ("2023-12", NEXT)
    assert window("2023-08", "2023-12", within=five) == ("2023-08", "2023-12")


def test_source_applies_to_revisions_of_its_requirement() -> None:
    requirement = read_area(ENTRY, "nodes.yaml").requirements[0]

    assert requirement.revisions == {"2023-04", "2023-08"}
    assert [(source.where, source.revision) for source in requirement.sources] == [
        ("NodeResponse", "2023-04"),
        ("NodeResponse", "2023-08"),
        ("AcceptedNode.nodeID", "2023-04"),
        ('section "Nodes"', "gang"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "field", "sentence"),
    [
        ("since: 2023-04", "since: 2022-01", "since", f'"2022-01" {UNKNOWN}'),
        ("until: 2023-08", "until:", "until", f'"" {UNKNOWN}'),
        ("04\n    until: 2023-08", "08\n    until: 2023-04", "since", EMPTY),
        ("until: 2023-04,", "since: 1.4,", "sources[1].since", f'"1.4" {UNKNOWN}'),
        ("until: 2023-04,", "since: 2023-08, until: 2023-04,", "sources[1].since", EMPTY),
        ("until: 2023-04,", "until: 2021-02,", "sources[1].until", OUTSIDE),
        ("gang,", "gang, since: 2023-04,", "sources[2].design", "a design has no revisions"),
        ("gang,", "dance,", "sources[2].design", "Invalid enum value 'dance'"),
    ],
)
def test_a_window_that_cannot_be_is_named_with_file_id_and_field(
    old: str, new: str, field: str, sentence: str
) -> None:
    assert old in ENTRY

    with pytest.raises(CatalogueError) as caught:
        read_area(ENTRY.replace(old, new, 1), "nodes.yaml")

    assert str(caught.value) == f"nodes.yaml: SI-NODE-001: {sentence} - at `$.{field}`"


@pytest.mark.parametrize(
    ("revisions", "words", "short"),
    [
        (KNOWN, "all revisions", "all"),
        (KNOWN[1:], "from 2023-04 on", "2023-04+"),
        (KNOWN[-1:], f"from {KNOWN[-1]} on", f"{KNOWN[-1]}+"),
        (("2021-02", "2023-04", "2023-08"), "up to 2023-08", "..2023-08"),
        (("2023-04", "2023-08"), "2023-04 to 2023-08", "2023-04/08"),
        (("2021-02",), "2021-02", "2021-02"),
    ],
)
def test_window_is_shown_by_its_ends(revisions: tuple[str, ...], words: str, short: str) -> None:
    assert in_words(revisions) == words
    assert in_short(revisions) == short


def test_revisions_with_gaps_are_listed() -> None:
    assert in_words({"2023-12", "2021-02"}) == "2021-02, 2023-12"
