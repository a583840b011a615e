"""Names used by tests, monitors, mutants and dialects, read from their source."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import siconform

_KIT: Final = Path(siconform.__file__).parent
_DIALECTS: Final = _KIT / "transport" / "dialects"
_TOP_LEVEL: Final = re.compile(r"^(?=[A-Za-z_@])", re.MULTILINE)
_DEFINED: Final = re.compile(r"^(?:(?:def|class) (\w+)|(\w+)(?:: [^=\n]*)? =)", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_USED: Final = re.compile(r"\b(\w+)=(?!=)|\.(\w+)")
_ID: Final = re.compile(r"SI-[A-Z]+-\d{3}")
_TESTED: Final = re.compile(r"requirement\(([^)]*)\)")
_MONITORED: Final = re.compile(r"Monitor\(\s*(\w+),\s*\(([^)]*)\)")
_MUTANT: Final = re.compile(
    r'^@?\w+\(\s*"([^"]+)".*?\bbreaks=\(([^)]*)\)', re.MULTILINE | re.DOTALL
)
_ASSIGNED: Final = re.compile(r"\.(\w+)(?:\.resources\[[^\]]*\]\.value)? [-+*]?= ")
_EDITED: Final = re.compile(r"\.(?:without|change|turn|amounts|ClearField)\(([^)]*)|\bto=(\"\w+\")")
_PAIR: Final = 2  # a name of either side
_PUT: Final = re.compile(r"\.put\(([^)]*)")


@dataclass(frozen=True, slots=True)
class Citation:
    """A test, a monitor or a mutant, and the names in its source."""

    requirements: tuple[str, ...]
    uses: frozenset[str]
    """Keywords and attributes, including those of its helpers in the same module."""
    sets: frozenset[str] = frozenset()
    """For a mutant: the fields that it sets in a message."""
    words: frozenset[str] = frozenset()
    """For a mutant: every name in it, including messages and lists."""
    name: str = ""
    is_mutant: bool = False


_Definitions = Mapping[str, str]
_Cited = Iterator[tuple[str, str, str]]  # a name, ids as written in the source, the source


@cache  # for reports about several revisions
def read_citations(package: Path = _KIT, mutants: Path | None = None) -> tuple[Citation, ...]:
    """Return the tests, monitors and mutants of the kit, and the mutants in a checkout's folder.

    An installed kit has only the mutants of its self-test (`doctor`).
    """
    folders = [package / "doctor", *([mutants] if mutants is not None else [])]
    return (
        *_read([package / "suite", package / "suite_rm"], _tests, _of_monitor_or_test),
        *_read([package / "monitors"], _monitors, _of_monitor_or_test),
        *_read(folders, _mutants, _of_mutants),
    )


def _read(
    folders: Iterable[Path],
    cited: Callable[[str, list[str], _Definitions], _Cited],
    made: Callable[[str, tuple[str, ...], str, str], Citation],
) -> Iterator[Citation]:
    modules = {
        path.relative_to(folder.parent).as_posix(): [*_statements(path.read_text("utf-8"))]
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    }
    own = [_defined(statements) for statements in modules.values()]
    tables = {name: one for names in own for name, one in names.items() if name.isupper()}
    for (path, statements), names in zip(modules.items(), own, strict=True):
        for name, ids, source in cited(path, statements, names):
            needed = _needed(source, {**tables, **names})
            yield made(name, tuple(dict.fromkeys(_ID.findall(ids))), source, needed)


def _of_monitor_or_test(name: str, ids: tuple[str, ...], _source: str, needed: str) -> Citation:
    """Yield only what it uses."""
    return Citation(ids, _used(needed), name=name)


def _of_mutants(name: str, ids: tuple[str, ...], source: str, needed: str) -> Citation:
    """Yield what it uses, and what it changes in messages."""
    edits = " ".join(name for found in _EDITED.findall(source) for name in found)
    put = re.findall(r"(\w+)=", " ".join(_PUT.findall(source)))
    sets = {*_ASSIGNED.findall(source), *re.findall(r'"(\w+)"', edits), *put}
    words = frozenset(_WORD.findall(needed))
    return Citation(ids, _used(needed), frozenset(sets), words, name, is_mutant=True)


def _statements(source: str) -> Iterator[str]:
    """Yield the statements of a module, functions with their decorators."""
    decorators = ""
    for piece in _TOP_LEVEL.split(source):
        if piece.startswith("@"):
            decorators += piece
        else:
            yield decorators + piece
            decorators = ""


def _defined(statements: Iterable[str]) -> dict[str, str]:
    """Return the functions, classes and values of a module by name."""
    found = ((_DEFINED.search(one), one) for one in statements)
    return {match[1] or match[2]: one for match, one in found if match}


def _needed(source: str, known: _Definitions) -> str:
    """Return a statement followed by everything it needs, recursively."""
    waiting, found = [source], dict.fromkeys([source])
    while waiting:
        names = dict.fromkeys(_WORD.findall(waiting.pop()))
        more = [known[name] for name in names if name in known and known[name] not in found]
        found.update(dict.fromkeys(more))
        waiting += more
    return "".join(found)


def _used(source: str) -> frozenset[str]:
    return frozenset(keyword or attribute for keyword, attribute in _USED.findall(source))


def _tests(path: str, statements: list[str], _names: _Definitions) -> _Cited:
    for_all = " ".join(one for one in statements if one.startswith("pytestmark"))
    for one in statements:
        ids = " ".join([*_TESTED.findall(one), *_TESTED.findall(for_all)])
        test = re.search(r"^def (test_\w+)", one, re.MULTILINE)
        if ids and test:
            yield f"{path}::{test[1]}", ids, one


def _monitors(_path: str, statements: list[str], names: _Definitions) -> _Cited:
    for one in statements:
        for name, ids in _MONITORED.findall(one):
            yield f"monitor {name}", ids, names[name]


def _mutants(_path: str, statements: list[str], _names: _Definitions) -> _Cited:
    for one in statements:
        for name, ids in _MUTANT.findall(one):
            yield name, ids, one


def kit_names(fields: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Map fields, by their name in the SI without message, to the kit's names.

    `Allocation.queueName` is `queue` in the kit. A field and a kit name match if a dialect has them
    together, and alone, in an assignment, a keyword or the arguments of a call.
    """
    found: dict[str, set[str]] = {name: set() for name in fields}
    for names in _pairs():
        for name, ours in (names, names[::-1]):
            if name in found:
                found[name].add(ours)
    return {name: frozenset(ours) for name, ours in found.items()}


@cache
def _pairs() -> frozenset[tuple[str, ...]]:
    """Return the names that are together, and alone, in a dialect."""
    trees = (ast.parse(path.read_text("utf-8")) for path in sorted(_DIALECTS.glob("*.py")))
    return frozenset(names for tree in trees for names in _together(tree) if len(names) == _PAIR)


def _together(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Yield the names in each assignment, each keyword, and the arguments of each call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for to, of in zip(target.elts, value.elts, strict=True):
                    yield (*_names(to), *_names(of))
            else:
                yield (*_names(target), *_names(value))
        elif isinstance(node, ast.keyword) and node.arg:
            yield (node.arg, *_names(node.value))
        elif isinstance(node, ast.Call) and not _is_constructor(node.func):
            of_method = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            yield tuple(name for one in (*of_method, *node.args) for name in _names(one))


def _is_constructor(called: ast.expr) -> bool:
    """Whether a class is called with positional field values."""
    return isinstance(called, ast.Name) and called.id[0].isupper()


def _names(node: ast.AST) -> Iterator[str]:
    """Yield attributes (`user` in `message.ugi.user`) and strings, without called functions."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and node.value.isidentifier():
            yield node.value
    elif isinstance(node, ast.Call):
        for argument in node.args:
            yield from _names(argument)
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _names(inner)
