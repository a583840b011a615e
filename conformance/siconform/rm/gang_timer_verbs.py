"""Gangs and time: those that wait for their last placeholder, and those that are done waiting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from siconform.outcomes import PremiseLost
from siconform.rm.facts import (
    Allocated,
    ApplicationUpdated,
    AskReleased,
    Fact,
    Released,
    Termination,
)
from siconform.rm.gang_verbs import GANG_QUEUE, HARD, SOFT, GangVerbs, timed_out
from siconform.rm.handles import Ask, Gang, Limit
from siconform.rm.states import COMPLETED, FAILURE, RESUMING, WAITING
from siconform.rm.timer_verbs import TimerVerbs

SHORT: Final = Limit(seconds=1.5, timeout_ms=1500)
"""What an application says where it can."""


@dataclass(frozen=True, slots=True)
class PartialGang:
    """A gang one of whose placeholders finds no room."""

    gang: Gang
    placeholders: tuple[Allocated, ...]
    pending: Ask


@dataclass(frozen=True, slots=True)
class WaitingGang:
    """A gang whose real allocation has ended while placeholders are left over."""

    gang: Gang
    leftovers: tuple[Allocated, ...]


class GangTimerVerbs(GangVerbs, TimerVerbs):
    """The placeholder timeout, and the end of a gang application."""

    def short_limit(self) -> Limit:
        """Given: a limit for the wait for placeholders that is known and can be waited for."""
        if self.timers.placeholder_from_application_timeout:
            return SHORT
        return self.limit_of_scheduler()

    def limit_of_scheduler(self) -> Limit:
        """Given: the scheduler's own limit is known; the application says that it has none."""
        return Limit(self.placeholder_timeout())

    def has_partial_gang(
        self,
        *,
        members: int = 3,
        memory: int = 2,
        node_memory: int | None = None,
        queue: str = GANG_QUEUE,
        style: str = SOFT,
        limit: Limit | None = None,
    ) -> PartialGang:
        """Given: all placeholders of a gang are allocated but one, which fits no single node.

        Every node takes one of them, and all of ``node_memory`` if it is not given. What the last
        one needs is there as well, its memory on a node without vcore: a scheduler that waits for
        room for the whole gang does not wait.
        """
        for _ in range(members - 1):
            self.has_node(memory=memory if node_memory is None else node_memory)
        self.has_node(memory=memory, vcore=0)
        gang = self.has_gang(members=members, memory=memory, queue=queue, style=style, limit=limit)
        asks = self.asks_placeholders(gang)
        with self.premise("the placeholders that fit are allocated"):
            anyone = [Allocated(ask) for ask in asks]
            placeholders = tuple(self.is_told_one_of(*anyone) for _ in asks[1:])
        keys = {placeholder.key for placeholder in placeholders}
        pending = next(ask for ask in asks if ask not in keys)
        self.is_pending(pending)
        return PartialGang(gang, placeholders, pending)

    def is_told_expiry(self, of: Gang, placeholders: Sequence[Allocated]) -> list[Released]:
        """The placeholder timeout passes: the scheduler wants each of these released."""
        limit = self._seconds(of) + self.patience.timer
        return [self.is_told(timed_out(p), patience=limit) for p in placeholders]

    def has_expired(self, partial: PartialGang) -> list[Released]:
        """Given: the releases a partial gang's timeout brings; confirmed as the RM is told to."""
        with self.premise("a gang with a pending placeholder ask times out"):
            return self.is_told_expiry(partial.gang, partial.placeholders)

    def has_confirmed(self, releases: Sequence[Released]) -> None:
        """Given: these releases are confirmed, and that has taken effect."""
        for release in releases:
            self.confirms(release)
        self.settles()

    def outwaits_gangs(self, *, memory: int) -> None:
        """Wait until a partial gang that begins now has timed out: earlier ones were due before.

        It is the control as well. Its members are larger than any room of the test.
        """
        witness = self.has_partial_gang(memory=memory, style=HARD, limit=self.short_limit())
        with self.control("a gang with a pending placeholder ask times out"):
            self.is_told_expiry(witness.gang, witness.placeholders)

    def has_waiting_gang(self, *, leftovers: int = 1) -> WaitingGang:
        """Given: the only real allocation of a gang was released; placeholders are left over."""
        gang, placeholders = self.has_complete_gang(members=leftovers + 1)
        real, gone = self.has_replaced(gang, placeholders)
        self.releases(real)
        with self.premise("a release by the RM is confirmed"):
            self.is_told(Released(identity=real.identity))
        left = tuple(p for p in placeholders if p is not gone)
        return WaitingGang(gang, left)

    def is_told_waiting(self, application: str, leftovers: Sequence[Allocated] = ()) -> None:
        """The application is reported as waiting, or cleaned up when the time for that is over.

        What shows the latter is the release of its leftover placeholders; without any it is the
        report that the application is completed.
        """
        reported = ApplicationUpdated(application, state=WAITING)
        if self.timers.waiting_to_completed is None:
            with self.premise("the step to waiting is reported, as its end is not known"):
                self.is_told(reported)
            return
        completed = ApplicationUpdated(application, state=COMPLETED)
        self.is_told_one_of(
            reported,
            *([timed_out(p) for p in leftovers] if leftovers else [completed]),
            patience=self.waiting_timeout() + self.patience.timer,
        )

    def is_told_clean_up(self, waiting: WaitingGang) -> list[Released]:
        """The time to be waiting passes: the scheduler wants every leftover released."""
        limit = self.waiting_timeout() + self.patience.timer
        return [self.is_told(timed_out(p), patience=limit) for p in waiting.leftovers]

    def has_clean_up(self, waiting: WaitingGang) -> list[Released]:
        """Given: the releases of the leftovers; confirmed as the RM is told to."""
        with self.premise("the leftovers of a waiting gang are released in time"):
            return self.is_told_clean_up(waiting)

    def _seconds(self, gang: Gang) -> float:
        if gang.limit is None:
            raise PremiseLost(f"no limit was set for the placeholders of {gang}")
        return gang.limit.seconds


def expiry_of(gang: Gang) -> tuple[Fact, ...]:
    """Everything by which a placeholder timeout can show."""
    return (
        Released(application=gang, termination=Termination.TIMEOUT),
        AskReleased(application=gang),
        ApplicationUpdated(gang, state=FAILURE),
        ApplicationUpdated(gang, state=RESUMING),
    )
