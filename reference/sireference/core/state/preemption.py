"""Preemption: room reserved for asks, victims that are to go, and asks that may preempt."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sireference.core.model import ChangeType
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.node import Node
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.timers import Timer, cancel
from sireference.core.states import NodeState, TerminationType

_PAUSE: Final = 1.0  # seconds until those tried in vain are looked at again, at the least
_PAUSE_FOR_EACH: Final = 0.00005  # what a look costs is a small part of this


@dataclass(slots=True, eq=False)
class Preemption:
    """An ask for which others have to go, the node reserved for it, and who is still there.

    ``needs_all`` says that the ask is not served before all of them are gone, whatever else comes
    free: the RM said that it fits then.
    """

    pending: PendingAsk
    node: Node
    victims: dict[str, Allocation]  # by identity
    needs_all: bool = False


class Preemptions:
    """The open preemptions of a partition.

    The room that is reserved for an ask counts as used on its node and in its queues from the first
    moment, while the victims still count as well. So nobody else gets it, whatever ends in which
    order, and a node may have less than nothing free until the victims are gone. What victims hold
    is counted apart as yielding: it will be free without any further preemption.
    """

    __slots__ = ("_by_ask", "_by_node", "_by_victim", "_event_log", "_node_index", "_states")

    def __init__(self, node_index: NodeIndex, callbacks: Callbacks) -> None:
        self._node_index = node_index
        self._event_log = callbacks.event_log
        self._states = callbacks.states
        self._by_ask: dict[PendingAsk, Preemption] = {}
        self._by_node: dict[Node, dict[Preemption, None]] = {}
        self._by_victim: dict[Allocation, Preemption] = {}

    @property
    def open(self) -> Iterable[Preemption]:
        """All preemptions, the oldest first unless an ask was sent again."""
        return self._by_ask.values()

    def of(self, pending: PendingAsk) -> Preemption | None:
        """The one that is open for ``pending``."""
        return self._by_ask.get(pending)

    def on(self, node: Node) -> list[Preemption]:
        """Those for which room on ``node`` is reserved, the oldest first."""
        return list(self._by_node.get(node, ()))

    def begin(self, preemption: Preemption) -> None:
        """Reserve the room for the ask."""
        pending, node = preemption.pending, preemption.node
        resource = pending.ask.resource
        self._by_ask[pending] = preemption
        pending.is_reserved = True
        self._by_node.setdefault(node, {})[preemption] = None
        node.reserve(resource)
        self._event_log.reserved(pending.ask, node, ChangeType.ADD)
        self._states.moved(pending)
        pending.application.quotas.reserve(resource)
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_used(node)
        for victim in preemption.victims.values():
            self._by_victim[victim] = preemption
            self.expect(victim)

    def expect(self, victim: Allocation) -> None:
        """``victim`` is to go: what it holds will be free."""
        freed = victim.record.ask.resource
        victim.node.yielding += freed
        for quota in victim.application.quotas:
            quota.yielding += freed

    def end(self, preemption: Preemption) -> None:
        """Nothing is reserved any more; victims that are still there go nevertheless."""
        pending, node = preemption.pending, preemption.node
        resource = pending.ask.resource
        del self._by_ask[pending]
        pending.is_reserved = False
        for victim in preemption.victims.values():
            del self._by_victim[victim]
        del self._by_node[node][preemption]
        if not self._by_node[node]:
            del self._by_node[node]
        node.unreserve(resource)
        self._event_log.reserved(pending.ask, node, ChangeType.REMOVE)
        self._states.moved(pending)
        if node.state is NodeState.SCHEDULABLE:
            self._node_index.capacity_freed(node)
        pending.application.quotas.unreserve(resource)

    def take_over(self, preemption: Preemption, later: PendingAsk) -> None:
        """The ask was sent again, for as much: what is reserved is for ``later`` now."""
        del self._by_ask[preemption.pending]
        preemption.pending.is_reserved = False
        preemption.pending = later
        self._by_ask[later] = preemption
        later.is_reserved = True
        self._states.moved(later)

    def resized(self, allocation: Allocation, more: Resource) -> None:
        """``allocation`` holds so much more; that is to come free as well, if it was to."""
        if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            allocation.node.yielding += more
            for quota in allocation.application.quotas:
                quota.yielding += more

    def gone(self, allocation: Allocation) -> Preemption | None:
        """``allocation`` has ended; the preemption it was a victim of, if it was."""
        if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            resource = allocation.record.ask.resource
            allocation.node.yielding -= resource
            for quota in allocation.application.quotas:
                quota.yielding -= resource
        preemption = self._by_victim.pop(allocation, None)
        if preemption is not None:
            del preemption.victims[allocation.record.identity]
        return preemption

    def clear(self) -> None:
        """Forget all reservations and victims: the partition is over."""
        self._by_ask.clear()
        self._by_node.clear()
        self._by_victim.clear()


class Preemptors:
    """Asks that may preempt: those that wait until they may, and those that have waited enough."""

    __slots__ = ("_node_index", "_timers", "fresh", "next_look", "paused", "seen", "tried")

    def __init__(self, node_index: NodeIndex) -> None:
        self._node_index = node_index
        self.fresh: dict[PendingAsk, None] = {}  # to be looked at now
        self.tried: dict[PendingAsk, None] = {}  # in vain: to be looked at when things have changed
        self.paused: dict[Hashable, Iterator[tuple[int, Node]]] = {}  # nodes left, by search
        self.seen = 0  # changes of the node index when those tried were looked at
        self.next_look = 0.0  # not earlier again
        self._timers: dict[PendingAsk, Timer] = {}  # until they may preempt

    @property
    def has_changed(self) -> bool:
        """Whether something is different since those tried were looked at."""
        return self._node_index.changes != self.seen

    def has_timer(self, pending: PendingAsk) -> bool:
        """Whether ``pending`` may preempt some time."""
        return pending in self._timers

    def wait(self, pending: PendingAsk, timer: Timer) -> None:
        """``pending`` may preempt when ``timer`` is due, which calls ``add``."""
        self._timers[pending] = timer

    def add(self, pending: PendingAsk) -> None:
        """Have ``pending`` looked at by the next cycle."""
        self._timers.pop(pending, None)
        self.tried.pop(pending, None)
        self.fresh[pending] = None

    def worth_a_look(self, now: float) -> list[PendingAsk]:
        """Those to look at now, in order; those tried before only if that may make a difference.

        That is not done too often: the more there are, the more time passes in between.
        """
        due = self.fresh
        if not due:
            self.paused.clear()
        if not due and self.tried and self.has_changed and now >= self.next_look:
            due = self.tried
            self.seen = self._node_index.changes
            self.next_look = now + max(_PAUSE, _PAUSE_FOR_EACH * len(due))
        return sorted(due, key=lambda pending: pending.order)

    def look_at(self, pending: PendingAsk) -> None:
        """``pending`` is looked at; if that is in vain, there is no hurry to do it again."""
        if not self.tried:
            self.seen = self._node_index.changes
        self.fresh.pop(pending, None)
        self.tried[pending] = None

    def pause(
        self, pending: PendingAsk, search: Hashable, left: Iterator[tuple[int, Node]]
    ) -> None:
        """Have the next cycle go on with the nodes that are ``left`` for ``pending``."""
        self.add(pending)
        self.paused[search] = left

    def try_again(self, pending: PendingAsk) -> None:
        """``pending``, if it was tried in vain, is worth a look although nothing has changed."""
        if pending in self.tried:
            self.add(pending)

    def limits_changed(self) -> None:
        """A queue may have more room: those tried are worth a look although no node has changed."""
        self.seen = -1

    def forget(self, pending: PendingAsk) -> None:
        """``pending`` waits no more."""
        timer = self._timers.pop(pending, None)
        cancel(timer)
        self.fresh.pop(pending, None)
        self.tried.pop(pending, None)
