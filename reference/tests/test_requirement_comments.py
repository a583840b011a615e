"""A test names its requirements in a comment directly above it: `# requirement: SI-NODE-001`.

The suite tests the reference against every requirement; a comment links a rule to its test here.
The catalogue is read as data: the reference does not import the kit.
"""

import ast
import io
import itertools
import re
import tokenize
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "conformance" / "siconform" / "catalogue"
TESTS = (ROOT / "reference" / "tests", ROOT / "proto" / "tests")
LEFT_OUT = ROOT / "docs" / "decisions" / "0010-what-the-reference-leaves-out.md"

_MARK = "# requirement:"
_ID = re.compile(r"SI-[A-Z]+-\d{3}")
_ROW = re.compile(r"\| (SI-[A-Z]+-\d{3}) \| \S.*\S \|")


def named_in(source: str) -> tuple[set[str], set[int]]:
    """Return the requirements named in a file, and the lines of comments without a test below."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    stray = {line for line, text in comments.items() if text.startswith(_MARK)}
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        above = sorted(itertools.takewhile(comments.__contains__, range(first - 1, 0, -1)))
        text = " ".join(comments[line] for line in above)
        if _MARK in text:
            stray -= set(above)
            found |= set(_ID.findall(text))
    return found, stray


@pytest.fixture(scope="module")
def sides() -> dict[str, list[str]]:
    """Return each requirement of the catalogue with its sides."""
    areas = (
        yaml.load(path.read_text("utf-8"), yaml.CBaseLoader)  # noqa: S506  # loads strings only
        for path in CATALOGUE.glob("*.yaml")
    )
    return {entry["id"]: entry["sides"] for area in areas for entry in area["requirements"]}


@pytest.fixture(scope="module")
def tested() -> set[str]:
    """Return the requirements that a test names."""
    files = [path for folder in TESTS for path in folder.rglob("test_*.py")]
    read = {path: named_in(path.read_text("utf-8")) for path in files}
    assert {str(path): stray for path, (_, stray) in read.items() if stray} == {}
    return set().union(*(found for found, _ in read.values()))


def test_comments_name_existing_requirements(tested: set[str], sides: dict[str, list[str]]) -> None:
    assert tested
    assert tested - sides.keys() == set()


def test_scheduler_requirements_without_a_test_are_listed(
    tested: set[str], sides: dict[str, list[str]]
) -> None:
    left_out = {
        row[1] for row in map(_ROW.fullmatch, LEFT_OUT.read_text("utf-8").splitlines()) if row
    }

    assert left_out
    assert [one for one in sorted(left_out) if "scheduler" not in sides.get(one, [])] == []
    assert left_out & tested == set()


@pytest.mark.parametrize(
    ("source", "named", "stray"),
    [
        ("# requirement: SI-A-001 (C-43),\n#   SI-B-002\ndef test_a(): ...\n",
         {"SI-A-001", "SI-B-002"}, set()),
        ("# requirement: SI-A-001\n@decorated(\n    1,\n)\nasync def test_a(): ...\n",
         {"SI-A-001"}, set()),
        ("# requirement: SI-A-001\ndef test_a(): ...\n\n\n# why\ndef test_b(): ...\n",
         {"SI-A-001"}, set()),
        ("# requirement: SI-A-001\nx = 1\n", set(), {1}),
    ],
)  # fmt: skip
def test_comment_belongs_to_the_test_below_it(
    source: str, named: set[str], stray: set[int]
) -> None:
    assert named_in(source) == (named, stray)
