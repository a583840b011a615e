"""Certainty: from when on it is certain that what the RM said was processed, and its news are here.

Nothing orders the streams, and what was told before the scheduler heard of something may come
after it. So a fence on the stream it was said on has to be answered, and after that one on the
allocation stream.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

from siconform.protocol.notifications import ApplicationUpdated, Fact, UpdateKind
from siconform.protocol.requests import StreamOpening
from siconform.recording.history import Entry

T = TypeVar("T")


class _Stage(IntEnum):
    SAID = 0
    FENCE_SAID = 1
    PROCESSED = 2
    LAST_FENCE_SAID = 3
    SETTLED = 4


@dataclass(slots=True)
class _Waiting(Generic[T]):
    what: T
    kind: UpdateKind
    stage: _Stage = _Stage.SAID

    def hears(self, kind: UpdateKind | None, *, said_by_rm: bool) -> None:
        expected = self.kind if self.stage < _Stage.PROCESSED else UpdateKind.ALLOCATIONS
        if kind is expected and said_by_rm == (self.stage in (_Stage.SAID, _Stage.PROCESSED)):
            self.stage = _Stage(self.stage + 1)


class Certainty(Generic[T]):
    """Things the RM said, on their way to be certain."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting[T]] = []

    def says(self, what: T, kind: UpdateKind) -> None:
        """The RM said this on the stream of this kind."""
        self._waiting.append(_Waiting(what, kind))

    def hears(self, entry: Entry) -> Iterator[T]:
        """What is certain with this entry."""
        if not self._waiting or not entry.fence or not _is_probe(entry):
            return
        for waiting in self._waiting:
            waiting.hears(entry.kind, said_by_rm=entry.said_by_rm)
        settled = [one.what for one in self._waiting if one.stage is _Stage.SETTLED]
        self._waiting = [one for one in self._waiting if one.stage is not _Stage.SETTLED]
        yield from settled

    def forgets(self, which: Callable[[T], bool]) -> None:
        """These do not matter any more."""
        self._waiting = [one for one in self._waiting if not which(one.what)]


def _is_probe(entry: Entry) -> bool:
    """A fence or its answer; the state of the application that is kept for fences is neither."""
    content = entry.content
    return not isinstance(content, (StreamOpening, ApplicationUpdated)) and (
        entry.said_by_rm or isinstance(content, Fact)
    )
