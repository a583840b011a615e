"""Reads the Go parts of a specification: constants, and the methods of the API's interfaces."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from sispec.blocks import Block, BlockKind, code_of
from sispec.model import ApiMethod, Constant, SpecError

_CONSTANT = re.compile(
    r"^(?:const\s+)?(\w+)(?:\s+[\w.]+)?\s*=\s*"
    r"(\"(?:[^\"\\]|\\.)*\"|`[^`]*`|-?[\d.]+|true|false)\s*(?://\s*(.*))?$"
)
_GROUP = re.compile(r"^const\s*\(")
_STRUCTURE = re.compile(r"^(?:const\s*\(|var\s*\(|\)|package\s+\w+|import\b.*)?\s*$")
_INTERFACE = re.compile(r"^type\s+(\w+)\s+interface\s*\{")
_METHOD = re.compile(r"^([A-Z]\w*)\s*\(")


def read_constants(blocks: Sequence[Block]) -> tuple[dict[str, Constant], list[SpecError]]:
    """Return the constants by name in document order, and the lines that are not constants.

    Without blocks labelled as constants, Go constant groups are read, as in the oldest revisions.
    """
    found: dict[str, Constant] = {}
    errors = []
    labelled = [block for block in blocks if block.kind is BlockKind.CONSTANTS]
    for block in labelled or map(_groups, constants_in_go(blocks)):
        above: list[str] = []
        for number, line in enumerate(map(str.strip, block.lines), block.first):
            constant = _CONSTANT.match(line)
            if line.startswith("//"):
                above.append(line.lstrip("/ "))
                continue
            if constant and constant[1] in found:
                first = found[constant[1]].line
                message = f"constant {constant[1]} is already on line {first}: rename or remove one"
                errors.append(SpecError(message, number))
            elif constant:
                comment = " ".join([*above, constant[3] or ""]).strip()
                value = _value(constant[2])
                found[constant[1]] = Constant(constant[1], value, number, comment)
            elif not _STRUCTURE.match(line):
                message = f'`{line}` is not a constant: write it as Name = "value"'
                errors.append(SpecError(message, number))
            above = []
    return found, errors


def constants_in_go(blocks: Sequence[Block]) -> list[Block]:
    """Return the Go blocks with constant groups, if no block is labelled as constants."""
    if any(block.kind is BlockKind.CONSTANTS for block in blocks):
        return []
    return [b for b in blocks if b.kind is BlockKind.GO and any(map(_GROUP.match, b.lines))]


def _groups(block: Block) -> Block:
    """Reduce a Go block to the contents of its constant groups, each on its line."""
    kept, inside = list[str](), False
    for line in block.lines:
        inside = (inside or bool(_GROUP.match(line))) and not line.startswith(")")
        plain = line.strip()
        meant = inside and (plain.startswith("//") or _CONSTANT.match(plain))
        kept.append(line if meant else "")
    return Block(block.kind, block.first, tuple(kept))


GO_MESSAGE: Final = re.compile(r"\bsi\.(\w+)")
"""A message as the Go API names it."""


def types_of(signature: str) -> str:
    """Remove parameter names from a signature, `(request *si.NodeRequest) error`."""
    return re.sub(r"(?<=[(,])(\s*)\w+\s+(?=[\w*\[])", r"\1", signature)


def read_api(blocks: Iterable[Block]) -> dict[str, ApiMethod]:
    """Return the methods of all interfaces, `Interface.Method`, in document order."""
    found: dict[str, ApiMethod] = {}
    for block in blocks:
        if block.kind is BlockKind.GO:
            for method in _methods(block):
                found[method.name] = method
    return found


def _methods(block: Block) -> Iterable[ApiMethod]:
    interface, above = "", list[str]()
    lines = list(map(str.strip, block.lines))
    code = list(map(str.strip, code_of(block.lines)))
    at = 0
    while at < len(lines):
        start, line = at, lines[at]
        at += 1
        opened = _INTERFACE.match(code[start])
        method = _METHOD.match(code[start]) if interface else None
        if line.startswith("//"):
            above.append(line.lstrip("/ "))
            continue
        if opened:
            interface = opened[1]
        elif code[start] == "}":
            interface = ""
        elif method:
            signature = code[start]
            while signature.count("(") > signature.count(")") and at < len(lines):
                signature = f"{signature} {code[at]}"
                at += 1
            name = f"{interface}.{method[1]}"
            signature = " ".join(signature[len(method[1]) :].split())
            yield ApiMethod(name, signature, " ".join(above), block.first + start)
        above = []


def _value(literal: str) -> str:
    """Return the value of a Go literal."""
    if not literal.startswith('"'):
        return literal.strip("`")
    try:
        return str(json.loads(literal))
    except ValueError:  # an escape that JSON does not have
        return literal[1:-1]
