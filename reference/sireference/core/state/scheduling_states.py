"""Scheduling states: what an RM is told of asks that have to wait, and no state twice in a row.

SKIPPED is an ask that nobody looked for a node for, because something else stands in its way.
FAILED is one that no node is suitable for. RESERVED is one for which room on a node is kept until
others are gone. SCHEDULED is said only of asks that had to wait, with their last allocation.
"""

from collections.abc import Iterator
from typing import Final

from sireference.core.model import ContainerState, SchedulingState
from sireference.core.state.application import AskGroup, PendingAsk
from sireference.core.state.wait_reason import WaitReason
from sireference.core.states import AskState

_RESERVED: Final = WaitReason(SchedulingState.RESERVED, "others have to go from its node first")
_SCHEDULED: Final = WaitReason(SchedulingState.SCHEDULED, "it has all of its allocations")


class SchedulingStates:
    """What there may be to tell one RM; nothing is gathered unless it is read."""

    __slots__ = ("_asks", "_groups", "_rm_id", "is_read")

    def __init__(self, rm_id: str) -> None:
        self._rm_id = rm_id
        self.is_read = False
        self._groups: dict[AskGroup, None] = {}  # that began to wait
        self._asks: dict[PendingAsk, None] = {}  # that may go on in another way

    def has_to_wait(self, ask_group: AskGroup) -> None:
        """Note that ``ask_group`` has to wait, to be told of its asks."""
        if self.is_read:
            self._groups[ask_group] = None

    def joined(self, ask_group: AskGroup, pending: PendingAsk) -> None:
        """Note that ``pending`` is in ``ask_group``; unless that waits, its state is not known."""
        if ask_group.waits_in is None or ask_group.is_notified:
            ask_group.reported = None
        else:
            self.moved(pending)

    def moved(self, pending: PendingAsk) -> None:
        """Note that ``pending`` had room reserved, or lost it, or got what it wants."""
        if self.is_read:
            self._asks[pending] = None

    def take(self) -> Iterator[ContainerState]:
        """What is to be told now. A group is gone through only if there is news for it."""
        for ask_group in self._groups:
            if ask_group.waits_in is not None and ask_group.waits_in.reason != ask_group.reported:
                ask_group.reported = ask_group.waits_in.reason
                self._asks.update(dict.fromkeys(ask_group))
        for pending in self._asks:
            reason = _reason(pending)
            if reason is not None and reason != pending.reported:
                pending.reported = reason
                yield self._state(pending, reason)
        self.forget()

    def forget(self) -> None:
        """Forget everything that was to be told."""
        self._groups.clear()
        self._asks.clear()

    def _state(self, pending: PendingAsk, reason: WaitReason) -> ContainerState:
        application_id, key = pending.application.application_id, pending.ask.key
        return ContainerState(self._rm_id, application_id, key, reason.state, reason.reason)


def _reason(pending: PendingAsk) -> WaitReason | None:
    """What can be said of ``pending`` now, None if that is nothing."""
    if pending.state is AskState.ALLOCATED:
        return _SCHEDULED if pending.reported is not None else None
    if pending.state is not AskState.PENDING:
        return None
    if pending.is_reserved or (pending.awaiting and not pending.wants_more):
        return _RESERVED
    wait_queue = pending.ask_group.waits_in if pending.ask_group is not None else None
    return wait_queue.reason if wait_queue is not None else None
