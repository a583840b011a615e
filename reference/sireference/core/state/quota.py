"""A quota: what those who share it may use together, and who waits for it."""

from typing import Final, Protocol

from sireference.core.model import SchedulingState
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.wait_queue import Waiter, WaitQueue, never
from sireference.core.state.wait_reason import WaitReason

_FULL: Final = WaitReason(SchedulingState.SKIPPED, "its queue, user or group has all it may have")
_TAKEN: Final = WaitReason(
    SchedulingState.SKIPPED, "as many applications of its queue, user or group run as may run"
)
_TOO_SMALL: Final = WaitReason(SchedulingState.SKIPPED, "there is no room yet for all of its gang")


class QuotaWaiter(Waiter, Protocol):
    """Who may wait for room below a quota, or for a place among those that run."""

    @property
    def gang_need(self) -> Resource | None:
        """What the whole gang of its application announced to need."""


class Quota:
    """A maximum of resources and of running applications; None is no maximum.

    An application counts against several: those of its leaf and the queues above, and the limits
    its user and group have there.
    """

    __slots__ = (
        "full",
        "maximum",
        "most_applications",
        "reserved",
        "running",
        "slots_taken",
        "too_small",
        "used",
        "yielding",
    )

    def __init__(self) -> None:
        self.maximum: Resource | None = None
        self.most_applications: int | None = None
        self.used = NOTHING  # by allocations, and what is reserved
        self.reserved = NOTHING  # for asks whose victims are to go
        self.yielding = NOTHING  # held by victims of preemption
        self.running = 0  # applications that count
        # those turned away by the maximum, and because enough applications run
        self.full: WaitQueue[QuotaWaiter] = WaitQueue(
            _FULL, lambda waiter: self.has_capacity(waiter.need), NeedIndex()
        )
        self.slots_taken: WaitQueue[QuotaWaiter] = WaitQueue(
            _TAKEN, lambda _: self.has_slot(), is_gate=True
        )
        # placeholder asks until there is room for their whole gang
        self.too_small: WaitQueue[QuotaWaiter] = WaitQueue(
            _TOO_SMALL, self._has_capacity_for_gang, is_gate=True
        )

    def let_go(self) -> None:
        """Drop the references of a quota nobody counts against, so that it is freed at once."""
        self.full.may_go = self.slots_taken.may_go = self.too_small.may_go = never

    def has_capacity(self, need: Resource) -> bool:
        """Whether ``need`` fits below the maximum."""
        return self.maximum is None or need.stays_within(self.used, self.maximum)

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Whether ``need`` fits now, and what is reserved for others still fits after it.

        ``reserved`` is what is reserved for the one who asks.
        """
        return self.maximum is None or (
            need.stays_within(self.used - self.reserved, self.maximum)
            and need.stays_within(self.used - self.yielding - reserved, self.maximum)
        )

    def has_slot(self) -> bool:
        """Whether one more application may run."""
        return self.most_applications is None or self.running < self.most_applications

    def book(self, resource: Resource) -> None:
        """Count ``resource``."""
        self.used += resource

    def unbook(self, resource: Resource) -> None:
        """Count ``resource`` no more."""
        self.used -= resource
        self.shrunk()

    def shrunk(self) -> None:
        """Somebody uses less than before, which is counted already."""
        self.wake_those_with_capacity()

    def wake_those_with_capacity(self) -> None:
        """Notify those that the maximum turned away and that would fit now."""
        self.full.notify_those(self.has_capacity)
        self.too_small.wake_those_that_may_go()

    def _has_capacity_for_gang(self, waiter: QuotaWaiter) -> bool:
        return waiter.gang_need is None or self.has_capacity(waiter.gang_need)

    def reserve(self, resource: Resource) -> None:
        """Keep ``resource`` for somebody, even if it has to come free first."""
        self.reserved += resource
        self.book(resource)

    def unreserve(self, resource: Resource) -> None:
        """Give back what was reserved."""
        self.reserved -= resource
        self.unbook(resource)

    def application_runs(self) -> None:
        """Count one more running application."""
        self.running += 1

    def application_rests(self) -> None:
        """Count one running application less, and look again at those that waited for its place."""
        self.running -= 1
        self.wake_those_with_slot()

    def wake_those_with_slot(self) -> None:
        """Notify those that wait for a place, if there is one."""
        if self.has_slot():
            self.slots_taken.notify_all()


class Quotas(tuple[Quota, ...]):
    """All that an application counts against."""

    __slots__ = ()

    def can_take(
        self, need: Resource, reserved: Resource = NOTHING, *, is_counted: bool = True
    ) -> bool:
        """Whether all can take ``need`` more, of which ``reserved`` is kept already.

        An application that is not counted needs a place among those that run as well.
        """
        return all(
            quota.can_take(need, reserved) and (is_counted or quota.has_slot()) for quota in self
        )

    def book(self, resource: Resource) -> None:
        """Count ``resource`` in each."""
        for quota in self:
            quota.book(resource)

    def unbook(self, resource: Resource) -> None:
        """Count ``resource`` no more."""
        for quota in self:
            quota.unbook(resource)

    def shrunk(self) -> None:
        """Somebody uses less of each than before, which is counted already."""
        for quota in self:
            quota.shrunk()

    def reserve(self, resource: Resource) -> None:
        """Keep ``resource`` in each, even if it has to come free first."""
        for quota in self:
            quota.reserve(resource)

    def unreserve(self, resource: Resource) -> None:
        """Give back what was reserved, in each."""
        for quota in self:
            quota.unreserve(resource)
