"""Steps with snapshots of the scheduler's state, if the target offers them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Final, TypeVar

from siconform.expecting.expectations import Expectations
from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import ConformanceFailure
from siconform.protocol.facets import Facet
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import Fact
from siconform.protocol.snapshot_facts import Phase, PhaseSeen
from siconform.rm.optional_extension import OptionalExtension
from siconform.transport.extension_messages import read_snapshot

F = TypeVar("F", bound=Fact)
T = TypeVar("T")

_LOOK_AGAIN: Final = 0.005  # seconds of real time between two snapshots


class SnapshotSteps(Expectations, OptionalExtension):
    """Snapshots. A test fails by what they show; NotOffered if the target has none."""

    def snapshot(self) -> list[Fact]:
        """Return everything the scheduler holds for this RM now."""
        return read_snapshot(self.offered(Facet.SNAPSHOT).snapshot(self.connection.rm_id))

    def sees(self, pattern: F, *, timeout: float | None = None) -> F:
        """Expect a snapshot to show this, within the limit of an answer or the given timeout."""
        return self.sees_one_of(pattern, timeout=timeout)

    def sees_one_of(self, *patterns: F, timeout: float | None = None) -> F:
        """Expect a snapshot to show one of the permitted outcomes."""
        last: list[Fact] = []

        def find(shown: list[Fact]) -> Fact | None:
            last[:] = shown
            return _matching(shown, patterns)

        found = self.watches(find, timeout=timeout)
        if found is None:
            raise _not_shown(patterns, last)
        self._notes(found)
        return found  # type: ignore[return-value]  # it matches one's type

    def shows(self, *patterns: Fact) -> bool:
        """Return whether one snapshot shows all of these now."""
        shown = self.snapshot()
        return all(_matching(shown, [pattern]) is not None for pattern in patterns)

    def does_not_see(self, *patterns: Fact, until: float | None = None) -> None:
        """Check that no snapshot shows any of these, in a quiet window or until a moment."""
        clock = self.exchange.history.clock
        look = partial(self._look, lambda shown: _matching(shown, patterns))
        seconds = (
            self.quiet_window()
            if until is None
            else max(0.0, until - self.exchange.history.moment())
        )
        found = clock.advance_and_look(look, seconds, settled=self.settle_window())
        if found is not None:
            self._notes(found)
            raise ConformanceFailure(
                f"the snapshot shows: {found}",
                expected=f"a snapshot without {' or '.join(map(str, patterns))}",
                happened=str(found),
            )

    def comes_to(self, *phases: Phase, never: Sequence[Phase]) -> None:
        """Expect the RM to reach one of these phases, and none of ``never`` before."""
        reached = self.sees_one_of(*(PhaseSeen(phase) for phase in (*phases, *never)))
        if reached.phase in never:
            raise ConformanceFailure(
                f"the snapshot shows: {reached}",
                expected=f"phase {' or '.join(phase.value for phase in phases)}",
                happened=str(reached),
            )

    def sees_where_shown(self, pattern: Fact, *, like: Fact) -> None:
        """Expect something optional in a snapshot only if it shows the comparable ``like``."""
        if self.shows(like):
            self.sees(pattern)

    def watches(
        self, find: Callable[[list[Fact]], T | None], *, timeout: float | None = None
    ) -> T | None:
        """Return what ``find`` finds in one of the snapshots taken within the timeout."""
        clock = self.exchange.history.clock
        look = partial(self._look, find)
        if timeout is None:
            with waiting("a snapshot", self.deadlines.ack, WaitClass.ACK):
                return clock.wait_for_answer(look, self.deadlines.ack)
        with waiting("a snapshot", timeout, WaitClass.TIMER):
            return clock.advance_and_look(look, timeout, settled=self.deadlines.ack)

    def _look(self, find: Callable[[list[Fact]], T | None], seconds: float) -> T | None:
        until = time.monotonic() + seconds
        while (found := find(self.snapshot())) is None:
            if time.monotonic() >= until:
                return None
            time.sleep(_LOOK_AGAIN)
        return found

    def _notes(self, seen: Fact) -> None:
        self.exchange.history.add(self.connection.rm_id, [seen], sent_by_rm=False)


def _matching(shown: Sequence[Fact], patterns: Sequence[Fact]) -> Fact | None:
    return next((fact for fact in shown if any(p.matches(fact) for p in patterns)), None)


def _not_shown(patterns: Sequence[Fact], shown: Sequence[Fact]) -> ConformanceFailure:
    related = [fact for fact in shown if any(_same_subject(p, fact) for p in patterns)]
    happened = "; ".join(map(str, related)) if related else "nothing of the kind is shown"
    return ConformanceFailure(
        f"the snapshot shows: {happened}" if related else f"not shown: {patterns[0]}",
        expected=f"a snapshot with {' or '.join(map(str, patterns))}",
        happened=happened,
    )


def _same_subject(pattern: Fact, shown: Fact) -> bool:
    """Return whether both are of one type and about the same object, if the pattern has one."""
    if type(pattern) is not type(shown):
        return False
    name = fields(shown)[0].name
    return isinstance(shown, PhaseSeen) or agree(getattr(pattern, name), getattr(shown, name))
