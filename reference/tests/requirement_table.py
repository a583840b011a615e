"""Writes docs/reference-tests.md: which test of the reference is about which requirement.

python reference/tests/requirement_table.py [--check]

A test says it in a comment directly above it: `# requirement: SI-NODE-001, SI-NODE-002`. What has
no test has a reason in docs/decisions/0010-what-the-reference-leaves-out.md. With `--check` nothing
is written; the exit code is 1 when the committed page differs. The catalogue is read as data: the
reference does not import the kit.
"""

import argparse
import ast
import io
import itertools
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "conformance" / "siconform" / "catalogue"
TESTS = (ROOT / "reference" / "tests", ROOT / "proto" / "tests")
REASONS = ROOT / "docs" / "decisions" / "0010-what-the-reference-leaves-out.md"
PAGE = ROOT / "docs" / "reference-tests.md"
COMMAND = "python reference/tests/requirement_table.py"

_MARK = "# requirement:"
_ID = re.compile(r"SI-[A-Z]+-\d{3}")
_ROW = re.compile(r"\| (?P<id>SI-[A-Z]+-\d{3}) \| (?P<reason>\S.*\S) \|")
_INTRODUCTION = f"""\
For every requirement on the scheduler's side: the tests that hold the reference to it, or why there
is none ([what the reference leaves out](decisions/{REASONS.name})).
The core knows no revision, so most tests drive it without one; those of codec and shell say how
each revision is read and written, those of the wire what stands in its messages.
"""


@dataclass(frozen=True)
class Requirement:
    """What this page tells of a requirement."""

    id: str
    title: str
    area: str


@dataclass(frozen=True, order=True)
class Test:
    """One test function and what it says it is about."""

    file: str
    name: str
    requirements: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Requirements of schedulers, their tests and their reasons; and what does not fit together."""

    requirements: tuple[Requirement, ...]
    tests: Mapping[str, tuple[Test, ...]]
    reasons: Mapping[str, str]
    problems: tuple[str, ...]

    def holes(self) -> list[Requirement]:
        """The requirements with neither a test nor a reason."""
        return [
            entry
            for entry in self.requirements
            if entry.id not in self.tests and entry.id not in self.reasons
        ]


def read(
    catalogue: Path = CATALOGUE, tests: Iterable[Path] = TESTS, reasons: Path = REASONS
) -> Table:
    """The table as the files are now."""
    of_schedulers, known = _requirements(catalogue)
    problems: list[str] = []
    by_requirement: dict[str, list[Test]] = defaultdict(list)
    for folder in tests:
        for path in sorted(folder.rglob("test_*.py")):
            name = path.relative_to(folder.parents[1]).as_posix()
            found, stray = read_tests(name, path.read_text("utf-8"))
            problems += stray
            for test in found:
                for id_ in test.requirements:
                    by_requirement[id_].append(test)
    explained = read_reasons(reasons.read_text("utf-8"))
    problems += [f"{id_} is tested and unknown" for id_ in sorted(by_requirement.keys() - known)]
    needed = {entry.id for entry in of_schedulers}
    problems += [
        f"{id_} has a reason and is no requirement of schedulers"
        for id_ in sorted(explained.keys() - needed)
    ]
    problems += [
        f"{id_} has a reason and tests" for id_ in sorted(explained.keys() & by_requirement.keys())
    ]
    listed = {id_: tuple(sorted(found)) for id_, found in by_requirement.items()}
    return Table(of_schedulers, listed, explained, tuple(problems))


def _requirements(catalogue: Path) -> tuple[tuple[Requirement, ...], set[str]]:
    """The requirements on the scheduler's side, and the ids of all."""
    of_schedulers: list[Requirement] = []
    known: set[str] = set()
    for path in sorted(catalogue.glob("*.yaml")):
        read = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)  # noqa: S506  # makes texts only
        for entry in read["requirements"]:
            known.add(entry["id"])
            if "scheduler" in entry["sides"]:
                area = f"SI-{read['area']}: {read['subject']}"
                of_schedulers.append(Requirement(entry["id"], entry["title"], area))
    return tuple(of_schedulers), known


def read_tests(file: str, source: str) -> tuple[list[Test], list[str]]:
    """The tests of a file that name requirements, and a sentence for each comment on no test."""
    comments = _comments(source)
    stray = {number for number, text in comments.items() if text.startswith(_MARK)}
    found: list[Test] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        above = sorted(itertools.takewhile(comments.__contains__, range(first - 1, 0, -1)))
        stray -= set(above)
        text = " ".join(comments[number] for number in above)
        if _MARK in text and (ids := _ID.findall(text)):
            found.append(Test(file, node.name, tuple(ids)))
    return found, [f"{file}:{number}: the comment stands above no test" for number in sorted(stray)]


def _comments(source: str) -> dict[int, str]:
    """The comments of a source text by line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def read_reasons(text: str) -> dict[str, str]:
    """Why requirements have no test, from the rows `| id | reason |` of the decision page."""
    rows = (_ROW.fullmatch(line) for line in text.splitlines())
    return {row["id"]: row["reason"] for row in rows if row}


def page(table: Table) -> str:
    """The whole page in Markdown."""
    blocks = [
        f"<!-- Generated by `{COMMAND}`; edit the tests instead. -->",
        "# Requirements and the tests of the reference",
        _INTRODUCTION.rstrip(),
        *_summary(table),
    ]
    by_area: dict[str, list[Requirement]] = defaultdict(list)
    for entry in table.requirements:
        by_area[entry.area].append(entry)
    for area, entries in by_area.items():
        rows = [_row(entry, table) for entry in entries]
        blocks += [f"## {area}", "\n".join(["| Requirement | Tests |", "|---|---|", *rows])]
    return "\n\n".join(blocks) + "\n"


def _summary(table: Table) -> Iterator[str]:
    holes = table.holes()
    tested = sum(entry.id in table.tests for entry in table.requirements)
    yield (
        f"{len(table.requirements)} requirements: {tested} tested, {len(table.reasons)} left out "
        f"with a reason, {len(holes)} with neither."
    )
    if holes:
        yield "\n".join(f"- **no test and no reason**: {hole.id} {hole.title}" for hole in holes)
    if table.problems:
        yield "\n".join(f"- **wrong**: {problem}" for problem in table.problems)


def _row(entry: Requirement, table: Table) -> str:
    if tests := table.tests.get(entry.id):
        said = "<br>".join(f"`{Path(test.file).name}::{test.name}`" for test in tests)
    elif reason := table.reasons.get(entry.id):
        said = f"none: {reason}"
    else:
        said = "**none**"
    return f"| {entry.id} {entry.title} | {said} |"


def main(arguments: list[str]) -> int:
    """Writes the page, or with `--check` compares it; the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write docs/reference-tests.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args(arguments).check
    wanted = page(read())
    if not check:
        PAGE.write_text(wanted, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == wanted:
        return 0
    sys.stderr.write(f"docs/reference-tests.md differs from the tests: run {COMMAND}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
