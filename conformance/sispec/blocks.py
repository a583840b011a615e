"""Finds protobuf, constant and Go blocks in a specification, with or without Markdown fences."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from sispec.model import SpecError


class BlockKind(Enum):
    """Language of a block."""

    PROTOBUF = auto()
    CONSTANTS = auto()
    GO = auto()
    OTHER = auto()  # a drawing, an example


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of code in a specification."""

    kind: BlockKind
    first: int  # line number of its first line, counted from 1
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """Return the line number of its last line."""
        return self.first + len(self.lines) - 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a specification, the guesses made to find them, and the errors in them."""

    blocks: tuple[Block, ...]
    guesses: tuple[str, ...] = ()
    errors: tuple[SpecError, ...] = ()
    synchronised: bool = True


_LABELS = {
    "protobuf": BlockKind.PROTOBUF,
    "proto": BlockKind.PROTOBUF,
    "proto3": BlockKind.PROTOBUF,
    "constants": BlockKind.CONSTANTS,
    "golang": BlockKind.GO,
    "go": BlockKind.GO,
}
_BARRIER = re.compile(r"^\s*(`{3,}|~{3,})\s*([^`\s]*)[^`]*$")
_DECLARATION = re.compile(r"^(?:message|enum|service|extend)\s+[\w.]+\s*(?:\{|$)")
_STATEMENT = re.compile(r"^(?:syntax|package|import|option)\b[^;]*;\s*(?://.*)?$")
_CONSTANTS = re.compile(r"^const\s*\(")
_CONSTANT = re.compile(r"^const\s+\w+[^=]*=")
_GO_TYPE = re.compile(r"^type\s+\w+\s+(?:interface|struct)\s*\{")
_GO_LINE = re.compile(r"^(?:package\s+\w+|import\s+\"[^\"]*\")\s*$")
_SINGLE_LINES = (
    (_STATEMENT, BlockKind.PROTOBUF),
    (_CONSTANT, BlockKind.CONSTANTS),
    (_GO_LINE, BlockKind.GO),
)
_NOT_CODE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|//.*|/\*|\*/")


def find_blocks(lines: Sequence[str]) -> Layout:
    """Find the blocks by their fences, or by their first words if there are no fences."""
    if any(_BARRIER.match(line) for line in lines):
        return _Synchronised(lines).layout()
    return _Unfenced(lines).layout()


def code_of(lines: Iterable[str]) -> Iterator[str]:
    """Remove comments and strings, so that the remaining braces are structure."""
    inside = False
    for line in lines:
        kept, at = "", 0
        for found in _NOT_CODE.finditer(line):
            if not inside:
                kept += line[at : found.start()]
            at = found.end()
            if found[0] == "*/":
                inside = False
            elif found[0] == "/*":
                inside = True
            elif inside and "*/" in found[0]:
                inside, at = False, found.start() + found[0].index("*/") + 2
        yield kept if inside else kept + line[at:]


def _unbalanced(block: Block) -> SpecError | None:
    """Return the error in the braces of a protobuf block, if any."""
    opened: list[int] = []
    for at, code in enumerate(code_of(block.lines)):
        for brace in re.findall(r"[{}]", code):
            if brace == "{":
                opened.append(at)
            elif not opened:
                return SpecError("this brace closes nothing: remove it", block.first + at)
            else:
                opened.pop()
    if not opened:
        return None
    message = (
        f"`{block.lines[opened[0]].strip()}` is not closed in its block: add the missing brace"
    )
    return SpecError(message, block.first + opened[0])


class _Synchronised:
    """Blocks between fences, by the label of the fence."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.labels: list[str] = []
        self.errors: list[SpecError] = []
        self.guesses: list[str] = []

    def layout(self) -> Layout:
        self._cut()
        if not any(block.kind is BlockKind.PROTOBUF for block in self.blocks):
            self._take_unlabelled()
        self._look_at_labels()
        self._look_at_comments()
        self._look_outside()
        self.errors += filter(None, map(_unbalanced, self._of_kind(BlockKind.PROTOBUF)))
        self.errors.sort(key=lambda error: error.line)
        return Layout(tuple(self.blocks), tuple(self.guesses), tuple(self.errors))

    def _cut(self) -> None:
        start, mark, label = 0, "", ""
        for number, line in enumerate(self.lines, 1):
            barrier = _BARRIER.match(line)
            if not barrier or (start and not barrier[1].startswith(mark)):
                continue
            if not start:
                start, mark, label = number, barrier[1], barrier[2].lower()
            elif barrier[2]:
                self.errors.append(self._missing_barrier(start, number, label))
                start, mark, label = number, barrier[1], barrier[2].lower()
            else:
                self._add(start, number, label)
                start = 0
        if start:
            message = f"the block that starts here is never closed: end it with {mark}"
            self.errors.append(SpecError(message, start))

    def _missing_barrier(self, start: int, number: int, label: str) -> SpecError:
        """Return the error for a block that starts inside the one of line `start`."""
        before = self.blocks[-1].last + 1 if self.blocks else 0
        between = [] if label else self.lines[before : start - 1]
        for line, content in enumerate(between, before + 1):
            if _DECLARATION.match(content) and "{" in content:
                return _outside(line, content, "protobuf")
        message = f"a block starts inside the one of line {start}: a closing fence is missing"
        return SpecError(message, number)

    def _add(self, start: int, end: int, label: str) -> None:
        kind = _LABELS.get(label, BlockKind.OTHER)
        self.blocks.append(Block(kind, start + 1, tuple(self.lines[start : end - 1])))
        self.labels.append(label)

    def _of_kind(self, kind: BlockKind) -> list[Block]:
        return [block for block in self.blocks if block.kind is kind]

    def _take_unlabelled(self) -> None:
        """Without blocks labelled protobuf, take those that look like it."""
        for at, block in enumerate(self.blocks):
            if block.kind is BlockKind.OTHER and _looks_like_protobuf(block.lines):
                self.blocks[at] = Block(BlockKind.PROTOBUF, block.first, block.lines)
                self.guesses.append(
                    f"line {block.first - 1}: no block is labelled protobuf; "
                    "this one looks like protobuf and is read as such"
                )

    def _look_at_labels(self) -> None:
        other: dict[str, list[int]] = {}
        for block, label in zip(self.blocks, self.labels, strict=True):
            line = block.first - 1
            if block.kind is BlockKind.OTHER and _looks_like_protobuf(block.lines):
                called = f"is labelled {label}" if label else "has no label"
                self.guesses.append(
                    f"line {line}: a block looks like protobuf but {called}; it is left out"
                )
            elif block.kind is BlockKind.PROTOBUF and label in {"proto", "proto3"}:
                other.setdefault(label, []).append(line)
        for label, lines in other.items():
            self.guesses.append(_of_other_label(label, lines))

    def _look_at_comments(self) -> None:
        """Read blocks inside `<!--` and `-->`, as schema generators do."""
        outside = list(self.lines)
        for block in self.blocks:
            outside[block.first - 1 : block.last] = [""] * len(block.lines)
        for block in self.blocks:
            before = "\n".join(outside[: block.first - 1])
            if block.kind is not BlockKind.OTHER and before.rfind("<!--") > before.rfind("-->"):
                self.guesses.append(
                    f"line {block.first - 1}: a block is in an HTML comment, where readers "
                    "do not see it; it is read anyway"
                )

    def _look_outside(self) -> None:
        """Report declarations outside of blocks, which have lost their fences."""
        if self.errors:
            return
        inside = {line for block in self.blocks for line in range(block.first - 1, block.last + 2)}
        for number, line in enumerate(self.lines, 1):
            if number not in inside and _DECLARATION.match(line) and "{" in line:
                self.errors.append(_outside(number, line, "protobuf"))
            elif number not in inside and _CONSTANTS.match(line):
                self.errors.append(_outside(number, line, "constants"))


def _of_other_label(label: str, lines: Sequence[int]) -> str:
    read = f"labelled {label}, not protobuf;"
    if len(lines) == 1:
        return f"line {lines[0]}: a block is {read} it is read as that"
    return f"lines {lines[0]} to {lines[-1]}: {len(lines)} blocks are {read} they are read as that"


def _outside(line: int, content: str, label: str) -> SpecError:
    message = f"`{content.strip()}` is outside of any block: put a fence ```{label} above it"
    return SpecError(message, line)


def _looks_like_protobuf(lines: Sequence[str]) -> bool:
    return any(
        (_DECLARATION.match(line) and "{" in line) or _STATEMENT.match(line) for line in lines
    )


class _Unfenced:
    """Blocks of a specification that lost its fences, by their first words and braces."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [line.replace("\xa0", " ") for line in lines]
        self.as_given = lines
        self.spaces = False
        self.entities = False
        self.blocks: list[Block] = []
        self.errors: list[SpecError] = []

    def layout(self) -> Layout:
        at = 0
        while at < len(self.lines):
            kind, end = self._block_at(at)
            if kind is BlockKind.OTHER:
                at += 1
                continue
            start = self._with_comments(at)
            self._add(kind, start, end)
            at = end
        return Layout(tuple(self.blocks), self._guesses(), tuple(self.errors), synchronised=False)

    def _block_at(self, at: int) -> tuple[BlockKind, int]:
        """Return the kind of the block that starts at an index, and the index after it."""
        line = self.lines[at]
        if _DECLARATION.match(line) and "{" in "".join(self.lines[at : at + 2]):
            return BlockKind.PROTOBUF, self._end(at, "{", "}")
        if _CONSTANTS.match(line):
            return BlockKind.CONSTANTS, self._end(at, "(", ")")
        if _GO_TYPE.match(line):
            return BlockKind.GO, self._end(at, "{", "}")
        single = (kind for pattern, kind in _SINGLE_LINES if pattern.match(line))
        return next(single, BlockKind.OTHER), at + 1

    def _end(self, start: int, opening: str, closing: str) -> int:
        """Return the index after the line that closes the block opened at `start`."""
        depth = 0
        seen = False
        next_one = 0
        rest = (self.lines[at] for at in range(start, len(self.lines)))
        for at, code in enumerate(code_of(rest), start):
            if at > start and not next_one and _DECLARATION.match(code) and "{" in code:
                next_one = at
            depth += code.count(opening) - code.count(closing)
            seen = seen or opening in code
            if seen and depth <= 0:
                return at + 1
        before = f" before line {next_one + 1}" if next_one else ""
        message = f"`{self.lines[start].strip()}` is not closed{before}: add the missing {closing}"
        self.errors.append(SpecError(message, start + 1))
        return len(self.lines)  # what follows cannot be separated

    def _with_comments(self, at: int) -> int:
        """Return the index of the first comment line directly above, after the previous block."""
        free = self.blocks[-1].last if self.blocks else 0
        while at > free and self.lines[at - 1].startswith("//"):
            at -= 1
        return at

    def _add(self, kind: BlockKind, start: int, end: int) -> None:
        lines = tuple(self.lines[start:end])
        self.spaces = self.spaces or list(lines) != list(self.as_given[start:end])
        if any("&lt;" in line or "&gt;" in line for line in lines):
            lines = tuple(html.unescape(line) for line in lines)
            self.entities = True
        self.blocks.append(Block(kind, start + 1, lines))

    def _guesses(self) -> tuple[str, ...]:
        if not self.blocks:
            return ()
        message = []
        for kind, called in _CALLED.items():
            found = [block for block in self.blocks if block.kind is kind]
            if found:
                many = len(found) > 1
                message.append(
                    f"The fences are lost: {f'{len(found)} pieces' if many else 'what is'} from "
                    f"line {found[0].first} to {found[-1].last} {'are' if many else 'is'} taken "
                    f"for {called}, by {'their' if many else 'its'} first words"
                )
        message.append("Headings are recognised by their names in older revisions")
        if self.spaces:
            message.append("In declarations, spaces that never break a line are read as spaces")
        if self.entities:
            message.append("&lt; and &gt; in declarations are read as < and >")
        return tuple(message)


_CALLED = {
    BlockKind.PROTOBUF: "protobuf",
    BlockKind.CONSTANTS: "constants",
    BlockKind.GO: "the Go API",
}
