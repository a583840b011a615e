# ruff: noqa: INP001  # a script, not part of the package
"""The longest files and functions of the three packages and of their tests, and what is too much.

Run it with the project installed: ``nox -s shape``. The exit code is 1 when something is longer
than the house rules want, or a class is put together from too many others, and has no reason here,
or has a reason it does not need.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
CODE: Final = ("proto/siwire", "reference/sireference", "conformance/siconform")
TESTS: Final = (
    "conformance/siconform/suite",
    "proto/tests",
    "reference/tests",
    "conformance/browser",
    "conformance/documentation",
    "conformance/selftest",
    "conformance/proof",
    "conformance/mixed",
)
LONGEST_FILE: Final = 350  # past these, a piece wants a better cut
LONGEST_FILE_OF_TESTS: Final = 500
LONGEST_FUNCTION: Final = 45
MOST_BASES: Final = 2  # of our own, past which a class is a heap of others
SHOWN: Final = 10

_STEPS: Final = "it lists classes of steps, which tests call on one object (decision 2)"

REASONS: Final[Mapping[str, str]] = {
    "reference/sireference/api/callback.py::ResourceManagerCallback": (
        "the SI has one callback of an RM, and each base is a plugin an RM may be asked for"
    ),
    "conformance/siconform/rm/resource_manager.py::ResourceManager": _STEPS,
    "conformance/siconform/rm/unregistered_rm.py::UnregisteredRM": _STEPS,
    "conformance/siconform/rm/steps/basic.py::BasicSteps": _STEPS,
}
"""Why a file ``path`` or a function or class ``path::name`` is past that and better so."""


class Piece(NamedTuple):
    """A file, or a function with its decorators and docstring, and how many lines it has."""

    lines: int
    name: str


class Heir(NamedTuple):
    """A class, and from which classes of ours it inherits directly."""

    name: str
    bases: tuple[str, ...]


def files(root: Path, packages: Iterable[str]) -> Iterator[Path]:
    """The modules people write, in order."""
    for package in packages:
        yield from sorted((root / package).rglob("*.py"))


def longest_file(name: str) -> int:
    """How many lines a file may have: tests may have more."""
    return LONGEST_FILE_OF_TESTS if name.startswith(TESTS) else LONGEST_FILE


def measure(root: Path, paths: Iterable[Path]) -> tuple[list[Piece], list[Piece]]:
    """Files and functions, longest first."""
    of_files: list[Piece] = []
    of_functions: list[Piece] = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        of_files.append(Piece(text.count("\n"), name))
        of_functions += functions(name, text)
    return sorted(of_files, reverse=True), sorted(of_functions, reverse=True)


def functions(name: str, text: str) -> Iterator[Piece]:
    """Every function and method of a module by ``file::class.method``."""
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
    while waiting:
        node, above = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inside = above
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = f"{above}{child.name}."
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                lines = (child.end_lineno or first) - first + 1
                yield Piece(lines, f"{name}::{inside.removesuffix('.')}")
            waiting.append((child, inside))


def classes(root: Path, paths: Iterable[Path]) -> list[Heir]:
    """Every class of these modules by ``file::class``, with those of its bases that are ours.

    A base is ours where a class of these modules has its name.
    """
    found = [
        (f"{path.relative_to(root).as_posix()}::{node.name}", node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    ours = {node.name for _, node in found}
    return [
        Heir(name, tuple(base for base in _bases(node) if base in ours)) for name, node in found
    ]


def _bases(node: ast.ClassDef) -> Iterator[str]:
    """The names of its bases, without the modules they are in and their parameters."""
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        yield ast.unparse(named).rpartition(".")[2]


def objections(
    of_files: Iterable[Piece],
    of_functions: Iterable[Piece],
    of_classes: Iterable[Heir],
    reasons: Mapping[str, str],
) -> list[str]:
    """What is too much without a reason, and reasons for what is not too much."""
    long = [piece for piece in of_files if piece.lines > longest_file(piece.name)]
    long += [piece for piece in of_functions if piece.lines > LONGEST_FUNCTION]
    too_much = {piece.name: f"has {piece.lines} lines" for piece in long}
    for heir in of_classes:
        if len(heir.bases) > MOST_BASES:
            too_much[heir.name] = f"inherits from {', '.join(heir.bases)}"
    said = [f"{name} {what}" for name, what in too_much.items() if name not in reasons]
    return said + [f"{name} needs no reason" for name in reasons if name not in too_much]


def main() -> int:
    """Prints it all; the exit code."""
    paths = sorted({*files(ROOT, CODE), *files(ROOT, TESTS)})
    of_files, of_functions = measure(ROOT, paths)
    say = sys.stdout.write
    for title, pieces in (("files", of_files), ("functions", of_functions)):
        total = sum(piece.lines for piece in pieces)
        say(f"The longest of {len(pieces)} {title} ({total / len(pieces):.0f} lines on average)\n")
        for piece in pieces[:SHOWN]:
            say(f"{piece.lines:5}  {piece.name}\n")
        say("\n")
    for name, reason in REASONS.items():
        say(f"past the limit for a reason: {name}: {reason}\n")
    wrong = objections(of_files, of_functions, classes(ROOT, paths), REASONS)
    for sentence in wrong:
        say(f"WRONG: {sentence}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
