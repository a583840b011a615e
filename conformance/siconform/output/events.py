"""Events of a run, in the order in which they happen, and the interface of its outputs.

The run controller creates them from pytest's hooks; ``listeners.py`` lists who receives them.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from siconform.results import Run
from siconform.verdicts import Evidence


class Event(msgspec.Struct, frozen=True):
    """An event of a run; times are of ``time.monotonic``."""


class PhaseBegan(Event, frozen=True):
    """A phase of the run, one of ``phases.py``, has begun."""

    name: str


class ResultsChanged(Event, frozen=True):
    """There are preliminary results, in case the process is killed."""

    run: Run


class RunStarted(Event, frozen=True):
    """The target is ready, and the workers are about to start."""

    target: str
    version: str
    at: float


class TestStarted(Event, frozen=True):
    """A test has begun."""

    test: str
    at: float


class TestsSelected(Event, frozen=True):
    """A worker has sent its selection."""

    tests: Mapping[str, Sequence[str]]  # their requirements


class TestPhaseEnded(Event, frozen=True):
    """A phase of a test has ended; the last one is the teardown."""

    test: str
    phase: str  # setup, call, teardown, or ??? if the worker died
    outcome: str  # passed, failed or skipped, as for pytest
    seconds: float
    is_known: bool = False  # whether it failed as recorded in the baseline
    evidence: Sequence[Evidence] = ()  # with known failures marked
    properties: Sequence[tuple[str, object]] = ()  # of the test so far, for JUnit


class TargetsStarted(Event, frozen=True):
    """All started targets have addresses."""

    addresses: Sequence[str]


class RequirementFailed(Event, frozen=True):
    """A requirement was violated for the first time in this run."""

    evidence: Evidence


class RunInterrupted(Event, frozen=True):
    """A signal or an option stops the run; workers finish."""

    reason: str


class RunFinished(Event, frozen=True):
    """The run has a verdict; sent again if an output could not be written."""

    run: Run
    not_reached: Mapping[str, Sequence[str]] = {}  # tests without result: their requirements


class NothingTested(Event, frozen=True):
    """The run has ended before its first test; the results of an earlier run are kept."""

    run: Run


class Listener(Protocol):
    """An output of a run. It raises OSError or CannotWrite if it cannot be written."""

    def on_event(self, event: Event) -> None:
        """Handle an event; ignore those it does not need."""
