"""Reads a specification document: its protobuf blocks, constants, Go API and sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from siconform.catalogue.texts import SI_HEADINGS

from sispec.blocks import Block, BlockKind, Layout, find_blocks
from sispec.go_code import constants_in_go, read_api, read_constants
from sispec.model import ApiMethod, Constant, Sentence, SpecError, UnreadableSpec
from sispec.prose import read_sentences

LARGEST_TEXT = 1024 * 1024  # bytes; the SI has 35 thousand
_CONFLICT_FRONT, _CONFLICT_END = "<<<<<<< ", ">>>>>>> "  # git's markers, at the start of a line


@dataclass(frozen=True, slots=True)
class SpecText:
    """Contents of a specification document before its protobuf is compiled."""

    name: str
    content: str  # as lines that end with a line feed
    blocks: tuple[Block, ...]
    constants: Mapping[str, Constant]
    api: Mapping[str, ApiMethod]
    sentences: tuple[Sentence, ...]
    guesses: tuple[str, ...]

    @property
    def source(self) -> str:
        """Return its protobuf, each line at its original position; other lines are empty."""
        lines = [""] * (self.content.count("\n") + 1)
        for block in self.blocks:
            if block.kind is BlockKind.PROTOBUF:
                lines[block.first - 1 : block.last] = block.lines
        return "\n".join(lines)

    @property
    def schema(self) -> str:
        """Return its protobuf as a file, one empty line between the blocks."""
        pieces: list[str] = []
        last = 0
        for block in self.blocks:
            if block.kind is not BlockKind.PROTOBUF:
                continue
            if pieces and block.first != last + 1:
                pieces.append("")
            pieces += [line.rstrip() for line in "\n".join(block.lines).strip("\n").split("\n")]
            last = block.last
        return "\n".join(pieces) + "\n"


def decode(name: str, data: bytes) -> str:
    """Decode a document, with line feeds only.

    Raises UnreadableSpec if it is not text or too large for a specification.
    """
    if len(data) > LARGEST_TEXT:
        size, limit = len(data) / 2**20, LARGEST_TEXT // 2**20
        message = f"the file has {size:.1f} MB, more than the limit of {limit} MB"
        raise UnreadableSpec(name, [SpecError(message)])
    if not data.strip():
        raise UnreadableSpec(name, [SpecError("the file is empty: give one with protobuf blocks")])
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = "the file is not UTF-8 here: save it as UTF-8, or give the right file"
        raise UnreadableSpec(name, [SpecError(message, line)]) from error
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    if conflicts := [*_conflicts(content)]:
        raise UnreadableSpec(name, conflicts)
    return content


def _conflicts(content: str) -> Iterator[SpecError]:
    """Yield unresolved merge conflicts, each with an opening and a closing marker."""
    front = None
    for number, line in enumerate(content.split("\n"), 1):
        if line.startswith(_CONFLICT_FRONT):
            front = number
        elif line.startswith(_CONFLICT_END) and front is not None:
            message = f"unresolved merge conflict up to line {number}: keep one side of it"
            yield SpecError(message, front)
            front = None


def read_spec_text(name: str, content: str) -> SpecText:
    """Read a specification document; lines end with a line feed, as from `decode`.

    Raises UnreadableSpec with all errors in its blocks.
    """
    lines = content.split("\n")
    layout = find_blocks(lines)
    constants, errors = read_constants(layout.blocks)
    errors = sorted([*layout.errors, *errors], key=lambda error: error.line)
    if not errors and not any(block.kind is BlockKind.PROTOBUF for block in layout.blocks):
        errors = [SpecError("there is no protobuf in the file: put it between ```protobuf and ```")]
    if errors:
        raise UnreadableSpec(name, errors)
    first, header = _header(lines, layout)
    prose = ["" if number <= first else line for number, line in enumerate(lines, 1)]
    sentences = read_sentences(prose, layout.blocks, synchronised=layout.synchronised)
    in_go = tuple(
        f"line {block.first - 1}: constants are in a Go block; they are read as constants"
        for block in constants_in_go(layout.blocks)
    )
    guesses = (*layout.guesses, *in_go, *header)
    return SpecText(
        name, content, layout.blocks, constants, read_api(layout.blocks), sentences, guesses
    )


def _header(lines: list[str], layout: Layout) -> tuple[int, tuple[str, ...]]:
    """Return the last line of a web page's header, and the message about it."""
    if layout.synchronised:
        return 0, ()
    first = next((at for at, line in enumerate(lines) if line.strip() == SI_HEADINGS[0]), 0)
    if not any(line.strip() for line in lines[:first]):
        return 0, ()
    return first, (f"Lines 1 to {first} are ignored as the header of a web page",)
