"""Observations: timing, counting and comparing received elements, without requiring one."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from siconform.expecting.expectations import Expectations
from siconform.expecting.probed_behaviour import Latency
from siconform.outcomes import ConformanceFailure, NotForThisTarget
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    Fact,
    Released,
    Termination,
)

F = TypeVar("F", bound=Fact)
T = TypeVar("T")

CLOCK_TOLERANCE: Final = 0.02  # seconds a target's clock may be ahead on a short timer


class Observations(Expectations):
    """Observations of how many elements came, when, whether at all, and in which order."""

    def now(self) -> float:
        """Return the current moment, to measure a timer from."""
        return self.exchange.history.moment()

    @property
    def latency(self) -> Latency:
        """The time this target takes to place an ask that fits."""
        return self.observed.latency

    def came_before(self, earlier: Fact, later: Fact) -> None:
        """Check that a match of ``earlier`` was received before the first match of ``later``."""
        for _, entry in self._inbox.received():
            content = entry.content
            if isinstance(content, Fact) and earlier.matches(content):
                return
            if isinstance(content, Fact) and later.matches(content):
                break
        raise ConformanceFailure(
            f"received without {earlier} before it",
            expected=f"{earlier} before {later}",
            happened=f"{later} first",
        )

    def measured(self, waits: Callable[[], T], report: Callable[[float, float], None]) -> T:
        """Return what ``waits`` returns; ``report`` receives how long it took (see ``Latency``)."""
        history = self.exchange.history
        wall, moment = history.now(), history.moment()
        found = waits()
        passed = history.moment() - moment
        ahead = max(0.0, history.now() - wall - passed) if history.clock.is_virtual else 0.0
        report(passed, ahead)
        return found

    def expect_when_due(self, *patterns: Fact, seconds: float, since: float) -> Fact:
        """Wait for one of these outcomes, due ``seconds`` after a timer of the scheduler began.

        The timer began after ``since`` (see ``now``) and before this call. An outcome earlier than
        ``seconds`` after ``since`` fails, and so does one that exceeds the slack of its class.
        """
        slack = self.deadlines.timer
        entry, fact = self.await_entry(
            patterns, seconds + slack, slack, first=self._until(since + seconds)
        )
        took = entry.moment - since
        if took < seconds - CLOCK_TOLERANCE:
            raise ConformanceFailure(
                f"came after {took:.2f} s, due after {seconds:g} s",
                expected=f"nothing of the kind before {seconds:g} s",
                happened=f"{fact} after {took:.2f} s",
            )
        return fact

    def receive_if_any(self, *patterns: Fact, window: float | None = None) -> Fact | None:
        """Raise barriers, wait for a quiet window, and return the first match or None."""
        self.synchronise_all()
        return self.first_within(patterns, self.quiet_window() if window is None else window)

    def expect_between(self, *patterns: Fact, earliest: float, latest: float) -> Fact:
        """Wait for one of these outcomes of a timer that ends between two moments (see ``now``)."""
        entry, fact = self.await_entry(
            patterns, latest - self.now() + self.deadlines.timer, first=self._until(earliest)
        )
        early, late = earliest - CLOCK_TOLERANCE - entry.moment, entry.moment - latest
        if early > 0 or late > 0:
            raise ConformanceFailure(
                "came before the timer was due" if early > 0 else "came too long after it was due",
                expected="the end of a timer at its time",
                happened=f"{fact} {max(early, late):.2f} s {'before' if early > 0 else 'after'} it",
            )
        return fact

    def came_together(self, *received: Fact) -> bool:
        """Return whether one message contained all of these."""
        numbers = {entry.number for _, entry in self._inbox.received() if entry.content in received}
        return len(numbers) == 1

    def held(self, pattern: Allocated) -> list[Allocated]:
        """Return what was announced and not reported as stopped since, by itself or with all.

        Raises NotForThisTarget if one message announces an allocation and stops all.
        """
        held: dict[str, tuple[int, Allocated]] = {}
        for _, entry in self._inbox.received():
            match entry.content:
                case Allocated() as allocation if pattern.matches(allocation):
                    held[allocation.identity] = entry.number, allocation
                case Released(termination=Termination.STOPPED_BY_RM) as stopped:
                    if stopped.identity:
                        held.pop(stopped.identity, None)
                    elif stopped.application == pattern.application:
                        if any(number == entry.number for number, _ in held.values()):
                            raise NotForThisTarget(
                                "one message announces an allocation and stops all of its "
                                "application, and does not tell which was first"
                            )
                        held.clear()
        return [allocation for _, allocation in held.values()]

    def settles(self) -> None:
        """Wait, with barriers and a quiet window, until requests have taken effect."""
        self.synchronise_all()
        self.stays_quiet()

    def has_observed(self, *patterns: Fact) -> None:
        """Consume all matches received so far."""
        while (found := self._inbox.find(patterns)) is not None:
            self._inbox.take(*found)

    def passes_over(self, *patterns: Fact) -> None:
        """Consume all matches until barriers and a quiet window bring none but repeated states."""
        states: set[Fact] = set()
        while (received := self.receive_if_any(*patterns)) is not None:
            come: set[Fact] = {received}
            while (found := self._inbox.find(patterns)) is not None:
                come.add(self._inbox.take(*found))
            if come <= states:
                break
            states.update(fact for fact in come if isinstance(fact, ApplicationUpdated))

    def expect_where_reported(self, pattern: Fact, *, like: Fact) -> None:
        """Expect an optional report only if the target sent the comparable ``like``."""
        if self.observe(like):
            self.expect(pattern)

    def collects(self, pattern: F, *, most: int) -> list[F]:
        """Return up to ``most`` matches; fewer if none comes within the limit of their class."""
        history = self.exchange.history
        look = partial(history.look, partial(self._inbox.find, (pattern,)))
        timeout = self.deadlines.of((pattern,))
        collected: list[F] = []
        while len(collected) < most:
            found = history.clock.wait_for_answer(look, timeout)
            if found is None:
                break
            collected.append(self._inbox.take(*found))  # type: ignore[arg-type]  # it matches its type
        return collected

    def expect_all_or_none(self, *patterns: Fact, window: float | None = None) -> bool:
        """Expect all of these or none; return which."""
        if self.receive_if_any(*patterns, window=window) is None:
            return False
        received = [pattern for pattern in patterns if self.observe(pattern)]
        for pattern in patterns:
            if pattern not in received:
                self.expect(pattern)
        return True

    def expect_at_most(self, times: int, pattern: Fact) -> None:
        """Check that at most ``times`` elements of this test match."""
        received = self.observe(pattern)
        if len(received) > times:
            raise ConformanceFailure(
                f"came {len(received)} times: {pattern}",
                expected=f"{pattern}, {times} times at most",
                happened=str(received[-1]),
            )

    def _until(self, moment: float) -> float:
        """Return the seconds until shortly before the moment a timer is due."""
        return max(0.0, moment - 2 * CLOCK_TOLERANCE - self.now())
