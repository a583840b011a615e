"""The page that compares versions of a scheduler shows failures and since when they exist."""

import re
from collections.abc import Mapping
from itertools import pairwise

import pytest
from siconform.reporting import versions
from siconform.reporting.classify import Row, rows
from siconform.reporting.page import Section
from siconform.reporting.publish import pages
from siconform.reporting.published import baseline_of, records
from siconform.reporting.record import Record, RequirementRecord
from siconform.targets.named import all_named
from siconform.verdicts import Verdict

NAME = "yunikorn-core"
KNOWN = re.escape(f"**{Verdict.BASELINED.label}**")
PASS = RequirementRecord(Verdict.PASS)
FAIL = RequirementRecord(Verdict.BASELINED)
OWN = [t.full_name for t in all_named() if t.name == NAME]


def section(target: str, **evaluated: RequirementRecord) -> Section:
    """Return a run of that version by its own revision; SI_REL_026 stands for SI-REL-026."""
    (named,) = (t for t in all_named() if t.full_name == target)
    requirements = {name.replace("_", "-"): sent for name, sent in evaluated.items()}
    record = Record(target, named.revision.name, "c", "as recorded", requirements)
    return Section(record, rows(record, baseline_of(record)))


def made(former: Mapping[str, RequirementRecord], latter: Mapping[str, RequirementRecord]) -> str:
    two = {
        f"{NAME}@1.8.0": [section(f"{NAME}@1.8.0", **latter)],
        f"{NAME}@1.5.1": [section(f"{NAME}@1.5.1", **former)],
    }
    return versions.versions_of(two)[NAME]


def lines_under(text: str, heading: str) -> list[str]:
    """Return the lines under a heading, up to the next."""
    _, found, rest = text.partition(f"\n{heading}\n")
    return rest.partition("\n#")[0].split("\n") if found else []


@pytest.mark.parametrize(
    ("former", "latter", "heading", "received"),
    [
        ({"SI_ASK_010": FAIL}, {"SI_ASK_010": PASS}, "### Fixes", "a negative amount"),
        ({"SI_REC_004": PASS}, {"SI_REC_004": FAIL}, "### Regressions", "without a key"),
        (
            {},
            {"SI_FOR_010": FAIL},
            "### Deviates from requirements new in 2024-10",
            "zero or less",
        ),
        (
            {"SI_ASK_014": FAIL},
            {},
            "### Deviated from requirements that end with 2023-12",
            "the core stores the value",
        ),
    ],
)
def test_change_between_versions_shows_reason(
    former: Mapping[str, RequirementRecord],
    latter: Mapping[str, RequirementRecord],
    heading: str,
    received: str,
) -> None:
    text = made(former, latter)

    (line,) = [line for line in lines_under(text, heading) if line.startswith("- ")]
    assert received in line
    assert text.count("\n### ") == 2  # its area, and this


def test_what_is_not_in_a_revision_is_shown_as_that() -> None:
    text = made({"SI_ASK_014": FAIL}, {"SI_FOR_010": FAIL})

    assert re.search(rf"SI-ASK-014.*\| {KNOWN} \| not in 2024-10 \|", text)
    assert re.search(rf"SI-FOR-010.*\| not in 2023-12 \| {KNOWN} \|", text)


def test_what_deviates_in_no_version_is_left_out() -> None:
    text = made({"SI_NODE_001": PASS, "SI_NODE_005": FAIL}, {"SI_NODE_001": PASS})

    assert "SI-NODE-005" in text
    assert "SI-NODE-001" not in text


def test_versions_are_in_order_without_unchanged() -> None:
    text = made({"SI_NODE_005": FAIL}, {"SI_NODE_005": FAIL})

    assert "| 1.5.1 | 1.8.0 |" in text
    assert text.endswith("## From 1.5.1 to 1.8.0\n\nNo fixes and no regressions.\n")


def test_single_version_has_no_page() -> None:
    one = {f"{NAME}@1.8.0": [section(f"{NAME}@1.8.0", SI_NODE_005=FAIL)]}

    assert versions.versions_of(one) == {}


def test_a_version_tested_by_a_sister_of_its_revision_is_not_compared() -> None:
    text = pages(records())["yunikorn-core-versions.md"]

    heads = next(line for line in text.splitlines() if line.startswith("| requirement |"))
    assert heads.strip("| ").split(" | ")[3:] == [name.partition("@")[2] for name in OWN]


def test_every_deviation_of_every_version_stands_in_its_column() -> None:
    text = pages(records())["yunikorn-core-versions.md"]
    deviating = {
        target: {row.requirement.id for row in of_kept(target) if deviates(row)} for target in OWN
    }

    for place, target in enumerate(OWN):
        shown = {
            line.partition("[")[2].partition("]")[0]
            for line in text.splitlines()
            if line.startswith("| [SI-") and line.split(" | ")[3 + place].strip(" |") == DEVIATES
        }
        assert shown == deviating[target]
    for former, latter in pairwise(OWN):
        received = f"## From {former.partition('@')[2]} to {latter.partition('@')[2]}"
        assert received in text


DEVIATES = f"**{Verdict.BASELINED.label}**"


def deviates(row: Row) -> bool:
    return row.fails


def of_kept(target: str) -> list[Row]:
    (named,) = (t for t in all_named() if t.full_name == target)
    (record,) = (r for r in records() if r.target == target and r.revision == named.revision.name)
    return rows(record, baseline_of(record))
