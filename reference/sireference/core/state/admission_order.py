"""Admission order: a leaf admits applications one at a time."""

import bisect
from collections.abc import Iterable
from typing import Any, Final, Generic, Protocol, TypeVar

from sireference.core.model import SchedulingState
from sireference.core.state.timers import Timer
from sireference.core.state.wait_queue import Waiter, WaitQueue
from sireference.core.state.wait_reason import WaitReason

_LATER: Final = WaitReason(
    SchedulingState.SKIPPED, "an older application of its queue has to begin first"
)


class HeldBack(Waiter, Protocol):
    """An ask group that may be held back until its application is admitted."""

    @property
    def waits_in(self) -> WaitQueue[Any] | None:
        """Return where it waits."""


class Applicant(Protocol):
    """An application that waits for admission."""

    @property
    def number(self) -> int:
        """Return the number of the application in order of submission."""

    @property
    def held_back(self) -> Iterable[HeldBack]:
        """Return its ask groups that wait at a gate."""


Kind = TypeVar("Kind", bound=Applicant)


class AdmissionOrder(Generic[Kind]):
    """Applicants in order of age, and the waiting ask groups of all but the first.

    Where a turn is limited in time, ``turn`` is the current applicant with the timer that ends it.
    """

    __slots__ = ("_numbers", "applicants", "turn", "younger")

    def __init__(self) -> None:
        self._numbers: list[int] = []  # of the applicants, the oldest first
        self.applicants: dict[int, Kind] = {}
        self.turn: tuple[Kind, Timer] | None = None
        self.younger: WaitQueue[Any] = WaitQueue(_LATER, is_gate=True)

    def put(self, applicant: Kind, *, is_in: bool) -> None:
        """Set whether ``applicant`` waits for admission."""
        number = applicant.number
        if is_in is (number in self.applicants):
            return
        place = bisect.bisect_left(self._numbers, number)
        if is_in:
            self._numbers.insert(place, number)
            self.applicants[number] = applicant
        else:
            del self._numbers[place]
            del self.applicants[number]

    def first(self) -> Kind | None:
        """Return the oldest, None without any."""
        return self.applicants[self._numbers[0]] if self._numbers else None

    def wake_first(self) -> None:
        """Wake the ask groups of the oldest applicant, which may have changed."""
        first = self.first()
        if first is not None:
            for waiter in [each for each in first.held_back if each.waits_in is self.younger]:
                waiter.wake()
