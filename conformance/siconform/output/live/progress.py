"""Progress of a run: requirements by area, running tests, remaining time."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from siconform.catalogue import AREAS, catalogue
from siconform.output.events import Event, RunStarted, TestPhaseEnded, TestsSelected, TestStarted
from siconform.verdicts import Evidence, Verdict, worst_first

_MIN_SAMPLES: Final = 10  # finished tests before this run's speed corrects the estimate
_KNOWN_ENOUGH: Final = 0.8  # share of the remaining tests, for an estimate


@dataclass(frozen=True, slots=True)
class AreaCount:
    """The requirements of an area that this run tests."""

    area: str
    total: int
    verdicts: Counter[Verdict]  # of settled ones: bad at once, others after all tests

    @property
    def evaluated(self) -> int:
        """How many are settled."""
        return self.verdicts.total()


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot of the progress."""

    areas: tuple[AreaCount, ...] = ()
    tests: int = 0  # selected; 0 while unknown
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    left: float | None = None  # seconds; None without an earlier run
    has_earlier: bool = False


@dataclass(slots=True)
class RunProgress:
    """The progress of a run, updated by its events and read by the display.

    ``earlier`` has the seconds of each test in an earlier run of the same target. All times are
    seconds of one clock.
    """

    began: float = 0.0
    earlier: Mapping[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # of all finished phases of a test
    _tests: dict[str, list[str]] = field(default_factory=dict)
    _open: Counter[str] = field(default_factory=Counter)  # tests to come, by requirement
    _unfinished: Counter[str] = field(default_factory=Counter)  # the sum of these, by area
    _evidence: dict[str, list[Evidence]] = field(default_factory=dict)
    _under_way: dict[str, float] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)
    _failed: int = 0
    _complete: set[str] = field(default_factory=set)  # areas that were returned as complete
    _most_at_once: int = 1
    _lock: Lock = field(default_factory=Lock)

    def on_event(self, event: Event) -> None:
        """Update the progress."""
        with self._lock:
            match event:
                case RunStarted(at=at):
                    self.began = at
                case TestsSelected(tests):
                    self._select(tests)
                case TestStarted(test, at):
                    self._under_way[test] = at
                    self._most_at_once = max(self._most_at_once, len(self._under_way))
                case TestPhaseEnded():
                    self._end_phase(event)

    def _select(self, tests: Mapping[str, Sequence[str]]) -> None:
        for test, ids in tests.items():
            if test not in self._tests:
                self._tests[test] = [i for i in ids if i in catalogue()]
                self._open.update(self._tests[test])
                self._unfinished.update(_areas_of(self._tests[test]))

    def _end_phase(self, ended: TestPhaseEnded) -> None:
        for one in ended.evidence:
            self._evidence.setdefault(one.requirement, []).append(one)
        self._failed += ended.outcome == "failed" and ended.phase != "teardown"
        self.seconds[ended.test] = self.seconds.get(ended.test, 0.0) + ended.seconds
        if ended.phase not in ("setup", "call"):
            self._end(ended.test)

    def over(self) -> dict[str, float]:
        """Return the seconds of every finished test."""
        with self._lock:
            return {test: self.seconds[test] for test in self._over if test in self.seconds}

    def newly_complete(self) -> list[tuple[AreaCount, float]]:
        """Return the areas whose last test has ended, each once, with the seconds of its tests."""
        with self._lock:
            new = {area for area, tests in self._unfinished.items() if not tests} - self._complete
            self._complete |= new
            return [
                (counted, self._seconds_of(counted.area))
                for counted in (self._areas() if new else ())
                if counted.area in new
            ]

    def _seconds_of(self, area: str) -> float:
        return sum(
            self.seconds.get(test, 0.0)
            for test, ids in self._tests.items()
            if any(catalogue()[i].area == area for i in ids)
        )

    def view(self, now: float) -> View:
        """Return a snapshot of the progress."""
        with self._lock:
            return View(
                areas=tuple(self._areas()),
                tests=len(self._tests),
                done=len(self._over),
                failed=self._failed,
                seconds=now - self.began,
                left=self._left(now),
                has_earlier=bool(self.earlier),
            )

    def _end(self, test: str) -> None:
        self._under_way.pop(test, None)
        if test not in self._over:
            self._over.add(test)
            self._open.subtract(self._tests.get(test, ()))
            self._unfinished.subtract(_areas_of(self._tests.get(test, ())))

    def _areas(self) -> Iterator[AreaCount]:
        by_area: dict[str, list[str]] = {}
        for identifier in self._open:
            by_area.setdefault(catalogue()[identifier].area, []).append(identifier)
        for area in AREAS:
            if ids := by_area.get(area, ()):
                verdicts = Counter(v for i in ids if (v := self._verdict(i)) is not None)
                yield AreaCount(area, len(ids), verdicts)

    def _verdict(self, identifier: str) -> Verdict | None:
        """Return a bad verdict at once, any other when all tests of the requirement are over."""
        received = [
            e for e in self._evidence.get(identifier, ()) if not e.of_an_absent_precondition
        ]
        worst = next(iter(worst_first(received)), None)
        if worst is None or (self._open[identifier] > 0 and not worst.bad):
            return None
        return worst.verdict

    def _left(self, now: float) -> float | None:
        """Estimate the remaining time from earlier durations, scaled to this run's speed."""
        open_ones = [test for test in self._tests if test not in self._over]
        known = [self.earlier[test] for test in open_ones if test in self.earlier]
        if not self._tests or len(known) < _KNOWN_ENOUGH * len(open_ones):
            return None
        usual = sum(known) / len(known) if known else 0.0
        slowdown = self._slowdown()
        left = {test: slowdown * self.earlier.get(test, usual) for test in open_ones}
        for test, began in self._under_way.items():
            if test in left:
                left[test] = max(0.0, left[test] - (now - began))
        longest = max((left[test] for test in self._under_way if test in left), default=0.0)
        return max(longest, sum(left.values()) / self._most_at_once)

    def _slowdown(self) -> float:
        """Return the ratio of durations in this run to earlier ones."""
        both = [test for test in self._over if test in self.earlier]
        before = sum(self.earlier[test] for test in both)
        if len(both) < _MIN_SAMPLES or not before:
            return 1.0
        return sum(self.seconds.get(test, 0.0) for test in both) / before


def _areas_of(ids: Sequence[str]) -> list[str]:
    return [catalogue()[identifier].area for identifier in ids]
