"""Outbox: messages that wait to be written, and their size.

They wait in serialised form: as objects they would take ten times the memory counted.
"""

from collections import deque
from collections.abc import Callable, Iterable


class Outbox:
    """First in, first out; ``size`` is what waits, in bytes."""

    __slots__ = ("_marks", "_messages", "_written", "size")

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self.size = 0
        self._written = 0  # messages
        self._marks: deque[tuple[int, Callable[[], None]]] = deque()  # by messages written before

    def put(self, messages: Iterable[bytes]) -> None:
        """Append messages in order."""
        for message in messages:
            self.size += len(message)
            self._messages.append(message)

    def first(self) -> bytes:
        """Return the next message to write."""
        return self._messages[0]

    def written(self, message: bytes) -> None:
        """Remove ``message``, the first, after it was written, unless all were dropped."""
        if self._messages and self._messages[0] is message:
            self._messages.popleft()
            self.size -= len(message)
            self._written += 1
            while self._marks and self._marks[0][0] <= self._written:
                self._marks.popleft()[1]()

    def once_written(self, then: Callable[[], None]) -> None:
        """Call ``then`` when all that waits now is written; never if that does not happen here."""
        self._marks.append((self._written + len(self._messages), then))

    def empty(self) -> list[bytes]:
        """Remove and return everything that waits."""
        dropped = list(self._messages)
        self._messages.clear()
        self.size = 0
        self._marks.clear()
        return dropped

    def rest(self) -> list[bytes]:
        """Remove and return everything but the first."""
        waiting = self.empty()
        self.put(waiting[:1])
        return waiting[1:]

    def __len__(self) -> int:
        return len(self._messages)
