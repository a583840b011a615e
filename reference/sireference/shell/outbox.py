"""An outbox: messages that wait to be written, and how much they are.

They wait serialized: as objects they would take ten times the memory that is counted.
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
        self._marks: deque[tuple[int, Callable[[], None]]] = deque()  # by what is to be written

    def put(self, messages: Iterable[bytes]) -> None:
        """Let these wait, in this order, after what waits already."""
        for message in messages:
            self.size += len(message)
            self._messages.append(message)

    def first(self) -> bytes:
        """What is to be written next."""
        return self._messages[0]

    def written(self, message: bytes) -> None:
        """``message``, which was the first, does not wait any more, unless all were dropped."""
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
        """Let nothing wait; what that was."""
        dropped = list(self._messages)
        self._messages.clear()
        self.size = 0
        self._marks.clear()
        return dropped

    def rest(self) -> list[bytes]:
        """Let nothing wait but the first; what that was."""
        waiting = self.empty()
        self.put(waiting[:1])
        return waiting[1:]

    def __len__(self) -> int:
        return len(self._messages)
