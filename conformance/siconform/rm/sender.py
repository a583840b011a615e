"""Speaking: one stream at a time, several elements in one message, and clearing up afterwards."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Final

from siconform.expecting.observations import Observations
from siconform.outcomes import Outcome
from siconform.protocol.notifications import Kind, StreamEnded
from siconform.protocol.requests import Amounts, Saying

DEFAULT_PARTITION = "default"
_AGAIN: Final = 2  # what fails ends the stream each time: then it is undone already


class Speaking(Observations):
    """Sends what the verbs say.

    Nothing orders the streams against each other, so the RM fences the stream it spoke on last
    before it speaks on another one. ``unordered`` switches that off.
    """

    prefix: str  # of every id this test makes up
    _fences_between_streams = True
    _collecting: list[Saying] | None = None

    def _prepare_speaking(self, prefix: str) -> None:
        self.prefix = prefix
        self._counter = count(1)
        self._compensations: list[Callable[[], None]] = []

    def new_name(self, what: str) -> str:
        """An id no other test uses."""
        return f"{self.prefix}-{what}-{next(self._counter)}"

    def says(self, *sayings: Saying) -> None:
        """Say these elements, one message for each unless inside ``one_message``."""
        if self._collecting is not None:
            self._collecting.extend(sayings)
            return
        for saying in sayings:
            self._send(saying.kind, [saying])

    @contextmanager
    def one_message(self) -> Iterator[None]:
        """Everything said inside goes out as one request for each stream, in the order said."""
        collected: list[Saying] = []
        self._collecting = collected
        try:
            yield
        finally:
            self._collecting = None
        while collected:
            kind = collected[0].kind
            together = [s for s in collected if self.connection.shares_stream(s.kind, kind)]
            self._send(kind, together)
            collected = [saying for saying in collected if saying not in together]

    @contextmanager
    def unordered(self) -> Iterator[None]:
        """No fences between the streams: what is said inside may overtake each other."""
        self._fences_between_streams = False
        try:
            yield
        finally:
            self._fences_between_streams = True

    def _send(self, kind: Kind, sayings: list[Saying]) -> None:
        kinds = {saying.kind for saying in sayings}
        if self._fences_between_streams:
            for other in sorted(self._unfenced - kinds, key=lambda k: k.value):
                self.fences(other)
        self.connection.say(kind, sayings)
        self._unfenced |= kinds

    def _compensates(self, undo: Callable[[], None]) -> None:
        self._compensations.append(undo)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Something is found out beside the test: what is set up is undone, what is told heard."""
        begun = len(self.exchange.history)
        outside, self._compensations = self._compensations, []
        try:
            yield
        finally:
            self.clears_up()
            self._compensations = outside
            self.settles()
            self._heard.update(index for index, _ in self._told() if index >= begun)

    def clears_up(self) -> list[str]:
        """Undo what this test left behind, last first; what could not be undone, in words.

        A scheduler may end the node stream for an action that fails, and what was said on it then
        is lost: whatever is undone while a stream ends is undone once more, one at a time.
        """
        undone, self._compensations = self._compensations[::-1], []
        seen = len(self.exchange.history)
        problems = [*self._all_fenced(), *self._undoes(undone)]
        if self._ended_since(seen):
            for undo in undone:
                for _ in range(_AGAIN):
                    seen = len(self.exchange.history)
                    problems += self._undoes([undo])
                    if not self._ended_since(seen):
                        break
        return problems

    def _undoes(self, undone: list[Callable[[], None]]) -> list[str]:
        problems = []
        for undo in undone:
            try:
                undo()
            except Outcome as outcome:
                problems.append(outcome.says)
        return [*problems, *self._all_fenced()]

    def _all_fenced(self) -> list[str]:
        try:
            self.fences_all()
        except Outcome as outcome:
            return [outcome.says]
        return []

    def _ended_since(self, seen: int) -> bool:
        """Whether a stream of this RM ended in between, except one that it closed by itself."""
        return any(
            entry.rm == self.connection.rm_id
            and isinstance(entry.content, StreamEnded)
            and entry.content.status != "OK"
            for entry in self.exchange.history.since(seen)
        )


def amounts(
    named: Mapping[str, int] | None, memory: int | None, vcore: int | None, default: Amounts
) -> dict[str, int]:
    """Resource amounts from keyword arguments: the named ones plus memory and vcore."""
    chosen = dict(named or {})
    if memory is not None:
        chosen["memory"] = memory
    if vcore is not None:
        chosen["vcore"] = vcore
    return chosen or dict(default)
