# ruff: noqa: INP001  # a script, not part of the package
"""Writes docs/state-writers.md: who changes which attribute of the core's state.

python reference/state_writers.py [--check]

A contract of imports says who may know a class, not who changes it. This page does: every
assignment to an attribute of a class in `core/state`, and every change of a list, dict or set that
is one, in another module. Whose attribute it is, the name before the dot says, by what is called so
in annotations. With `--check` nothing is written; the exit code is 1 when the
committed page differs.
"""

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

CORE: Final = Path(__file__).parent / "sireference" / "core"
PAGE: Final = Path(__file__).parents[1] / "docs" / "state-writers.md"
COMMAND: Final = "python reference/state_writers.py"
_ADDS: Final = ("add", "append", "extend", "insert", "setdefault", "update")
_REMOVES: Final = ("clear", "discard", "pop", "popitem", "popleft", "remove")
_CONTAINERS: Final = frozenset(("dict", "list", "set", "deque", "OrderedDict", "LazyHeap"))
_INTRODUCTION: Final = """\
What is not here is changed in the module of its class alone; to change it, call what that offers.
What is here is changed by others, too, named by module (`core/`) and function: they are all there
are, and whoever adds one has to write this page anew. Which modules may know a class at all, the
contracts in `pyproject.toml` say ([decision 17](decisions/0017-state-in-layers.md))."""


@dataclass
class State:
    """One class of the state: where it is, and its attributes with the names in their types."""

    module: str
    bases: tuple[str, ...] = ()
    attributes: dict[str, frozenset[str]] = field(default_factory=dict)


class Unclear(ValueError):
    """Whose attribute is changed cannot be told; the message is a sentence."""


class Write(NamedTuple):
    """One change of an attribute from outside."""

    owner: str
    attribute: str
    writer: str  # module and function


def classes(core: Path) -> dict[str, State]:
    """The classes of ``core/state`` by name."""
    found = {}
    for path in sorted((core / "state").glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                bases = tuple(_names(ast.Tuple(node.bases)))
                found[node.name] = State(f"state/{path.name}", bases, dict(_attributes(node)))
    return found


def _attributes(node: ast.ClassDef) -> Iterator[tuple[str, frozenset[str]]]:
    """Fields of a dataclass, and what methods assign to ``self``."""
    for one in ast.walk(node):
        match one:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=said):
                yield name, _names(said)
            case ast.AnnAssign(target=ast.Attribute(ast.Name("self"), name), annotation=said):
                yield name, _names(said)
            case ast.Assign(targets=[ast.Attribute(ast.Name("self"), name)], value=value):
                yield name, _names(value.func) if isinstance(value, ast.Call) else frozenset()


def _names(node: ast.AST) -> frozenset[str]:
    text = ast.unparse(node).replace('"', " ").replace("'", " ")
    return frozenset(re.findall(r"\w+", text))


def writes(core: Path) -> list[Write]:
    """Every change of the state from outside the class that is changed, in order."""
    states = classes(core)
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(core.rglob("*.py"))}
    kinds = _kinds(trees.values(), states)
    found = {
        write
        for path, tree in trees.items()
        for write in _Reader(str(path.relative_to(core)), states, kinds).read(tree)
    }
    return sorted(found)


def _kinds(trees: Iterable[ast.Module], states: Mapping[str, State]) -> dict[str, str]:
    """Which class a name stands for: that of most parameters and attributes called so."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.arg(arg=name, annotation=ast.expr() as said):
                    counts[name].update(_names(said) & states.keys())
    for state in states.values():
        for name, types in state.attributes.items():
            counts[name].update(types & states.keys())
    return {
        name: max(sorted(count), key=count.__getitem__) for name, count in counts.items() if count
    }


class _Reader(ast.NodeVisitor):
    """Finds the changes in one module."""

    def __init__(self, module: str, states: Mapping[str, State], kinds: Mapping[str, str]) -> None:
        self._module = module
        self._states = states
        self._kinds = kinds
        self._inside: list[str] = []  # classes and functions
        self._found: list[Write] = []

    def read(self, tree: ast.Module) -> list[Write]:
        """All of them."""
        self.visit(tree)
        return self._found

    def visit_ClassDef(self, node: ast.ClassDef) -> None:  # as ast names it
        """Remember where we are."""
        self._within(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:  # as ast names it
        """Remember where we are."""
        self._within(node)

    def _within(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:  # as ast names it
        """An attribute that is assigned or deleted."""
        if isinstance(node.ctx, ast.Store | ast.Del):
            self._changed(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:  # as ast names it
        """An element of one."""
        if isinstance(node.ctx, ast.Store | ast.Del) and isinstance(node.value, ast.Attribute):
            self._changed(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:  # as ast names it
        """A method that changes one that is a list, a dict or a set."""
        match node.func:
            case ast.Attribute(value=ast.Attribute() as changed, attr=name) if name in (
                *_ADDS,
                *_REMOVES,
            ):
                if self._types(changed) & _CONTAINERS:
                    self._changed(changed)
        self.generic_visit(node)

    def _types(self, changed: ast.Attribute) -> frozenset[str]:
        owner = self._owner(changed)
        return self._states[owner].attributes[changed.attr] if owner is not None else frozenset()

    def _changed(self, changed: ast.Attribute) -> None:
        owner = self._owner(changed)
        writer = f"{self._module.removesuffix('.py')}.{'.'.join(self._inside)}"
        if owner is None and not _is_own(changed) and self._may_be_of_another(changed.attr):
            raise Unclear(f"{writer} changes {ast.unparse(changed)}: name it by its class")
        if owner is not None and self._states[owner].module != self._module:
            self._found.append(Write(owner, changed.attr, writer))

    def _may_be_of_another(self, attribute: str) -> bool:
        """Whether a class of the state has the attribute, and none of this module."""
        modules = [one.module for one in self._states.values() if attribute in one.attributes]
        return bool(modules) and self._module not in modules

    def _owner(self, changed: ast.Attribute) -> str | None:
        """The class the attribute belongs to, as far as the name before the dot says it."""
        match changed.value:
            case ast.Name(id="self"):
                kind = self._inside[0] if self._inside else ""
            case ast.Name(id=name) | ast.Attribute(attr=name):
                kind = self._kinds.get(name) or name.title().replace("_", "")
            case ast.Subscript(value=ast.Attribute(attr=name)):  # an element of it
                kind = name.title().replace("_", "").removesuffix("s")
            case _:
                kind = ""
        while kind in self._states:
            if changed.attr in self._states[kind].attributes:
                return kind
            kind = next((base for base in self._states[kind].bases if base in self._states), "")
        owners = [name for name, one in self._states.items() if changed.attr in one.attributes]
        return owners[0] if len(owners) == 1 and not _is_own(changed) else None


def _is_own(changed: ast.Attribute) -> bool:
    return isinstance(changed.value, ast.Name) and changed.value.id == "self"


def page(core: Path = CORE) -> str:
    """The whole page in Markdown."""
    states = classes(core)
    by_owner: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for owner, attribute, writer in writes(core):
        by_owner[owner][attribute].append(writer)
    head = f"# Who changes what in the state\n\n<!-- Generated by `{COMMAND}`; do not edit. -->"
    blocks = [head, _INTRODUCTION]
    for owner in sorted(by_owner, key=lambda name: (states[name].module, name)):
        blocks.append(f"## `{owner}` (`core/{states[owner].module}`)")
        rows = [
            f"| `{attribute}` | {', '.join(f'`{writer}`' for writer in writers)} |"
            for attribute, writers in sorted(by_owner[owner].items())
        ]
        blocks.append("\n".join(["| attribute | changed by |", "|---|---|", *rows]))
    return "\n\n".join(blocks) + "\n"


def main() -> int:
    """Write the page, or check that it is as it would be written."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write docs/state-writers.md.")
    parser.add_argument("--check", action="store_true", help="only compare with what is there")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    sys.stderr.write(f"{PAGE} is not what the state's writers are. Run: {COMMAND}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
