"""Rules for the bodies of suite tests, checked in the source by syntax alone."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOREIGN: Final = frozenset(
    {"google", "grpc", "siwire", "sireference", "time", "asyncio", "threading", "socket"}
)
"""Packages a body has no use for: the wire, the other reading of the text, clocks and threads."""

CONSTANTS: Final = "siwire.constants"
"""The names of the SI, which are no messages."""

KNOW_MESSAGES: Final = (
    "siconform.transport.dialects",
    "siconform.transport.connection",
    "siconform.recording.history",
)
"""Parts of the kit that know messages; a body uses steps."""

NEGATIVES: Final = re.compile(r"expect_none|stays_quiet|sees_no_\w+|never_\w+")
POSITIVES: Final = re.compile(
    r"expect(?!_none)\w*|has_(?!pending_)\w+|is_served\w*|is_registered\w*|joins"
)
_REVISION_WORD: Final = re.compile(r"revision|capabilit|dialect", re.IGNORECASE)
_REVISION: Final = re.compile(r"\b20\d\d-\d\d\b|\br20\d\d_\d\d\b")
_ANYTHING: Final = frozenset({"Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Problem:
    """A violation of a rule in a module."""

    place: str  # file:line
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def problems_in_file(path: Path, known: Collection[str]) -> list[Problem]:
    """Return the problems of a test module; ``known`` are the existing requirement ids."""
    return problems_in(path.read_text("utf-8"), path.name, known)


def problems_in(source: str, name: str, known: Collection[str]) -> list[Problem]:
    """Return the problems of source code; ``name`` is reported as the file."""
    module = ast.parse(source)
    found = [
        *_in_imports(module),
        *_in_names_and_texts(module),
        *_in_statements(module),
    ]
    for test in cases_in(module):
        found += _in_citations(test, known)
        found += _in_negatives(test)
    return [Problem(f"{name}:{line}", message) for line, message in sorted(found)]


def cases_in(module: ast.Module) -> list[ast.FunctionDef]:
    """Return the test functions of a module."""
    return [
        node
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


Found = Iterator[tuple[int, str]]


def _in_imports(module: ast.Module) -> Found:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            is_foreign = name.partition(".")[0] in FOREIGN and name != CONSTANTS
            if is_foreign or name.startswith(KNOW_MESSAGES):
                yield node.lineno, f"imports {name}"


def _in_names_and_texts(module: ast.Module) -> Found:
    """Check names, attributes and strings; docstrings are exempt."""
    documents = {id(text) for text in _docstrings(module)}
    for node in ast.walk(module):
        name = _name_of(node)
        if _REVISION_WORD.search(name):
            yield _line(node), f"asks for the revision: {name}"
        if "sleep" in name:
            yield _line(node), f"sleeps: {name}"
        if isinstance(node, ast.Attribute) and name.startswith("_"):
            yield node.lineno, f"reaches for the private {name}"
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in documents and _REVISION.search(text):
            yield _line(node), f"names a revision: {text!r}"


def _in_statements(module: ast.Module) -> Found:
    for node in ast.walk(module):
        if isinstance(node, ast.Assert):
            yield node.lineno, "asserts plainly: an expectation of the RM says what happened"
        elif isinstance(node, ast.ExceptHandler) and _catches_anything(node):
            yield node.lineno, "catches whatever is raised"


def _in_citations(test: ast.FunctionDef, known: Collection[str]) -> Found:
    cited = [
        argument
        for mark in test.decorator_list
        if isinstance(mark, ast.Call) and _name_of(mark.func) == "requirement"
        for argument in mark.args
    ]
    if not cited:
        yield test.lineno, f"{test.name} cites no requirement"
    for argument in cited:
        identifier = argument.value if isinstance(argument, ast.Constant) else None
        if identifier not in known:
            yield argument.lineno, f"{test.name} cites {ast.unparse(argument)}, no requirement"


def _in_negatives(test: ast.FunctionDef) -> Found:
    """Check that each negative has its control: a block of that name, or a positive before it."""
    calls = sorted(
        (node.lineno, _name_of(node.func)) for node in ast.walk(test) if isinstance(node, ast.Call)
    )
    if any(name == "control" for _, name in calls):
        return
    first_positive = min((n for n, name in calls if POSITIVES.fullmatch(name)), default=None)
    for line, name in calls:
        if NEGATIVES.fullmatch(name) and (first_positive is None or first_positive > line):
            yield line, f"{test.name} has no control for {name}"


def _catches_anything(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or _name_of(kind) in _ANYTHING for kind in kinds)


def _name_of(node: ast.AST) -> str:
    match node:
        case (
            ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.arg(arg=name)
        ):
            return name
        case ast.keyword(arg=str(name)):
            return name
        case _:
            return ""


def _docstrings(module: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(module):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))
