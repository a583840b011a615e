"""View model of the page of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siconform.catalogue import Side
from siconform.policy import heading
from siconform.reporting.html.drawings import Drawing
from siconform.verdicts import Labelled, Role

_FAILING = frozenset({Role.BAD, Role.ERROR})


@dataclass(frozen=True, slots=True)
class Count:
    """Number of requirements with a verdict."""

    verdict: Labelled
    number: int


@dataclass(frozen=True, slots=True)
class Cell:
    """The requirements of one area and level."""

    level: str
    counts: tuple[Count, ...]  # the worst first

    @property
    def worst(self) -> Labelled | None:
        """Return the verdict that colours the cell; None if it is empty."""
        return self.counts[0].verdict if self.counts else None


@dataclass(frozen=True, slots=True)
class AreaView:
    """A row of the table of areas."""

    area: str
    subject: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TestView:
    """Result of a test, or of a monitor during tests."""

    name: str
    verdict: Labelled
    message: str
    seconds: float
    monitor: str
    recorded: tuple[str, ...]
    history: str  # its name in the page, or ""
    file: str  # of the history, in the results folder
    badge: str = ""  # shown instead of the label of the verdict


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A message of the exchange next to the reference's."""

    time: float | None
    this_target: str
    reference: str
    differs: bool
    is_wrong: bool = False  # the failure is about the target's message


@dataclass(frozen=True, slots=True)
class FailureView:
    """A failure in the form people act on."""

    test: str
    anchor: str  # in the page
    expected: str
    happened: str
    rows: tuple[SideBySide, ...]
    has_reference: bool  # False if it was not run or could not show it
    again: str  # the command that repeats it; "" in older results
    text: str


@dataclass(frozen=True, slots=True)
class RequirementView:
    """A requirement and all its results in the run."""

    id: str
    title: str
    area: str
    level: str
    authority: str
    source: str
    text: str
    reading: str
    verdict: Labelled
    reason: str
    tests: tuple[TestView, ...]
    known: tuple[Mapping[str, str], ...]
    failures: tuple[FailureView, ...]
    is_open: bool = False
    badge: str = ""  # shown instead of the label of the verdict

    @property
    def fails(self) -> bool:
        """Whether its details are opened for print and listed at the top."""
        return self.verdict.row.role in _FAILING

    @property
    def anchor(self) -> str:
        """Return where links to it lead: to its first failure, which browsers open."""
        return self.failures[0].anchor if self.failures else self.id

    @property
    def recorded(self) -> tuple[str, ...]:
        """Return the observed behaviour that the specification leaves open."""
        return tuple(dict.fromkeys(sent for test in self.tests for sent in test.recorded))


@dataclass(frozen=True, slots=True)
class Headroom:
    """Time used, of the time allowed."""

    name: str
    allowed: float
    count: int
    median: float
    slowest: float
    test: str

    @property
    def share(self) -> float:
        """Return the share of the allowed time in percent, at most 100."""
        return min(100.0, 100 * self.slowest / self.allowed) if self.allowed else 100.0


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a page that depend on what it is about."""

    failures: str  # heading of the list of failures
    decisive: str  # which levels decide
    indented: str  # whose messages are indented
    exchange: str  # heading of their column
    repeat: str  # heading of the command that shows a failure again
    as_text: str
    checks: str  # what shows whether a requirement is met


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What pages with a list of requirements have in common."""

    words: Wording
    revision: str
    sentence: str
    counts: tuple[Count, ...]
    facts: tuple[tuple[str, str], ...]
    command: str
    ended_early: str
    notes: tuple[str, ...]
    levels: tuple[str, ...]
    areas: tuple[AreaView, ...]
    requirements: tuple[RequirementView, ...]
    histories: Mapping[str, Any]
    not_drawn: int  # histories that did not fit

    @property
    def verdicts(self) -> Sequence[tuple[str, str]]:
        """Return the options of the filter: value and label."""
        return [(count.verdict.value, count.verdict.label) for count in self.counts]

    @property
    def level_choices(self) -> Sequence[tuple[str, str]]:
        """Return the options of the level filter."""
        return [(level, level) for level in self.levels]

    @property
    def area_choices(self) -> Sequence[tuple[str, str]]:
        """Return the options of the area filter."""
        return [(line.area, f"{line.area}: {line.subject}") for line in self.areas]

    @property
    def failing(self) -> Sequence[RequirementView]:
        """Return the failing requirements, MUST before SHOULD."""
        found = [one for one in self.requirements if one.fails]
        return sorted(found, key=lambda one: self.levels.index(one.level))


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPage(Listing):
    """The page of one run."""

    target: str
    side: Side
    verdict: str
    partial: bool
    tested: int
    evaluated: int
    machines: tuple[Drawing, ...]
    headroom: tuple[Headroom, ...]

    @property
    def heading(self) -> str:
        """Return the verdict for the title."""
        return heading(self.verdict, partial=self.partial)


@dataclass(frozen=True, slots=True)
class ExchangeFacts:
    """How much of a recorded exchange is of one RM."""

    rm: str
    elements: int
    unknown: int  # elements that could not be checked


@dataclass(frozen=True, kw_only=True, slots=True)
class TracePage(Listing):
    """The page of a recorded exchange."""

    trace: str
    verdict: str
    exercised: str  # how many requirements the exchange says something about
    unseen: tuple[tuple[str, str], ...]  # what the record does not show, and what follows
    rms: tuple[ExchangeFacts, ...]
