"""The requirements, tests, results and sentences affected by a change of the SI."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from selftest.spec_samples import REVISION, TEXT, edited, requirement, spec
from siconform.catalogue import Requirement, catalogue
from sispec.changes import compare
from sispec.checkout import Checkout, Published
from sispec.impact import Impact, impact
from sispec.impact_reasons import ReasonKind
from sispec.model import Spec
from sispec.sources import read_spec

PROTOS = Path(__file__).parents[2] / "proto" / "si"
SECTION = 'section "Schedulable nodes registration and updates"'
NODE_ID = requirement("SI-NODE-901", ("NodeInfo.nodeID", "Names the node."))
CAPACITY = requirement(
    "SI-NODE-902", ("NodeInfo.freeCapacity", "What is there. It may be left out.")
)
REJECTED = requirement("SI-NODE-903", (SECTION, "A node that is known already should be rejected."))
TYPE = requirement("SI-NODE-904", ("type of NodeInfo", ""))
MESSAGE = requirement("SI-NODE-905", ("NodeRequest", "What an RM says of its nodes."))
CONSTANT = requirement("SI-CONST-901", ("constant RackName", 'RackName = "si/rackname"'))
RESERVED = requirement("SI-WIRE-901", ("NodeRequest.reserved 7", "reserved 7"))
MENTIONS = requirement(
    "SI-NODE-906", ("NodeInfo.nodeID", "Names the node."), text="Less heldByOthers is left."
)
ALL = (NODE_ID, CAPACITY, REJECTED, MESSAGE, CONSTANT, RESERVED)


def touched_by(
    new: Spec, requirements: Sequence[Requirement] = ALL, checkout: Checkout | None = None
) -> Impact:
    old = spec()
    return impact(old, new, compare(old, new), requirements, checkout=checkout)


def bases(found: Impact) -> dict[str, set[ReasonKind]]:
    return {
        one.requirement.id: {reason.kind for reason in one.reasons} for one in found.requirements
    }


def test_same_text_touches_nothing() -> None:
    found = touched_by(spec(name="draft.md"))

    assert found.revision == REVISION
    assert (*found.requirements, *found.changes, *found.rules, *found.arriving) == ()
    assert (found.sources, found.unseen) == (6, 0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("should be rejected", "must be rejected", {"SI-NODE-903": {ReasonKind.REWORDED}}),
        ("It may be left out", "It may be left", {"SI-NODE-902": {ReasonKind.REWORDED}}),
        (
            "  // Names the node.\n  string nodeID = 1;\n",
            "",
            {"SI-NODE-901": {ReasonKind.GONE, ReasonKind.NAMED}},
        ),
        ("int64 freeCapacity = 2", "int64 freeCapacity = 9", {"SI-NODE-902": {ReasonKind.NAMED}}),
        ("int64 freeCapacity = 2", "sint64 freeCapacity = 2", {"SI-NODE-902": {ReasonKind.NAMED}}),
        (
            'RackName = "si/rackname"',
            'RackName = "si/rack"',
            {"SI-CONST-901": {ReasonKind.REWORDED, ReasonKind.NAMED}},
        ),
        ('RackName = "si/rackname"\n', "", {"SI-CONST-901": {ReasonKind.GONE, ReasonKind.NAMED}}),
        (
            "reserved 7;",
            "reserved 7, 8;",
            {
                "SI-NODE-905": {ReasonKind.INSIDE},
                "SI-WIRE-901": {ReasonKind.GONE, ReasonKind.NAMED},
            },
        ),
        ("string rmID = 2", "string rmID = 3", {"SI-NODE-905": {ReasonKind.INSIDE}}),
    ],
)
def test_change_touches_dependent_requirements(
    old: str, new: str, expected: dict[str, set[ReasonKind]]
) -> None:
    assert bases(touched_by(edited(old, new))) == expected


def test_a_sentence_in_another_section_has_moved() -> None:
    moved = edited(
        "### Schedulable nodes registration and updates", "### Nodes and what they report"
    )

    assert bases(touched_by(moved, [REJECTED])) == {"SI-NODE-903": {ReasonKind.MOVED}}


def test_sentence_of_later_revision_touches_its_requirement() -> None:
    sent = ("NodeRequest.rmID", "Nodes are told by their RM alone.")
    (later,) = requirement("SI-NODE-901", sent).sources
    both = replace(NODE_ID, sources=(*NODE_ID.sources, replace(later, revision="2026-04")))
    received = edited("  string rmID = 2;", f"  // {sent[1]}\n  string rmID = 2;")

    assert bases(touched_by(received, [both])) == {"SI-NODE-901": {ReasonKind.JOINED}}
    assert touched_by(received, [NODE_ID]).requirements == ()
    assert touched_by(spec(name="draft.md"), [both]).requirements == ()


def test_change_of_member_touches_its_type() -> None:
    code = "message NodeInfo { string nodeID = 1; int64 freeCapacity = 2; int64 heldByOthers = 3;"
    standing = replace(TYPE, sources=requirement("X", ("type of NodeInfo", code)).sources)
    found = touched_by(edited("int64 heldByOthers = 3", "int64 heldByOthers = 4"), [standing])

    assert bases(found) == {"SI-NODE-904": {ReasonKind.REWORDED, ReasonKind.NAMED}}


def test_requirement_that_mentions_removed_element_depends_on_it() -> None:
    gone = edited("  // What others hold there.\n  int64 heldByOthers = 3;\n", "")

    found = touched_by(gone, [MENTIONS])

    assert bases(found) == {"SI-NODE-906": {ReasonKind.MENTIONED, ReasonKind.STATED}}
    assert [one.requirement for one in found.touched] == [MENTIONS]


def test_mention_of_field_removed_with_its_message_is_only_near() -> None:
    of_section = replace(MENTIONS, sources=REJECTED.sources)
    message = TEXT[TEXT.index("message NodeInfo") : TEXT.index("```\n\n### Schedulable")]
    without = TEXT.replace(message, "").replace("repeated NodeInfo nodes", "repeated string nodes")

    found = touched_by(spec(without, "draft.md"), [of_section])

    assert bases(found) == {"SI-NODE-906": {ReasonKind.MENTIONED}}
    assert [one.requirement for one in found.near] == [of_section]
    assert found.touched == ()


def test_requirement_without_sentence_is_listed_separately() -> None:
    both = requirement(
        "SI-NODE-907",
        ("NodeInfo.nodeID", "Names the node."),
        (SECTION, "A node that is known already should be rejected."),
    )
    gone = edited("  // Names the node.\n  string nodeID = 1;\n", "")

    found = touched_by(gone, [NODE_ID, both])

    assert [one.requirement.id for one in found.touched] == ["SI-NODE-901", "SI-NODE-907"]
    assert [one.requirement.id for one in found.without_sentence] == ["SI-NODE-901"]


def test_each_change_names_its_requirements_and_those_near_it() -> None:
    found = touched_by(edited("string rmID = 2", "string rmID = 3"))

    (one,) = found.changes
    assert (one.change.where, one.touched, one.near) == ("NodeRequest.rmID", (), ("SI-NODE-905",))


def test_sentence_that_differs_from_record_is_not_tested() -> None:
    drifted = requirement("SI-NODE-908", (SECTION, "Some other words."))

    found = touched_by(edited("Nodes come and go.", "Nodes stay."), [drifted])

    assert found.requirements == ()
    assert (found.sources, found.unseen) == (1, 1)


def test_requirement_of_other_revision_begins_with_its_sentences() -> None:
    sent = "Nodes are for ever."
    later = requirement("SI-NODE-909", (SECTION, sent), revision="2024-10")
    never = requirement("SI-NODE-910", (SECTION, "Something else."), revision="2024-10")

    found = touched_by(edited("Nodes come and go.", sent), [later, never])

    assert found.arriving == (later,)


def test_uncovered_new_rule_is_counted() -> None:
    found = touched_by(edited("Nodes come and go.", "Nodes must stay."))

    assert [rule.sentence.text for rule in found.uncovered] == ["Nodes must stay."]


def test_results_that_tested_touched_requirement_must_be_rerun() -> None:
    touched, untouched = "SI-NODE-903", "SI-NODE-901"
    checkout = Checkout(
        Path("nowhere"),
        (
            Published("one", REVISION, "nox", "fixtures/results/one.json", frozenset({touched})),
            Published("one", "2024-10", "nox", "fixtures/results/one.json", frozenset({touched})),
            Published("two", REVISION, "nox", "fixtures/results/two.json", frozenset({untouched})),
        ),
    )

    found = touched_by(edited("should be rejected", "must be rejected"), checkout=checkout)

    (again,) = found.results
    assert (again.published.target, again.requirements) == ("one", (touched,))


def test_a_specification_like_no_revision_has_no_requirements() -> None:
    other = spec(name="mine.md")

    found = impact(other, spec(TEXT, "draft.md"), [], ALL)

    assert found.revision is None
    assert found.requirements == ()


def test_schema_alone_matches_closest_revision() -> None:
    for revision in ("2021-02", "2023-04", "2023-08", "2023-12", "2024-10", "2026-04"):
        schema = read_spec(str(PROTOS / revision / "si.proto"))

        found = impact(schema, schema, [], catalogue().values())

        assert found.revision == revision
        assert found.requirements == ()


def test_by_their_schemas_alone_most_of_what_2024_10_changed_is_named() -> None:
    """Compared with the catalogue's windows; comments and prose are ignored here."""
    before, after = "2023-12", "2024-10"
    old, new = (read_spec(str(PROTOS / name / "si.proto")) for name in (before, after))
    known = catalogue().values()

    found = impact(old, new, compare(old, new), known)

    named = {one.requirement.id for one in found.touched}
    expected = _changed_or_retired(known, before, after)
    assert len(named & expected) / len(expected) > 0.75
    assert len(named & expected) / len(named) > 0.9
    assert found.unseen > 300


def test_named_revisions_report_ranges_of_catalogue() -> None:
    before, after = "2023-12", "2024-10"
    old, new = read_spec(before), read_spec(after)
    known = catalogue().values()

    found = impact(old, new, compare(old, new), known)

    assert {one.requirement.id for one in found.touched} == _changed_or_retired(
        known, before, after
    )
    assert {one.id for one in found.arriving} == {
        one.id for one in known if after in one.revisions and before not in one.revisions
    }


def _changed_or_retired(known: Iterable[Requirement], before: str, after: str) -> set[str]:
    def places(one: Requirement, revision: str) -> set[tuple[str, str]]:
        return {(s.where, s.sha256) for s in one.sources if s.revision == revision}

    return {
        one.id
        for one in known
        if before in one.revisions
        and (after not in one.revisions or places(one, before) != places(one, after))
    }
