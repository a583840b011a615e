"""The order in which a leaf admits applications of which only one may begin at a time."""

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
    """Who may be held back until its application is admitted."""

    @property
    def waits_in(self) -> WaitQueue[Any] | None:
        """Where it waits."""


class Applicant(Protocol):
    """An application that wants to be admitted."""

    @property
    def number(self) -> int:
        """Counts applications in the order they came."""

    @property
    def held_back(self) -> Iterable[HeldBack]:
        """What of it waits at a gate."""


Kind = TypeVar("Kind", bound=Applicant)


class AdmissionOrder(Generic[Kind]):
    """Those who want to be admitted, the oldest first, and what waits of all the others.

    Where a turn does not last for ever, ``turn`` is whose it is, with the timer that ends it.
    """

    __slots__ = ("_applicants", "_numbers", "turn", "younger")

    def __init__(self) -> None:
        self._numbers: list[int] = []  # of the applicants, the oldest first
        self._applicants: dict[int, Kind] = {}
        self.turn: tuple[Kind, Timer] | None = None
        self.younger: WaitQueue[Any] = WaitQueue(_LATER, is_gate=True)

    def put(self, applicant: Kind, *, is_in: bool) -> None:
        """Say whether ``applicant`` wants to be admitted."""
        number = applicant.number
        if is_in is (number in self._applicants):
            return
        place = bisect.bisect_left(self._numbers, number)
        if is_in:
            self._numbers.insert(place, number)
            self._applicants[number] = applicant
        else:
            del self._numbers[place]
            del self._applicants[number]

    def first(self) -> Kind | None:
        """The oldest, None without any."""
        return self._applicants[self._numbers[0]] if self._numbers else None

    def wake_first(self) -> None:
        """The oldest may be another one: wake what of it waits here."""
        first = self.first()
        if first is not None:
            for waiter in [each for each in first.held_back if each.waits_in is self.younger]:
                waiter.wake()
