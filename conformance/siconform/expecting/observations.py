"""Observations: what a test looks at without insisting on one element, or by the clock."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from siconform.expecting.expectations import Expectations
from siconform.expecting.probed_behaviour import Latency
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import Fact

F = TypeVar("F", bound=Fact)
T = TypeVar("T")

CLOCK_TOLERANCE: Final = 0.02  # seconds a target's clock may be ahead of ours on a short timer


class Observations(Expectations):
    """How many came, when, whether at all, and how several compare."""

    def now(self) -> float:
        """This moment, to measure a timer from."""
        return self.exchange.history.moment()

    @property
    def latency(self) -> Latency:
        """How long this target takes to place an ask that fits."""
        return self.observed.latency

    def came_before(self, earlier: Fact, later: Fact) -> None:
        """Something that matches ``earlier`` was told before the first that matches ``later``."""
        for _, entry in self._inbox.received():
            content = entry.content
            if isinstance(content, Fact) and earlier.matches(content):
                return
            if isinstance(content, Fact) and later.matches(content):
                break
        raise ConformanceFailure(
            f"told without {earlier} before it",
            expected=f"{earlier} before {later}",
            happened=f"{later} first",
        )

    def measured(self, waits: Callable[[], T], report: Callable[[float, float], None]) -> T:
        """What ``waits`` returns; ``report`` learns how long that took (see ``Latency``)."""
        history = self.exchange.history
        wall, moment = history.now(), history.moment()
        found = waits()
        passed = history.moment() - moment
        meanwhile = max(0.0, history.now() - wall - passed) if history.clock.is_virtual else 0.0
        report(passed, meanwhile)
        return found

    def expect_when_due(self, *patterns: Fact, seconds: float, since: float) -> Fact:
        """Wait for one of these outcomes, due ``seconds`` after a timer of the scheduler began.

        The timer began after ``since`` (see ``now``) and before this call: what comes earlier
        than due after ``since`` fails, and so does what takes more than the slack of its class.
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
        """Fence every stream spoken on, then a quiet window: the first that came, or None."""
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
                "came before the timer was due" if early > 0 else "came when it was long due",
                expected="the end of a timer at its time",
                happened=f"{fact} {max(early, late):.2f} s {'before' if early > 0 else 'after'} it",
            )
        return fact

    def came_together(self, *received: Fact) -> bool:
        """Whether one message told all of these."""
        numbers = {entry.number for _, entry in self._inbox.received() if entry.content in received}
        return len(numbers) == 1

    def settles(self) -> None:
        """Fences and a quiet window: what was said has taken effect and been answered."""
        self.synchronise_all()
        self.stays_quiet()

    def has_observed(self, *patterns: Fact) -> None:
        """What came of this so far answers nothing any more."""
        while (found := self._inbox.find(patterns)) is not None:
            self._inbox.take(*found)

    def passes_over(self, *patterns: Fact) -> None:
        """Fences and a quiet window: what came of this until then answers nothing any more."""
        while self.receive_if_any(*patterns) is not None:
            pass

    def expect_where_reported(self, pattern: Fact, *, like: Fact) -> None:
        """Expect what the scheduler need not report: only if it reported the ``like`` of it."""
        if self.observe(like):
            self.expect(pattern)

    def collects(self, pattern: F, *, most: int) -> list[F]:
        """Up to ``most`` elements; fewer once none came for as long as their class allows."""
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
        """Each of them is told, or none is; which of the two it is."""
        if self.receive_if_any(*patterns, window=window) is None:
            return False
        received = [pattern for pattern in patterns if self.observe(pattern)]
        for pattern in patterns:
            if pattern not in received:
                self.expect(pattern)
        return True

    def expect_at_most(self, times: int, pattern: Fact) -> None:
        """Of everything so far, answer or not, no more than so many elements match."""
        received = self.observe(pattern)
        if len(received) > times:
            raise ConformanceFailure(
                f"came {len(received)} times: {pattern}",
                expected=f"{pattern}, {times} times at most",
                happened=str(received[-1]),
            )

    def _until(self, moment: float) -> float:
        """Seconds until shortly before a moment at which a timer is due."""
        return max(0.0, moment - 2 * CLOCK_TOLERANCE - self.now())
