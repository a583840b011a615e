"""Recent events: registrations, departures and messages to resource managers."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sireference.core.model import (
    Answer,
    ConnectionLost,
    Effect,
    Event,
    Refused,
    Register,
    ShutDown,
    is_answer,
)

_KEPT: Final = 200
_COMING_AND_GOING: Final[Mapping[type[Event], str]] = {
    Register: "registered",
    ConnectionLost: "lost its connection",
    ShutDown: "shut down",
}

News = Answer | Refused | str


@dataclass(frozen=True, slots=True)
class Recent:
    """The ``number``-th event, of or for an RM, at ``at`` (seconds since the epoch)."""

    number: int
    at: float
    rm_id: str
    news: News


class RecentEvents:
    """The latest events; older ones are forgotten."""

    def __init__(self) -> None:
        self._last: deque[tuple[float, str, News]] = deque(maxlen=_KEPT)
        self._count = 0

    def event(self, event: Event, now: float) -> None:
        """Record the event if an RM came or went."""
        news = _COMING_AND_GOING.get(type(event))
        if news is not None:
            self._note([(now, event.rm_id, news)])

    def effects(self, effects: Iterable[Effect], now: float) -> None:
        """Record effects sent to an RM."""
        self._note(
            [
                (now, effect.rm_id, effect)
                for effect in effects
                if is_answer(effect) or isinstance(effect, Refused)
            ]
        )

    def all(self) -> list[Recent]:
        """Return all remembered events, the latest first."""
        return [Recent(self._count - later, *one) for later, one in enumerate(reversed(self._last))]

    def _note(self, news: list[tuple[float, str, News]]) -> None:
        self._count += len(news)
        self._last.extend(news)
