"""The exchange of a test next to the reference's exchange in the same scenario."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from operator import itemgetter
from typing import Final

from siconform.catalogue import Side
from siconform.recording.exchange_text import Line
from siconform.results import Moment

WIDTH: Final = 100
_TIME: Final = 9  # columns
_COLUMN: Final = 43
_TIMES: Final = f"{'  time s':<{_TIME}}"  # heading of their column
_HEADS: Final = {
    Side.SCHEDULER: "this target",
    Side.RM: "this RM (indented: the kit, its scheduler)",
}
_DIVERGES: Final = "!"
_NOTHING: Final = "-"
_NAME: Final = re.compile(r"\b([a-z]+)-\d+\b|\b(root)(?:\.\w+)+")
"""Names that vary between runs of a test: node-1, ask-3, queues."""
_CONFIRMATION: Final = re.compile(
    r"release \S+ (TIMEOUT|PREEMPTED_BY_SCHEDULER|PLACEHOLDER_REPLACED)\b"
)
"""A request that the RM sends as soon as it receives a release, at any time within a turn."""

Pair = tuple[Line | None, Line | None]
"""Lines of this target and of the reference."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the lines of target and reference; None if one has no such line."""

    ours: Line | None
    reference: Line | None
    is_first_difference: bool = False

    def moment(self) -> Moment:
        """Return the row as in results."""
        at = round(self.ours.at, 3) if self.ours is not None else None
        ours = str(self.ours) if self.ours is not None else None
        reference = str(self.reference) if self.reference is not None else None
        return at, ours, reference, self.is_first_difference


def rows(ours: Sequence[Line], reference: Sequence[Line] | None) -> list[Row]:
    """Arrange all lines in rows, with equal lines of target and reference side by side."""
    if reference is None:
        return [Row(line, None) for line in ours]
    scenario = [line for line in reference if not line.aside]
    pairs = list(_aligned(ours, renamed_like(ours, scenario)))
    pairs = [pair for turn in _turns(pairs) for pair in _paired_in_any_order(turn)]
    pairs = list(_with_requests_paired(pairs))
    first = next((i for i, pair in enumerate(pairs) if _differs(*pair)), None)
    return [Row(one, other, is_first_difference=i == first) for i, (one, other) in enumerate(pairs)]


def renamed_like(ours: Sequence[Line], its: Sequence[Line]) -> list[Line]:
    """Rename the reference's ids to ours, by matching the RM's requests."""
    sent = [line for line in ours if line.by_rm]
    its_sent = [line for line in its if line.by_rm]
    matcher = SequenceMatcher(a=_unnumbered(sent), b=_unnumbered(its_sent), autojunk=False)
    names: dict[str, str] = {}
    for start, its_start, size in matcher.get_matching_blocks():
        for one, other in zip(sent[start : start + size], its_sent[its_start:][:size], strict=True):
            own = [found[0] for found in _NAME.finditer(one.message)]
            names.update(zip(map(itemgetter(0), _NAME.finditer(other.message)), own, strict=True))

    def renamed(message: str) -> str:
        return _NAME.sub(lambda found: names.get(found[0], found[0]), message)

    return [replace(line, message=renamed(line.same), same=renamed(line.same)) for line in its]


def _unnumbered(lines: Sequence[Line]) -> list[tuple[bool, int, str]]:
    return [(line.by_rm, line.rm, _NAME.sub(r"\1\2", line.same)) for line in lines]


def _aligned(ours: Sequence[Line], its: Sequence[Line]) -> Iterator[Pair]:
    matcher = SequenceMatcher(a=_same(ours), b=_same(its), autojunk=False)
    for kind, start, end, its_start, its_end in matcher.get_opcodes():
        yield from _paired(ours[start:end], its[its_start:its_end], alike=kind == "equal")


def _turns(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Split the pairs before each request of the test that both have."""
    turn: list[Pair] = []
    for one, other in pairs:
        if one is not None and other is not None and _begins_turn(one) and _begins_turn(other):
            yield turn
            turn = []
        turn.append((one, other))
    yield turn


def _begins_turn(line: Line) -> bool:
    return line.by_rm and not _CONFIRMATION.match(line.message)


def _paired_in_any_order(turn: list[Pair]) -> Iterator[Pair]:
    """Pair equal lines within a turn in any order: streams are unordered there."""
    ours = {place: one for place, (one, _) in enumerate(turn) if one is not None}
    its = {place: other for place, (_, other) in enumerate(turn) if other is not None}
    partners = {place: place for place in ours if _is_same(ours[place], its.get(place))}
    for place, one in ours.items():
        left = (other for other in its if other not in partners.values())
        if place not in partners and not one.by_rm:
            alike = next((other for other in left if _is_same(one, its[other])), None)
            partners.update({} if alike is None else {place: alike})
    unlike = (p for p in ours if p in its and p not in partners and p not in partners.values())
    partners.update({place: place for place in unlike})
    for place in range(len(turn)):
        if place in ours:
            partner = partners.get(place)
            yield ours[place], None if partner is None else its[partner]
        if place in its and place not in partners.values():
            yield None, its[place]


def _with_requests_paired(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Pair equal requests of the RM across turns: its confirmations race with the test."""
    alone: defaultdict[tuple[bool, int, str], list[int]] = defaultdict(
        list
    )  # lines of the reference
    for place, (one, other) in enumerate(pairs):
        if one is None and other is not None and other.by_rm:
            alone[_key(other)].append(place)
    partners = {}
    for place, (one, other) in enumerate(pairs):
        if other is None and one is not None and one.by_rm and alone[_key(one)]:
            partners[place] = alone[_key(one)].pop(0)
    for place, (one, other) in enumerate(pairs):
        if place in partners:
            yield one, pairs[partners[place]][1]
        elif place not in partners.values():
            yield one, other


def _differs(one: Line | None, other: Line | None) -> bool:
    """Return whether two lines differ, ignoring lines of ours that are asides."""
    return not _is_same(one, other) and not (other is None and one is not None and one.aside)


def _is_same(one: Line | None, other: Line | None) -> bool:
    return one is not None and other is not None and _key(one) == _key(other)


def _key(line: Line) -> tuple[bool, int, str]:
    return line.by_rm, line.rm, line.same


def _same(lines: Sequence[Line]) -> list[tuple[bool, int, str]]:
    return [_key(line) for line in lines]


def _paired(ours: Sequence[Line], its: Sequence[Line], *, alike: bool) -> Iterator[Pair]:
    """Pair unlike lines only if they are from the same side."""
    if alike or all(one.by_rm == other.by_rm for one, other in zip(ours, its, strict=False)):
        yield from zip_longest(ours, its)
    else:
        yield from ((line, None) for line in ours)
        yield from ((None, line) for line in its)


def text(found: Sequence[Row], side: Side = Side.SCHEDULER, *, with_reference: bool) -> list[str]:
    """Render the rows as lines of at most 100 columns."""
    if not with_reference:
        return alone([row.ours for row in found if row.ours is not None], _HEADS[side])
    head = f"{_TIMES}   {_HEADS[side]}"
    head = f"{head:<{_TIME + 3 + _COLUMN}}  the reference"
    return [head, *(line for row in found for line in _both(row))]


def alone(lines: Iterable[Line], title: str, marked: Collection[int] = ()) -> list[str]:
    """Render lines of an exchange below a title; those at the ``marked`` places with a mark."""
    text = [f"{_TIMES}   {title}"]
    for place, line in enumerate(lines):
        cell = _cell(line, WIDTH - _TIME - 3)
        text += _laid_out(line.at, _DIVERGES if place in marked else "", cell, [])
    return text


def _both(row: Row) -> Iterator[str]:
    at = row.ours.at if row.ours is not None else None
    mark = _DIVERGES if row.is_first_difference else ""
    yield from _laid_out(at, mark, _cell(row.ours, _COLUMN), _cell(row.reference, _COLUMN))


def _laid_out(
    at: float | None, mark: str, left: Sequence[str], right: Sequence[str]
) -> Iterator[str]:
    time = "" if at is None else f"{at:8.3f}"
    for one, other in zip_longest(left, right, fillvalue=""):
        yield f"{time:<{_TIME}} {mark:<1} {one:<{_COLUMN}}  {other}".rstrip()
        time = mark = ""


def _cell(line: Line | None, width: int) -> list[str]:
    if line is None:
        return [f"   {_NOTHING}"]
    words = str(line)
    margin = " " * (len(words) - len(words.lstrip()) + 5)
    return textwrap.wrap(
        words, width, subsequent_indent=margin, drop_whitespace=True, break_on_hyphens=False
    )
