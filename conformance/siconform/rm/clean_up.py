"""Clearing up: what a test set up is undone when it is over, last first, and nodes at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from siconform.expecting.endpoint import Endpoint
from siconform.expecting.observations import Observations
from siconform.outcomes import Outcome
from siconform.protocol.notifications import StreamEnded

_AGAIN: Final = 2  # what fails ends the stream each time: then it is undone already


class _Compensation(NamedTuple):
    undo: Callable[[], None]
    of_a_node: bool


class CleanUp(Observations):
    """Keeps what undoes the steps of a test."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._compensations: list[_Compensation] = []

    def compensates(self, undo: Callable[[], None], *, of_a_node: bool = False) -> None:
        """Undo a step in this way when the test is over.

        Nodes go once everything else has gone: so the kit speaks on each stream once, with one
        fence, and not in turns.
        """
        self._compensations.append(_Compensation(undo, of_a_node))

    def discards_clean_up(self) -> None:
        """There is nothing left to undo it at."""
        self._compensations.clear()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Something is found out beside the test: what is set up is undone, what is told heard."""
        begun = len(self.exchange.history)
        outside, self._compensations = self._compensations, []
        try:
            with self.exchange.aside():
                yield
        finally:
            with self.exchange.aside():
                self.clears_up()
                self._compensations = outside
                self.settles()
            self._inbox.take_since(begun)

    def clears_up(self) -> list[str]:
        """Undo what this test left behind, last first; what could not be undone, in words.

        A scheduler may end the node stream for an action that fails, and what was said on it then
        is lost: whatever is undone while a stream ends is undone once more, one at a time.
        """
        last_first, self._compensations = self._compensations[::-1], []
        undone = [one.undo for one in sorted(last_first, key=lambda one: one.of_a_node)]
        seen = len(self.exchange.history)
        problems = [*self._all_synchronised(), *self._undoes(undone)]
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
                problems.append(outcome.message)
        return [*problems, *self._all_synchronised()]

    def _all_synchronised(self) -> list[str]:
        try:
            self.synchronise_all()
        except Outcome as outcome:
            return [outcome.message]
        return []

    def _ended_since(self, seen: int) -> bool:
        """Whether a stream of this RM ended in between, except one that it closed by itself."""
        return any(
            entry.rm == self.connection.rm_id
            and isinstance(entry.content, StreamEnded)
            and entry.content.status != "OK"
            for entry in self.exchange.history.since(seen)
        )
