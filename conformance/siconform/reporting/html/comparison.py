"""Comparison of several schedulers, or versions of one, by requirement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from siconform.catalogue import AREAS, Level, Requirement, catalogue, subjects
from siconform.reporting.classify import Row
from siconform.reporting.page import Section, counts, occurring, of_the_target
from siconform.targets.embedded import NAME as REFERENCE
from siconform.verdicts import OF_ONE_SIDE, Verdict

_FIXED = "fixed"
_BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Column:
    """One run."""

    name: str
    revision: str
    sentence: str
    requirements: int
    counts: Mapping[Verdict, int]


@dataclass(frozen=True, slots=True)
class OutcomeCell:
    """Outcome of a requirement in one run; None if its revision does not have it."""

    outcome: Verdict | None
    why: str
    change: str = ""  # fixed or broken since the previous column


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement in all runs."""

    id: str
    title: str
    area: str
    level: str
    cells: tuple[OutcomeCell, ...]

    @property
    def outcomes(self) -> Sequence[str]:
        """Return the outcomes that a filter matches."""
        return sorted({cell.outcome.value for cell in self.cells if cell.outcome is not None})

    @property
    def differs(self) -> bool:
        """Whether runs that have the requirement differ in its outcome."""
        received = {cell.outcome for cell in self.cells} - {None, Verdict.NO_TEST_YET}
        return len(received) > 1

    @property
    def changes(self) -> Sequence[str]:
        """Return "fixed", "broken" or both, from one column to the next."""
        return sorted({cell.change for cell in self.cells if cell.change})


@dataclass(frozen=True, slots=True)
class Change:
    """Fixes and regressions from one column to the next."""

    before: str
    after: str
    fixed: tuple[Line, ...]
    broken: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """The page."""

    title: str
    verdicts: tuple[Verdict, ...]
    columns: tuple[Column, ...]
    areas: tuple[tuple[str, str, tuple[Line, ...]], ...]  # name, subject
    changes: tuple[Change, ...]
    made_by: str = ""

    @property
    def outcome_choices(self) -> Sequence[tuple[str, str]]:
        """Return the options of the filter: value and label."""
        return [(one.value, one.label) for one in self.verdicts]

    @property
    def level_choices(self) -> Sequence[tuple[str, str]]:
        """Return the options of the level filter."""
        return [(level.value, level.value) for level in Level]

    @property
    def area_choices(self) -> Sequence[tuple[str, str]]:
        """Return the options of the area filter."""
        return [(name, f"{name}: {subject}") for name, subject, _ in self.areas]

    @property
    def lines(self) -> int:
        """Return the number of requirements."""
        return sum(len(lines) for _, _, lines in self.areas)


def comparison_page(title: str, named: Mapping[str, Section], made_by: str = "") -> ComparisonPage:
    """Compare these runs, by the name of their columns, from left to right."""
    by_id = [{row.requirement.id: row for row in section.rows} for section in named.values()]
    alike = [_are_alike(*two) for two in pairwise(named.values())]
    lines = [
        _line(requirement, [rows.get(requirement.id) for rows in by_id], alike)
        for requirement in catalogue().values()
        if any(_binds(rows.get(requirement.id)) for rows in by_id)
    ]
    about = subjects()
    areas = ((name, about[name], tuple(x for x in lines if x.area == name)) for name in AREAS)
    return ComparisonPage(
        title=title,
        verdicts=tuple(occurring(*(section.rows for section in named.values()))),
        columns=tuple(_column(name, section) for name, section in named.items()),
        areas=tuple(area for area in areas if area[2]),
        changes=tuple(_changes(list(named), lines, alike)),
        made_by=made_by,
    )


def _are_alike(before: Section, after: Section) -> bool:
    """Whether one can be a later version of the other; the reference and a target never are."""
    names = (before.record.target, after.record.target)
    real = {name.partition("@")[0] for name in names if "@" in name}
    return not real or (len(real) == 1 and REFERENCE not in names)


def _binds(row: Row | None) -> bool:
    return row is not None and row.outcome not in OF_ONE_SIDE


def _column(name: str, section: Section) -> Column:
    received = counts(of_the_target(section.rows))
    return Column(
        name,
        section.record.revision,
        section.record.sentence,
        received.total(),
        received,
    )


def _line(requirement: Requirement, rows: Sequence[Row | None], alike: Sequence[bool]) -> Line:
    cells = []
    formers = [row if is_alike else None for row, is_alike in zip(rows, alike, strict=False)]
    for before, row in zip([None, *formers], rows, strict=True):
        if row is None:
            cells.append(OutcomeCell(None, ""))
        else:
            why = row.why() if row.fails else ""
            cells.append(OutcomeCell(row.outcome, why, _change(before, row)))
    return Line(
        requirement.id, requirement.title, requirement.area, requirement.level, tuple(cells)
    )


def _change(before: Row | None, after: Row) -> str:
    if before is None:
        return ""
    if before.fails and after.passes:
        return _FIXED
    return _BROKEN if before.passes and after.fails else ""


def _changes(
    names: Sequence[str], lines: Sequence[Line], alike: Sequence[bool]
) -> Iterator[Change]:
    for place, (before, after) in enumerate(pairwise(names), start=1):
        if not alike[place - 1]:
            continue
        fixed = tuple(line for line in lines if line.cells[place].change == _FIXED)
        broken = tuple(line for line in lines if line.cells[place].change == _BROKEN)
        yield Change(before, after, fixed, broken)
