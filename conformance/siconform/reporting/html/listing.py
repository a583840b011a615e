"""The list of requirements of a page: their areas, counts and sources."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from siconform.catalogue import AREAS, Level, Requirement, subjects
from siconform.reporting.html.views import AreaView, Cell, Count, RequirementView
from siconform.verdicts import OF_ONE_SIDE, Labelled

_OPEN_AT_FIRST: Final = 2  # failures; more would fill the screen


def opened(requirements: Iterable[RequirementView]) -> list[RequirementView]:
    """Open the details if there are few failures."""
    received = list(requirements)
    failing = [one.id for one in received if one.fails]
    first = set(failing[:_OPEN_AT_FIRST])
    return [replace(one, is_open=one.id in first) for one in received]


def source_in(requirement: Requirement | None, revision: str) -> str:
    """Cite the spec of this revision, else the newest one that states it."""
    if requirement is None or not requirement.sources:
        return ""
    places = [one.where for one in requirement.sources if one.revision in (revision, "gang")]
    return (places or [requirement.sources[-1].where])[-1]


def areas_of(requirements: Sequence[RequirementView]) -> Iterator[AreaView]:
    """Yield the rows of the table of areas."""
    about = subjects()
    known = {name: about[name] for name in AREAS}
    known |= {one.area: "" for one in requirements if one.area not in known}
    for area, subject in known.items():
        here = [one for one in requirements if one.area == area and one.verdict not in OF_ONE_SIDE]
        if here:
            cells = (
                Cell(level.value, counts_of(one.verdict for one in here if one.level == level))
                for level in Level
            )
            yield AreaView(area, subject, tuple(cells))


def counts_of(verdicts: Iterable[Labelled]) -> tuple[Count, ...]:
    """Count the verdicts, the worst first."""
    found = Counter(verdicts)
    return tuple(Count(one, found[one]) for one in sorted(found, key=_rank))


def _rank(verdict: Labelled) -> int:
    return list(type(verdict)).index(verdict)
