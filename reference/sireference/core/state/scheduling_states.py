"""Scheduling states: the reported states of waiting asks, without repetition.

SKIPPED: no node was searched for, because something else holds the ask back. FAILED: no node is
suitable. RESERVED: capacity on a node is reserved until victims are gone. SCHEDULED is reported
only for asks that had to wait, with their last allocation.
"""

from collections.abc import Iterator
from typing import Final

from sireference.core.model import ContainerState, SchedulingState
from sireference.core.state.application import AskGroup, PendingAsk
from sireference.core.state.wait_reason import WaitReason
from sireference.core.states import AskState

_RESERVED: Final = WaitReason(SchedulingState.RESERVED, "waiting for victims on its node")
_SCHEDULED: Final = WaitReason(SchedulingState.SCHEDULED, "it has all of its allocations")


class SchedulingStates:
    """Possible reports for one RM; nothing is collected unless it is read."""

    __slots__ = ("_asks", "_groups", "_rm_id", "is_read")

    def __init__(self, rm_id: str) -> None:
        self._rm_id = rm_id
        self.is_read = False
        self._groups: dict[AskGroup, None] = {}  # that began to wait
        self._asks: dict[PendingAsk, None] = {}  # whose state may have changed

    def has_to_wait(self, ask_group: AskGroup) -> None:
        """Note that ``ask_group`` waits, to report its asks."""
        if self.is_read:
            self._groups[ask_group] = None

    def joined(self, ask_group: AskGroup, pending: PendingAsk) -> None:
        """Note that ``pending`` is in ``ask_group``; its state is known only if that waits."""
        if ask_group.waits_in is None or ask_group.is_notified:
            ask_group.reported = None
        else:
            self.moved(pending)

    def moved(self, pending: PendingAsk) -> None:
        """Note that ``pending`` gained or lost a reservation, or is fully served."""
        if self.is_read:
            self._asks[pending] = None

    def take(self) -> Iterator[ContainerState]:
        """Return and clear the reports. A group is visited only if it has changed."""
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
        """Drop all pending reports."""
        self._groups.clear()
        self._asks.clear()

    def _state(self, pending: PendingAsk, reason: WaitReason) -> ContainerState:
        application_id, key = pending.application.application_id, pending.ask.key
        return ContainerState(self._rm_id, application_id, key, reason.state, reason.reason)


def _reason(pending: PendingAsk) -> WaitReason | None:
    """Return the state of ``pending`` to report now, None if there is none."""
    if pending.state is AskState.ALLOCATED:
        return _SCHEDULED if pending.reported is not None else None
    if pending.state is not AskState.PENDING:
        return None
    if pending.is_reserved or (pending.awaiting and not pending.wants_more):
        return _RESERVED
    wait_queue = pending.ask_group.waits_in if pending.ask_group is not None else None
    return wait_queue.reason if wait_queue is not None else None
