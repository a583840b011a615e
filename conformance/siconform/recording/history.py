"""The history of all messages, with times and bytes, against which verdicts can be checked."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec
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

_JSON: Final = msgspec.json.Encoder()

Content = Fact | Request | RegistrationRequested


def kind_of_content(content: Content) -> UpdateKind | None:
    """Return the conversation of an element; None for the registration."""
    match content:
        case RegistrationRequested():
            return None
        case Fact():
            return kind_of(content)
        case _:
            return content.kind


class Entry(msgspec.Struct, frozen=True):
    """One element of a message: when, between whom, what, and the message itself."""

    at: float  # seconds since the history began, including skipped ones
    rm: str
    sent_by_rm: bool
    kind: UpdateKind | None
    content: Content
    message: Message | None
    number: int  # of the message: its elements share it
    barrier: bool = False  # belongs to a barrier, not to the test
    moment: float = 0.0  # on the clock of the target's timers

    def with_content(self, content: Content) -> "Entry":
        """Return the entry with another element in the same message."""
        return msgspec.structs.replace(self, content=content)

    def brief(self) -> str:
        """Return the text without fields that are the same in nearly every message."""
        return self.content.in_brief() if isinstance(self.content, Fact) else str(self.content)

    def record(self) -> dict[str, Any]:
        """Return JSON values: the element, its message in proto3 JSON, and the bytes in hex."""
        message = self.message
        return {
            **self.received(),
            "message": message.DESCRIPTOR.full_name if message is not None else None,
            "json": json_format.MessageToDict(message) if message is not None else None,
            "hex": message.SerializeToString().hex() if message is not None else None,
        }

    def received(self) -> dict[str, Any]:
        """Return JSON values without the message."""
        content = self.content
        brief = same = text = str(content)
        if isinstance(content, Fact):
            brief, same = content.in_brief(), content.comparable_text()
        return {
            "at": round(self.at, 6),
            "moment": round(self.moment, 6),
            "rm": self.rm,
            "from": "rm" if self.sent_by_rm else "scheduler",
            "stream": self.kind.value if self.kind else None,
            "says": text,
            "brief": brief,
            "same": same,
            "fence": self.barrier,
            "number": self.number,
            "element": _element(content),
        }


def _element(content: Content) -> dict[str, Any] | None:
    """Return the element as JSON; None for the registration, which has only its message."""
    if isinstance(content, (RegistrationRequested, RegistrationAnswered)):
        return None
    return element(content)


class History:
    """An append-only record shared by sending and listening threads.

    ``clock`` is that of the target's timers; ``identity`` is the party that names allocations.
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

    @classmethod
    def of(cls, entries: Sequence[Entry], identity: Identity) -> Self:
        """Return a history that was recorded earlier."""
        history = cls(identity=identity)
        history._entries = list(entries)
        return history

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: int) -> Entry:
        return self._entries[index]

    def now(self) -> float:
        """Return the seconds since the history began, including skipped virtual time."""
        return time.monotonic() - self._began + self.clock.ahead()

    def moment(self) -> float:
        """Return the time on the clock of the target's timers."""
        return self.clock.moment(self.now())

    def look(self, find: Callable[[], T | None], seconds: float) -> T | None:
        """Call ``find`` at every new entry, for this long in real time; return its result."""
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
        """Append the elements of one message and notify all that wait on ``changed``."""
        with self.changed:
            self._messages += 1
            entries = [
                Entry(
                    self.now(),
                    rm,
                    sent_by_rm,
                    kind_of_content(content),
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
        """Return a copy of the entries from ``start`` on."""
        return self._entries[start:]

    def between(self, start: int, end: int) -> list[Entry]:
        """Return a copy of the entries from ``start`` up to, but excluding, ``end``."""
        return self._entries[start:end]


@dataclass(slots=True)
class Exchange:
    """The part of a history that belongs to one test, with access to what came before."""

    history: History
    start: int
    end: int | None = None
    notes: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)  # uses of a freedom of the specification
    _asides: list[range] = field(default_factory=list)

    def entries(self) -> list[Entry]:
        """Return the entries of the test."""
        return self.history.between(self.start, self.until())

    def everything(self) -> list[Entry]:
        """Return all entries from the start of the history to the end of the test."""
        return self.history.between(0, self.until())

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Mark the entries of this block as not part of the scenario: they probe behaviour."""
        begun = len(self.history)
        try:
            yield
        finally:
            self._asides.append(range(begun, len(self.history)))

    def records(self, *, with_messages: bool = False) -> Iterator[dict[str, Any]]:
        """Yield every entry as JSON values, with whether it is aside."""
        for index, entry in enumerate(self.entries(), self.start):
            record = entry.record() if with_messages else entry.received()
            yield {**record, "aside": any(index in aside for aside in self._asides)}

    def until(self) -> int:
        """Return the index of the first entry after the test."""
        return len(self.history) if self.end is None else self.end

    def render(self) -> str:
        """Return the exchange with times as text; each barrier is shown as one note."""
        shown = (f"{line.at:8.3f}   {line}" for line in lines(self.records()))
        return "\n".join(["  time s   this target", *shown, *self.remarks()])

    def remarks(self) -> list[str]:
        """Return the lines below the exchange: recorded behaviour and failed clean-up."""
        return [*(f"  recorded: {capability}" for capability in self.recorded), *self.notes]

    def write_jsonl(self, path: Path, *, with_messages: bool = True) -> None:
        """Write one JSON object per entry, with barriers and, by default, the bytes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_JSON.encode_lines(self.records(with_messages=with_messages)))
