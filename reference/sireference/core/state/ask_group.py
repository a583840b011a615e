"""Pending asks, in lines: asks of one application that need the same stand in one line.

When the first of a line cannot be placed, the others cannot either. So the line as a whole goes
to sleep where it was turned away, and is woken when just there something came free and it is the
first of those it may be for. A scheduling pass looks only at lines that are awake.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sireference.core.model import Ask, SchedulingState
from sireference.core.placement_constraints import AllocationAffinity, PlacementConstraint
from sireference.core.resources import Resource
from sireference.core.state.lazy_heap import SortKey
from sireference.core.state.proposals import NodeExclusions
from sireference.core.states import AskState

if TYPE_CHECKING:
    from sireference.core.state.allocation import Allocation
    from sireference.core.state.application import Application
    from sireference.core.state.preemption import Preemption
    from sireference.core.state.timers import Timer
    from sireference.core.state.wait_queue import WaitQueue


class WaitReason(NamedTuple):
    """How the scheduling of an ask goes, and why."""

    state: SchedulingState
    reason: str


class PlacementProfile(NamedTuple):
    """What decides which nodes an ask may go to."""

    need: frozenset[tuple[str, int]]
    required_node: str
    constraint: PlacementConstraint | None = None
    counts_itself: bool = False  # among the allocations that its affinity is about
    exclusions: NodeExclusions | None = None  # of the RM, for one ask alone

    @property
    def affinity(self) -> AllocationAffinity | None:
        """What it wants of the allocations around it."""
        return None if self.constraint is None else self.constraint.affinity


class AskGroupKey(NamedTuple):
    """What those have in common who stand in one line."""

    profile: PlacementProfile
    is_placeholder: bool
    replaces: str  # the task group whose placeholders they may replace


class Order(NamedTuple):
    """Who is served first: the higher priority, then who asked earlier."""

    descending_priority: int
    number: int


@dataclass(slots=True, eq=False)
class PendingAsk:
    """An ask that wants more allocations; ``number`` counts asks in the order they came."""

    ask: Ask
    number: int
    application: "Application"
    made: int = 0  # allocations made so far
    state: AskState = AskState.PENDING
    ask_group: "AskGroup | None" = None  # None while there is nothing to stand in line for
    # placeholders whose end it waits for, by identity: one for each of its next allocations
    awaited: "dict[str, Allocation]" = field(default_factory=dict)
    since: float | None = None  # when it was asked for
    preemption: "Preemption | None" = None  # the one that is open for it
    preemption_timer: "Timer | None" = None  # until it may preempt
    proposed: int = 0  # allocations the RM was asked about, or is going to be
    exclusions: NodeExclusions | None = None  # nodes the RM does not want it on
    wait_reason: WaitReason | None = None  # what the RM was told last, if it was told anything
    had_placeholder: bool = False  # one that was of no use: it is placed like any other from now on

    @property
    def order(self) -> Order:
        """Its place in the line."""
        return Order(-self.ask.priority, self.number)

    @property
    def key(self) -> AskGroupKey:
        """The line it belongs in."""
        ask = self.ask
        is_placeholder = ask.is_placeholder
        replaces = "" if is_placeholder or self.had_placeholder else ask.task_group
        return AskGroupKey(_profile(ask, self.exclusions), is_placeholder, replaces)

    @property
    def wants_more(self) -> bool:
        """Whether it has an allocation to stand in line for."""
        return (
            self.state is AskState.PENDING
            and self.made + len(self.awaited) + self.proposed < self.ask.max_allocations
        )


def _profile(ask: Ask, exclusions: NodeExclusions | None) -> PlacementProfile:
    constraint = ask.constraint
    if constraint is None:
        return PlacementProfile(ask.resource.key, ask.required_node, exclusions=exclusions)
    affinity = constraint.affinity
    counts_itself = affinity is not None and affinity.matches(ask.tags)
    return PlacementProfile(
        ask.resource.key, ask.required_node, constraint, counts_itself, exclusions
    )


class AskGroup:
    """The pending asks of ``application`` that have one key, first served first."""

    __slots__ = (
        "_heap",
        "_joined",
        "_stale",
        "application",
        "key",
        "need",
        "notified_by",
        "number",
        "priority",
        "sort_key",
        "told",
        "waits_in",
    )

    def __init__(
        self, application: "Application", key: AskGroupKey, need: Resource, number: int
    ) -> None:
        self.application = application
        self.key = key
        self.need = need
        self.number = number
        self.waits_in: WaitQueue | None = None  # where it sleeps, None while it is awake
        self.told: WaitReason | None = None  # to the RM, when it slept last
        self.notified_by: WaitQueue | None = None  # where it was called last, until it is done
        self.sort_key: SortKey | None = None
        self.priority = 0  # of the ask whose turn it is
        self._heap: list[tuple[Order, int, PendingAsk]] = []
        self._joined = 0
        self._stale = 0  # places in the heap that are nobody's any more

    @property
    def profile(self) -> PlacementProfile:
        """What decides which nodes they may go to."""
        return self.key.profile

    def join(self, pending: PendingAsk) -> None:
        """One more ask in line."""
        if pending.ask_group is self:
            return
        if pending.ask_group is not None:
            pending.ask_group.leave(pending)
        pending.ask_group = self
        self._joined += 1  # an ask and the one it replaced may both be here, with one order
        heapq.heappush(self._heap, (pending.order, self._joined, pending))

    def leave(self, pending: PendingAsk) -> None:
        """One ask less in line, wherever it stands; no more than half of the places are empty."""
        pending.ask_group = None
        self._stale += 1
        if 2 * self._stale > len(self._heap):
            taken = {entry[2]: entry for entry in self._heap if entry[2].ask_group is self}
            self._heap[:] = taken.values()
            heapq.heapify(self._heap)
            self._stale = 0

    def __iter__(self) -> Iterator[PendingAsk]:
        """Everybody in line, in no order."""
        return (pending for _, _, pending in self._heap if pending.ask_group is self)

    def first(self) -> PendingAsk | None:
        """The ask whose turn it is, None when the line is empty."""
        heap = self._heap
        while heap:
            pending = heap[0][2]
            if pending.ask_group is self:
                if pending.wants_more:
                    return pending
                pending.ask_group = None
            else:
                self._stale -= 1
            heapq.heappop(heap)
        return None

    def next_sort_key(self) -> SortKey | None:
        """The turn among the lines of its application, None while it sleeps and is not called."""
        first = self.first() if self.waits_in is None or self.is_notified else None
        if first is None:
            return None
        self.priority = first.ask.priority
        return -self.priority, 0, first.number

    @property
    def is_notified(self) -> bool:
        """Whether it sleeps where it was called."""
        return self.waits_in is not None and self.notified_by is self.waits_in

    def block(self, wait_queue: "WaitQueue") -> None:
        """Nothing can be done for this line until something changes where ``bed`` stands."""
        self.waits_in = wait_queue
        wait_queue.add(self)
        if wait_queue.is_gate:
            self.application.held_back[self] = None

    def unblock(self) -> None:
        """The line sleeps no more; the caller tells the application."""
        if self.waits_in is not None:
            self.waits_in.discard(self)
            self.waits_in = None
            self.application.held_back.pop(self, None)

    def done_with(self) -> None:
        """One of its application had its chance: whoever is first in its row now is called next."""
        wait_queue, self.notified_by = self.notified_by, None
        if wait_queue is None:
            return
        if self.waits_in is wait_queue and wait_queue.may_go(self):  # another one had it
            self.application.wake(self)
        wait_queue.notify_next(self)
