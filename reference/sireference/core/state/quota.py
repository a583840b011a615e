"""A quota: what those who share it may use together, and who waits for it."""

from typing import Final

from sireference.core.model import SchedulingState
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.ask_group import WaitReason
from sireference.core.state.needs import Needs
from sireference.core.state.wait_queue import WaitQueue, never

_FULL: Final = WaitReason(SchedulingState.SKIPPED, "its queue, user or group has all it may have")
_TAKEN: Final = WaitReason(
    SchedulingState.SKIPPED, "as many applications of its queue, user or group run as may run"
)
_TOO_SMALL: Final = WaitReason(SchedulingState.SKIPPED, "there is no room yet for all of its gang")


class Quota:
    """A maximum of resources and of running applications; None is no maximum.

    An application counts against several: those of its leaf and the queues above, and the limits
    its user and group have there.
    """

    __slots__ = (
        "full",
        "gates",
        "maximum",
        "most_applications",
        "reserved",
        "running",
        "slots_taken",
        "used",
        "yielding",
    )

    def __init__(self) -> None:
        self.maximum: Resource | None = None
        self.most_applications: int | None = None
        self.used = NOTHING  # by allocations, and what is promised
        self.reserved = NOTHING  # to asks whose victims are to go
        self.yielding = NOTHING  # held by victims of preemption
        self.running = 0  # applications that count
        # lines turned away by the maximum, and because enough applications run
        self.full = WaitQueue(_FULL, lambda ask_group: self.has_room(ask_group.need), Needs())
        self.slots_taken = WaitQueue(_TAKEN, lambda _: self.has_slot(), is_gate=True)
        # placeholder lines until there is room for their whole gang
        self.gates = WaitQueue(_TOO_SMALL, is_gate=True)

    def let_go(self) -> None:
        """Nobody counts against it any more: it refers to itself no more, and so goes at once."""
        self.full.may_go = self.slots_taken.may_go = never

    def has_room(self, need: Resource) -> bool:
        """Whether ``need`` fits below the maximum."""
        return self.maximum is None or need.stays_within(self.used, self.maximum)

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Whether ``need`` fits now, and what was promised to others still fits after it.

        ``promised`` is what was promised to the one who asks.
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
        self.wake_those_with_room()

    def wake_those_with_room(self) -> None:
        """Call the lines that the maximum turned away and that would fit now."""
        self.full.notify_those(self.has_room)
        for ask_group in list(self.gates):
            gang = ask_group.application.submitted.placeholder_ask
            if gang is None or self.has_room(gang):
                ask_group.application.wake(ask_group)

    def reserve(self, resource: Resource) -> None:
        """Keep ``resource`` for somebody, even if it has to come free first."""
        self.reserved += resource
        self.book(resource)

    def unreserve(self, resource: Resource) -> None:
        """Keep it no more."""
        self.reserved -= resource
        self.unbook(resource)

    def application_runs(self) -> None:
        """One more application counts."""
        self.running += 1

    def application_rests(self) -> None:
        """One application less counts; those that waited for its place are worth a look."""
        self.running -= 1
        if self.has_slot():
            self.slots_taken.notify_all()
