"""Asks that do not fit now: a scheduler may queue or reject them.

The ask diagram of the SI leads from Pending to Rejected as well as to Allocated, and the
specification does not say when. Tests are seldom about waiting itself. So they ask for more than
fits, free capacity, and expect the ask to be served. If it was rejected, the RM asks again.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Unpack

from siconform.catalogue.features import Feature, not_offered
from siconform.outcomes import NotForThisTarget, NotOffered, PreconditionFailed
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Fact,
    PreemptionPolicy,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import ApplicationRequest, AskFields
from siconform.protocol.subjects import Identity
from siconform.rm.steps.basic import BasicSteps

_NO_UPDATES: Final = "the target does not offer to update what waits"


class Wanted(AskFields, total=False):
    """Arguments of an ask, as in ``AllocationSteps.asks``."""

    memory: int | None
    vcore: int | None
    resources: Mapping[str, int] | None
    times: int
    policy: PreemptionPolicy | None


class Changed(AskFields, total=False):
    """Changes to an ask that is sent again, as in ``AllocationSteps.asks_again``."""

    memory: int | None
    resources: Mapping[str, int] | None
    times: int | None
    policy: PreemptionPolicy | None


class WaitingAskSteps(BasicSteps):
    """Asks that have to wait, and what they require of a target."""

    def has_waiting_ask(self, application: str, **wanted: Unpack[Wanted]) -> Ask:
        """Given: an ask that does not fit now, queued or rejected."""
        ask = self.asks(application, **wanted)
        self.barriers(UpdateKind.ALLOCATIONS)
        if self.observe(Allocated(ask)):
            raise PreconditionFailed(f"the ask was allocated: {self.observe(Allocated(ask))[0]}")
        return ask

    def has_pending_ask(self, application: str, **wanted: Unpack[Wanted]) -> Ask:
        """Given: an ask that does not fit now and is queued; NotOffered if rejected."""
        ask = self.has_waiting_ask(application, **wanted)
        self.is_pending(ask)
        return ask

    def has_asked_again(self, /, ask: Ask, **changed: Unpack[Changed]) -> Ask:
        """Given: the pending ask was sent again, as by ``asks_again``, and processed.

        NotOffered if that is rejected, which is allowed from 2024-10 on (C-45).
        """
        again = self.asks_again(ask, **changed)
        if self.identity is Identity.GIVEN_BY_THE_SCHEDULER:
            self.barriers(UpdateKind.ALLOCATIONS)
        elif self.receive_if_any(AskRejected(ask), AllocationRejected(str(ask))):
            raise NotOffered(_NO_UPDATES)
        return again

    def needs_updates_of(self, ask: Ask) -> None:
        """Raise NotOffered if a repeated ask was rejected and is not allocated."""
        is_rejected = self.receive_if_any(AskRejected(ask)) is not None
        if is_rejected and not self.observe(Allocated(ask)):
            raise NotOffered(_NO_UPDATES)

    def is_pending(self, ask: Ask) -> None:
        """Given: ``ask`` was processed and neither allocated nor rejected.

        NotOffered if it is rejected: a scheduler that keeps other asks may have its reasons; or if
        the scheduler preempts for it, which may take longer than a quiet window.
        """
        self.barriers(UpdateKind.ALLOCATIONS)
        keeps = self.observed.keeps_waiting_asks, self.observed.keeps_oversized_asks
        if False in keeps:
            self.settles()  # a rejection may take a whole scheduling cycle
        if self.observe(AskRejected(ask)):
            raise NotOffered(not_offered(Feature.WAITING_ASKS))
        for allocated in self.observe(Allocated(ask)):
            if self.observe(Released(termination=Termination.PREEMPTED_BY_SCHEDULER)):
                raise NotOffered("the target preempts for the ask")
            raise PreconditionFailed(f"the ask did not stay pending: {allocated}")

    def is_served(self, /, ask: Ask, **wanted: Any) -> Allocated:
        """Then: the ask is allocated as ``wanted`` (fields of Allocated).

        If it was rejected while it did not fit, the RM asks again once everything sent before is
        processed, and goes on for as long as a placement may take: what ends may hold its capacity
        until that is reported. If its application had nothing left and may have completed, the RM
        submits it again.
        """
        allocated = Allocated(ask, **wanted)
        received = self.expect_one_of(allocated, AskRejected(ask))
        if isinstance(received, Allocated):
            return received
        self.records("an ask without capacity", received)
        until = self.now() + self.deadlines.place
        while True:
            again = self._asks_again(ask)
            served = replace(allocated, key=str(again))
            if self.now() >= until:
                return self.expect(served)
            received = self.expect_one_of(served, AskRejected(again))
            if isinstance(received, Allocated):
                return received
            application = ask.sent.application
            if not (self._may_be_completed(application) and self._is_taken_again(application)):
                self.stays_quiet()

    def is_not_served(self, ask: Ask) -> None:
        """Check that the ask still does not fit: it waits, or is rejected again when repeated."""
        self.expect_none(Allocated(ask))
        if self.observe(AskRejected(ask)):
            again = self._asks_again(ask)
            self.expect_none(Allocated(again))
            self.withdraws(again)

    def has_capacity_exactly_if_released(
        self, received: Fact, waiting: Ask, *, held: Allocated
    ) -> None:
        """Check that the reported result of a release is what happened.

        After a release ``waiting`` is allocated in place of ``held``; after a refusal ``held`` is
        live and ``waiting`` does not fit.
        """
        if isinstance(received, Released):
            self.is_served(waiting)
            return
        self.is_not_served(waiting)
        self.still_holds(held)

    def _asks_again(self, ask: Ask) -> Ask:
        """Ask for the same under another key, once everything sent before is processed."""
        self.synchronise_all()
        again = Ask(replace(ask.sent, key=self.new_name("ask")))
        self.send(again.sent)
        return again

    def _may_be_completed(self, application: str) -> bool:
        """Return whether it may have completed since submission, if it had nothing left."""
        shortest, submitted = self.shortest_wait(), self._submissions(application)
        if shortest is None or not submitted:
            return False
        at, _ = submitted[-1]
        return self.now() + self.latency.slowest - at >= shortest

    def _is_taken_again(self, application: str) -> bool:
        """Submit the same application again; return whether it is accepted.

        NotForThisTarget if it is a gang: real asks of a new one may wait for its placeholders.
        """
        _, sent = self._submissions(application)[-1]
        self.send(sent)
        verdict = self.expect_one_of(
            ApplicationAccepted(application), ApplicationRejected(application)
        )
        is_accepted = isinstance(verdict, ApplicationAccepted)
        if is_accepted and sent.placeholder_ask:
            raise NotForThisTarget("a gang completed before its rejected ask was sent again")
        return is_accepted

    def _submissions(self, application: str) -> list[tuple[float, ApplicationRequest]]:
        """Return the submissions of this application, with their moments."""
        return [
            (entry.moment, entry.content)
            for entry in self.exchange.everything()
            if isinstance(entry.content, ApplicationRequest)
            and entry.content.application == application
        ]
