"""Checks of received event records; events are optional and may be incomplete."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from siconform.expecting.endpoint import Steps
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.application_states import State
from siconform.protocol.events import (
    ALLOCATION_ENDINGS,
    REQUEST_ENDINGS,
    Detail,
    EventChange,
    EventReceived,
    Subject,
    details_of,
)
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import Allocated, ApplicationUpdated
from siconform.protocol.requests import (
    AllocationUpdate,
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Entry

_PER_SECOND: Final = 1_000_000_000
_SKEW: Final = 24 * 3600.0  # seconds a target's clock may be off: the test is of units, not clocks

_STATES: Final[Mapping[Detail, State]] = {
    Detail.APP_ACCEPTED: State("Accepted"),
    Detail.APP_STARTING: State("Starting"),
    Detail.APP_RUNNING: State("Running"),
    Detail.APP_COMPLETING: State("Completing", "Waiting"),
    Detail.APP_COMPLETED: State("Completed"),
    Detail.APP_FAILING: State("Failing"),
    Detail.APP_FAILED: State("Failed"),
    Detail.APP_RESUMING: State("Resuming"),
}
"""Details that denote a state which an UpdatedApplication can report as well."""


class EventChecks(Steps):
    """Checks of event records; each fails on the first record of something that did not happen."""

    def presupposes_some(self, events: Sequence[EventReceived], what: str) -> None:
        """Raise NotOffered if there are no events: they are optional."""
        if not events:
            raise NotOffered(f"the target does not offer events about {what}")

    def only_reports(self, events: Iterable[EventReceived], *details: Detail) -> None:
        """Check that each detail is allowed, empty, or added by a later revision."""
        allowed = {Detail.NONE, Detail.UNDEFINED, *details}
        for event in events:
            if event.detail not in allowed:
                raise ConformanceFailure(
                    f"detail {event.detail.value} without such a change",
                    expected=" or ".join(detail.value for detail in details),
                    happened=str(event),
                )

    def does_not_report(self, events: Iterable[EventReceived], *details: Detail) -> None:
        """Check that no event has one of the details."""
        for event in events:
            if event.detail in details:
                raise ConformanceFailure(
                    f"detail {event.detail.value} without such a change",
                    expected=f"no {' and no '.join(detail.value for detail in details)}",
                    happened=str(event),
                )

    def never_reports(self, events: Iterable[EventReceived], *changes: EventChange) -> None:
        """Check that no event is a change of one of these kinds."""
        for event in events:
            if event.change in changes:
                raise ConformanceFailure(
                    f"change {event.change.value} in this step",
                    expected=f"no {' and no '.join(change.value for change in changes)}",
                    happened=str(event),
                )

    def reports_as(
        self, events: Iterable[EventReceived], detail: Detail, change: EventChange
    ) -> None:
        """Check that events with this detail have this kind of change."""
        for event in events:
            if event.detail is detail and event.change is not change:
                raise ConformanceFailure(
                    f"{detail.value} is reported as {event.change.value}",
                    expected=f"{detail.value} as {change.value}",
                    happened=str(event),
                )

    def reports_nothing_after(
        self, events: Iterable[EventReceived], last: Detail, *earlier: Detail
    ) -> None:
        """Check that none of the earlier details follows ``last``."""
        is_over = False
        for event in events:
            is_over |= event.detail is last
            if is_over and event.detail in earlier:
                raise ConformanceFailure(
                    f"detail {event.detail.value} after {last.value}",
                    expected=f"no {event.detail.value} after {last.value}",
                    happened=str(event),
                )

    def reports_amounts(self, events: Iterable[EventReceived], *amounts: Mapping[str, int]) -> None:
        """Check that each event reports one of the amounts; no resource means an empty amount."""
        for event in events:
            if not any(agree(amount, event.resource or {}) for amount in amounts):
                raise ConformanceFailure(
                    f"{event.detail.value} with the amount {event.resource}",
                    expected=" or ".join(str(dict(amount)) for amount in amounts),
                    happened=str(event),
                )

    def reports_a_detail_of_its_type(self, event: EventReceived) -> None:
        """Check that the detail belongs to the record's type or ends an allocation."""
        if event.subject is not Subject.UNDEFINED:
            self.only_reports([event], *details_of(event.subject))

    def reports_states_in_order(self, application: str, events: Sequence[EventReceived]) -> None:
        """Check that events and updates report the states of an application in the same order.

        States that the two report a different number of times are left out of the comparison.
        """
        self.does_not_report(events, Detail.APP_REJECT)
        received = [detail for event in events if (detail := event.detail) in _STATES]
        updates = [update.state for update in self.observe(ApplicationUpdated(application))]
        reported = [d for state in updates for d, one in _STATES.items() if one.accepts(state)]
        both = {detail for detail in received if received.count(detail) == reported.count(detail)}
        by_events, by_updates = (
            [detail.value for detail in steps if detail in both] for steps in (received, reported)
        )
        if by_events != by_updates:
            raise ConformanceFailure(
                "events report the states of an application in another order than its updates",
                expected=", ".join(by_updates),
                happened=", ".join(by_events),
            )

    def reports_only_the_refusal(self, events: Sequence[EventReceived]) -> None:
        """Check that a rejected application never reached a state other than new."""
        self.does_not_report(events, *_STATES)

    def endings_of(self, one: str | Allocated) -> list[EventReceived]:
        """Return every event that reports how an ask or allocation ended."""
        names = {one.key, one.identity} if isinstance(one, Allocated) else {str(one)}
        endings = REQUEST_ENDINGS | ALLOCATION_ENDINGS
        return [
            event
            for event in self.observe(EventReceived())
            if names & {event.about, event.reference} and event.detail in endings
        ]

    def notified_of(self, one: str | Allocated, detail: Detail) -> None:
        """Check for a record with this detail about, or referring to, an ask or allocation."""
        if not any(event.detail is detail for event in self.endings_of(one)):
            raise ConformanceFailure(
                f"no record {detail.value}", expected=f"{detail.value} about {one}"
            )

    def names_a_known_object(self, event: EventReceived) -> None:
        """Check that the event names an object this RM sent, or a queue below the root.

        Any name is allowed for users and groups: the scheduler may resolve the groups of a user.
        """
        names = self._known().get(event.subject)
        is_queue = event.subject is Subject.QUEUE and event.about.split(".")[0] == "root"
        is_someone = event.subject is Subject.USERS and event.about
        if event.subject is Subject.UNDEFINED or is_queue or is_someone:
            return
        if names is None or event.about not in names:
            raise ConformanceFailure(
                f"an event of type {event.subject.value} about {event.about!r}",
                expected="the id of an object of the type",
                happened=str(event),
            )

    def reports_the_time_in_nanoseconds(self, event: EventReceived) -> None:
        """Check that the time, read as nanoseconds, is about now by the target's clock."""
        ahead = self.exchange.history.clock.ahead()
        seconds = event.time / _PER_SECOND
        if not time.time() - _SKEW <= seconds <= time.time() + ahead + _SKEW:
            raise ConformanceFailure(
                f"timestamp {event.time} is not about now in nanoseconds",
                expected="nanoseconds since 1970",
                happened=str(event),
            )

    def _known(self) -> Mapping[Subject, set[str]]:
        """Return every id the RM has sent; events may concern the clean-up of earlier tests."""
        known: dict[Subject, set[str]] = {
            Subject.REQUEST: set(),
            Subject.APPLICATION: set(),
            Subject.NODE: set(),
        }
        for entry in self.exchange.everything():
            for subject, name in _sent(entry):
                known[subject].add(name)
        return known


def _sent(entry: Entry) -> Iterator[tuple[Subject, str]]:
    match entry.content:
        case NodeRequest(node=name, existing=existing):
            yield Subject.NODE, name
            yield from ((Subject.REQUEST, one.key) for one in existing)
        case ApplicationRequest(application=name):
            yield Subject.APPLICATION, name
        case ExistingAllocationRequest(allocation=one) | AllocationUpdate(allocation=one):
            yield Subject.REQUEST, one.key
        case AskRequest(key=name) | ForeignAllocationRequest(key=name):
            yield Subject.REQUEST, name
