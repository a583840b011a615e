"""Finds the code of a checkout that reads or writes a part of the schema, without running it.

It searches names in the syntax tree, separated by the messages that a function names in its
annotations and body. The result is a list to review, not a complete one.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from siwire import constants

from sispec.schema import Schema

FOLDERS: Final = ("reference/sireference", "conformance/siconform/transport/dialects")
"""The code that is searched: the reference, and the kit's dialects."""
NAMING: Final = (
    "reference/sireference/core/model/records.py",
    "conformance/siconform/protocol/requests.py",
)
"""Classes whose fields name a field of the schema, which other code copies without naming it."""
_NAMES_FIELD: Final = frozenset({"copied_from", "sent_as"})
_COPIES: Final = frozenset({"copied", "read_scalars", "write_scalars"})
_MODULE: Final = re.compile(r"^siwire\.r(\d{4})_(\d{2})(\.si_pb2)?$")
_IMPORTED: Final = re.compile(r"(?<!siwire\.)\br(\d{4})_(\d{2})\b")
_OF_ONE: Final = re.compile(r"^r(\d{4})_(\d{2})")
_DISTINCT: Final = re.compile(r"[a-z][A-Z]|[A-Z]_[A-Z]|[a-z]_[a-z]")
Mention = tuple[str, str]  # revision, message


@dataclass(frozen=True, slots=True, order=True)
class Usage:
    """A function that reads or writes a part of the schema."""

    path: str
    function: str
    line: int
    writes: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function} {'writes' if self.writes else 'uses'} it"


@dataclass(frozen=True, slots=True)
class _Word:
    """A name in a function that may be a field, a value or a message."""

    name: str
    line: int
    writes: bool


@dataclass(slots=True)
class _Function:
    path: str
    name: str
    words: list[_Word] = field(default_factory=list)
    mentions: set[Mention] = field(default_factory=set)
    implements: frozenset[str] = (
        frozenset()
    )  # the revisions that its folder uses for the requested one
    constants: dict[str, int] = field(default_factory=dict)  # of siwire.constants, by their line


@dataclass(frozen=True)
class CodeUsage:
    """The code of a checkout that uses the schema of one revision."""

    root: Path
    revision: str
    schema: Schema
    """The schema of the revision."""

    def of(self, name: str, constant: str = "") -> tuple[Usage, ...]:
        """Return functions that use an element, `NodeInfo.nodeID`, or a constant of this value."""
        if constant:
            return tuple(sorted(self._of_constant(constant)))
        owner, _, last = name.rpartition(".")
        owners = self._owners(last)
        found = (
            Usage(function.path, function.name, words[0].line, any(w.writes for w in words))
            for function in self._functions
            if (words := [word for word in function.words if word.name == last])
            and self._is_meant(function, owner, last, owners)
        )
        return tuple(sorted(found))

    def _of_constant(self, value: str) -> Iterator[Usage]:
        names = [name for name, sent in vars(constants).items() if sent == value]
        for function in self._functions:
            for name in names:
                if name in function.constants:
                    line = function.constants[name]
                    yield Usage(function.path, function.name, line, writes=False)

    def _is_meant(self, function: _Function, owner: str, last: str, owners: list[str]) -> bool:
        """Whether a function with this name uses this element, as far as names show it."""
        here = {
            message for revision, message in function.mentions if revision in function.implements
        }
        if not owner:
            return last in here
        if function.mentions and not here:
            return False
        if not here:
            return len(owners) == 1 and bool(_DISTINCT.search(last))
        if owner in here or any(one.startswith(f"{owner}.") for one in here):
            return True
        reached = {message for one in here for message in self._reached(one)}
        if not _DISTINCT.search(last) and not reached.isdisjoint(set(owners) - {owner}):
            return False
        return owner in reached

    @cached_property
    def _functions(self) -> tuple[_Function, ...]:
        found: list[_Function] = []
        for folder in FOLDERS:
            for path in sorted((self.root / folder).rglob("*.py")):
                revisions = _built_on(path.parent, self.revision)
                of_one = _OF_ONE.match(path.stem)
                if not of_one or f"{of_one[1]}-{of_one[2]}" in revisions:
                    implements = revisions | {self.revision}
                    found += [
                        replace(function, implements=implements)
                        for function in _read(path, self.root)
                    ]
        return tuple(found)

    def _owners(self, name: str) -> list[str]:
        """Return the messages, enums and services that declare a member of this name."""
        messages = (one.name for one in self.schema.messages.values() if name in one.fields)
        enums = (one.name for one in self.schema.enums.values() if name in one.values)
        services = (one for one in self.schema.services if f"{one}.{name}" in self.schema.methods)
        return [*messages, *enums, *services]

    def _reached(self, message: str) -> frozenset[str]:
        """Return the messages and enums reachable through fields of a message, including itself."""
        return self._reach.get(message, frozenset({message}))

    @cached_property
    def _reach(self) -> Mapping[str, frozenset[str]]:
        schema, reach = self.schema, dict[str, frozenset[str]]()
        for name in schema.messages:
            found = schema.reachable([name])
            types = {f.held for one in found for f in schema.messages[one].fields.values()}
            inside = {enum for enum in schema.enums if enum.rpartition(".")[0] in found}
            reach[name] = frozenset(found | types | inside)
        return reach


class _Names:
    """Resolves names of one module to messages of revisions."""

    def __init__(
        self,
        tree: ast.Module,
        unions: Mapping[str, frozenset[Mention]],
        named: Mapping[str, Iterable[str]],
    ) -> None:
        self._unions = unions
        self._named = named  # the fields that a class names
        self._modules: dict[str, str] = {}  # alias of a module of messages to its revision
        self._messages: dict[str, Mention] = {}  # message imported by itself
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self._take_import(node)

    def _take_import(self, node: ast.ImportFrom) -> None:
        module = _MODULE.match(node.module or "")
        for alias in node.names if module else ():
            revision = f"{module[1]}-{module[2]}" if module else ""
            if alias.name == "si_pb2":
                self._modules[alias.asname or alias.name] = revision
            else:
                self._messages[alias.asname or alias.name] = (revision, alias.name)

    def mentions(self, nodes: Iterable[ast.AST]) -> Iterator[Mention]:
        """Yield the messages that these nodes name."""
        for one in nodes:
            if isinstance(one, ast.Name):
                if one.id in self._messages:
                    yield self._messages[one.id]
                yield from self._unions.get(one.id, ())
            elif isinstance(one, ast.Attribute):
                path = ast.unparse(one).split(".")
                if path[0] in self._modules and len(path) > 1:
                    yield self._modules[path[0]], ".".join(path[1:])
                elif path[0] == "messages" and len(path) > 1:
                    yield from self._unions.get(path[1], ())

    def take(self, node: ast.AST, function: _Function) -> None:
        """Collect the words and the messages of a node."""
        nodes = list(ast.walk(node))
        function.mentions.update(self.mentions(nodes))
        called = {id(one.func) for one in nodes if isinstance(one, ast.Call)}
        for one in nodes:
            if isinstance(one, ast.Attribute) and id(one) not in called:
                writes = isinstance(one.ctx, ast.Store)
                function.words.append(_Word(one.attr, one.lineno, writes))
                if isinstance(one.value, ast.Name) and one.value.id == "constants":
                    function.constants.setdefault(one.attr, one.lineno)
            elif isinstance(one, ast.keyword) and one.arg:
                function.words.append(_Word(one.arg, one.value.lineno, writes=True))
            elif isinstance(one, ast.Constant) and isinstance(one.value, str):
                function.words.append(_Word(one.value, one.lineno, writes=False))
        self._take_copied(nodes, function)

    def _take_copied(self, nodes: Iterable[ast.AST], function: _Function) -> None:
        """Collect the words of classes whose fields the node copies without naming them."""
        names = {_last_name(one): one for one in nodes if isinstance(one, ast.Name | ast.Attribute)}
        for called in _COPIES & names.keys():
            line = names[called].lineno
            for word in (word for name in names for word in self._named.get(name, ())):
                function.words.append(_Word(word, line, writes=called == "write_scalars"))


@cache  # for reports about several revisions
def _read(path: Path, root: Path) -> tuple[_Function, ...]:
    """Return the functions of a module, and what is outside of them."""
    tree = ast.parse(path.read_text("utf-8"))
    shown = path.relative_to(root).as_posix()
    names = _Names(tree, _unions(path.parent / "messages.py"), _named(root))
    found: list[_Function] = []
    rest = _Function(shown, "(module)")
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for one in inner:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                function = _Function(shown, f"{prefix}{one.name}")
                names.take(one, function)
                found.append(function)
            else:
                names.take(one, rest)
    return (*found, rest)


@cache
def _unions(path: Path) -> Mapping[str, frozenset[Mention]]:
    """Map the aliases of a module of messages to the messages of all their revisions."""
    known: dict[str, frozenset[Mention]] = {}
    if path.is_file():
        tree = ast.parse(path.read_text("utf-8"))
        names = _Names(tree, known, {})
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                known[node.target.id] = frozenset(names.mentions(ast.walk(node)))
    return known


@cache
def _named(root: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of the schema that each class of requests or records names."""
    paths = [root / name for name in NAMING]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths if path.is_file()]
    classes = (one for tree in trees for one in tree.body if isinstance(one, ast.ClassDef))
    return {
        one.name: tuple(
            call.args[0].value
            for call in ast.walk(one)
            if isinstance(call, ast.Call)
            and _last_name(call.func) in _NAMES_FIELD
            and isinstance(call.args[0], ast.Constant)
            and isinstance(call.args[0].value, str)
        )
        for one in classes
    }


def _last_name(node: ast.expr) -> str:
    """Return `copied` for the name `copied` and the attribute `reading.copied`."""
    return getattr(node, "attr", getattr(node, "id", ""))


@cache
def _built_on(folder: Path, revision: str) -> frozenset[str]:
    """Return the revisions whose modules in a folder serve this one: its own and its imports.

    Without a module of its own, the newest earlier one serves it.
    """
    modules: dict[str, Path] = {}
    for path in sorted(folder.glob("r*.py")):
        if match := re.fullmatch(r"r(\d{4})_(\d{2})", path.stem):
            modules[f"{match[1]}-{match[2]}"] = path
    own = [name for name in modules if name <= revision]
    waiting, found = own[-1:], set(own[-1:])
    while waiting:
        text = modules[waiting.pop()].read_text("utf-8")
        imported = {f"{year}-{month}" for year, month in _IMPORTED.findall(text)}
        more = (imported & modules.keys()) - found
        found |= more
        waiting += more
    return frozenset(found)
