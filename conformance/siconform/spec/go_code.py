"""Reads what a text says in Go: the constants, and the methods of the API's interfaces."""

import json
import re
from collections.abc import Iterable

from siconform.spec.blocks import Block, BlockKind, code_of
from siconform.spec.model import ApiMethod, Constant, SpecError

_CONSTANT = re.compile(
    r"^(?:const\s+)?(\w+)(?:\s+[\w.]+)?\s*=\s*"
    r"(\"(?:[^\"\\]|\\.)*\"|`[^`]*`|-?[\d.]+|true|false)\s*(?://\s*(.*))?$"
)
_STRUCTURE = re.compile(r"^(?:const\s*\(|var\s*\(|\)|package\s+\w+|import\b.*)?\s*$")
_INTERFACE = re.compile(r"^type\s+(\w+)\s+interface\s*\{")
_METHOD = re.compile(r"^([A-Z]\w*)\s*\(")


def read_constants(blocks: Iterable[Block]) -> tuple[dict[str, Constant], list[SpecError]]:
    """The constants by name in order of the text, and the lines that are none."""
    found: dict[str, Constant] = {}
    errors = []
    for block in blocks:
        if block.kind is not BlockKind.CONSTANTS:
            continue
        above: list[str] = []
        for number, line in enumerate(map(str.strip, block.lines), block.first):
            constant = _CONSTANT.match(line)
            if line.startswith("//"):
                above.append(line.lstrip("/ "))
                continue
            if constant and constant[1] in found:
                first = found[constant[1]].line
                says = f"constant {constant[1]} is on line {first} already: rename or remove one"
                errors.append(SpecError(says, number))
            elif constant:
                comment = " ".join([*above, constant[3] or ""]).strip()
                value = _value(constant[2])
                found[constant[1]] = Constant(constant[1], value, number, comment)
            elif not _STRUCTURE.match(line):
                says = f'`{line}` is no constant: write it as Name = "value"'
                errors.append(SpecError(says, number))
            above = []
    return found, errors


def read_api(blocks: Iterable[Block]) -> dict[str, ApiMethod]:
    """The methods of all interfaces by `Interface.Method`, in order of the text."""
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
    """What a Go literal stands for."""
    if not literal.startswith('"'):
        return literal.strip("`")
    try:
        return str(json.loads(literal))
    except ValueError:  # an escape that JSON does not have
        return literal[1:-1]
