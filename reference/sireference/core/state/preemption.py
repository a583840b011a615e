"""Preemption in the books: promised room, victims that are to go, and asks that may preempt."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sireference.core.model import ChangeType
from sireference.core.state.allocation import Allocation
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.node import Node
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.timers import Timer
from sireference.core.states import NodeState, TerminationType

if TYPE_CHECKING:
    from sireference.core.state.ask_group import PendingAsk

_PAUSE: Final = 1.0  # seconds until those tried in vain are looked at again, at the least
_PAUSE_FOR_EACH: Final = 0.00005  # what a look costs is a small part of this


@dataclass(slots=True, eq=False)
class Preemption:
    """An ask for which others have to go, the node it was promised, and who is still there.

    ``needs_all`` says that the ask is not served before all of them are gone, whatever else comes
    free: the RM said that it fits then.
    """

    pending: "PendingAsk"
    node: Node
    victims: dict[str, Allocation]  # by identity
    needs_all: bool = False


class Preemptions:
    """The open preemptions of a partition.

    The room an ask was promised counts as used on its node and in its queues from the first moment,
    while the victims still count as well. So nobody else gets it, whatever ends in which order, and
    a node may have less than nothing free until the victims are gone. What victims hold is counted
    apart as yielding: it will be free without any further preemption.
    """

    __slots__ = ("_event_log", "_node_index", "_states", "open")

    def __init__(self, room: NodeIndex, callbacks: Callbacks) -> None:
        self._node_index = room
        self._event_log = callbacks.event_log
        self._states = callbacks.states
        self.open: dict[Preemption, None] = {}

    def begin(self, preemption: Preemption) -> None:
        """Promise the room to the ask."""
        pending, node = preemption.pending, preemption.node
        pending.preemption = preemption
        self.open[preemption] = None
        node.reserve(preemption)
        self._event_log.reserved(pending.ask, node, ChangeType.ADD)
        self._states.moved(pending)
        pending.application.reserve(pending.ask.resource)
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_used(node)
        for victim in preemption.victims.values():
            victim.preempted_for = preemption
            resource = victim.record.ask.resource
            victim.node.yielding += resource
            for quota in victim.application.quotas:
                quota.yielding += resource

    def end(self, preemption: Preemption) -> None:
        """The promise holds no more; victims that are still there go nevertheless."""
        pending, node = preemption.pending, preemption.node
        pending.preemption = None
        del self.open[preemption]
        for victim in preemption.victims.values():
            victim.preempted_for = None
        node.unreserve(preemption)
        self._event_log.reserved(pending.ask, node, ChangeType.REMOVE)
        self._states.moved(pending)
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_freed(node)
        pending.application.unreserve(pending.ask.resource)

    def take_over(self, preemption: Preemption, later: "PendingAsk") -> None:
        """The ask was sent again, for as much: the promise is to ``later`` now."""
        preemption.pending.preemption = None
        preemption.pending = later
        self._states.moved(later)
        later.preemption = preemption

    def gone(self, allocation: Allocation) -> Preemption | None:
        """``live`` has ended; the preemption it was a victim of, if it was."""
        if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            resource = allocation.record.ask.resource
            allocation.node.yielding -= resource
            for quota in allocation.application.quotas:
                quota.yielding -= resource
        preemption, allocation.preempted_for = allocation.preempted_for, None
        if preemption is not None:
            del preemption.victims[allocation.record.identity]
        return preemption


class Preemptors:
    """Asks that may preempt and have waited for long enough."""

    __slots__ = ("alarm", "changes", "fresh", "next_look", "seen", "tried")

    def __init__(self) -> None:
        self.fresh: dict[PendingAsk, None] = {}  # to be looked at now
        self.tried: dict[PendingAsk, None] = {}  # in vain: to be looked at when things have changed
        self.changes = 0  # in what is used and what there is
        self.seen = 0  # changes when those tried were looked at
        self.next_look = 0.0  # not earlier again
        self.alarm: Timer | None = None

    def add(self, pending: "PendingAsk") -> None:
        """``pending`` is worth a look."""
        self.tried.pop(pending, None)
        self.fresh[pending] = None

    def worth_a_look(self, now: float) -> list["PendingAsk"]:
        """Those to look at now, in order; those tried before only if that may make a difference.

        That is not done too often: the more there are, the more time passes in between.
        """
        due = self.fresh
        if not due and self.tried and self.changes != self.seen and now >= self.next_look:
            due = self.tried
            self.seen = self.changes
            self.next_look = now + max(_PAUSE, _PAUSE_FOR_EACH * len(due))
        return sorted(due, key=lambda pending: pending.order)

    def look_at(self, pending: "PendingAsk") -> None:
        """``pending`` is looked at; if that is in vain, there is no hurry to do it again."""
        if not self.tried:
            self.seen = self.changes
        self.fresh.pop(pending, None)
        self.tried[pending] = None

    def try_again(self, pending: "PendingAsk") -> None:
        """``pending``, if it was tried in vain, is worth a look although nothing has changed."""
        if pending in self.tried:
            self.add(pending)

    def forget(self, pending: "PendingAsk") -> None:
        """``pending`` waits no more."""
        self.fresh.pop(pending, None)
        self.tried.pop(pending, None)
