"""Certainty: from when on it is certain that what the RM said was processed, and its news are here.

Nothing orders the streams, and what was told before the scheduler heard of something may come
after it. So a fence that was put up afterwards, on the stream it was said on, has to be answered,
and after that one on the allocation stream. What was said on a stream that ended before may be lost
with it, and is never certain.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from siconform.monitors.answered_barriers import Answer, AnsweredBarriers, Moment
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.recording.history import Entry

T = TypeVar("T")


@dataclass(slots=True)
class _Waiting(Generic[T]):
    what: T
    kind: UpdateKind  # of the stream on which a fence is to be answered next
    since: Moment
    processed: bool = False

    def is_settled_by(self, answer: Answer, now: Moment) -> bool:
        if answer.kind is not self.kind or not answer.is_of_one_after(self.since):
            return False
        if self.processed:
            return True
        self.processed, self.kind, self.since = True, UpdateKind.ALLOCATIONS, now
        return False


class Certainty(Generic[T]):
    """Things the RM said, on their way to be certain."""

    def __init__(self) -> None:
        self._barriers = AnsweredBarriers()
        self._waiting: list[_Waiting[T]] = []

    def send(self, what: T, kind: UpdateKind) -> None:
        """The RM said this on the stream of this kind."""
        self._waiting.append(_Waiting(what, kind, self._barriers.now))

    def observe(self, entry: Entry) -> Sequence[T]:
        """What is certain with this entry."""
        if isinstance(entry.content, StreamEnded):
            ended = entry.content.kind
            self._waiting = [w for w in self._waiting if w.processed or w.kind is not ended]
        answer = self._barriers.observe(entry)
        if answer is None or not self._waiting:
            return ()
        now = self._barriers.now
        settled = [one for one in self._waiting if one.is_settled_by(answer, now)]
        self._waiting = [one for one in self._waiting if one not in settled]
        return [one.what for one in settled]

    def forgets(self, which: Callable[[T], bool]) -> None:
        """These do not matter any more."""
        self._waiting = [one for one in self._waiting if not which(one.what)]
