"""An outbox: messages that wait to be written, and how much they are."""

from collections import deque
from collections.abc import Iterable

from google.protobuf.message import Message


class Outbox:
    """First in, first out; ``size`` is what waits, in bytes."""

    __slots__ = ("_messages", "size")

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self.size = 0

    def put(self, messages: Iterable[Message]) -> None:
        """Let these wait, in this order, after what waits already."""
        for message in messages:
            self.size += message.ByteSize()
            self._messages.append(message)

    def first(self) -> Message:
        """What is to be written next."""
        return self._messages[0]

    def written(self, message: Message) -> None:
        """``message``, which was the first, does not wait any more, unless all were dropped."""
        if self._messages and self._messages[0] is message:
            self._messages.popleft()
            self.size -= message.ByteSize()

    def empty(self) -> list[Message]:
        """Let nothing wait; what that was."""
        dropped = list(self._messages)
        self._messages.clear()
        self.size = 0
        return dropped

    def __len__(self) -> int:
        return len(self._messages)
