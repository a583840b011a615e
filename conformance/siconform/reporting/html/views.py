"""What the page of a run shows, put together before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siconform.reporting.html.drawings import Drawing
from siconform.verdicts import LISTED, Verdict


@dataclass(frozen=True, slots=True)
class Count:
    """How many have a verdict."""

    verdict: Verdict
    number: int


@dataclass(frozen=True, slots=True)
class Cell:
    """The requirements of one area and level."""

    level: str
    counts: tuple[Count, ...]  # the worst first

    @property
    def worst(self) -> Verdict | None:
        """The verdict its colour says; None where it is empty."""
        return self.counts[0].verdict if self.counts else None


@dataclass(frozen=True, slots=True)
class AreaView:
    """A line of the table of areas."""

    area: str
    subject: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TestView:
    """What a test, or a monitor during tests, said."""

    name: str
    verdict: Verdict
    message: str
    seconds: float
    monitor: str
    recorded: tuple[str, ...]
    history: str  # its name in the page, or ""
    file: str  # of the history, in the results folder


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A line of the exchange beside that of the reference."""

    time: float | None
    this_target: str
    reference: str
    differs: bool


@dataclass(frozen=True, slots=True)
class FailureView:
    """A failure, as people act on it."""

    test: str
    expected: str
    happened: str
    rows: tuple[SideBySide, ...]
    has_reference: bool  # or it was not asked, or could not show it
    text: str


@dataclass(frozen=True, slots=True)
class RequirementView:
    """A requirement and everything the run says about it."""

    id: str
    title: str
    area: str
    level: str
    authority: str
    source: str
    text: str
    reading: str
    verdict: Verdict
    reason: str
    tests: tuple[TestView, ...]
    known: tuple[Mapping[str, str], ...]
    failures: tuple[FailureView, ...]
    is_open: bool = False

    @property
    def recorded(self) -> tuple[str, ...]:
        """How the target uses what the text leaves it."""
        return tuple(dict.fromkeys(sent for test in self.tests for sent in test.recorded))


@dataclass(frozen=True, slots=True)
class Headroom:
    """How long something took, of what is allowed."""

    name: str
    allowed: float
    count: int
    median: float
    slowest: float
    test: str

    @property
    def share(self) -> float:
        """Of what is allowed, in percent, at most 100."""
        return min(100.0, 100 * self.slowest / self.allowed) if self.allowed else 100.0


@dataclass(frozen=True, slots=True)
class RunPage:
    """The page of one run."""

    target: str
    revision: str
    verdict: str
    sentence: str
    tested: int
    evaluated: int
    counts: tuple[Count, ...]
    facts: tuple[tuple[str, str], ...]
    command: str
    ended_early: str
    notes: tuple[str, ...]
    levels: tuple[str, ...]
    areas: tuple[AreaView, ...]
    requirements: tuple[RequirementView, ...]
    machines: tuple[Drawing, ...]
    headroom: tuple[Headroom, ...]
    histories: Mapping[str, Any]
    not_drawn: int  # histories that had no room

    @property
    def verdicts(self) -> Sequence[tuple[str, str]]:
        """What a filter offers: value and words."""
        return [(count.verdict.value, count.verdict.label) for count in self.counts]

    @property
    def level_choices(self) -> Sequence[tuple[str, str]]:
        """The same for levels."""
        return [(level, level) for level in self.levels]

    @property
    def area_choices(self) -> Sequence[tuple[str, str]]:
        """The same for areas."""
        return [(line.area, f"{line.area}: {line.subject}") for line in self.areas]

    @property
    def failing(self) -> Sequence[RequirementView]:
        """What fails, MUST before SHOULD."""
        found = [one for one in self.requirements if one.verdict in LISTED]
        return sorted(found, key=lambda one: self.levels.index(one.level))
