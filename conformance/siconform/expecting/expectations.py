"""Expectations: what the RM must receive and must not receive."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from siconform.expecting.deadlines import class_of
from siconform.expecting.endpoint import Steps
from siconform.expecting.waits import WaitClass, name_of, waiting
from siconform.outcomes import CameLate, ConformanceFailure, TargetLost
from siconform.protocol.notifications import Fact, StreamEnded, UpdateKind, kind_of
from siconform.recording.clock import LONGEST_STEP
from siconform.recording.history import Entry

F = TypeVar("F", bound=Fact)
T = TypeVar("T")


class Expectations(Steps):
    """What one test expects its RM to receive."""

    def expect(self, pattern: F, *, timeout: float | None = None) -> F:
        """Wait for a matching element; LATE within the grace period, FAIL after it."""
        return self._await((pattern,), timeout)  # type: ignore[return-value]  # matches its type

    def expect_one_of(self, *patterns: F, timeout: float | None = None) -> F:
        """Wait for the first element that matches one of the permitted outcomes."""
        return self._await(patterns, timeout)  # type: ignore[return-value]  # matches one's type

    def expect_each(self, *patterns: F) -> list[F]:
        """Wait for an element for each pattern, in any order; each may take as long as one."""
        waiting, received = list(patterns), []
        while waiting:
            received.append(self.expect_one_of(*waiting))
            satisfied = next(one for one in waiting if one.matches(received[-1]))
            waiting.remove(satisfied)
        return received

    def waits_for(self, *patterns: Fact) -> Fact | None:
        """Return the first matching element without consuming it, or None at the deadline."""
        history = self.exchange.history
        find = partial(self._inbox.find, patterns)
        longest = (1 + self.deadlines.grace) * self.deadlines.of(patterns)
        found = history.clock.wait_for_answer(partial(history.look, find), longest)
        return None if found is None else found[1]

    def expect_none(self, *patterns: Fact, window: float | None = None) -> None:
        """Raise barriers on every stream concerned, then fail on a match in the quiet window."""
        concerned = {kind_of(p) for p in patterns}
        for kind in UpdateKind:
            if kind in concerned or self._synchronisation.needs_barrier(kind):
                self.barriers(kind)
        self.stays_quiet(*patterns, window=window)

    def stays_quiet(self, *patterns: Fact, window: float | None = None) -> None:
        """Fail on a match so far or within the quiet window (without a barrier)."""
        seconds = self.quiet_window() if window is None else window
        what = self.first_within(patterns, seconds, synchronised=False)
        if what is not None:
            failure = ConformanceFailure(
                f"received: {what}",
                expected=f"no {_either(patterns)}",
                happened=f"{what}{self._how_soon(what)}",
            )
            failure.unwanted = tuple(p for p in patterns if p.matches(what))
            raise failure

    def quiet_window(self) -> float:
        """Seconds of silence after which "nothing was received" holds, by the target's latency."""
        return self.observed.latency.quiet(self.deadlines.quiet, 2 * self.deadlines.place)

    def settle_window(self) -> float:
        """Seconds of silence in real time, if the target's clock has already been advanced."""
        return self.observed.latency.settle(self.deadlines.settle, 2 * self.deadlines.place)

    def records(self, freedom: str, used: Fact | None = None, *, otherwise: str = "") -> None:
        """Record how the target uses a freedom of the specification, as a fact or in words."""
        words = used.in_short() if used is not None else otherwise
        self.exchange.recorded.append(f"{freedom}: {words}" if words else freedom)

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Exclude the exchange in this block from the scenario: it only probes behaviour."""
        with self.exchange.aside():
            yield
            self._synchronisation.synchronise_all_but()

    def _await(self, patterns: tuple[Fact, ...], timeout: float | None) -> Fact:
        return self.await_entry(patterns, timeout)[1]

    def await_entry(
        self,
        patterns: tuple[Fact, ...],
        timeout: float | None,
        slack: float | None = None,
        *,
        first: float = 0.0,
    ) -> tuple[Entry, Fact]:
        """Wait for a match and evaluate its time; grace applies to ``slack``.

        ``slack`` defaults to the limit of the class, or that of an answer if ``timeout`` is given.
        A ``timeout`` is for a timer, of which ``first`` seconds may be skipped at once.
        """
        history = self.exchange.history
        limit = self.deadlines.of(patterns) if timeout is None else timeout
        if slack is None:
            slack = limit if timeout is None else min(limit, self.deadlines.ack)
        longest = limit + self.deadlines.grace * slack
        begun, begun_moment = history.now(), history.moment()

        def find() -> tuple[int, Fact] | None:
            found = self._inbox.find(patterns)
            if found is None and self._inbox.end_of_stream(patterns):
                raise self._missing(patterns, limit)
            return found

        kind = class_of(patterns) if timeout is None else WaitClass.TIMER
        with waiting(name_of(patterns), limit, kind) as wait:
            if timeout is None:
                found = history.clock.wait_for_answer(partial(history.look, find), longest)
            else:
                look = self._synchronised_look(patterns, find)
                settled = min(limit, self.deadlines.ack)
                found = history.clock.advance_and_look(look, longest, first=first, settled=settled)
            if found is None:
                raise self._missing(patterns, limit)
            entry, fact = history[found[0]], self._inbox.take(*found)
            took = entry.at - begun if timeout is None else entry.moment - begun_moment
            wait.took = took
        self._evaluate_time(patterns, took, limit)
        return entry, fact

    def first_within(
        self, patterns: tuple[Fact, ...], seconds: float, *, synchronised: bool = True
    ) -> Fact | None:
        """Return the first match within this time, or None.

        Without barriers, matches received earlier count as well.
        """
        history = self.exchange.history
        find = partial(self._inbox.find, patterns)
        look = (
            self._synchronised_look(patterns, find) if synchronised else partial(history.look, find)
        )
        with waiting("what should not come", seconds, WaitClass.QUIET):
            found = history.clock.advance_and_look(
                look,
                seconds,
                first=0.0 if synchronised else min(seconds, LONGEST_STEP),
                settled=self.settle_window(),
                under_way=synchronised or self._synchronisation.is_something_under_way(),
            )
        return None if found is None else self._inbox.take(*found)

    def _synchronised_look(
        self, patterns: tuple[Fact, ...], find: Callable[[], T | None]
    ) -> Callable[[float], T | None]:
        """Return a look that raises barriers first where virtual time is advanced."""
        history = self.exchange.history
        kinds = {kind_of(p) for p in patterns if not isinstance(p, StreamEnded)}

        def look(seconds: float) -> T | None:
            if history.clock.is_virtual:
                for kind in UpdateKind:
                    if kind in kinds and self.connection.is_open(kind):
                        self._synchronisation.raise_barrier(kind)
            return history.look(find, seconds)

        return look

    def _how_soon(self, what: Fact) -> str:
        """Describe how long after the RM's last request it was received."""
        entries = self.exchange.entries()
        received = next(i for i, entry in enumerate(entries) if entry.content is what)
        requests = [e for e in entries[:received] if e.sent_by_rm and not e.barrier]
        if not requests:
            return ""
        milliseconds = 1000 * (entries[received].at - requests[-1].at)
        return f", {milliseconds:.0f} ms after RM {requests[-1].content}"

    def _evaluate_time(self, patterns: tuple[Fact, ...], took: float, limit: float) -> None:
        if took > limit:
            raise CameLate(
                f"after {took:.1f} s, allowed {limit:.1f} s",
                expected=f"{_either(patterns)} within {limit:g} s",
                happened=f"it came after {took:.2f} s",
            )

    def _missing(self, patterns: tuple[Fact, ...], limit: float) -> Exception:
        expected = f"{_either(patterns)} within {limit:g} s"
        if not self._alive():
            return TargetLost(f"the target died while waiting for {_either(patterns)}")
        ended = self._inbox.end_of_stream(patterns)
        if ended:
            return ConformanceFailure(
                f"the {ended.kind.value} stream ended: {ended.status} {ended.details}".rstrip(),
                expected=expected,
            )
        related = self._inbox.related(patterns)
        happened = f"received instead: {related}" if related else "nothing matching was received"
        failure = ConformanceFailure(
            happened if related else f"never received: {_either(patterns)}",
            expected=expected,
            happened=happened,
        )
        failure.awaited = patterns
        return failure


def _either(patterns: tuple[Fact, ...]) -> str:
    return " or ".join(str(p) for p in patterns)
