"""A frame of the live display, as lines that fit the terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from siconform.output.live.board import Wait
from siconform.output.live.progress import AreaCount, View
from siconform.output.live.wording import status, waiting
from siconform.verdicts import Role, Verdict

_BAR: Final = 12
_CELL: Final = 39  # columns of an area: two fit side by side on 80
_OTHERS: Final = 5  # lines in addition to the areas
_CAPACITY: Final = 7  # minimum free lines above a single column of areas
_CUT: Final = "..."
_NAMED: Final = [v for v in Verdict if v.row.role not in (Role.GOOD, Role.NEUTRAL)]


def frame(
    view: View, waits: Sequence[Wait], now: float, size: tuple[int, int], note: str = ""
) -> list[Text]:
    """Return the lines to show for ``size`` (columns, lines); the last has the progress."""
    columns, lines = size
    received = [_fit(line, columns) for line in status(view, note, columns)]
    waits_now = [_fit(line, columns) for line in waiting(waits, now)]
    areas = _areas(view.areas, columns, lines - _OTHERS)
    shown = [*areas, Text(), *(waits_now or [Text()]), *received]
    return shown[-max(1, lines - 1) :] if areas else received[-max(1, lines - 1) :]


def _areas(areas: Sequence[AreaCount], columns: int, lines: int) -> list[Text]:
    """Lay out areas in one column if they fit, else side by side, else only unfinished ones."""
    meanwhile = max(1, columns // _CELL)
    if len(areas) <= lines - _CAPACITY or (meanwhile == 1 and len(areas) <= lines):
        return [_cell(area, columns) for area in areas]
    width = min(columns, _CELL - 1)
    if -(-len(areas) // meanwhile) > lines:
        open_ones = [a for a in areas if a.evaluated < a.total or _is_bad(a)]
        over = len(areas) - len(open_ones)
        fitting = open_ones[: max(0, (lines - 1) * meanwhile)]
        head = f" {over} areas are finished, {len(open_ones) - len(fitting)} more are not shown"
        return [_fit(head, columns), *_side_by_side([_cell(a, width) for a in fitting], meanwhile)]
    return _side_by_side([_cell(area, width) for area in areas], meanwhile)


def _side_by_side(cells: Sequence[Text], meanwhile: int) -> list[Text]:
    """Arrange cells in columns, read from top to bottom."""
    height = -(-len(cells) // meanwhile)
    rows = [cells[row::height] for row in range(height)]
    return [Text("").join(_padded(row)) for row in rows]


def _padded(cells: Sequence[Text]) -> Iterator[Text]:
    for place, cell in enumerate(cells):
        one = cell.copy()
        if place < len(cells) - 1:
            one.truncate(_CELL, pad=True)
        yield one


def _cell(area: AreaCount, width: int) -> Text:
    """``CONN   ######!.....   7 of 16   1 fail``; with marks if labels do not fit."""
    cell = Text(f" {area.area:<6}")
    if width >= _CELL - 1:
        cell.append_text(_bar(area)).append(" ")
    cell.append(f"{area.evaluated:>3} of {area.total:<3}")
    received = [v.counted(area.verdicts[v]) for v in _NAMED if area.verdicts[v]]
    if received:
        labels, marks = ", ".join(received), " ".join(_marked(area))
        cell.append(labels if cell.cell_len + len(labels) <= width else marks, _style(area))
    cell.truncate(width)
    return cell


def _marked(area: AreaCount) -> Iterator[str]:
    for verdict in _NAMED:
        if count := area.verdicts[verdict]:
            yield f"{count}{verdict.row.mark}"


def _style(area: AreaCount) -> str:
    return next(verdict.row.role for verdict in Verdict if area.verdicts[verdict])


def _is_bad(area: AreaCount) -> bool:
    return any(area.verdicts[verdict] for verdict in _NAMED)


def _bar(area: AreaCount) -> Text:
    """Return the bar of an area; each bad verdict has at least one character."""
    bar = Text()
    filled = round(_BAR * area.evaluated / area.total)
    for verdict in Verdict:
        count = area.verdicts[verdict]
        share = round(_BAR * count / area.total)
        length = min(_BAR - len(bar), max(1, share) if verdict in _NAMED and count else share)
        bar.append(verdict.row.mark * length, verdict.row.role)
    short = filled - len(bar)
    if short > 0 and area.verdicts[Verdict.PASS]:
        bar.append(Verdict.PASS.row.mark * short, Verdict.PASS.row.role)
    bar.append(" " * (_BAR - len(bar)))
    return bar


def _fit(line: str | Text, columns: int) -> Text:
    text = line.copy() if isinstance(line, Text) else Text(line)
    if text.cell_len > columns:
        text.truncate(columns - len(_CUT))
        text.append(_CUT)
    return text
