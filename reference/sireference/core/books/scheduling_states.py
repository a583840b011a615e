"""Scheduling states: what an RM is told of asks that have to wait, and no state twice in a row.

SKIPPED is an ask that nobody looked for a node for, because something else stands in its way.
FAILED is one that no node is suitable for. RESERVED is one for which room on a node is kept until
others are gone. SCHEDULED is said only of asks that had to wait, with their last allocation.
"""

from collections.abc import Iterator
from typing import Final

from sireference.core.books.pending import Line, Outlook, PendingAsk
from sireference.core.model import ContainerState, SchedulingState
from sireference.core.states import AskState

_RESERVED: Final = Outlook(SchedulingState.RESERVED, "others have to go from its node first")
_SCHEDULED: Final = Outlook(SchedulingState.SCHEDULED, "it has all of its allocations")


class SchedulingStates:
    """What there may be to tell one RM; nothing is gathered unless it is read."""

    __slots__ = ("_asks", "_lines", "_rm_id", "is_read")

    def __init__(self, rm_id: str) -> None:
        self._rm_id = rm_id
        self.is_read = False
        self._lines: dict[Line, None] = {}  # that went to sleep
        self._asks: dict[PendingAsk, None] = {}  # that may go on in another way

    def slept(self, line: Line) -> None:
        """``line`` was sent to sleep."""
        if self.is_read:
            self._lines[line] = None

    def joined(self, line: Line, pending: PendingAsk) -> None:
        """``pending`` stands in ``line``; while that is awake, nobody knows how it goes on."""
        if line.bed is None or line.is_called:
            line.told = None
        else:
            self.moved(pending)

    def moved(self, pending: PendingAsk) -> None:
        """``pending`` was promised room, or lost it, or got what it wants."""
        if self.is_read:
            self._asks[pending] = None

    def take(self) -> Iterator[ContainerState]:
        """What is to be told now. Everybody in a line is gone through only if it is news there."""
        for line in self._lines:
            if line.bed is not None and line.bed.outlook != line.told:
                line.told = line.bed.outlook
                self._asks.update(dict.fromkeys(line))
        for pending in self._asks:
            outlook = _outlook(pending)
            if outlook is not None and outlook != pending.outlook:
                pending.outlook = outlook
                yield self._state(pending, outlook)
        self.forget()

    def forget(self) -> None:
        """Nobody is to be told."""
        self._lines.clear()
        self._asks.clear()

    def _state(self, pending: PendingAsk, outlook: Outlook) -> ContainerState:
        application_id, key = pending.application.application_id, pending.ask.key
        return ContainerState(self._rm_id, application_id, key, outlook.state, outlook.reason)


def _outlook(pending: PendingAsk) -> Outlook | None:
    """What can be said of ``pending`` now, None if that is nothing."""
    if pending.state is AskState.ALLOCATED:
        return _SCHEDULED if pending.outlook is not None else None
    if pending.state is not AskState.PENDING:
        return None
    if pending.preemption is not None or (pending.awaited and not pending.wants_more):
        return _RESERVED
    bed = pending.line.bed if pending.line is not None else None
    return bed.outlook if bed is not None else None
