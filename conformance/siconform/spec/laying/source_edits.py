"""Adds a revision to Python and TOML sources of the checkout, in the form `ruff` gives them."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Final

WIDTH: Final = 100
_INDENT: Final = "    "


class NotLaidError(Exception):
    """Nothing can be laid down; the message is a sentence that says why and what to do."""


def inserted(text: str, path: str, anchor: str, lines: str, *, before: bool = False) -> str:
    """The text with `lines` after the only line that `anchor` matches from its start.

    Raises NotLaidError where there is no such line, or more than one.
    """
    found = list(re.finditer(rf"^{anchor}[^\n]*\n", text, re.MULTILINE))
    if len(found) != 1:
        raise NotLaidError(
            f"{path} has {len(found)} lines that begin with /{anchor}/, not one: it is not as this "
            "kit knows it, use the kit of the same checkout"
        )
    at = found[0].start() if before else found[0].end()
    return f"{text[:at]}{lines}{text[at:]}"


def in_part(text: str, path: str, start: str) -> tuple[str, str]:
    """The text before and from the only place that has `start`.

    Raises NotLaidError where it is not there once.
    """
    head, found, tail = text.partition(start)
    if not found or start in tail:
        raise NotLaidError(
            f'{path} does not have "{start}" once: it is not as this kit knows it, use the kit of '
            "the same checkout"
        )
    return head, found + tail


def wrapped(head: str, entries: Sequence[str], tail: str) -> str:
    """`head`, the entries and `tail` in a line, or with one entry a line where it is too long."""
    line = f"{head}{', '.join(entries)}{tail}"
    if len(line) <= WIDTH:
        return line
    opened = head if head.endswith(("(", "{", "[")) else f"{head}("
    closed = tail if head.endswith(("(", "{", "[")) else f"){tail}"
    return "\n".join([opened, *(f"{_INDENT}{entry}," for entry in entries), closed])


def with_entry(text: str, path: str, statement: str, entry: str) -> str:
    """The text with an entry more at the end of an import or a tuple of names.

    `statement` is its beginning: `from package import ` or `NAMES = (`.
    """
    found = re.search(rf"^{re.escape(statement)}\(?([^()\n]*|[^()]*)\)?$", text, re.MULTILINE)
    if found is None:
        raise NotLaidError(
            f'{path} has no "{statement}...": it is not as this kit knows it, use the kit of the '
            "same checkout"
        )
    entries = [one.strip() for one in found[1].split(",") if one.strip()]
    tail = ")" if statement.endswith("(") else ""
    said = wrapped(statement, [*entries, entry], tail)
    return f"{text[: found.start()]}{said}{text[found.end() :]}"


def module_alias(text: str, package: str) -> str:
    """The name under which a module imports the messages of `package`, "" if it does not."""
    found = re.search(rf"^from siwire\.{package} import si_pb2 as (\w+)$", text, re.MULTILINE)
    return found[1] if found else ""


def in_unions(
    text: str, packages: tuple[str, str], fitting: Mapping[str, bool]
) -> tuple[str, tuple[str, ...]]:
    """The module with the messages of the second package in the unions that have the first one's.

    `fitting` says which messages the new revision still has with all their fields; the unions
    of others are left as they are, and returned as `Union (Message)`.
    """
    before, after = packages
    alias = module_alias(text, before)
    new = _new_alias(text, alias, after)
    left: list[str] = []
    lines = text.split("\n")
    for statement in reversed(ast.parse(text).body):
        members = _members(statement)
        mine = [name for name in members if name.startswith(f"{alias}.")]
        if not mine or statement.end_lineno is None:
            continue
        fits = [name for name in mine if fitting.get(name.partition(".")[2], False)]
        target = _target(statement)
        left += [
            f"{target.partition(':')[0]} ({name.partition('.')[2]})"
            for name in mine
            if name not in fits
        ]
        if fits:
            said = [*members, *(f"{new}.{name.partition('.')[2]}" for name in fits)]
            lines[statement.lineno - 1 : statement.end_lineno] = _union(target, said)
    text = "\n".join(lines)
    text, others = _in_type_variables(text, alias, new, fitting)
    left += others
    if new + "." in text:
        said_so = f"from siwire.{after} import si_pb2 as {new}\n"
        text = inserted(text, "", rf"from siwire\.{before} import si_pb2", said_so)
    return text, tuple(reversed(left))


def _in_type_variables(
    text: str, alias: str, new: str, fitting: Mapping[str, bool]
) -> tuple[str, list[str]]:
    """The text with the new message below the older one, where each has a line to itself."""
    left: list[str] = []

    def doubled(found: re.Match[str]) -> str:
        if not fitting.get(found[2], False):
            left.append(f"TypeVar ({found[2]})")
            return found[0]
        return f"{found[0]}{found[1]}{new}.{found[2]},\n"

    return re.sub(rf"^( +){alias}\.(\w+),\n", doubled, text, flags=re.MULTILINE), left


def _new_alias(text: str, alias: str, package: str) -> str:
    year, month = package[3:5], package[6:8]
    short = f"si{year}"
    is_short = len(alias) == len(short) and not re.search(rf"\b{short}\b", text)
    return short if is_short else f"si{year}{month}"


def _target(statement: ast.stmt) -> str:
    if isinstance(statement, ast.AnnAssign):
        return f"{ast.unparse(statement.target)}: {ast.unparse(statement.annotation)}"
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _members(statement: ast.stmt) -> list[str]:
    """The members of a union that is given a name; none where the statement is another one."""
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    members: list[str] = []
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        members.append(ast.unparse(value.right))
        value = value.left
    if isinstance(value, ast.Attribute | ast.Name):
        members.append(ast.unparse(value))
    return members[::-1] if all(re.fullmatch(r"\w+(\.\w+)?", one) for one in members) else []


def _union(target: str, members: Sequence[str]) -> list[str]:
    said = " | ".join(members)
    if len(f"{target} = {said}") <= WIDTH:
        return [f"{target} = {said}"]
    if len(f"{_INDENT}{said}") <= WIDTH:
        return [f"{target} = (", f"{_INDENT}{said}", ")"]
    rows = [f"{_INDENT}{'| ' if at else ''}{one}" for at, one in enumerate(members)]
    return [f"{target} = (", *rows, ")"]
