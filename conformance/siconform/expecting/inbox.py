"""What one RM was told during a test, and what of it has answered an expectation."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from siconform.expecting.link import Link
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    ApplicationUpdated,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
    kind_of,
)
from siconform.protocol.requests import AskRequest, ExistingAllocationRequest
from siconform.recording.history import Entry, Exchange

F = TypeVar("F", bound=Fact)


class Inbox:
    """What is told, element by element. Each of them answers one expectation only."""

    def __init__(self, link: Link, exchange: Exchange) -> None:
        self._link = link
        self._exchange = exchange
        self._taken: set[int] = set()  # indexes of entries that answered an expectation
        self._open_releases: dict[tuple[str, Termination], int] = {}  # that answered one: index

    def observe(self, pattern: F) -> list[F]:
        """Every element of this test so far that matches, whether it answered something or not."""
        return [
            content
            for _, entry in self.received()
            if isinstance(content := entry.content, type(pattern)) and pattern.matches(content)
        ]

    def find(self, patterns: tuple[Fact, ...]) -> tuple[int, Fact] | None:
        """The first element that matches and has answered nothing, with its index."""
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
        """The element, which has answered an expectation with this."""
        self._taken.add(index)
        if isinstance(fact, Released) and fact.termination in BY_THE_SCHEDULER:
            self._open_releases[fact.identity, fact.termination] = index
        return fact

    def take_since(self, index: int) -> None:
        """Whatever was told from this index on answers nothing any more."""
        self._taken.update(received for received, _ in self.received() if received >= index)

    def received(self) -> Iterator[tuple[int, Entry]]:
        """Every element this RM was told, answers to fences left out, with its index."""
        start = self._exchange.start
        for offset, entry in enumerate(self._exchange.entries()):
            if (
                not entry.sent_by_rm
                and not entry.barrier
                and entry.rm == self._link.connection.rm_id
            ):
                yield start + offset, entry

    def related(self, patterns: tuple[Fact, ...]) -> Fact | None:
        """The last unheard element about the same thing, such as a rejection instead.

        A state of an application is never meant: it may be reported at any time, whatever else is.
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
        """The end of the stream all patterns would come on, if it ended and was not reopened."""
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
        """Whether this was heard before: a release may be repeated until it is confirmed."""
        if not isinstance(received, Released):
            return False
        before = self._open_releases.get((received.identity, received.termination))
        return before is not None and not is_renamed(
            received.identity, self._exchange.history.between(before, index)
        )


def is_renamed(identity: str, entries: Iterable[Entry]) -> bool:
    """Whether in between the RM asked for or reported what is called so: then it is another one."""
    return any(
        entry.sent_by_rm
        and (
            (isinstance(sent := entry.content, AskRequest) and sent.key == identity)
            or (isinstance(sent, ExistingAllocationRequest) and sent.allocation.key == identity)
        )
        for entry in entries
    )


def _same_subject(pattern: Fact, received: Fact) -> bool:
    subjects = (
        ("node",) if isinstance(pattern, (NodeAccepted, NodeRejected)) else ("key", "application")
    )
    for name in subjects:
        wanted = getattr(pattern, name, None)
        if isinstance(wanted, str) and wanted and agree(wanted, getattr(received, name, None)):
            return True
    return False
