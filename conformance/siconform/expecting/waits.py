"""Waits of tests, reported to listeners: name, limit and time taken."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
)


class WaitClass(StrEnum):
    """Classes of waits: the names of ``Deadlines``, and the barrier, which has twice ``ack``."""

    ACK = "ack"
    PLACE = "place"
    RELEASE = "release"
    TIMER = "timer"
    EVENTS = "events"
    QUIET = "quiet"
    BARRIER = "barrier"


@dataclass(slots=True)
class Wait:
    """A wait; the waiting code sets ``took`` when the element is received."""

    name: str  # as in "waiting for ..."
    limit: float  # seconds allowed
    kind: WaitClass
    took: float | None = None  # seconds, on the clock the limit refers to


class Listener(Protocol):
    """An observer of every wait in its process; it must be quick and never fail."""

    def began(self, wait: Wait) -> None:
        """Handle the start of a wait."""

    def ended(self, wait: Wait) -> None:
        """Handle the end of a wait, successful or not."""


_LISTENERS: Final[list[Listener]] = []


def listen(listener: Listener) -> None:
    """Register a listener for every wait from now on."""
    _LISTENERS.append(listener)


@contextmanager
def waiting(name: str, limit: float, kind: WaitClass) -> Iterator[Wait]:
    """Report a wait of at most ``limit`` seconds to the listeners."""
    wait = Wait(name, limit, kind)
    for listener in _LISTENERS:
        listener.began(wait)
    try:
        yield wait
    finally:
        for listener in _LISTENERS:
            listener.ended(wait)


_BY_TERMINATION: Final = {
    Termination.TIMEOUT: "a placeholder timeout",
    Termination.PLACEHOLDER_REPLACED: "the replacement of a placeholder",
    Termination.PREEMPTED_BY_SCHEDULER: "a preemption",
}
_BY_TYPE: Final[dict[type[Fact], str]] = {
    NodeAccepted: "the answer about a node",
    NodeRejected: "the answer about a node",
    ApplicationAccepted: "the answer about an application",
    ApplicationRejected: "the answer about an application",
    ApplicationUpdated: "a state of an application",
    Allocated: "an allocation",
    Released: "a release",
    AskReleased: "the end of an ask",
    AskRejected: "the rejection of an ask",
    StreamEnded: "the end of a stream",
}


def name_of(patterns: tuple[Fact, ...]) -> str:
    """Return a short name of the wait for one of these."""
    names = dict.fromkeys(_name(pattern) for pattern in patterns)
    return " or ".join(names)


def _name(pattern: Fact) -> str:
    termination = getattr(pattern, "termination", None)
    if isinstance(termination, Termination) and termination in _BY_TERMINATION:
        return _BY_TERMINATION[termination]
    return _BY_TYPE.get(type(pattern), pattern.words())
