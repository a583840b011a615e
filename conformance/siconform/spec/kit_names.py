"""How the kit's own code calls a field of the SI: `Allocation.queueName` is `queue` there.

Its dialects write and read messages. A field and a name of ours that stand together, and alone, in
an assignment, a keyword or the arguments of a call are the same thing.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

_DIALECTS: Final = Path(__file__).parents[1] / "transport" / "dialects"


def kit_names(fields: Iterable[str], folder: Path = _DIALECTS) -> Mapping[str, frozenset[str]]:
    """Fields by their name in the SI, without their messages, and the kit's names of each."""
    found: dict[str, set[str]] = {name: set() for name in fields}
    for path in sorted(folder.glob("*.py")):
        for names in _together(ast.parse(path.read_text("utf-8"))):
            if len(names) == 2:  # noqa: PLR2004  # a name of either side
                for name, ours in (names, names[::-1]):
                    if name in found:
                        found[name].add(ours)
    return {name: frozenset(ours) for name, ours in found.items()}


def _together(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The names in each assignment, each keyword, and the arguments of each call."""
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
    """Whether a class is called, with values of several fields one after the other."""
    return isinstance(called, ast.Name) and called.id[0].isupper()


def _names(node: ast.AST) -> Iterator[str]:
    """Attributes (`user` in `message.ugi.user`) and strings, without functions that are called."""
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
