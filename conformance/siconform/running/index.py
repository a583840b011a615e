"""Index of the tests of each requirement, read from the source of the suite without running it.

It is fast and independent of the selection. Therefore tests contain ids as literals; a selftest
compares the index with what pytest collects.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from siconform import monitors
from siconform.catalogue import Side

_FUNCTION = re.compile(
    r"""
    ^(def\ \w+)            # a function of the module:
    .*\n                   # the rest of its line,
    (?:(?:[ \t)#].*)?\n)*  # and lines that are indented, empty or end its parameters
    """,
    re.MULTILINE | re.VERBOSE,
)


_SUITES: Final[Mapping[Side, str]] = {Side.SCHEDULER: "suite", Side.RM: "suite_rm"}


def suite_folder(side: Side = Side.SCHEDULER) -> Path:
    """Return the folder with the tests of this side."""
    spec = find_spec(f"siconform.{_SUITES[side]}")
    if spec is None or spec.origin is None:
        raise LookupError("the suite is not installed")
    return Path(spec.origin).parent


@cache
def tests_by_requirement(
    side: Side = Side.SCHEDULER,  # noqa: PT028  # not a test
) -> Mapping[str, tuple[str, ...]]:
    """Map requirement ids to the tests that cite them, as ``suite/test_nodes.py::test_...``."""
    return read_index(suite_folder(side))


@cache
def cited(side: Side = Side.SCHEDULER) -> Mapping[str, tuple[str, ...]]:
    """Map requirement ids to the tests and monitors of this side that cover them."""
    found = {identifier: list(tests) for identifier, tests in tests_by_requirement(side).items()}
    for monitor in monitors.MONITORS_OF[side]:
        for identifier in monitor.requirements:
            found.setdefault(identifier, []).append(f"monitor {monitor.name}")
    return {identifier: tuple(names) for identifier, names in found.items()}


def citations() -> dict[Side, Mapping[str, tuple[str, ...]]]:
    """Return the tests and monitors that cover requirements, by side."""
    return {side: cited(side) for side in Side}


def read_index(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Map requirement ids to the tests of a folder; names start with the folder's name."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("test_*.py")):
        module = ast.parse(_without_bodies(file.read_text("utf-8")))
        path = file.relative_to(folder.parent).as_posix()
        for name, ids in _tests(module):
            for identifier in ids:
                found.setdefault(identifier, []).append(f"{path}::{name}")
    return {identifier: tuple(tests) for identifier, tests in found.items()}


def _without_bodies(source: str) -> str:
    """Remove the bodies of functions, which are slow to parse."""
    return _FUNCTION.sub(r"\1(): ...\n", source)


def _tests(module: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for_all = [i for node in module.body if isinstance(node, ast.Assign) for i in _ids([node])]
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, list(dict.fromkeys([*_ids(node.decorator_list), *for_all]))


def _ids(nodes: list[ast.expr] | list[ast.Assign]) -> Iterator[str]:
    for outer in nodes:
        for node in ast.walk(outer):
            if isinstance(node, ast.Call) and _is_requirement(node.func):
                yield from (a.value for a in node.args if _is_text(a))  # type: ignore[attr-defined]  # a Constant


def _is_requirement(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name == "requirement"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
