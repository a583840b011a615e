"""An outbox: messages that wait to be written, and how much they are.

They wait serialized: as objects they would take ten times the memory that is counted.
"""

from collections import deque
from collections.abc import Iterable


class Outbox:
    """First in, first out; ``size`` is what waits, in bytes."""

    __slots__ = ("_messages", "size")

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self.size = 0

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

    def empty(self) -> list[bytes]:
        """Let nothing wait; what that was."""
        dropped = list(self._messages)
        self._messages.clear()
        self.size = 0
        return dropped

    def rest(self) -> list[bytes]:
        """Let nothing wait but the first; what that was."""
        waiting = self.empty()
        self.put(waiting[:1])
        return waiting[1:]

    def __len__(self) -> int:
        return len(self._messages)
