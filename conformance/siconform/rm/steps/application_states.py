"""Application states, as far as a scheduler makes them visible.

The specification neither requires states to be reported nor fixes their names. So a state is looked
for in the reports, if the target was observed to report it, and otherwise in a snapshot. If neither
shows it under a known name, the test is not applicable.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.checks import agrees, precondition, unless_over
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.application_states import COMPLETED, KNOWN, RUNNING, WAITING, State
from siconform.protocol.facets import Facet
from siconform.protocol.handles import Application, Ask
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    UpdateKind,
)
from siconform.protocol.snapshot_facts import ApplicationSeen
from siconform.rm.steps.application_ends import ApplicationEndSteps
from siconform.rm.steps.snapshots import SnapshotSteps


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An application that a limit keeps from running: its ask is queued, or it was rejected."""

    application: Application
    ask: Ask | None
    submitted: Mapping[str, Any]  # submitted with these arguments


_UNSEEN: Final = "the target shows this step neither in a report nor in a snapshot"


class ApplicationStateSteps(ApplicationEndSteps, SnapshotSteps):
    """Steps that raise NotOffered if a state is not visible under a known name."""

    def presupposes_reports(self, count: int, updates: Iterable[ApplicationUpdated]) -> None:
        """Given: this many states were reported; reports are optional."""
        if len(list(updates)) < count:
            raise NotOffered(not_offered(Feature.STATE_REPORTS))

    def running(self) -> State:
        """Return the state of an application with an allocation; up to 2023-12 also Starting."""
        return RUNNING if self.connection.dialect.applications_start else State("Running")

    def has_reached(self, application: str, state: State) -> None:
        """Then: the application reached this state, as far as that is visible.

        A state reported in some situations need not be reported in others.
        """
        reached = ApplicationUpdated(application, state=state)
        is_reported = any(map(state.accepts, self.observed.reported_states))
        if self.observe(reached) or (is_reported and self.receive_if_any(reached) is not None):
            return
        self.is_shown_in(application, state)

    def is_shown_in(self, application: str, state: State) -> None:
        """Then: a snapshot shows the application in this state."""
        if not self._state_is_shown(application):
            raise NotOffered(_UNSEEN)
        self.sees(ApplicationSeen(application, state=state))

    def is_shown_in_if_reported(self, application: str, state: State) -> None:
        """Then: no snapshot shows it in another state, if snapshots show states at all."""
        if self._state_is_shown(application):
            self.sees(ApplicationSeen(application, state=state))

    def is_not_seen_waiting(self, *applications: str) -> None:
        """Then: none of them is reported or shown as waiting.

        NotOffered if one of them has nothing left because its ask was rejected. The rejection comes
        on another stream than states: it has come once a barrier there is answered.
        """
        self.had_nothing_at_first(*applications)
        try:
            self.expect_none(*(ApplicationUpdated(one, state=WAITING) for one in applications))
            if self._shows_states():
                self.does_not_see(*(ApplicationSeen(one, state=WAITING) for one in applications))
        except ConformanceFailure as failure:
            self.barriers(UpdateKind.ALLOCATIONS)
            if any(self._inbox.observe(AskRejected(application=one)) for one in applications):
                raise NotOffered(not_offered(Feature.WAITING_ASKS)) from failure
            raise

    def comes_to_wait(self, application: str) -> None:
        """Then: the application is reported or shown as waiting, or completed when due.

        NotOffered if there is no report at all, or only under an unknown name.
        """
        if self._is_seen_waiting(application):
            return
        if self._reports_under_other_names(application):
            raise NotOffered(_UNSEEN)
        self.expect_waiting(application)

    def has_waiting_application(self, *, timeout_ms: int = 0) -> Application:
        """Given: a waiting application: its only allocation was released.

        Where waiting is visible, it must be shown.
        """
        application = self.has_application(timeout_ms=timeout_ms)
        self.has_released(self.has_allocation(application))
        with precondition("an application with nothing left is waiting"):
            self._is_seen_waiting(application)
        return application

    @contextmanager
    def in_its_waiting_time(self, *, since: float, lasting: float = 0.0) -> Iterator[None]:
        """Then: the application is still waiting; inconclusive if its time may be over by now.

        The time includes the ``lasting`` seconds of this step.
        """
        shortest, by = self.shortest_wait(), self.now() + self.latency.slowest + lasting
        is_virtual = self.exchange.history.clock.is_virtual

        def is_over() -> bool:
            now = by if is_virtual else max(by, self.now())
            return shortest is not None and now - since >= shortest

        why = (
            "an application that has nothing left may have been completed meanwhile"
            " (--waiting-timeout SECONDS states how long the scheduler waits before that)"
        )
        with unless_over(is_over, why):
            yield

    def is_completed_when_due(self, application: str, *, seconds: float, since: float) -> None:
        """Then: it is reported as completed the given time after ``since``.

        NotOffered if no state is reported under a known name.
        """
        completed = ApplicationUpdated(application, state=COMPLETED)
        try:
            self.expect_when_due(completed, seconds=seconds, since=since)
        except ConformanceFailure:
            if any(
                KNOWN.accepts(received.state)
                for received in self.observe(ApplicationUpdated(application))
            ):
                raise
            raise NotOffered(not_offered(Feature.STATE_REPORTS)) from None

    def has_application_held_back(self, /, **wanted: Any) -> HeldBack:
        """Given: an application that a limit of its queue or user keeps from running.

        NotOffered if it runs: the specification requires no limit on the number of applications.
        """
        second = self.submits_application(**wanted)
        verdict = self.expect_one_of(ApplicationAccepted(second), ApplicationRejected(second))
        if isinstance(verdict, ApplicationRejected):
            return HeldBack(second, None, wanted)
        ask = self.asks(second)
        if self.receive_if_any(Allocated(ask)) is not None:
            raise NotOffered(not_offered(Feature.APPLICATION_LIMIT))
        return HeldBack(second, ask, wanted)

    def is_let_in(self, held_back: HeldBack, *, after: float) -> None:
        """Then: it runs within this time, or asks again afterwards if it was rejected."""
        application, ask = held_back.application, held_back.ask
        if ask is not None and not self.observe(AskRejected(ask)):
            ends = Allocated(ask), AskRejected(ask)
            received = self.expect_one_of(*ends, timeout=after + self.deadlines.place)
            if isinstance(received, Allocated):
                return
        self.stays_quiet(window=after + self.deadlines.timer)
        # It may have ended: its ask was rejected and nothing was left.
        self.submits_application(application, **held_back.submitted)
        accepted = ApplicationAccepted(application)
        received = self.expect_one_of(accepted, ApplicationRejected(application))
        if ask is None:
            agrees(received, accepted)
        self.expect(Allocated(self.asks(application)))

    def _is_seen_waiting(self, application: str) -> bool:
        """Return whether it is seen waiting, which is required if its state is shown."""
        waiting = ApplicationUpdated(application, state=WAITING)
        is_reported = self.reports_states  # if not, the waiting time may be short
        if self.observe(waiting) or (is_reported and self.receive_if_any(waiting) is not None):
            self.synchronise_all()  # a new application may have been reported as waiting, too
            self.has_observed(waiting)
        elif self.observe(ApplicationUpdated(application, state=COMPLETED)):
            return False  # it has waited already
        elif self._state_is_shown(application):
            self.sees(ApplicationSeen(application, state=WAITING))
        else:
            return False
        return True

    def _shows_states(self) -> bool:
        return self.is_offered(Facet.SNAPSHOT)

    def _state_is_shown(self, application: str) -> bool:
        """Return whether a snapshot shows the application in a state with a known name."""
        if not self._shows_states():
            return False
        shown = [
            seen.state
            for seen in self.snapshot()
            if isinstance(seen, ApplicationSeen) and seen.application == application
        ]
        return any(map(KNOWN.accepts, shown))

    def _reports_under_other_names(self, application: str) -> bool:
        """Return whether this scheduler uses unknown state names or reports none.

        The last reported state of an application with nothing left decides.
        """
        self.settles()
        reported = [update.state for update in self.observe(ApplicationUpdated(application))]
        return not reported or not KNOWN.accepts(reported[-1])
