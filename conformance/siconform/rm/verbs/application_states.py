"""The states of an application, as far as a scheduler lets them be seen.

No text has a step reported, and none fixes the names of states. So a step is looked for among the
reports, where the target was seen to report that state, and else in a snapshot; where neither
shows it under a name that is known, there is nothing to judge.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.checks import agrees, premise, unless_over
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.expectations import Expectations
from siconform.expecting.inbox import Inbox
from siconform.expecting.link import Link
from siconform.expecting.observations import Observations
from siconform.expecting.target_habits import TargetHabits
from siconform.outcomes import NotAsTheTextSays, NotOffered
from siconform.protocol.application_states import COMPLETED, KNOWN, RUNNING, WAITING, State
from siconform.protocol.facets import Facet
from siconform.protocol.handles import Application, Ask
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
)
from siconform.protocol.snapshot_facts import ApplicationSeen
from siconform.rm.optional_extension import OptionalExtension
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.application_ends import ApplicationEndVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.prerequisites import PrerequisiteVerbs
from siconform.rm.verbs.snapshots import SnapshotVerbs
from siconform.rm.verbs.timers import TimerVerbs


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An application that a limit keeps from running: with an ask that waits, or rejected."""

    application: Application
    ask: Ask | None
    submitted: Mapping[str, Any]  # what it was submitted with


_UNSEEN: Final = "the target shows this step neither in a report nor in a snapshot"


class ApplicationStateVerbs:
    """NotOffered where a state cannot be seen under a name that is known."""

    def __init__(
        self,
        *,
        link: Link,
        deadlines: Deadlines,
        observed: TargetHabits,
        inbox: Inbox,
        expectations: Expectations,
        observations: Observations,
        timers: TimerVerbs,
        applications: ApplicationVerbs,
        allocations: AllocationVerbs,
        extension: OptionalExtension,
        prerequisites: PrerequisiteVerbs,
        ends: ApplicationEndVerbs,
        snapshots: SnapshotVerbs,
    ) -> None:
        self._link = link
        self._deadlines = deadlines
        self._observed = observed
        self._inbox = inbox
        self._expectations = expectations
        self._observations = observations
        self._timers = timers
        self._applications = applications
        self._allocations = allocations
        self._extension = extension
        self._prerequisites = prerequisites
        self._ends = ends
        self._snapshots = snapshots

    def presupposes_reports(self, count: int, updates: Iterable[ApplicationUpdated]) -> None:
        """Given: so many states were reported; nobody has to report any."""
        if len(list(updates)) < count:
            raise NotOffered(not_offered(Feature.STATE_REPORTS))

    def running(self) -> State:
        """The state of an application that holds something; up to 2023-12 it may be starting."""
        return RUNNING if self._link.connection.dialect.applications_start else State("Running")

    def has_reached(self, application: str, state: State) -> None:
        """Then: the application came to this state, as far as that is shown.

        One that is reported under some circumstances need not be under others.
        """
        reached = ApplicationUpdated(application, state=state)
        is_reported = any(map(state.accepts, self._observed.reported_states))
        if self._inbox.hears(reached) or (
            is_reported and self._observations.may_be_told(reached) is not None
        ):
            return
        self.is_shown_in(application, state)

    def is_shown_in(self, application: str, state: State) -> None:
        """Then: a snapshot shows the application in this state."""
        if not self._state_is_shown(application):
            raise NotOffered(_UNSEEN)
        self._snapshots.sees(ApplicationSeen(application, state=state))

    def is_shown_in_where_shown(self, application: str, state: State) -> None:
        """Then: no snapshot shows it in another state, if any shows states at all."""
        if self._state_is_shown(application):
            self._snapshots.sees(ApplicationSeen(application, state=state))

    def is_not_seen_waiting(self, *applications: str) -> None:
        """Then: none of them is reported or shown as waiting.

        NotOffered where one is that has nothing left, as what it asked for was rejected.
        """
        try:
            self._expectations.is_not_told(
                *(ApplicationUpdated(one, state=WAITING) for one in applications)
            )
        except NotAsTheTextSays as failure:
            if any(self._inbox.hears(AskRejected(application=one)) for one in applications):
                raise NotOffered(not_offered(Feature.WAITING_ASKS)) from failure
            raise
        if self._shows_states():
            self._snapshots.does_not_see(
                *(ApplicationSeen(one, state=WAITING) for one in applications)
            )

    def comes_to_wait(self, application: str) -> None:
        """Then: the application is waiting: reported or shown so, or completed in due time.

        Without a report under a name that is known it shows nowhere, and without any at all.
        """
        if self._is_seen_waiting(application):
            return
        if self._reports_under_other_names(application):
            raise NotOffered(_UNSEEN)
        self._ends.is_told_waiting(application)

    def has_waiting_application(self) -> Application:
        """Given: an application whose only allocation was released, so that it waits now.

        Where that can be seen it has to be.
        """
        application = self._applications.has_application()
        self._allocations.has_released(self._allocations.has_allocation(application))
        with premise("an application with nothing left is waiting"):
            self._is_seen_waiting(application)
        return application

    @contextmanager
    def in_its_waiting_time(self, *, since: float, lasting: float = 0.0) -> Iterator[None]:
        """Then, of an application with nothing left: a lost premise where it may be over by now.

        Or in the seconds that this lasts.
        """
        shortest, by = (
            self._timers.shortest_wait(),
            self._observations.now() + self._observations.pace.slowest + lasting,
        )
        is_over = shortest is not None and by - since >= shortest
        why = (
            "an application that has nothing left may have been completed meanwhile"
            " (--waiting-timeout SECONDS tells how long the scheduler waits before that)"
        )
        with unless_over(lambda: is_over, why):
            yield

    def is_completed_when_due(self, application: str, *, seconds: float, since: float) -> None:
        """Then: it is reported as completed so many seconds after ``since``.

        NotOffered where nothing is reported of it under a name that is known.
        """
        completed = ApplicationUpdated(application, state=COMPLETED)
        try:
            self._observations.is_told_when_due(completed, seconds=seconds, since=since)
        except NotAsTheTextSays:
            if any(
                KNOWN.accepts(told.state)
                for told in self._inbox.hears(ApplicationUpdated(application))
            ):
                raise
            raise NotOffered(not_offered(Feature.STATE_REPORTS)) from None

    def has_application_held_back(self, /, **wanted: Any) -> HeldBack:
        """Given: an application that a limit of its queue, or of its owner, keeps from running.

        NotOffered where it runs: no text has anything limit the number of applications.
        """
        second = self._applications.submits_application(**wanted)
        verdict = self._expectations.is_told_one_of(
            ApplicationAccepted(second), ApplicationRejected(second)
        )
        if isinstance(verdict, ApplicationRejected):
            return HeldBack(second, None, wanted)
        ask = self._allocations.asks(second)
        if self._observations.may_be_told(Allocated(ask)) is not None:
            raise NotOffered(not_offered(Feature.APPLICATION_LIMIT))
        return HeldBack(second, ask, wanted)

    def is_let_in(self, held_back: HeldBack, *, after: float) -> None:
        """Then: within so many seconds it runs, submitted once more where it was rejected."""
        application, ask = held_back.application, held_back.ask
        if ask is not None and not self._prerequisites.rejected(ask):
            self._expectations.is_told(Allocated(ask), timeout=after + self._deadlines.place)
            return
        self._expectations.stays_quiet(window=after + self._deadlines.timer)
        # It may be over: with its ask rejected nothing was left.
        self._applications.submits_application(application, **held_back.submitted)
        accepted = ApplicationAccepted(application)
        told = self._expectations.is_told_one_of(accepted, ApplicationRejected(application))
        if ask is None:
            agrees(told, accepted)
        self._expectations.is_told(Allocated(self._allocations.asks(application)))

    def _is_seen_waiting(self, application: str) -> bool:
        """Whether it is reported or shown as waiting; it has to be where its state is shown."""
        waiting = ApplicationUpdated(application, state=WAITING)
        if self._inbox.hears(waiting) or self._observations.may_be_told(waiting) is not None:
            self._observations.has_heard(waiting)
        elif self._state_is_shown(application):
            self._snapshots.sees(ApplicationSeen(application, state=WAITING))
        else:
            return False
        return True

    def _shows_states(self) -> bool:
        return self._extension.is_offered(Facet.SNAPSHOT)

    def _state_is_shown(self, application: str) -> bool:
        """Whether a snapshot shows the application in a state whose name is known."""
        if not self._shows_states():
            return False
        shown = [
            seen.state
            for seen in self._snapshots.snapshot()
            if isinstance(seen, ApplicationSeen) and seen.application == application
        ]
        return any(map(KNOWN.accepts, shown))

    def _reports_under_other_names(self, application: str) -> bool:
        """Whether nothing is known of how this scheduler calls the states of its applications.

        Its last word on an application with nothing left is no known name; or there is none.
        """
        self._observations.settles()
        reported = [update.state for update in self._inbox.hears(ApplicationUpdated(application))]
        return not reported or not KNOWN.accepts(reported[-1])
