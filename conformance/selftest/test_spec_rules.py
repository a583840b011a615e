"""Rule sentences that were added, removed or changed; nothing else is reported."""

from dataclasses import replace

import pytest
from selftest.spec_samples import TEXT, edited, requirement, spec
from sispec.rules import RuleChange, RuleChangeKind, Strength, compare_rules, strength

MUST = "The scheduler must answer for each of them."
SHOULD = "A node that is known already should be rejected."
MAY = "The RM may register nodes at any time."
SECTION = 'section "Schedulable nodes registration and updates"'


def changes(old: str, new: str) -> list[RuleChange]:
    return list(compare_rules(spec(), edited(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (MAY, "The RM must register nodes at any time.", RuleChangeKind.RAISED),
        (SHOULD, "A node that is known already must be rejected.", RuleChangeKind.RAISED),
        (SHOULD, "A node that is known already may be rejected.", RuleChangeKind.LOWERED),
        (MUST, "The scheduler answers for each of them.", RuleChangeKind.LOWERED),
        (MUST, "The scheduler must not answer for each of them.", RuleChangeKind.NEGATED),
        (MAY, "The RM may not register nodes at any time.", RuleChangeKind.NEGATED),
        (MUST, "The scheduler must answer for most of them.", RuleChangeKind.REWORDED),
        ("Nodes come and go.", "Nodes must come and go.", RuleChangeKind.RAISED),
    ],
)
def test_changed_rule_is_shown(old: str, new: str, kind: RuleChangeKind) -> None:
    (change,) = changes(old, new)

    assert change.kind is kind
    assert change.old is not None
    assert change.old.text == old
    assert change.new is not None
    assert change.new.text == new
    assert change.new.line == change.old.line


def test_removed_rule_has_old_place_and_line() -> None:
    (change,) = changes(f"{SHOULD} ", "")

    assert change.kind is RuleChangeKind.VANISHED
    assert change.sentence.place == SECTION
    assert change.sentence.line == TEXT[: TEXT.index(SHOULD)].count("\n") + 1


def test_added_rule_has_new_line() -> None:
    (change,) = changes("Nodes come and go.", "Nodes come and go.\nA third one is an error.")

    assert change.kind is RuleChangeKind.APPEARED
    assert change.sentence.text == "A third one is an error."
    assert change.is_uncovered


def test_moved_rule_keeps_wording() -> None:
    moved = TEXT.replace(f"The nodes. {MUST}", "The nodes.").replace(
        "What others hold there.", f"What others hold there. {MUST}"
    )

    (change,) = compare_rules(spec(), spec(moved, "draft.md"))

    assert change.kind is RuleChangeKind.MOVED
    assert [change.old and change.old.place, change.new and change.new.place] == [
        "NodeRequest.nodes",
        "NodeInfo.heldByOthers",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Nodes come and go.", "Nodes are there and are gone."),
        ("Nodes come and go.", "Nodes come and go. Rejected nodes:"),
        ("What others hold there.", "The room of others."),
        ("A node that is known already", "A **node** that is\nknown already"),
        ("The RM may register nodes at any time.\n", "\nThe RM may register nodes at any time.\n"),
        ("# Scheduler Interface Spec", "# Scheduler Interface Spec\n\nLicensed to you."),
    ],
)
def test_prose_marks_and_lines_are_silence(old: str, new: str) -> None:
    assert changes(old, new) == []


def test_a_sign_is_no_mark() -> None:
    old = edited("Nodes come and go.", "A value > 0 is an error.")
    new = edited("Nodes come and go.", "A value < 0 is an error.")

    (change,) = compare_rules(old, new)

    assert change.kind is RuleChangeKind.REWORDED


def test_removal_of_one_of_two_equal_rules_is_reported() -> None:
    twice = edited("What is there. It may be left out.", "It may be left out.")
    twice = replace(twice, sentences=(*twice.sentences, twice.sentences[-1]))

    (change,) = compare_rules(twice, replace(twice, sentences=twice.sentences[:-1]))

    assert change.kind is RuleChangeKind.VANISHED


def test_rules_that_changed_places_with_each_other_are_reported_apart() -> None:
    swapped = TEXT.replace(MUST, "?").replace(MAY, MUST).replace("?", MAY)

    found = compare_rules(spec(), spec(swapped, "draft.md"))

    assert [change.kind for change in found] == [RuleChangeKind.MOVED, RuleChangeKind.MOVED]


def test_schema_without_text_removes_no_rule() -> None:
    assert compare_rules(spec(), replace(spec(), sentences=())) == ()


def test_changed_sentence_has_its_requirements() -> None:
    known = [
        requirement("SI-NODE-901", (SECTION, SHOULD)),
        requirement("SI-NODE-902", ("NodeRequest.nodes", f"The nodes. {MUST}")),
        requirement("SI-NODE-903", ("NodeInfo.nodeID", "Names the node.")),
    ]
    text = TEXT.replace("should be", "must be").replace(MUST, "The scheduler may answer.")

    found = compare_rules(spec(), spec(text, "draft.md"), known)

    assert {change.carried for change in found} == {("SI-NODE-901",), ("SI-NODE-902",)}
    assert all(change.is_uncovered for change in found)


def test_new_sentence_is_covered_by_requirement_of_any_revision() -> None:
    sent = "A node without a name is an error."
    later = requirement("SI-NODE-904", (SECTION, sent), revision="2024-10")

    (change,) = compare_rules(
        spec(), edited("Nodes come and go.", f"Nodes come and go. {sent}"), [later]
    )

    assert change.carries == ("SI-NODE-904",)
    assert not change.is_uncovered


def test_should_is_recommendation_and_plain_sentence_is_obligation() -> None:
    known = {sentence.text: sentence for sentence in spec().sentences}

    assert strength(known[SHOULD]) is Strength.RECOMMENDS
    assert strength(replace(known[SHOULD], words=("reject",))) is Strength.DEMANDS
    assert strength(known[MAY]) is Strength.PERMITS
    assert strength(known["Names the node."]) is Strength.STATES
