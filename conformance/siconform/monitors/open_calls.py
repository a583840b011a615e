"""The callbacks of a scheduler that have no answer yet.

An answer does not name its call, so only that to the single open call is certain.
"""

from typing import Final

from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    CallbacksOffered,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
)
from siconform.recording.history import Content, Entry

CALLS: Final = (PlacementCheck, EvictionCheck, Assumed, Forgotten)
"""The elements of calls that are answered with an error or without."""


class OpenCalls:
    """The calls of the latest offer that have no answer yet."""

    def __init__(self) -> None:
        self._open: dict[int, list[Content]] = {}  # by the number of the message

    def answered_by(self, entry: Entry) -> list[Content]:
        """Return the elements of the call that this answers; none if that is not certain."""
        if isinstance(entry.content, CALLS):
            self._open.setdefault(entry.number, []).append(entry.content)
        elif isinstance(entry.content, CallbacksOffered):
            self._open.clear()
        elif isinstance(entry.content, Answered) and len(self._open) == 1:
            return self._open.popitem()[1]
        return []
