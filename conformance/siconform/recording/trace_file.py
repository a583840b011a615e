"""A trace that is written while messages pass, and never delays them."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, Generic, TypeVar

import msgspec

from siconform.recording.trace_outputs import Output

T = TypeVar("T")

WAITING: Final = 64_000_000  # bytes of messages that may wait for the writer
_EACH: Final = 1000  # bytes that a waiting message takes in addition to its own
_ESSENTIAL: Final = 2  # times the limit, for what others depend on
_AT_ONCE: Final = 100  # messages written before the limits are looked at again
_JSON: Final = msgspec.json.Encoder()


class TraceFile(Generic[T]):
    """JSON lines made by ``records`` from what is put in, on a thread of its own.

    If more than ``limit`` bytes wait, further messages are dropped; a line states how many were.
    After an error nothing more is written. ``report`` is called with a sentence, on that thread,
    at the first drop and at an error.
    """

    def __init__(
        self,
        output: Output,
        records: Callable[[T], Iterable[Mapping[str, Any]]],
        report: Callable[[str], None],
        limit: int = WAITING,
    ) -> None:
        self.dropped = 0  # messages
        self.problem = ""
        self._output = output
        self._records = records
        self._report = report
        self._has_reported = False  # that messages were dropped
        self._limit = limit
        self._began = time.monotonic()
        self._waiting: deque[tuple[T | _Dropped, int]] = deque()
        self._size = 0
        self._unstated: _Dropped | None = None  # not in the queue yet
        self._ends_at: float | None = None  # the time after which nothing is written
        self._changed = threading.Condition()
        self._thread = threading.Thread(
            target=self._write_all, name=f"writes {output.path}", daemon=True
        )
        self._thread.start()

    @property
    def written(self) -> int:
        """The number of lines, headers included."""
        return self._output.lines

    def put(self, one: T, size: int, *, is_essential: bool = False) -> None:
        """Have a message of so many bytes written soon, or drop it; without waiting.

        An essential one, on which later ones depend, is dropped only if the queue is twice as full.
        """
        size += _EACH
        with self._changed:
            if self.problem or self._ends_at is not None:
                return
            limit = self._limit * (_ESSENTIAL if is_essential else 1)
            if self._waiting and self._size + size > limit:
                self._drop(1)
                return
            self._state_dropped()
            self._waiting.append((one, size))
            self._size += size
            self._changed.notify()

    def close(self, within: float) -> None:
        """Write what is waiting, for so many seconds; what remains then is dropped."""
        with self._changed:
            self._ends_at = time.monotonic() + within
            self._changed.notify()
        self._thread.join(within + 1.0)
        if self._thread.is_alive():
            self.problem = self.problem or f"{self._output.path} is not written within {within:g} s"

    def _drop(self, messages: int) -> None:
        if self._unstated is None:
            self._unstated = _Dropped(time.monotonic() - self._began)
        self._unstated.messages += messages
        self.dropped += messages

    def _state_dropped(self) -> None:
        if self._unstated is not None:
            self._waiting.append((self._unstated, 0))
            self._unstated = None

    def _write_all(self) -> None:
        try:
            try:
                while batch := self._next():
                    for one, _ in batch:
                        self._write(one)
                    with self._changed:
                        self._size -= sum(size for _, size in batch)
            finally:
                self._output.close()
        except OSError as error:
            self._stop(f"{self._output.path} cannot be written: {error.strerror}")
        except Exception as error:  # noqa: BLE001  # the exchange goes on without a record
            self._stop(f"internal error: {type(error).__name__}: {error}")

    def _next(self) -> "list[tuple[T | _Dropped, int]]":
        """Wait for messages; return none at the end."""
        with self._changed:
            if not self._waiting:
                self._output.flush()
            while not self._waiting and self._unstated is None and self._ends_at is None:
                self._changed.wait()
            if self._ends_at is not None and time.monotonic() > self._ends_at:
                self._drop_the_rest()
            if not self._waiting:
                self._state_dropped()
            batch = list(islice(self._waiting, _AT_ONCE))
            for _ in batch:
                self._waiting.popleft()
            return batch

    def _drop_the_rest(self) -> None:
        for one, _ in self._waiting:
            if isinstance(one, _Dropped):
                self.dropped -= one.messages  # counted again as part of the rest
                self._drop(one.messages)
            else:
                self._drop(1)
        self._waiting.clear()

    def _write(self, one: "T | _Dropped") -> None:
        if isinstance(one, _Dropped):
            self._report_drop()
            records: Iterable[Mapping[str, Any]] = [one.record()]
        else:
            records = self._records(one)
        for record in records:
            self._output.write(_JSON.encode(record) + b"\n")

    def _report_drop(self) -> None:
        if not self._has_reported:
            self._has_reported = True
            self._report(
                f"{self._output.path} cannot be written as fast as messages pass; some are not "
                "recorded, and the record states how many"
            )

    def _stop(self, problem: str) -> None:
        with self._changed:
            self.problem = problem
            self._waiting.clear()
        self._report(f"{problem}; the exchange continues and is not recorded")


class _Dropped:
    """How many messages were dropped in succession, and when the first was."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.messages = 0

    def record(self) -> Mapping[str, Any]:
        return {"dropped": self.messages, "at": round(self.at, 6)}
