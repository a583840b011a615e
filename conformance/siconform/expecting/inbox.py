"""What one RM received during a test, and which of it was expected."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from siconform.expecting.link import Link
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    ApplicationUpdated,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
    kind_of,
)
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry, Exchange

F = TypeVar("F", bound=Fact)
Ended = tuple[str, str]
"""What a release ends: an allocation by its identity, or else all of an application."""


class Inbox:
    """Received elements in order. Each element satisfies one expectation only."""

    def __init__(self, link: Link, exchange: Exchange) -> None:
        self._link = link
        self._exchange = exchange
        self._taken: set[int] = set()  # indexes of entries that satisfied an expectation
        self._open_releases: dict[tuple[Ended, Termination], int] = {}  # expected ones, with index

    def observe(self, pattern: F) -> list[F]:
        """Return every matching element of this test so far, whether or not it was expected."""
        return [
            content
            for _, entry in self.received()
            if isinstance(content := entry.content, type(pattern)) and pattern.matches(content)
        ]

    def find(self, patterns: tuple[Fact, ...]) -> tuple[int, Fact] | None:
        """Return the first unconsumed element that matches, with its index."""
        for index, entry in self.received():
            content = entry.content
            if (
                index in self._taken
                or not isinstance(content, Fact)
                or self._repeats(index, content)
            ):
                continue
            if any(pattern.matches(content) for pattern in patterns):
                return index, content
        return None

    def take(self, index: int, fact: Fact) -> Fact:
        """Consume the element for an expectation."""
        self._taken.add(index)
        if isinstance(fact, Released) and fact.termination in BY_THE_SCHEDULER:
            self._open_releases[ended_by(fact.subject), fact.termination] = index
        return fact

    def take_since(self, index: int) -> None:
        """Consume every element received from this index on."""
        self._taken.update(received for received, _ in self.received() if received >= index)

    def received(self) -> Iterator[tuple[int, Entry]]:
        """Return every element this RM received, except answers to barriers, with its index."""
        start = self._exchange.start
        for offset, entry in enumerate(self._exchange.entries()):
            if (
                not entry.sent_by_rm
                and not entry.barrier
                and entry.rm == self._link.connection.rm_id
            ):
                yield start + offset, entry

    def related(self, patterns: tuple[Fact, ...]) -> Fact | None:
        """Return the last unconsumed element about the same subject, such as a rejection.

        Application states are left out: they may be reported at any time.
        """
        last = None
        conversations = {kind_of(pattern) for pattern in patterns}
        for index, entry in self.received():
            content = entry.content
            if index in self._taken or not isinstance(content, Fact):
                continue
            if isinstance(content, ApplicationUpdated):
                continue
            elsewhere = kind_of(content) not in conversations
            if not elsewhere and any(_same_subject(pattern, content) for pattern in patterns):
                last = content
        return last

    def end_of_stream(self, patterns: tuple[Fact, ...]) -> StreamEnded | None:
        """Return the end of the stream all patterns belong to, if it ended and was not reopened."""
        kinds = {kind_of(p) for p in patterns}
        kind, *more = kinds
        if kind is None or more or any(isinstance(p, StreamEnded) for p in patterns):
            return None
        if self._link.connection.is_open(kind):
            return None
        ends = [
            entry.content
            for _, entry in self.received()
            if isinstance(entry.content, StreamEnded) and entry.kind is kind
        ]
        return ends[-1] if ends else None

    def _repeats(self, index: int, received: Fact) -> bool:
        """Return whether this repeats a release, which is allowed until it is confirmed.

        Or the last state of an application, with the time of that transition.
        """
        if isinstance(received, ApplicationUpdated):
            return self._repeats_state(index, received)
        if not isinstance(received, Released):
            return False
        ended = ended_by(received.subject)
        before = self._open_releases.get((ended, received.termination))
        return before is not None and not is_renamed(
            ended, self._exchange.history.between(before, index)
        )

    def _repeats_state(self, index: int, received: ApplicationUpdated) -> bool:
        last: tuple[int, ApplicationUpdated] | None = None
        for before, entry in self.received():
            if before >= index:
                break
            update = entry.content
            if (
                isinstance(update, ApplicationUpdated)
                and update.application == received.application
            ):
                last = before, update
        if last is None or last[1] != received:
            return False
        between = self._exchange.history.between(last[0], index)
        return not is_renamed(("", received.application), between)


def ended_by(subject: OneAllocation | AllOf) -> Ended:
    """Return what a release is about."""
    if isinstance(subject, OneAllocation):
        return subject.identity, ""
    return "", subject.application


def is_renamed(ended: Ended, entries: Iterable[Entry]) -> bool:
    """Return whether the RM reused or reported this in between: a new life begins."""
    identity, application = ended
    return any(
        entry.sent_by_rm
        and (
            (isinstance(sent := entry.content, AskRequest) and sent.key == identity)
            or (isinstance(sent, ApplicationRequest) and sent.application == application)
            or (isinstance(sent, ExistingAllocationRequest) and _names(sent.allocation, identity))
            or (isinstance(sent, NodeRequest) and any(_names(e, identity) for e in sent.existing))
        )
        for entry in entries
    )


def _names(existing: Allocated, identity: str) -> bool:
    return identity in (existing.identity, existing.key)


def _same_subject(pattern: Fact, received: Fact) -> bool:
    subjects = (
        ("node",) if isinstance(pattern, (NodeAccepted, NodeRejected)) else ("key", "application")
    )
    for name in subjects:
        wanted = getattr(pattern, name, None)
        if isinstance(wanted, str) and wanted and agree(wanted, getattr(received, name, None)):
            return True
    return False
