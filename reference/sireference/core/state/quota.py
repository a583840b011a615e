"""Quotas: shared maxima of resources and running applications, and what waits for them."""

from typing import Final, Protocol

from sireference.core.model import SchedulingState
from sireference.core.resources import NOTHING, Resource, Total
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.wait_queue import Waiter, WaitQueue, never
from sireference.core.state.wait_reason import WaitReason

_FULL: Final = WaitReason(
    SchedulingState.SKIPPED, "its queue, user or group has reached its maximum"
)
_TAKEN: Final = WaitReason(
    SchedulingState.SKIPPED, "its queue, user or group has no free running slot"
)
_TOO_SMALL: Final = WaitReason(
    SchedulingState.SKIPPED, "there is not enough capacity for its whole gang"
)


class QuotaWaiter(Waiter, Protocol):
    """A waiter for capacity within a quota, or for a running slot."""

    @property
    def gang_need(self) -> Resource | None:
        """Return the total need that the gang of its application announced."""


class Quota:
    """A maximum of resources and of running applications; None means no maximum.

    An application counts against several: those of its leaf and the parent queues, and the limits
    of its user and group there.
    """

    __slots__ = (
        "full",
        "maximum",
        "most_applications",
        "reserved",
        "running",
        "slots_taken",
        "too_small",
        "usage",
        "yielding",
    )

    def __init__(self) -> None:
        self.maximum: Resource | None = None
        self.most_applications: int | None = None
        self.usage = Total()  # by allocations and reservations
        self.reserved = NOTHING  # for asks whose victims must end
        self.yielding = NOTHING  # held by victims of preemption
        self.running = 0  # applications that count
        # those held back by the maximum, and by the number of running applications
        self.full: WaitQueue[QuotaWaiter] = WaitQueue(
            _FULL, lambda waiter: self.has_capacity(waiter.need), NeedIndex()
        )
        self.slots_taken: WaitQueue[QuotaWaiter] = WaitQueue(
            _TAKEN, lambda _: self.has_slot(), is_gate=True
        )
        # placeholder asks, until there is capacity for their whole gang
        self.too_small: WaitQueue[QuotaWaiter] = WaitQueue(
            _TOO_SMALL, self._has_capacity_for_gang, is_gate=True
        )

    @property
    def used(self) -> Resource:
        """Return what allocations and reservations use."""
        return self.usage.value

    def let_go(self) -> None:
        """Drop the references of an unused quota, so that it is freed at once."""
        self.full.may_go = self.slots_taken.may_go = self.too_small.may_go = never

    def has_capacity(self, need: Resource) -> bool:
        """Return whether ``need`` fits below the maximum."""
        return self.maximum is None or need.stays_within(self.used, self.maximum)

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Return whether ``need`` fits now and other reservations still fit after it.

        ``reserved`` is what is reserved for the asker.
        """
        return self.maximum is None or (
            need.stays_within(self.used - self.reserved, self.maximum)
            and need.stays_within(self.used - self.yielding - reserved, self.maximum)
        )

    def has_slot(self) -> bool:
        """Return whether one more application may run."""
        return self.most_applications is None or self.running < self.most_applications

    def book(self, resource: Resource) -> None:
        """Add ``resource`` to the usage."""
        self.usage.add(resource)

    def unbook(self, resource: Resource) -> None:
        """Subtract ``resource`` from the usage."""
        self.usage.subtract(resource)
        self.shrunk()

    def shrunk(self) -> None:
        """Handle lower usage, which is counted already."""
        self.wake_fitting()

    def wake_fitting(self) -> None:
        """Notify waiters that fit below the maximum now."""
        self.full.notify_those(self.has_capacity)
        self.too_small.wake_placeable()

    def _has_capacity_for_gang(self, waiter: QuotaWaiter) -> bool:
        return waiter.gang_need is None or self.has_capacity(waiter.gang_need)

    def reserve(self, resource: Resource) -> None:
        """Reserve ``resource``, even if it must be freed first."""
        self.reserved += resource
        self.book(resource)

    def unreserve(self, resource: Resource) -> None:
        """Undo a reservation."""
        self.reserved -= resource
        self.unbook(resource)

    def application_runs(self) -> None:
        """Count one more running application."""
        self.running += 1

    def application_rests(self) -> None:
        """Count one running application less, and notify waiters for its slot."""
        self.running -= 1
        self.wake_for_slot()

    def wake_for_slot(self) -> None:
        """Notify waiters for a running slot, if one is free."""
        if self.has_slot():
            self.slots_taken.notify_all()


class Quotas(tuple[Quota, ...]):
    """All quotas that an application counts against."""

    __slots__ = ()

    def can_take(
        self, need: Resource, reserved: Resource = NOTHING, *, is_counted: bool = True
    ) -> bool:
        """Return whether all allow ``need`` more, of which ``reserved`` is counted already.

        An application that is not counted needs a running slot as well.
        """
        return all(
            quota.can_take(need, reserved) and (is_counted or quota.has_slot()) for quota in self
        )

    def book(self, resource: Resource) -> None:
        """Add ``resource`` to the usage of each."""
        for quota in self:
            quota.usage.add(resource)

    def unbook(self, resource: Resource) -> None:
        """Subtract ``resource`` from the usage of each."""
        for quota in self:
            quota.unbook(resource)

    def shrunk(self) -> None:
        """Handle lower usage of each, which is counted already."""
        for quota in self:
            quota.shrunk()

    def reserve(self, resource: Resource) -> None:
        """Reserve ``resource`` in each, even if it must be freed first."""
        for quota in self:
            quota.reserve(resource)

    def unreserve(self, resource: Resource) -> None:
        """Undo a reservation in each."""
        for quota in self:
            quota.unreserve(resource)
