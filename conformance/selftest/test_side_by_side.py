"""Several runs next to each other in one HTML page."""

import json
from pathlib import Path

from selftest import report_samples as samples
from siconform.reporting.html.comparison import ComparisonPage, Line
from siconform.reporting.html.rendering import render_comparison
from siconform.reporting.html.side_by_side import page_of
from siconform.reporting.publish import side_by_side
from siconform.reporting.published import records
from siconform.targets.named import all_named

from .commands import invoke


def runs(tmp_path: Path) -> list[str]:
    """Two runs of a scheduler: the first fails SI-GANG-021, the second SI-GANG-022."""
    before, after = samples.write(tmp_path / "before"), samples.write(tmp_path / "after")
    document = samples.results()
    fixed, broken = document["requirements"][2:4]
    fixed["verdict"], broken["verdict"] = "pass", "fail"
    broken["reason"] = samples.HOSTILE
    (after / "results.json").write_text(json.dumps(document), "utf-8")
    return [str(before), str(after)]


def line(page: ComparisonPage, identifier: str) -> Line:
    return next(one for _, _, lines in page.areas for one in lines if one.id == identifier)


def test_fixes_and_regressions_between_neighbours(tmp_path: Path) -> None:
    (change,) = page_of(runs(tmp_path)).changes

    assert [one.id for one in change.fixed] == ["SI-GANG-021"]
    assert [one.id for one in change.broken] == ["SI-GANG-022"]


def test_line_knows_whether_it_differs(tmp_path: Path) -> None:
    page = page_of(runs(tmp_path))

    assert line(page, "SI-GANG-021").differs
    assert not line(page, "SI-NODE-001").differs


def test_runs_of_one_target_are_named_by_folder(tmp_path: Path) -> None:
    page = page_of(runs(tmp_path))

    assert [column.name for column in page.columns] == [
        "before, SI 2024-10",
        "after, SI 2024-10",
    ]


def test_reference_and_real_scheduler_are_not_neighbours() -> None:
    page = page_of(["reference", "yunikorn-core@1.8.0", "yunikorn-core@1.9.0"])

    assert [change.before for change in page.changes] == ["yunikorn-core@1.8.0, SI 2024-10"]
    assert not any(cell[1].change for cell in (one.cells for _, _, x in page.areas for one in x))


def test_record_revision_after_colon() -> None:
    page = page_of(["reference:2023-12", "reference"])

    assert [column.revision for column in page.columns] == ["2023-12", records()[5].revision]


def test_target_strings_are_escaped(tmp_path: Path) -> None:
    text = render_comparison(page_of(runs(tmp_path)))

    assert samples.HOSTILE not in text
    assert "alert(&#39;x&#39;)" in text


def test_site_page_has_every_named_scheduler() -> None:
    page = side_by_side(records())

    assert [one.full_name for one in all_named() if one.full_name not in page] == []


def test_compare_command_writes_to_given_path(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "page.html"

    outcome = invoke("report", *runs(tmp_path), "-o", str(file))

    assert outcome.exit_code == 0, outcome.output
    assert "<title>before, SI 2024-10 and after, SI 2024-10</title>" in file.read_text("utf-8")


def test_unknown_run_name_lists_known_ones() -> None:
    outcome = invoke("report", "reference", "yunikorn")

    assert outcome.exit_code == 4
    assert outcome.stderr.startswith(
        "siconform: yunikorn is neither a results folder nor a scheduler with a record; known: "
        "reference, yunikorn-core@1.4.0"
    )
