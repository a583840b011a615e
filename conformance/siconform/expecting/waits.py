"""What a test waits for, told to whoever listens: its name, how long at most, how long it took."""

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
    """Whose limit a wait has: the names of ``Deadlines``, and the fence, which has two of them."""

    ACK = "ack"
    PLACE = "place"
    RELEASE = "release"
    TIMER = "timer"
    EVENTS = "events"
    QUIET = "quiet"
    BARRIER = "fence"


@dataclass(slots=True)
class Wait:
    """Something that is waited for; who waits enters what it ``took`` once it came."""

    name: str  # as in "waiting for ..."
    limit: float  # seconds it is allowed
    kind: WaitClass
    took: float | None = None  # seconds, by the clock that the limit is of


class Listener(Protocol):
    """Learns of every wait in its process; what it does must be quick and never fail."""

    def began(self, wait: Wait) -> None:
        """Somebody waits from now on."""

    def ended(self, wait: Wait) -> None:
        """It came, or did not come in time."""


_LISTENERS: Final[list[Listener]] = []


def listen(listener: Listener) -> None:
    """Be told of every wait from now on."""
    _LISTENERS.append(listener)


def stop_listening(listener: Listener) -> None:
    """Be told no more; harmless for one that never was."""
    if listener in _LISTENERS:
        _LISTENERS.remove(listener)


@contextmanager
def waiting(name: str, limit: float, kind: WaitClass) -> Iterator[Wait]:
    """Around a wait for so many seconds at most."""
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
    """What waits for one of these is a wait for, in a few words."""
    names = dict.fromkeys(_name(pattern) for pattern in patterns)
    return " or ".join(names)


def _name(pattern: Fact) -> str:
    termination = getattr(pattern, "termination", None)
    if isinstance(termination, Termination) and termination in _BY_TERMINATION:
        return _BY_TERMINATION[termination]
    return _BY_TYPE.get(type(pattern), pattern.words())
