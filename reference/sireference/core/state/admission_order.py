"""A succession: applications of one leaf that come one after the other, the oldest first."""

import bisect
from typing import TYPE_CHECKING, Final

from sireference.core.model import SchedulingState
from sireference.core.state.ask_group import WaitReason
from sireference.core.state.wait_queue import WaitQueue

if TYPE_CHECKING:
    from sireference.core.state.application import Application
    from sireference.core.state.timers import Timer


_LATER: Final = WaitReason(
    SchedulingState.SKIPPED, "an older application of its queue has to begin first"
)


class AdmissionOrder:
    """Those who want to come, and the lines of all but the first.

    Where a turn does not last for ever, ``turn`` is whose it is, with the timer that ends it.
    """

    __slots__ = ("_applications", "_numbers", "turn", "younger")

    def __init__(self) -> None:
        self._numbers: list[int] = []  # of the applications, the oldest first
        self._applications: dict[int, Application] = {}
        self.turn: tuple[Application, Timer] | None = None
        # lines whose turn comes after an older application
        self.younger = WaitQueue(_LATER, is_gate=True)

    def put(self, application: "Application", *, is_in: bool) -> None:
        """Whether ``application`` wants to come."""
        number = application.number
        if is_in is (number in self._applications):
            return
        place = bisect.bisect_left(self._numbers, number)
        if is_in:
            self._numbers.insert(place, number)
            self._applications[number] = application
        else:
            del self._numbers[place]
            del self._applications[number]

    def first(self) -> "Application | None":
        """The oldest, None without any."""
        return self._applications[self._numbers[0]] if self._numbers else None

    def wake_first(self) -> None:
        """The oldest may be another one: wake what it has here."""
        first = self.first()
        if first is not None:
            for ask_group in list(first.held_back):
                if ask_group.waits_in is self.younger:
                    first.wake(ask_group)
