"""Asks for which there is no room: a scheduler may keep them, or reject them.

The ask diagram of the SI leads from Pending to Rejected as well as to Allocated, and no text says
when. What a test is about is seldom that an ask waits: so it asks for more than there is room for,
makes room, and expects the ask to be served. Where it was rejected the RM asks again.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypedDict, Unpack

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.expectations import Expectations
from siconform.expecting.fencing import Fencing
from siconform.expecting.inbox import Inbox
from siconform.expecting.observations import Observations
from siconform.expecting.target_habits import TargetHabits
from siconform.outcomes import NotOffered, PremiseLost
from siconform.protocol.constraints import Constraint
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
    UpdateKind,
)
from siconform.protocol.requests import ApplicationRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Exchange
from siconform.rm.sender import Sender
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.timers import TimerVerbs

_NO_UPDATES: Final = "the target does not offer to update what waits"


class Wanted(TypedDict, total=False):
    """What is asked for, as in ``AllocationVerbs.asks``."""

    memory: int | None
    vcore: int | None
    resources: Mapping[str, int] | None
    times: int
    priority: int
    tags: Mapping[str, str] | None
    constraint: Constraint | None


class Changed(TypedDict, total=False):
    """What is different where an ask is said again, as in ``AllocationVerbs.asks_again``."""

    memory: int | None
    resources: Mapping[str, int] | None
    times: int | None
    priority: int | None
    tags: Mapping[str, str] | None
    task_group: str | None
    placeholder: bool | None
    policy: PreemptionPolicy | None


class WaitingAskVerbs:
    """What an RM does with asks that have to wait, and what it needs of a target at all."""

    def __init__(
        self,
        *,
        exchange: Exchange,
        observed: TargetHabits,
        inbox: Inbox,
        fencing: Fencing,
        expectations: Expectations,
        observations: Observations,
        sender: Sender,
        timers: TimerVerbs,
        allocations: AllocationVerbs,
    ) -> None:
        self._exchange = exchange
        self._observed = observed
        self._inbox = inbox
        self._fencing = fencing
        self._expectations = expectations
        self._observations = observations
        self._sender = sender
        self._timers = timers
        self._allocations = allocations

    def has_waiting_ask(self, application: str, **wanted: Unpack[Wanted]) -> Ask:
        """Given: an ask for which there is no room now, kept or rejected."""
        ask = self._allocations.asks(application, **wanted)
        self._fencing.fences(UpdateKind.ALLOCATIONS)
        if self._inbox.hears(Allocated(ask)):
            raise PremiseLost(f"the ask found room: {self._inbox.hears(Allocated(ask))[0]}")
        return ask

    def has_pending_ask(self, application: str, **wanted: Unpack[Wanted]) -> Ask:
        """Given: an ask for which there is no room now and that is kept (it might be rejected)."""
        ask = self.has_waiting_ask(application, **wanted)
        self.is_pending(ask)
        return ask

    def has_asked_again(self, /, ask: Ask, **changed: Unpack[Changed]) -> Ask:
        """Given: the pending ask was said again, as by ``asks_again``, and that was processed.

        NotOffered where that is rejected, as it may be from 2024-10 on (C-45).
        """
        again = self._allocations.asks_again(ask, **changed)
        if self._sender.identity is Identity.GIVEN_BY_THE_SCHEDULER:
            self._fencing.fences(UpdateKind.ALLOCATIONS)
        elif self._observations.may_be_told(AskRejected(ask), AllocationRejected(str(ask))):
            raise NotOffered(_NO_UPDATES)
        return again

    def needs_updates_of(self, ask: Ask) -> None:
        """NotOffered where an ask said several times was rejected, and is not allocated."""
        is_rejected = self._observations.may_be_told(AskRejected(ask)) is not None
        if is_rejected and not self._inbox.hears(Allocated(ask)):
            raise NotOffered(_NO_UPDATES)

    def is_pending(self, ask: Ask) -> None:
        """Premise: ``ask`` was processed and neither allocated nor rejected.

        NotOffered where the target was seen to reject what there is no room for.
        """
        self._fencing.fences(UpdateKind.ALLOCATIONS)
        keeps = self._observed.keeps_waiting_asks, self._observed.keeps_oversized_asks
        if False in keeps:
            self._observations.settles()  # a rejection may take a whole scheduling cycle
            if self._inbox.hears(AskRejected(ask)):
                raise NotOffered(not_offered(Feature.WAITING_ASKS))
        for fact in (AskRejected(ask), Allocated(ask)):
            if self._inbox.hears(fact):
                raise PremiseLost(f"the ask did not stay pending: {self._inbox.hears(fact)[0]}")

    def is_served(self, /, ask: Ask, **wanted: Any) -> Allocated:
        """Then: the ask is allocated as ``wanted`` (fields of Allocated).

        Where it was rejected while there was no room, the RM asks again, after everything it said
        before was processed, and that is allocated. An application that had nothing left by then
        may have been completed: the RM submits it once more.
        """
        allocated = Allocated(ask, **wanted)
        told = self._expectations.is_told_one_of(allocated, AskRejected(ask))
        if isinstance(told, Allocated):
            return told
        self._expectations.records("an ask without room", told)
        again = self._asks_anew(ask)
        if self._may_be_completed(ask.said.application):
            told = self._expectations.is_told_one_of(
                replace(allocated, key=str(again)), AskRejected(again)
            )
            if isinstance(told, Allocated):
                return told
            if self._is_taken_anew(ask.said.application):
                again = self._asks_anew(ask)
        return self._expectations.is_told(replace(allocated, key=str(again)))

    def is_not_served(self, ask: Ask) -> None:
        """There is still no room for the ask: it waits, or is rejected when it is asked again."""
        self._expectations.is_not_told(Allocated(ask))
        if self._inbox.hears(AskRejected(ask)):
            again = self._asks_anew(ask)
            self._expectations.is_not_told(Allocated(again))
            self._allocations.withdraws(again)

    def has_room_exactly_if_released(self, told: Fact, waiting: Ask, *, held: Allocated) -> None:
        """What was told of a release is what happened.

        After a release ``waiting`` is allocated where ``held`` was; after a refusal ``held`` is
        live and there is no room for ``waiting``.
        """
        if isinstance(told, Released):
            self.is_served(waiting)
            return
        self.is_not_served(waiting)
        self._allocations.still_holds(held)

    def _asks_anew(self, ask: Ask) -> Ask:
        """Ask for the same under another key, when everything said before was processed."""
        self._fencing.fences_all()
        again = Ask(replace(ask.said, key=self._sender.new_name("ask")))
        self._sender.says(again.said)
        return again

    def _may_be_completed(self, application: str) -> bool:
        """Whether it was submitted so long ago that it may be over, if it had nothing left."""
        shortest, submitted = self._timers.shortest_wait(), self._submissions(application)
        if shortest is None or not submitted:
            return False
        at, _ = submitted[-1]
        return self._observations.now() + self._observations.pace.slowest - at >= shortest

    def _is_taken_anew(self, application: str) -> bool:
        """Whether the scheduler takes an application of this id, as it was, once more."""
        _, said = self._submissions(application)[-1]
        self._sender.says(said)
        verdict = self._expectations.is_told_one_of(
            ApplicationAccepted(application), ApplicationRejected(application)
        )
        return isinstance(verdict, ApplicationAccepted)

    def _submissions(self, application: str) -> list[tuple[float, ApplicationRequest]]:
        """Of this application, with the moment of each."""
        return [
            (entry.moment, entry.content)
            for entry in self._exchange.everything()
            if isinstance(entry.content, ApplicationRequest)
            and entry.content.application == application
        ]
