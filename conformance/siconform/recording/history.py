"""Everything said and told, with times and bytes: what a verdict can be checked against."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from siconform.protocol.notifications import Fact, UpdateKind, kind_of
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import Request
from siconform.protocol.subjects import Identity
from siconform.recording.clock import WALL, Clock
from siconform.recording.elements import element
from siconform.recording.exchange_text import lines

T = TypeVar("T")

_JSON: Final = json.JSONEncoder(ensure_ascii=False)

Content = Fact | Request | RegistrationRequested


def _kind(content: Content) -> UpdateKind | None:
    """The conversation of an element; the registration belongs to none."""
    match content:
        case RegistrationRequested():
            return None
        case Fact():
            return kind_of(content)
        case _:
            return content.kind


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of one message: when, between whom, what, and the message it came in."""

    at: float  # seconds since the history began, with those that passed in no time
    rm: str
    sent_by_rm: bool
    kind: UpdateKind | None
    content: Content
    message: Message | None
    number: int  # of the message: elements of one message share it
    barrier: bool = False  # the kit's own probe, not part of the test
    moment: float = 0.0  # by the clock of the target's timers

    def brief(self) -> str:
        """The element without what is the same in nearly every message."""
        return self.content.in_brief() if isinstance(self.content, Fact) else str(self.content)

    def record(self) -> dict[str, Any]:
        """As JSON values: the element, its message in proto3 JSON, and the bytes in hex."""
        message = self.message
        return {
            **self.received(),
            "message": message.DESCRIPTOR.full_name if message is not None else None,
            "json": json_format.MessageToDict(message) if message is not None else None,
            "hex": message.SerializeToString().hex() if message is not None else None,
        }

    def received(self) -> dict[str, Any]:
        """As JSON values, without the message the element came in."""
        return {
            "at": round(self.at, 6),
            "moment": round(self.moment, 6),
            "rm": self.rm,
            "from": "rm" if self.sent_by_rm else "scheduler",
            "stream": self.kind.value if self.kind else None,
            "says": str(self.content),
            "brief": self.brief(),
            "same": self.content.in_essence() if isinstance(self.content, Fact) else self.brief(),
            "fence": self.barrier,
            "number": self.number,
            "element": _element(self.content),
        }


def _element(content: Content) -> dict[str, Any] | None:
    """The registration is told by its message alone."""
    if isinstance(content, (RegistrationRequested, RegistrationAnswered)):
        return None
    return element(content)


class History:
    """An append-only record shared by the threads that speak and those that listen.

    ``clock`` is the one the target's timers run by; ``identity`` says who names the allocations.
    """

    def __init__(
        self, clock: Clock = WALL, identity: Identity = Identity.GIVEN_BY_THE_SCHEDULER
    ) -> None:
        self.clock = clock
        self.identity = identity
        self._entries: list[Entry] = []
        self._began = time.monotonic()
        self._messages = 0
        self.changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Entry:
        return self._entries[index]

    def now(self) -> float:
        """Seconds since the history began; virtual time that passed at once counts as if it had."""
        return time.monotonic() - self._began + self.clock.ahead()

    def moment(self) -> float:
        """The time by which the target's timers run."""
        return self.clock.moment(self.now())

    def look(self, find: Callable[[], T | None], seconds: float) -> T | None:
        """What ``find`` finds, looked for whenever something came, for so long on the wall."""
        until = time.monotonic() + seconds
        with self.changed:
            while (found := find()) is None:
                left = until - time.monotonic()
                if left <= 0:
                    return None
                self.changed.wait(left)
            return found

    def add(
        self,
        rm: str,
        contents: Sequence[Content],
        *,
        sent_by_rm: bool,
        message: Message | None = None,
        barrier: Callable[[Content], bool] = lambda _: False,
    ) -> list[Entry]:
        """Append one message's elements; everyone who waits on ``changed`` looks again."""
        with self.changed:
            self._messages += 1
            entries = [
                Entry(
                    self.now(),
                    rm,
                    sent_by_rm,
                    _kind(content),
                    content,
                    message,
                    self._messages,
                    barrier(content),
                    self.moment(),
                )
                for content in contents
            ]
            self._entries.extend(entries)
            self.changed.notify_all()
        return entries

    def since(self, start: int) -> list[Entry]:
        """A copy of the entries from ``start`` on."""
        return self._entries[start:]

    def between(self, start: int, end: int) -> list[Entry]:
        """A copy of the entries from ``start`` up to ``end``, which is left out."""
        return self._entries[start:end]


@dataclass(slots=True)
class Exchange:
    """The part of a history that belongs to one test, with what went before it at hand."""

    history: History
    start: int
    end: int | None = None
    notes: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)  # uses of a freedom the text leaves
    _asides: list[range] = field(default_factory=list)

    def entries(self) -> list[Entry]:
        """What was said and told during the test."""
        return self.history.between(self.start, self.until())

    def everything(self) -> list[Entry]:
        """What was said and told since the history began, up to the end of the test."""
        return self.history.between(0, self.until())

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is said and told meanwhile is no part of the scenario: something is found out."""
        begun = len(self.history)
        try:
            yield
        finally:
            self._asides.append(range(begun, len(self.history)))

    def records(self, *, with_messages: bool = False) -> Iterator[dict[str, Any]]:
        """Every entry as JSON values, and whether it was said aside."""
        for index, entry in enumerate(self.entries(), self.start):
            record = entry.record() if with_messages else entry.received()
            yield {**record, "aside": any(index in received for received in self._asides)}

    def until(self) -> int:
        """The index of the first entry after it."""
        return len(self.history) if self.end is None else self.end

    def render(self) -> str:
        """The exchange with times for a person; of fences only that they were put up."""
        received = lines(self.records())
        shown = (f"{line.at:8.3f}   {line}" for line in received)
        return "\n".join(["  time s   this target", *shown, *self.remarks()])

    def remarks(self) -> list[str]:
        """What stands below the exchange: freedoms that were used, what was not cleared up."""
        return [*(f"  recorded: {capability}" for capability in self.recorded), *self.notes]

    def write_jsonl(self, path: Path, *, with_messages: bool = True) -> None:
        """One JSON object an entry, fences included, and the bytes if not told otherwise."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            for record in self.records(with_messages=with_messages):
                out.write(_JSON.encode(record) + "\n")
