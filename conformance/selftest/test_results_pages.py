"""The pages of results match their records, with every requirement and known failure."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from selftest import stored_runs
from siconform.baseline import Baseline, KnownDeviation, read_baseline
from siconform.catalogue import Side, catalogue, document, find_requirement, subjects
from siconform.reporting import publish
from siconform.reporting.classify import rows
from siconform.reporting.page import Section, page
from siconform.reporting.publish import pages
from siconform.reporting.published import RECORDS, baseline_of, records
from siconform.reporting.record import Record, RequirementRecord, read_record, record_of, written
from siconform.reporting.stored import RecordError
from siconform.targets.embedded import NAME
from siconform.targets.named import all_named
from siconform.verdicts import Verdict
from siwire import REVISIONS

KEPT = records()
YES = "\N{MULTIPLICATION SIGN}"  # in the columns of versions
BASELINES = [(t.full_name, revision) for t in all_named() for revision in t.baselines]


def named(record: Record) -> str:
    return f"{record.target} as {record.revision}"


def of_the_revision(record: Record) -> list[str]:
    return [r.id for r in catalogue().values() if record.revision in r.revisions]


def test_committed_table_matches_records() -> None:
    assert publish.main(["--check"]) == 0


def test_newer_requirement_is_not_in_the_table() -> None:
    record, *_ = KEPT
    passed = next(one for one, of in record.requirements.items() if of.verdict is Verdict.PASS)
    older = {one: of for one, of in record.requirements.items() if one != passed}

    table = publish.index([msgspec.structs.replace(record, requirements=older)])

    assert Verdict.NO_TEST_YET.label not in table
    assert totals(table) == [totals(publish.index([record]))[0] - 1]


def totals(table: str) -> list[int]:
    """Return the number of requirements in each row."""
    return [int(line.split("|")[4]) for line in table.splitlines() if line.startswith("| The ref")]


def test_defects_are_listed_once_with_versions() -> None:
    # Those that come and go are only in the baseline
    lines = (publish.INDEX.parent / "found.md").read_text("utf-8").splitlines()
    tables = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    (heads,) = {tuple(cells) for cells in tables if cells[0] == "defect"}
    listed = {cells[1]: cells[2:] for cells in tables if cells[1].startswith("SI-")}

    found: dict[str, set[str]] = {}
    for record in KEPT:
        failing = {row.requirement for row in rows(record, baseline_of(record)) if row.fails}
        flaky = {one.requirement for one in baseline_of(record).entries if one.flaky}
        for one in failing.union(map(find_requirement, flaky)):
            found.setdefault(f"{one.id} {one.level}", set()).add(record.target.partition("@")[2])
    versions = heads[2:]
    assert {name: dict(zip(versions, cells, strict=True)) for name, cells in listed.items()} == {
        name: {version: YES * (version in having) for version in versions}
        for name, having in found.items()
    }
    assert len(listed) == sum(cells[1].startswith("SI-") for cells in tables)


def test_defects_of_rms_are_listed_once() -> None:
    # What could not run follows from another entry
    lines = (publish.INDEX.parent / "found.md").read_text("utf-8").splitlines()
    listed = [line.split("|")[1].strip() for line in lines if line.startswith("| SI-")]

    entries = [
        (find_requirement(entry.requirement), entry.outcome)
        for rm in all_named(Side.RM)
        for path in rm.baselines.values()
        for entry in read_baseline(path).entries
    ]

    assert sorted(listed) == sorted(
        {f"{one.id} {one.level}" for one, outcome in entries if outcome != "could-not-run"}
    )


def test_reference_and_baselined_targets_have_records() -> None:
    kept = {(record.target, record.revision) for record in KEPT}

    assert kept == {*((NAME, name) for name in REVISIONS), *BASELINES}


@pytest.mark.parametrize("record", KEPT, ids=named)
def test_record_has_requirements_of_its_revision(record: Record) -> None:
    recorded = list(record.requirements)
    assert recorded
    assert recorded == [name for name in of_the_revision(record) if name in recorded]


@pytest.mark.parametrize("record", KEPT, ids=named)
def test_record_failures_match_baseline(record: Record) -> None:
    deviates = {i for i, j in record.requirements.items() if j.verdict is Verdict.BASELINED}
    entries = [one for one in baseline_of(record).entries if one.requirement in record.requirements]

    assert {one.requirement for one in entries if not one.flaky} <= deviates
    assert deviates <= {one.requirement for one in entries}


@pytest.mark.parametrize("record", KEPT, ids=named)
def test_unexplained_failure_is_not_recorded(record: Record) -> None:
    unexplained = {Verdict.FAIL, Verdict.LATE, Verdict.KIT_ERROR}
    assert {j.verdict for j in record.requirements.values()} & unexplained == set()


@pytest.mark.parametrize("record", KEPT, ids=named)
def test_page_has_every_requirement_and_reason(record: Record) -> None:
    (text,) = (p for p in pages(KEPT).values() if f"`{record.command}`" in p)
    _, _, section = text.partition(f"\n## SI {record.revision}\n")
    section, _, _ = section.partition("\n## SI ")

    assert [i for i in of_the_revision(record) if i not in section] == []
    deviates = {i for i, j in record.requirements.items() if j.verdict is Verdict.BASELINED}
    for entry in baseline_of(record).entries:
        if entry.requirement in deviates:
            assert " ".join(entry.reason.split()).rstrip(".") in section
            assert entry.message in section or entry.outcome == "could-not-run"


@pytest.mark.parametrize("path", sorted(RECORDS.iterdir()), ids=lambda path: path.stem)
def test_record_format_is_stable(path: Path) -> None:
    assert written(read_record(path)) == path.read_text("utf-8")


CASES: Mapping[str, RequirementRecord] = {
    "SI-NODE-001": RequirementRecord(Verdict.PASS, recorded=("it stays",)),
    "SI-NODE-004": RequirementRecord(Verdict.BASELINED),
    "SI-NODE-005": RequirementRecord(Verdict.BASELINED),
    "SI-NODE-006": RequirementRecord(Verdict.FAIL, "accepted twice"),
    "SI-NODE-007": RequirementRecord(Verdict.NOT_SELECTED, "one RM only"),
    "SI-NODE-008": RequirementRecord(Verdict.NOT_APPLICABLE, "no facet"),
    "SI-NODE-009": RequirementRecord(Verdict.PASS, without=("test_x: disruptive",)),
    "SI-NODE-014": RequirementRecord(Verdict.OF_THE_RM),
    "SI-CB-012": RequirementRecord(Verdict.EXCLUDED),
}
KNOWN = Baseline(
    "known.yaml",
    (
        KnownDeviation(
            "SI-NODE-004", "fail", "kept it", "The text drops it; this keeps it.", issue="#1"
        ),
        KnownDeviation("SI-NODE-005", "could-not-run", "no node", "Nothing to see."),
    ),
)


def made(cases: Mapping[str, RequirementRecord] = CASES) -> str:
    record = Record("mine", "2023-12", "siconform run --target x:1", "a sentence", dict(cases))
    evaluated = [row for row in rows(record, KNOWN) if row.is_recorded]
    return page("Mine", "About it.", [Section(record, evaluated)])


@pytest.mark.parametrize(
    ("heading", "received"),
    [
        (Verdict.BASELINED, "- The text drops it; this keeps it."),
        (Verdict.BASELINED, f"- ends with {Verdict.FAIL.label}: `kept it`"),
        (Verdict.BASELINED, "- upstream: #1"),
        (Verdict.FAIL, f"- {Verdict.FAIL.label}: `accepted twice`"),
        (Verdict.COULD_NOT_RUN, "- Nothing to see: [SI-NODE-005]"),
        (Verdict.NOT_APPLICABLE, "- no facet: [SI-NODE-008]"),
        (Verdict.NOT_SELECTED, "- one RM only: [SI-NODE-007]"),
        (Verdict.EXCLUDED, "- it is about calls within one process"),
        ("Tested by some of its tests only", "without test_x: disruptive"),
        ("Behaviour the specification leaves open", "| it stays |"),
        (Verdict.PASS, "(2): SI-NODE-001, SI-NODE-009"),
        (Verdict.OF_THE_RM, "(1): SI-NODE-014"),
    ],
)
def test_page_shows_verdict_under_heading(heading: str, received: str) -> None:
    name = heading.label.capitalize() if isinstance(heading, Verdict) else heading
    _, found, rest = made().partition(f"### {name}\n")
    assert found
    assert received in rest.partition("\n### ")[0]


def test_crash_is_a_failure() -> None:
    died = KnownDeviation("SI-NODE-004", "could-not-run", "the target died", "It panics.")
    evaluated = {"SI-NODE-004": RequirementRecord(Verdict.BASELINED)}
    record = Record("mine", "2023-12", "c", "s", evaluated)

    (row,) = (row for row in rows(record, Baseline("known.yaml", (died,))) if row.is_recorded)

    assert row.fails


def test_page_counts_by_area_and_level() -> None:
    lines = made().splitlines()
    counted = {
        Verdict.PASS: 2, Verdict.FAIL: 1, Verdict.COULD_NOT_RUN: 1, Verdict.BASELINED: 1,
        Verdict.NOT_APPLICABLE: 1, Verdict.NOT_SELECTED: 1, Verdict.EXCLUDED: 1,
    }  # fmt: skip
    heads = " | ".join(verdict.label for verdict in counted)
    assert f"| requirements of a scheduler | all | {heads} |" in lines
    assert f"| **all** | 8 | {' | '.join(map(str, counted.values()))} |" in lines


def test_links_resolve_in_requirements_page() -> None:
    headings = document.page(catalogue().values(), subjects()).splitlines()
    anchors = {
        "".join(c for c in line.lower() if c.isalnum() or c in " -_").strip().replace(" ", "-")
        for line in headings
        if line.startswith("### ")
    }
    linked = {part.partition(")")[0] for part in made().split("../requirements.md#")[1:]}
    assert linked
    assert linked <= anchors


def test_an_unknown_requirement_in_a_record_is_refused() -> None:
    with pytest.raises(RecordError, match="SI-NODE-999 in the record of mine is not a requirement"):
        made({"SI-NODE-999": RequirementRecord(Verdict.PASS)})


def test_differing_table_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "README.md"
    monkeypatch.setattr(publish, "INDEX", table)

    assert publish.main(["--check"]) == 1
    assert "README.md is out of date" in capsys.readouterr().err
    assert publish.main([]) == 0
    assert table.read_text("utf-8") == publish.index(KEPT)
    assert publish.main(["--check"]) == 0


def sent(verdict: str, *recorded: str, monitor: str = "") -> dict[str, object]:
    return {
        "id": "t.py::test_x", "verdict": verdict, "says": "s", "monitor": monitor,
        "recorded": list(recorded),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "tests", "evaluated"),
    [
        ("pass", [sent("pass", "a"), sent("pass", "a")],
         RequirementRecord(Verdict.PASS, "why", (), ("a",))),
        ("pass", [sent("pass"), sent("not-selected")],
         RequirementRecord(Verdict.PASS, "why", ("test_x: s",))),
        ("pass", [sent("pass"), sent("not-selected", monitor="m")],
         RequirementRecord(Verdict.PASS, "why")),
        ("not-selected", [sent("not-selected")], RequirementRecord(Verdict.NOT_SELECTED, "why")),
        ("baselined", [sent("baselined")], RequirementRecord(Verdict.BASELINED)),
    ],
)  # fmt: skip
def test_record_keeps_essential_fields(
    verdict: str, tests: list[dict[str, object]], evaluated: RequirementRecord
) -> None:
    one = stored_runs.requirement("SI-NODE-004", verdict, reason="why", tests=tests)
    run = stored_runs.document(one)

    assert record_of(run).requirements == {"SI-NODE-004": evaluated}
