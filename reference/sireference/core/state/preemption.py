"""Preemption state: reservations, victims, and asks that may preempt."""

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
from sireference.core.state.timers import Timer
from sireference.core.states import NodeState, TerminationType

_PAUSE: Final = 1.0  # seconds at least until failed ones are tried again
_PAUSE_FOR_EACH: Final = 0.00005  # limits the share of time spent on retries
_DELAY: Final = "preemption"  # the timer of an ask until it may preempt


@dataclass(slots=True, eq=False)
class Preemption:
    """An open preemption: the ask, its reserved node and the remaining victims.

    ``needs_all`` requires the end of all victims before the ask is served, even if enough is freed:
    the RM agreed to exactly that.
    """

    pending: PendingAsk
    node: Node
    victims: dict[str, Allocation]  # by identity
    needs_all: bool = False


class Preemptions:
    """The open preemptions of a partition.

    A reservation counts as used on its node and in its queues from the first moment, while the
    victims still count as well. So no other ask gets these resources, in whichever order victims
    end, and a node may have negative free resources until they are gone. What victims hold is
    counted separately as yielding: it is freed without further preemption.
    """

    __slots__ = ("_by_ask", "_by_node", "_event_log", "_node_index", "_states", "by_victim")

    def __init__(self, node_index: NodeIndex, callbacks: Callbacks) -> None:
        self._node_index = node_index
        self._event_log = callbacks.event_log
        self._states = callbacks.states
        self._by_ask: dict[PendingAsk, Preemption] = {}
        self._by_node: dict[Node, dict[Preemption, None]] = {}
        self.by_victim: dict[Allocation, Preemption] = {}

    @property
    def open(self) -> Iterable[Preemption]:
        """Return all preemptions, the oldest first unless an ask was sent again."""
        return self._by_ask.values()

    def of(self, pending: PendingAsk) -> Preemption | None:
        """Return the open preemption for ``pending``."""
        return self._by_ask.get(pending)

    def on(self, node: Node) -> list[Preemption]:
        """Return those with a reservation on ``node``, the oldest first."""
        return list(self._by_node.get(node, ()))

    def begin(self, preemption: Preemption) -> None:
        """Reserve resources for the ask."""
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
            self.by_victim[victim] = preemption
            self.expect(victim)

    def expect(self, victim: Allocation) -> None:
        """Count ``victim`` as yielding."""
        freed = victim.record.ask.resource
        victim.node.yielding += freed
        for quota in victim.application.quotas:
            quota.yielding += freed

    def end(self, preemption: Preemption) -> None:
        """End the reservation; remaining victims must end nevertheless."""
        pending, node = preemption.pending, preemption.node
        resource = pending.ask.resource
        del self._by_ask[pending]
        pending.is_reserved = False
        for victim in preemption.victims.values():
            del self.by_victim[victim]
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
        """Transfer the reservation to ``later``, which replaces the ask with the same size."""
        del self._by_ask[preemption.pending]
        preemption.pending.is_reserved = False
        preemption.pending = later
        self._by_ask[later] = preemption
        later.is_reserved = True
        self._states.moved(later)

    def resized(self, allocation: Allocation, more: Resource) -> None:
        """Adjust the yielding amount if ``allocation`` is a victim."""
        if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            allocation.node.yielding += more
            for quota in allocation.application.quotas:
                quota.yielding += more

    def gone(self, allocation: Allocation) -> Preemption | None:
        """Return the preemption that ``allocation``, which has ended, was a victim of, if any."""
        if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            resource = allocation.record.ask.resource
            allocation.node.yielding -= resource
            for quota in allocation.application.quotas:
                quota.yielding -= resource
        preemption = self.by_victim.pop(allocation, None)
        if preemption is not None:
            del preemption.victims[allocation.record.identity]
        return preemption

    def clear(self) -> None:
        """Remove all reservations and victims: the partition ends."""
        self._by_ask.clear()
        self._by_node.clear()
        self.by_victim.clear()


class Preemptors:
    """Asks that may preempt, now or after a delay."""

    __slots__ = ("_node_index", "fresh", "next_look", "paused", "seen", "tried")

    def __init__(self, node_index: NodeIndex) -> None:
        self._node_index = node_index
        self.fresh: dict[PendingAsk, None] = {}  # to be tried now
        self.tried: dict[PendingAsk, None] = {}  # without victims: to be tried again after changes
        self.paused: dict[Hashable, Iterator[tuple[int, Node]]] = {}  # nodes left, by search
        self.seen = 0  # changes of the node index at the last attempt
        self.next_look = 0.0  # earliest time of the next attempt

    @property
    def has_changed(self) -> bool:
        """Return whether anything changed since the last attempt."""
        return self._node_index.changes != self.seen

    def has_timer(self, pending: PendingAsk) -> bool:
        """Return whether ``pending`` may preempt later."""
        return _DELAY in pending.timers

    def wait(self, pending: PendingAsk, timer: Timer) -> None:
        """Let ``pending`` preempt when ``timer`` is due, which calls ``add``."""
        pending.timers[_DELAY] = timer

    def add(self, pending: PendingAsk) -> None:
        """Have ``pending`` tried by the next cycle."""
        pending.timers.pop(_DELAY, None)
        self.tried.pop(pending, None)
        self.fresh[pending] = None

    def due_asks(self, now: float) -> list[PendingAsk]:
        """Return the asks to try now, in order; failed ones only after changes.

        Failed asks are not tried too often: the more there are, the longer the pause.
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
        """Mark ``pending`` as tried; if it fails, it is not urgent."""
        if not self.tried:
            self.seen = self._node_index.changes
        self.fresh.pop(pending, None)
        self.tried[pending] = None

    def pause(
        self, pending: PendingAsk, search: Hashable, left: Iterator[tuple[int, Node]]
    ) -> None:
        """Have the next cycle continue with the nodes that are ``left`` for ``pending``."""
        self.add(pending)
        self.paused[search] = left

    def try_again(self, pending: PendingAsk) -> None:
        """Retry ``pending``, if it failed before, although nothing has changed."""
        if pending in self.tried:
            self.add(pending)

    def limits_changed(self) -> None:
        """Retry failed asks: a queue may have more capacity."""
        self.seen = -1

    def forget(self, pending: PendingAsk) -> None:
        """Remove ``pending``, which waits no more."""
        self.fresh.pop(pending, None)
        self.tried.pop(pending, None)
