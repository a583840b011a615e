"""The sentences of a specification, each with its line, its section and its modal words.

Sections and sentences are split as in `siconform.catalogue.texts`, so that a sentence here is a
passage there. Comments of declarations are split into sentences, too; there they are one passage.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from siconform.catalogue.texts import (
    DESIGN_HEADINGS,
    DIAGRAMS,
    DRAWN,
    OPENED,
    SENTENCE_END,
    SI_HEADINGS,
    normalised,
)

from sispec.blocks import Block, BlockKind
from sispec.model import Sentence

_MODAL = re.compile(
    r"\b(?:(must|should|may|will)(\s+not)?|(reject)\w*|(error)s?|(ignore)[ds]?)\b", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[*+•-]|\d{1,3}[.)])\s")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_PLAINLY_DRAWN = re.compile(r"\+-|-\+|-{3,}|^\s+[|^v](?:\s|$)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")

_MEMBER = re.compile(
    r"^rpc\s+(\w+)|^(reserved\s+[^;]+);|^[\w<>, .]{0,500}?\b(\w{1,200})\s*=\s*-?\w+\s*[;\[]"
    r"|^([A-Z]\w*)\("
)

_Words = Sequence[tuple[int, str]]
"""Lines of a paragraph or a comment with their numbers."""


def modal_words(sentence: str) -> tuple[str, ...]:
    """Return the words that make a sentence a rule, in order of appearance and in base form."""
    found = []
    for modal in _MODAL.finditer(sentence):
        step, negated, *rest = modal.groups()
        word = next(filter(None, [step, *rest])).lower()
        found.append(f"{word} not" if negated else "ignored" if word == "ignore" else word)
    return tuple(found)


def read_sentences(
    lines: Sequence[str], blocks: Sequence[Block], *, synchronised: bool
) -> tuple[Sentence, ...]:
    """Return all sentences in document order: those between the blocks, and those of comments."""
    prose = _Prose(synchronised=synchronised)
    kinds = {
        number: block.kind for block in blocks for number in range(block.first, block.last + 1)
    }
    if synchronised:  # the fence lines
        for block in blocks:
            kinds[block.first - 1] = kinds[block.last + 1] = block.kind
    sections = {}
    for number, line in enumerate(_without_html_comments(lines), 1):
        if number in kinds:
            prose.end_title()
        else:
            prose.take(number, line)
        sections[number] = prose.section
    prose.end_paragraph()
    found = list(prose.found)
    for block in blocks:
        if block.kind in {BlockKind.PROTOBUF, BlockKind.GO}:
            for place, comment in comments(block):
                section = sections.get(comment[0][0], "")
                found += _sentences(comment, section, place)
    return tuple(sorted(found, key=lambda sentence: sentence.line))


def comments(block: Block) -> Iterator[tuple[str, _Words]]:
    """Yield the comments of a block: the declaration, and the lines.

    A comment above or next to a declaration belongs to it; a separate one belongs to the enclosing
    declaration, "" if there is none.
    """
    path: list[str] = []
    above: list[tuple[int, str]] = []
    for number, line in enumerate(map(str.strip, block.lines), block.first):
        if line.startswith("//"):
            above.append((number, line.lstrip("/ ")))
            continue
        code, _, meanwhile = line.partition("//")
        opened = OPENED.match(code)
        member = _MEMBER.match(code)
        place = list(path)
        if opened:
            place = path = [*path, opened[1]]
            path = path[:-1] if code.count("}") >= code.count("{") else path
        elif path and member:
            place.append(next(filter(None, member.groups())))
        elif path and code.startswith("}"):
            path = path[:-1]
        comment = [*above, *([(number, meanwhile.strip())] if meanwhile.strip() else [])]
        if comment:
            yield ".".join(place), comment
        above = []
    if above:
        yield "", above


@dataclass(slots=True)
class _Prose:
    """Splits the lines outside of blocks into sections, paragraphs and sentences."""

    synchronised: bool
    section: str = ""
    title: str = ""
    paragraph: list[tuple[int, str]] = field(default_factory=list)
    found: list[Sentence] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        heading = _heading(line)
        if heading:
            self.end_paragraph()
            self.section, self.title = heading, ""
        elif line.strip().rstrip(":") in DIAGRAMS:
            self.title = line
        elif self._is_drawn(line):
            self.end_paragraph()
        elif self.synchronised and _ROW.match(line):
            for cell in line.strip().strip("|").split("|"):
                self.end_paragraph()
                self.paragraph.append((number, cell.strip(" :-")))
            self.end_paragraph()
        else:
            if not line.strip() or _BULLET.match(line):
                self.end_paragraph()
            self.paragraph.append((number, line.strip()))

    def end_title(self) -> None:
        self.title = ""

    def end_paragraph(self) -> None:
        place = f'section "{self.section}"' if self.section else ""
        self.found += _sentences(self.paragraph, self.section, place)
        self.paragraph = []

    def _is_drawn(self, line: str) -> bool:
        """Whether a line is part of a drawing or a stray comment, if there are no fences."""
        if self.synchronised:
            return False
        if line.startswith("//"):
            return True
        return bool((DRAWN if self.title else _PLAINLY_DRAWN).search(line))


def _sentences(words: _Words, section: str, place: str) -> Iterator[Sentence]:
    """Yield the sentences of some lines, each with its first line."""
    starts: list[tuple[int, int]] = []
    length = 0
    for number, piece in words:
        starts.append((length, number))
        length += len(piece) + 1
    joined = " ".join(piece for _, piece in words)
    at = 0
    for end in [*SENTENCE_END.finditer(joined), None]:
        text = joined[at : end.start() if end else len(joined)]
        begins = at + len(text) - len(text.lstrip())
        line = starts[bisect_right(starts, begins, key=itemgetter(0)) - 1][1] if starts else 0
        at = end.end() if end else at
        if normalised(text):
            shown = " ".join(_LINK.sub(r"\1", _BULLET.sub("", text)).split())
            yield Sentence(shown, section, line, modal_words(shown), place)


def _heading(line: str) -> str:
    bare = line.lstrip("#").strip()
    if line.startswith("#"):
        return DESIGN_HEADINGS.get(bare, bare)
    return bare if bare in SI_HEADINGS else ""


def _without_html_comments(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with HTML comments such as the licence emptied."""
    inside = False
    for line in lines:
        before, opened, rest = ("", "", line) if inside else line.partition("<!--")
        if not inside and not opened:
            yield line
            continue
        _, closed, behind = rest.partition("-->")
        inside = not closed
        yield before + behind
