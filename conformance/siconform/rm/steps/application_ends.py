"""Ends of applications: waiting, completed or failed, under any name a scheduler reports."""

from typing import Final

from siconform.expecting.checks import precondition
from siconform.outcomes import Outcome, TargetLost
from siconform.protocol.application_states import (
    ACCEPTED,
    COMPLETED,
    FAILURE,
    NEW,
    RESUMING,
    RUNNING,
    WAITING,
    AnotherState,
    State,
)
from siconform.protocol.notifications import Allocated, ApplicationUpdated, AskRejected, Fact
from siconform.rm.steps.basic import BasicSteps

_MUCH: Final = 2.0  # seconds at most that distinguish a second wait from the first


class ApplicationEndSteps(BasicSteps):
    """State names are not specified; only those of an end are known (completed, failed)."""

    @property
    def reports_states(self) -> bool:
        """Whether this scheduler was observed to report application states, or may yet be."""
        return bool(self.observed.reported_states) or not self.observed.probed

    def expect_waiting(self, application: str) -> None:
        """Expect waiting to be reported, or completed once the waiting time is over.

        If no states are reported, expect that asks of the application are no longer served by then.
        """
        reported = ApplicationUpdated(application, state=WAITING)
        if self.timers.waiting_to_completed is None:
            with precondition("the step to waiting is reported, as its end is not known"):
                self.expect(reported)
            return
        if not self.reports_states:
            self.outlasts_waiting()
            self.expect_completed(application)
            return
        self.expect_one_of(
            reported,
            ApplicationUpdated(application, state=COMPLETED),
            timeout=self.waiting_timeout() + self.deadlines.timer,
        )

    def reported_waiting(self) -> State:
        """Return the state that this scheduler reports when an application begins to wait.

        Probed once, with an ordinary application that has nothing left; a state without names,
        which is false, if nothing is reported.
        """
        names = self.observed.waiting_states
        if names is None:
            with self.aside():
                names = self._reported_when_nothing_is_left()
            self.observed.waiting_states = names
            words = f"reported as {', '.join(names)}" if names else "not reported"
            self.observed.others["an application that begins to wait"] = words
        return State(*names)

    def _reported_when_nothing_is_left(self) -> tuple[str, ...]:
        try:
            self.has_node()
            application = self.has_application()
            allocation = self.has_allocation(application)
            self.settles()
            before = len(self.observe(ApplicationUpdated(application)))
            self.has_released(allocation)
            self.settles()
        except TargetLost:
            raise
        except Outcome:  # the tests of this will report the problem
            return tuple(WAITING.names)
        return tuple(
            update.state for update in self.observe(ApplicationUpdated(application))[before:]
        )

    def reported_once_allocated(self) -> State:
        """Return the state that is reported of an application with an allocation, not before."""
        running: set[str] = set()
        with self.aside():
            asking, holding = (
                self.has_application(),
                self.has_application(),
            )
            self.has_node()
            self.has_allocation(holding)
            too_large = self.asks(asking, memory=1000)
            self.settles()
            before = {update.state for update in self.observe(ApplicationUpdated(asking))}
            after = {update.state for update in self.observe(ApplicationUpdated(holding))}
            if before and not self.observe(AskRejected(too_large)):  # reported with a queued ask
                running = after - before
        return State(*running, *RUNNING.names)

    def any_change_of(self, application: str, *, but: State | None = None) -> AnotherState:
        """Return every state ``but`` this and the last reported one, which may be repeated."""
        last = (update.state for update in self.observe(ApplicationUpdated(application))[-1:])
        return AnotherState(*(() if but is None else (but,)), State(*last))

    def had_nothing_at_first(self, *applications: str) -> None:
        """Pass over reports of waiting before any other state: new applications have nothing."""
        self.synchronise_all()
        others: set[str] = set()
        for index, entry in self._inbox.received():
            update = entry.content
            if not isinstance(update, ApplicationUpdated) or update.application not in applications:
                continue
            if not WAITING.accepts(update.state):
                others.add(update.application)
            elif update.application not in others:
                self._inbox.take(index, update)

    def expect_failure(self, application: str) -> None:
        """Expect a report of failure, or of a state that only failed applications reach.

        If this scheduler reports no states, nothing is expected.
        """
        if self.reports_states:
            self.expect(ApplicationUpdated(application, state=self.failure()))

    def failure(self) -> AnotherState:
        """Return every state except those of applications that did not fail."""
        seen = self.observed.reported_states  # those the RM ended may be reported as killed, too
        healthy = State(*(state for state in seen if not FAILURE.accepts(state)))
        return AnotherState(NEW, ACCEPTED, RUNNING, RESUMING, WAITING, COMPLETED, healthy)

    def expect_completed(self, application: str) -> None:
        """Expect completed to be reported; else that asks of it are no longer served.

        Without reports the scheduler has as much time for that as for the report.
        """
        if self.reports_states:
            self.expect(ApplicationUpdated(application, state=COMPLETED))
            return
        self.stays_quiet(window=self.deadlines.timer)  # or the ask would revive it
        self.expect_none(Allocated(self.asks(application)))

    def waits_a_while(self, *unexpected: Fact, since: float) -> None:
        """Let half of the waiting time pass, to distinguish a second wait from this one.

        Time passed ``since`` the wait may have begun counts.
        """
        left = min(self.waiting_timeout() / 2, _MUCH) - (self.now() - since)
        if left > 0:
            self.stays_quiet(*unexpected, window=left)

    def outlasts_waiting(self, *unexpected: Fact) -> None:
        """Let the waiting time pass, after which an application that waits now is completed."""
        self.stays_quiet(*unexpected, window=self.waiting_timeout() + self.deadlines.timer)
