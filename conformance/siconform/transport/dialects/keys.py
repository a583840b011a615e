"""Key lifecycles of one RM, for revisions that answer for a key alone.

A key serves one allocation after another; each use is one lifecycle. In a lifecycle the key is
asked for, announced and released, or it is reported with its node and so is live from the start. A
message of a scheduler about a key concerns its current lifecycle, as far as the order of this
stream shows.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto


class SentAs(Enum):
    """Meanings of a key that an RM sends in an Allocation."""

    REQUEST = auto()  # without a node
    ALLOCATION = auto()  # with a node: it exists already
    UPDATE = auto()  # of something known, without a node


@dataclass(slots=True)
class _KeyLifecycle:
    application: str
    words: list[SentAs] = field(default_factory=list)  # except rejected ones
    is_announced: bool = False
    end_sent: bool = False  # by the RM: a release or a confirmation
    end_received: bool = False
    is_ended: bool = False  # by a message that the RM does not confirm

    @property
    def is_live(self) -> bool:
        return self.is_announced or SentAs.ALLOCATION in self.words

    @property
    def is_over(self) -> bool:
        """Whether the scheduler releases it no more, except as a repetition."""
        return self.is_ended or (self.end_received and (self.end_sent or not self.is_live))

    @property
    def is_left(self) -> bool:
        """Whether later requests for the key are about another lifecycle."""
        return self.end_sent or self.is_over or not (self.words or self.is_announced)


class Keys:
    """The keys one RM has named on one connection, of all its applications.

    Requests are written by one thread at a time, responses read by those of the streams.
    """

    def __init__(self) -> None:
        self._lifecycles: defaultdict[str, list[_KeyLifecycle]] = defaultdict(list)
        self._lock = threading.Lock()

    def sent(self, key: str, application: str, sent_as: SentAs) -> None:
        """Note that the RM asks for it, reports it or has it updated."""
        with self._lock:
            lifecycles = self._lifecycles[key]
            if not lifecycles or lifecycles[-1].is_left:
                lifecycles[:] = [
                    lifecycle
                    for lifecycle in lifecycles
                    if lifecycle.is_live and not lifecycle.is_over
                ]
                lifecycles.append(_KeyLifecycle(application))
            lifecycles[-1].words.append(sent_as)

    def requested(self, key: str, application: str, *, with_node: bool) -> SentAs:
        """Return what an RM's Allocation under this key is, by what is known of the key."""
        with self._lock:
            for lifecycle in self._lifecycles[key][-1:]:
                if (
                    lifecycle.is_live
                    and not lifecycle.is_left
                    and lifecycle.application == application
                ):
                    return SentAs.UPDATE
        return SentAs.ALLOCATION if with_node else SentAs.REQUEST

    def ends(self, key: str) -> SentAs:
        """Return what a release by the RM ends, REQUEST only if the key was never live."""
        with self._lock:
            for lifecycle in self._lifecycles[key][-1:]:
                if lifecycle.words and not lifecycle.is_live:
                    return SentAs.REQUEST
        return SentAs.ALLOCATION

    def sent_end(self, key: str, application: str) -> None:
        """Note that the RM releases it or confirms its release, for its own application only."""
        with self._lock:
            for lifecycle in self._lifecycles[key][-1:]:
                lifecycle.end_sent = lifecycle.end_sent or lifecycle.application == application

    def sent_end_of_all(self, application: str) -> None:
        """Note that the RM releases all of an application, or confirms that."""
        with self._lock:
            for lifecycle in self._last_of(application):
                lifecycle.end_sent = True

    def announced(self, key: str) -> None:
        """Note that the scheduler reports an allocation: the last lifecycle is live."""
        with self._lock:
            lifecycles = self._lifecycles[key]
            for former in lifecycles[:-1]:
                former.end_received = True
            for lifecycle in lifecycles[-1:]:
                lifecycle.is_announced = True

    def rejected(self, key: str) -> SentAs:
        """Take back the last request for the key, which the scheduler rejects; return its kind.

        ALLOCATION if the RM never sent this key.
        """
        with self._lock:
            for lifecycle in reversed(self._lifecycles[key]):
                if lifecycle.words:
                    return lifecycle.words.pop()
            return SentAs.ALLOCATION

    def released(self, key: str, *, to_be_confirmed: bool) -> SentAs:
        """Note a release by the scheduler; return what ends, REQUEST only if it was not live."""
        with self._lock:
            lifecycles = self._lifecycles[key]
            open_ones = (lifecycle for lifecycle in lifecycles if not lifecycle.is_over)
            lifecycle = next(open_ones, lifecycles[-1] if lifecycles else None)
            if lifecycle is None:
                return SentAs.ALLOCATION
            lifecycle.end_received = True
            lifecycle.is_ended = lifecycle.is_ended or not to_be_confirmed
            return SentAs.ALLOCATION if lifecycle.is_live else SentAs.REQUEST

    def released_all(self, application: str, *, to_be_confirmed: bool) -> None:
        """Note that the scheduler releases all of an application."""
        with self._lock:
            for lifecycle in self._last_of(application):
                lifecycle.end_received = True
                lifecycle.is_ended = lifecycle.is_ended or not to_be_confirmed

    def forget(self, key: str) -> None:
        """Forget a key that ended long ago."""
        with self._lock:
            self._lifecycles.pop(key, None)

    def _last_of(self, application: str) -> Iterable[_KeyLifecycle]:
        return [
            lifecycles[-1]
            for lifecycles in self._lifecycles.values()
            if lifecycles and lifecycles[-1].application == application
        ]
