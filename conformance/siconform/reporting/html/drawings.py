"""A state machine as boxes and arrows, with how often each transition was seen."""

from collections import Counter
from dataclasses import dataclass
from math import hypot
from typing import Final

from siconform.reporting.html.machines import Machine, Step

_BOX: Final = (104, 34)
_GRID: Final = (170, 96)
_MARGIN: Final = 34
_APART: Final = 8.0  # distance of two edges between the same states


@dataclass(frozen=True, slots=True)
class Box:
    """A state."""

    name: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge: its SVG path, and how often it was seen."""

    path: str
    start: str
    end: str
    words: str
    times: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """A machine and its coverage in a run."""

    title: str
    source: str
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    others: tuple[tuple[str, str, int], ...]  # transitions that were seen but are not drawn

    @property
    def exercised(self) -> int:
        """Return how many of its edges were seen."""
        return sum(arrow.times > 0 for arrow in self.arrows)


def draw(machine: Machine, seen: Counter[Step]) -> Drawing:
    """Draw the machine, each edge with how often it was seen."""
    known = {(edge.start, edge.end) for edge in machine.edges}
    boxes = tuple(Box(name, *_corner(place), *_BOX) for name, place in machine.states.items())
    arrows = tuple(
        Arrow(_path(machine, e.start, e.end), e.start, e.end, e.words, seen[e.start, e.end])
        for e in machine.edges
    )
    others = tuple((*step, times) for step, times in sorted(seen.items()) if step not in known)
    columns = max(column for column, _ in machine.states.values())
    rows = max(row for _, row in machine.states.values())
    width = columns * _GRID[0] + _BOX[0] + 2 * _MARGIN
    height = rows * _GRID[1] + _BOX[1] + 2 * _MARGIN
    return Drawing(machine.title, machine.source, width, height, boxes, arrows, others)


def _corner(place: tuple[int, int]) -> tuple[int, int]:
    return _MARGIN + place[0] * _GRID[0], _MARGIN + place[1] * _GRID[1]


def _path(machine: Machine, start: str, end: str) -> str:
    if start == end:
        return _loop(machine.states[start])
    (x1, y1), (x2, y2) = (_centre(machine.states[name]) for name in (start, end))
    dx, dy = x2 - x1, y2 - y1
    length = hypot(dx, dy)
    if any((edge.start, edge.end) == (end, start) for edge in machine.edges):
        shift = (-dy / length * _APART, dx / length * _APART)
        x1, y1, x2, y2 = x1 + shift[0], y1 + shift[1], x2 + shift[0], y2 + shift[1]
    out = min(
        (_BOX[0] / 2) / abs(dx) if dx else 1.0,
        (_BOX[1] / 2) / abs(dy) if dy else 1.0,
    )
    near, far = out, 1 - out - 5 / length  # space for the arrowhead
    return f"M{x1 + dx * near:.1f} {y1 + dy * near:.1f}L{x1 + dx * far:.1f} {y1 + dy * far:.1f}"


def _loop(place: tuple[int, int]) -> str:
    """Draw a loop: above a state of the first row, below other states."""
    x, y = _centre(place)
    side = -1 if place[1] == 0 else 1
    edge = y + side * _BOX[1] / 2
    return f"M{x - 14:.1f} {edge:.1f}c-6 {side * 24} 34 {side * 24} 28 {side * 5}"


def _centre(place: tuple[int, int]) -> tuple[float, float]:
    x, y = _corner(place)
    return x + _BOX[0] / 2, y + _BOX[1] / 2
