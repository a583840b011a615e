"""Every requirement on the scheduler's side has a test of the reference or a reason."""

from pathlib import Path

import pytest
from tests import requirement_table
from tests.requirement_table import PAGE, Table, main, page, read, read_reasons, read_tests

CATALOGUE = """\
area: NODE
subject: Nodes
requirements:
  - {id: SI-NODE-001, title: One, sides: [scheduler]}
  - {id: SI-NODE-002, title: Two, sides: [scheduler, rm]}
  - {id: SI-NODE-003, title: Three, sides: [rm]}
"""
TESTS = """\
# requirement: SI-NODE-001
@decorated(
    1,
)
def test_one(): ...
"""


@pytest.fixture(scope="module")
def table() -> Table:
    return read()


def test_every_requirement_has_a_test_or_a_reason(table: Table) -> None:
    assert [f"{hole.id} {hole.title}" for hole in table.holes()] == []


def test_tests_and_reasons_fit_the_catalogue(table: Table) -> None:
    assert table.problems == ()


def test_the_committed_page_is_what_the_tests_say(table: Table) -> None:
    assert PAGE.read_text("utf-8") == page(table), f"run {requirement_table.COMMAND}"


def made(folder: Path, tests: str = TESTS, reasons: str = "") -> Table:
    (folder / "catalogue").mkdir()
    (folder / "catalogue" / "nodes.yaml").write_text(CATALOGUE)
    (folder / "reference" / "tests").mkdir(parents=True)
    (folder / "reference" / "tests" / "test_nodes.py").write_text(tests)
    (folder / "reasons.md").write_text(reasons)
    return read(folder / "catalogue", [folder / "reference" / "tests"], folder / "reasons.md")


def test_a_requirement_without_test_and_reason_is_a_hole(tmp_path: Path) -> None:
    table = made(tmp_path)

    assert [hole.id for hole in table.holes()] == ["SI-NODE-002"]
    assert "- **no test and no reason**: SI-NODE-002 Two" in page(table)
    assert "| SI-NODE-001 One | `test_nodes.py::test_one` |" in page(table)
    assert "SI-NODE-003" not in page(table)


def test_a_reason_fills_a_hole(tmp_path: Path) -> None:
    table = made(tmp_path, reasons="| id | reason |\n|---|---|\n| SI-NODE-002 | for a reason |\n")

    assert table.holes() == []
    assert table.problems == ()
    assert "| SI-NODE-002 Two | none: for a reason |" in page(table)
    assert "2 requirements: 1 tested, 1 left out with a reason, 0 with neither." in page(table)


@pytest.mark.parametrize(
    ("tests", "reasons", "problem"),
    [
        (TESTS, "| SI-NODE-001 | why |", "SI-NODE-001 has a reason and tests"),
        (TESTS, "| SI-NODE-003 | why |", "SI-NODE-003 has a reason and is no requirement"),
        (TESTS.replace("001", "009"), "", "SI-NODE-009 is tested and unknown"),
        (TESTS + "\n# requirement: SI-NODE-002\nx = 1\n", "", "test_nodes.py:7: the comment"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, tests: str, reasons: str, problem: str) -> None:
    (said,) = made(tmp_path, tests, reasons).problems

    assert problem in said


def test_a_comment_may_have_several_lines_and_remarks() -> None:
    source = "# requirement: SI-A-001 (C-43),\n#   SI-B-002\nasync def test_it(): ...\n"

    (test,), stray = read_tests("f", source)

    assert (test.requirements, stray) == (("SI-A-001", "SI-B-002"), [])


def test_a_comment_of_another_test_does_not_count() -> None:
    source = "# requirement: SI-A-001\ndef test_a(): ...\n\n\n# why\ndef test_b(): ...\n"

    assert [test.name for test in read_tests("f", source)[0]] == ["test_a"]


def test_a_row_without_reason_explains_nothing() -> None:
    assert read_reasons("| SI-NODE-001 |  |\n| SI-NODE-002 | why |") == {"SI-NODE-002": "why"}


def test_the_check_writes_nothing_and_fails_on_a_difference(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    table: Table,
) -> None:
    monkeypatch.setattr(requirement_table, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(requirement_table, "read", lambda: table)  # which takes seconds

    assert main(["--check"]) == 1
    assert "differs from the tests" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
