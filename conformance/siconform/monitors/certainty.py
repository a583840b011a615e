"""Certainty: when an RM's message has certainly been processed and its effects received.

The streams are not ordered with each other, and messages sent before the scheduler processed
something may arrive later. So a barrier sent afterwards on the message's stream has to be answered,
then one on the allocation stream. An answer to the message itself, where there is one, stands for
the first barrier. A message on a stream that ended first may be lost, and never becomes certain.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from siconform.monitors.answered_barriers import Answer, AnsweredBarriers, Moment
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.recording.history import Entry

T = TypeVar("T")

_WITHOUT_BARRIERS: Final = 16
"""How many messages wait for the first barrier; other RMs than the kit's send none."""


@dataclass(slots=True)
class _Waiting(Generic[T]):
    what: T
    kind: UpdateKind  # of the stream whose barrier has to be answered next
    since: Moment
    processed: bool = False

    def is_settled_by(self, answer: Answer, now: Moment) -> bool:
        if answer.kind is not self.kind or not answer.was_sent_after(self.since):
            return False
        if self.processed:
            return True
        self.processed, self.kind, self.since = True, UpdateKind.ALLOCATIONS, now
        return False


class Certainty(Generic[T]):
    """Messages of the RM that are to become certain.

    Unless ``effects_matter``, the first answer is enough: what was sent before may still come.
    """

    def __init__(self, *, effects_matter: bool = True) -> None:
        self._effects_matter = effects_matter
        self._barriers = AnsweredBarriers()
        self._waiting: list[_Waiting[T]] = []

    @property
    def is_possible(self) -> bool:
        """Whether there was a barrier yet; RMs other than the kit's send none."""
        return self._barriers.now > 0

    def send(self, what: T, kind: UpdateKind) -> None:
        """Note that the RM sent this on the stream of this kind."""
        self._waits(what, kind, processed=not self._effects_matter)

    def answer(self, what: T) -> None:
        """Note that the scheduler answered this itself, so that it has been processed."""
        self._waits(what, UpdateKind.ALLOCATIONS, processed=True)

    def _waits(self, what: T, kind: UpdateKind, *, processed: bool) -> None:
        if not self.is_possible and len(self._waiting) >= _WITHOUT_BARRIERS:
            del self._waiting[0]
        self._waiting.append(_Waiting(what, kind, self._barriers.now, processed))

    def observe(self, entry: Entry) -> Sequence[T]:
        """Return what becomes certain with this entry."""
        if isinstance(entry.content, StreamEnded):
            ended = entry.content.kind
            self._waiting = [
                one
                for one in self._waiting
                if one.kind is not ended or (one.processed and self._effects_matter)
            ]
        if not entry.barrier:
            return ()
        answer = self._barriers.observe(entry)
        if answer is None or not self._waiting:
            return ()
        now = self._barriers.now
        waiting, self._waiting = self._waiting, []
        settled: list[T] = []
        for one in waiting:
            if one.is_settled_by(answer, now):
                settled.append(one.what)
            else:
                self._waiting.append(one)
        return settled

    def forgets(self, which: Callable[[T], bool]) -> None:
        """Drop those that no longer matter."""
        if self._waiting:
            self._waiting = [one for one in self._waiting if not which(one.what)]
