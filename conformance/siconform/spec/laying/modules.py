"""Modules of codec and dialect that go on with those of the revision before, and where they stand.

What a codec builds of its own revision's messages is made again with the new ones; everything
else is the older module's until somebody says otherwise.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from siconform.spec.laying.source_edits import NotLaidError, inserted, with_entry
from siconform.spec.laying.wire_records import Succession

CODECS: Final = "reference/sireference/codec"
DIALECTS: Final = "conformance/siconform/transport/dialects"
_OF_OWN_MESSAGES: Final = ("CALLBACKS", "READING", "SLOTS", "RULES")
_MESSAGES: Final = "si"
_NAMES_BEFORE: Final = {"READING", "SLOTS"}
_OTHERS: Final = re.compile(r"r\d{4}_\d{2}\.py$")
_LINE: Final = re.compile(r"^from (\S+) import (.+)$")


def codec_module(older: str, of: Succession) -> str:
    """A module of the codec for the revision, which goes on with the one before it.

    `older` is that one's source. Raises NotLaidError where it has no CODEC.
    """
    tree = ast.parse(older)
    assigned = {ast.unparse(one.target): one for one in tree.body if isinstance(one, ast.AnnAssign)}
    if "CODEC" not in assigned:
        path = f"{CODECS}/{of.package_before}.py"
        raise NotLaidError(f"{path} has no CODEC: use the kit of the same checkout")
    body: list[str] = []
    for name in _OF_OWN_MESSAGES:
        if name in assigned:
            said = ast.get_source_segment(older, assigned[name]) or ""
            is_own = name not in _NAMES_BEFORE and re.search(rf"\b{_MESSAGES}\.\w", said)
            body.append(said if is_own else f"{name}: Final = {of.package_before}.{name}")
    codec = ast.get_source_segment(older, assigned["CODEC"]) or ""
    body.append(codec.replace(f'"{of.before}"', f'"{of.name}"'))
    heading = f'"""{of.name}: goes on with {of.before}."""'
    imports = _imports(tree, "\n".join(body), of)
    return f"{heading}\n\n{imports}\n\n" + "\n".join(body) + "\n"


def _imports(tree: ast.Module, body: str, of: Succession) -> str:
    """What the body uses of what the older module imports, and the older module."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    groups: list[list[str]] = [[], [], []]
    is_there = False
    for one in tree.body:
        if not isinstance(one, ast.ImportFrom) or one.module is None:
            continue
        module = one.module.replace(of.package_before, of.package)
        names = [n for n in one.names if (n.asname or n.name) in used]
        if one.module == "sireference.codec":
            is_there = True
            said = sorted({*(n.name for n in names), of.package_before} & {*used})
            groups[2].append(f"from {module} import {', '.join(said)}")
        elif names:
            said = [n.name + (f" as {n.asname}" if n.asname else "") for n in names]
            first = one.module.partition(".")[0]
            group = {"siwire": 1, "google": 1, "sireference": 2}.get(first, 0)
            groups[group].append(f"from {module} import {', '.join(said)}")
    if not is_there and of.package_before in used:
        groups[2].insert(0, f"from sireference.codec import {of.package_before}")
    return "\n\n".join("\n".join(group) for group in groups if group)


def in_codecs(text: str, of: Succession) -> str:
    """The registry of the codecs with the new module."""
    path = f"{CODECS}/__init__.py"
    text = with_entry(text, path, "from sireference.codec import ", of.package)
    return with_entry(text, path, "_REVISIONS: Final = (", of.package)


def tables_before(registry: str, of: Succession) -> tuple[str, str]:
    """What the registry of the dialects has for the older revision, and its module."""
    found = re.search(
        rf'^    "{of.before}": ((?:lambda: )?(r\d{{4}}_\d{{2}})\.\w+),', registry, re.MULTILINE
    )
    if found is None:
        path = f"{DIALECTS}/registry.py"
        raise NotLaidError(f"{path} has no tables for {of.before}: use its own checkout")
    return found[1], found[2]


def dialect_module(registry: str, of: Succession) -> str:
    """A module of the dialect for the revision, with the tables of the one before it."""
    tables, module = tables_before(registry, of)
    name = tables.rpartition(".")[2]
    return (
        f'"""What {of.name} says: the words of the revision before."""\n\n'
        "from typing import Final\n\n"
        f"from siconform.transport.dialects import {module}\n\n"
        f"{name}: Final = {module}.{name}\n"
    )


def in_dialects(registry: str, of: Succession, *, has_module: bool) -> str:
    """The registry of the dialects with the revision, by a module of its own or the older one's."""
    path = f"{DIALECTS}/registry.py"
    tables, module = tables_before(registry, of)
    if has_module:
        tables = tables.replace(module, of.package)
        statement = "from siconform.transport.dialects import "
        registry = with_entry(registry, path, statement, of.package)
    entry = f'    "{of.name}": {tables},\n'
    return inserted(registry, path, rf'    "{of.before}": ', entry)


def shared_modules(files: Mapping[str, str], of: Succession) -> Iterator[str]:
    """The paths of the modules in which messages of several revisions are put together."""
    for path, text in files.items():
        is_theirs = path.startswith((f"{CODECS}/", f"{DIALECTS}/"))
        if (
            is_theirs
            and not _OTHERS.search(path)
            and f"from siwire.{of.package_before} import" in text
        ):
            yield path
