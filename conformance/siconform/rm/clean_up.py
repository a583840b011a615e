"""Clean-up: undoes the set-up of a test when it ends, in reverse order and nodes last."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from siconform.expecting.endpoint import Endpoint
from siconform.expecting.observations import Observations
from siconform.outcomes import Outcome
from siconform.protocol.notifications import StreamEnded

_AGAIN: Final = 2  # a failing undo ends the stream each time: by then it is undone


class _Compensation(NamedTuple):
    undo: Callable[[], None]
    of_a_node: bool


class CleanUp(Observations):
    """Collects the undo actions of a test's steps."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._compensations: list[_Compensation] = []

    def compensates(self, undo: Callable[[], None], *, of_a_node: bool = False) -> None:
        """Register the undo of a step, to run when the test is over.

        Nodes are removed last. So each stream is used once, with one barrier, instead of in turns.
        """
        self._compensations.append(_Compensation(undo, of_a_node))

    def discards_clean_up(self) -> None:
        """Drop all undo actions: their target no longer exists."""
        self._compensations.clear()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run a probe inside the test: undo its set-up and consume what was received."""
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
                self._endpoint.registers_if_dropped()
            self._inbox.take_since(begun)

    def clears_up(self) -> list[str]:
        """Undo what this test left behind, in reverse order; return the problems in words.

        A scheduler may end the node stream when an action fails, and requests sent on it then are
        lost. So if a stream ends meanwhile, every undo is repeated, one at a time.
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
        """Return whether a stream of this RM ended in between, other than with status OK."""
        return any(
            entry.rm == self.connection.rm_id
            and isinstance(entry.content, StreamEnded)
            and entry.content.status != "OK"
            for entry in self.exchange.history.since(seen)
        )
