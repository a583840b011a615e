"""Applications: state, usage and asks in groups.

Asks of one application with the same needs form one ask group: if the first of a group cannot be
placed, the others cannot either. So the group as a whole waits for the resource it lacks, and is
woken when exactly that is freed and the group is first in line for it. A scheduling pass examines
only groups that do not wait.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sireference.core.model import Ask, NewApplication
from sireference.core.resources import NOTHING, Resource, Total
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.node_exclusions import NodeExclusions
from sireference.core.state.placement_profile import AskGroupKey, Order, profile_of
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quotas
from sireference.core.state.timers import Timer, cancel
from sireference.core.state.wait_queue import WaitQueue
from sireference.core.state.wait_reason import WaitReason
from sireference.core.states import ApplicationState, AskState

_NOT_BEGUN = (ApplicationState.NEW, ApplicationState.ACCEPTED)
_PENDING: Final = AskState.PENDING  # a module global, because an Enum lookup at every step is slow


@dataclass(slots=True, eq=False)
class PendingAsk:
    """An ask that wants more allocations; ``number`` counts asks in order of arrival."""

    ask: Ask
    number: int
    application: "Application"
    made: int = 0  # allocations made so far
    state: AskState = AskState.PENDING
    ask_group: "AskGroup | None" = None  # None if no allocation is outstanding
    awaiting: int = 0  # placeholders whose end it waits for: one for each of its next allocations
    is_reserved: bool = False  # resources on a node are reserved for it until its victims are gone
    held: int = 0  # allocations held back, as until the RM approves them
    timers: dict[str, Timer] = field(default_factory=dict)  # by purpose; they end with the ask
    since: float | None = None  # when it was requested
    exclusions: NodeExclusions | None = None  # nodes the RM refused for it
    reported: WaitReason | None = None  # last state reported to the RM, if any
    had_placeholder: bool = False  # one that did not fit: it is placed like any other now

    def renewed(self, ask: Ask, state: AskState) -> "PendingAsk":
        """Return the replacement of this ask with the state that still applies.

        The caller transfers what the ask waits for; exclusions by the RM are not kept.
        """
        later = PendingAsk(ask, self.number, self.application, self.made, state)
        later.since, later.reported = self.since, self.reported
        if ask.task_group == self.ask.task_group and not ask.is_placeholder:
            later.had_placeholder = self.had_placeholder
        return later

    @property
    def order(self) -> Order:
        """Return its place in the group."""
        return -self.ask.priority, self.number

    @property
    def key(self) -> AskGroupKey:
        """Return the key of its group."""
        ask, is_placeholder = self.ask, self.ask.is_placeholder
        replaces = "" if is_placeholder or self.had_placeholder else ask.task_group
        return AskGroupKey(profile_of(ask, self.exclusions), is_placeholder, replaces)

    @property
    def wants_more(self) -> bool:
        """Return whether an allocation is outstanding."""
        not_wanted = self.made + self.awaiting + self.held
        return self.state is _PENDING and not_wanted < self.ask.max_allocations


class AskGroup:
    """Asks of ``application`` with one key that want more, in the order they are served."""

    __slots__ = (
        "_heap",
        "_joined",
        "_stale",
        "application",
        "key",
        "lane",
        "need",
        "notified_by",
        "number",
        "priority",
        "profile",
        "reported",
        "sort_key",
        "waits_in",
    )

    def __init__(
        self, application: "Application", key: AskGroupKey, need: Resource, number: int
    ) -> None:
        self.application = application
        self.lane = application.leaf
        self.key = key
        self.profile = key.profile
        self.need = need
        self.number = number
        self.waits_in: WaitQueue[Any] | None = None  # None while it may be placed
        self.reported: WaitReason | None = None  # last reason reported to the RM
        self.notified_by: WaitQueue[Any] | None = None  # until its notification is handled
        self.sort_key: SortKey | None = None
        self.priority = 0  # of the next ask to be served
        self._heap: list[tuple[Order, int, PendingAsk]] = []
        self._joined = 0
        self._stale = 0  # entries of the heap that are outdated

    @property
    def gang_need(self) -> Resource | None:
        """Return the total need that the gang of its application announced."""
        return self.application.submitted.placeholder_ask

    def join(self, pending: PendingAsk) -> None:
        """Add an ask to the group."""
        if pending.ask_group is self:
            return
        if pending.ask_group is not None:
            pending.ask_group.leave(pending)
        pending.ask_group = self
        self._joined += 1  # an ask and the one it replaced may both be here, with one order
        heapq.heappush(self._heap, (pending.order, self._joined, pending))

    def leave(self, pending: PendingAsk) -> None:
        """Remove an ask; at most half of the heap is outdated entries."""
        pending.ask_group = None
        if self._heap[0][2] is pending:
            heapq.heappop(self._heap)
            return
        self._stale += 1
        if 2 * self._stale > len(self._heap):
            taken = {entry[2]: entry for entry in self._heap if entry[2].ask_group is self}
            self._heap[:] = taken.values()
            heapq.heapify(self._heap)
            self._stale = 0

    def __iter__(self) -> Iterator[PendingAsk]:
        """Return all asks of the group, unordered."""
        return (pending for _, _, pending in self._heap if pending.ask_group is self)

    def first(self) -> PendingAsk | None:
        """Return the ask to be served next, None when there is none."""
        heap = self._heap
        while heap:
            pending = heap[0][2]
            if pending.ask_group is self:
                return pending
            heapq.heappop(heap)
            self._stale -= 1
        return None

    def next_sort_key(self) -> SortKey | None:
        """Return its sort key within the application; None while it waits without notification."""
        first = self.first() if self.waits_in is None or self.is_notified else None
        if first is None:
            return None
        self.priority = first.ask.priority
        return -self.priority, 0, first.number

    def sort_key_in_lane(self) -> SortKey | None:
        """Return its sort key among waiters in its leaf: by application, then by ask."""
        first = self.first()
        if first is None:
            return None
        return (*self.lane.sort_key_of(self.application, first.ask.priority), *first.order)

    @property
    def is_notified(self) -> bool:
        """Return whether it is notified in the queue it waits in."""
        return self.waits_in is not None and self.notified_by is self.waits_in

    def wait_in(self, wait_queue: WaitQueue[Any]) -> None:
        """Let the group wait for a change in ``wait_queue``."""
        self.waits_in = wait_queue
        wait_queue.add(self)
        if wait_queue.is_gate:
            self.application.held_back[self] = None

    def unblock(self) -> None:
        """End the wait; the caller notifies the application."""
        if self.waits_in is not None:
            self.waits_in.discard(self)
            self.waits_in = None
            self.application.held_back.pop(self, None)

    def wake(self) -> None:
        """End the wait, so that the next pass examines the group."""
        self.unblock()
        self.application.awakens(self)

    def notify(self) -> None:
        """Have the group checked at its turn, if it can still be placed then."""
        self.application.notified[self] = None
        self.notified_by = self.waits_in
        self.application.awakens(self)

    def dismiss(self) -> None:
        """Cancel a notification: at its turn the group could not be placed."""
        self.application.notified.pop(self, None)
        self.notified_by = None

    def done_with(self) -> None:
        """Notify the next in its bucket: a group of the application had its turn."""
        notified_by, self.notified_by = self.notified_by, None
        if notified_by is None:
            return
        if self.waits_in is notified_by and notified_by.may_go(self):  # another group was served
            self.wake()
        notified_by.notify_next(self)


@dataclass(slots=True, eq=False)
class Application:
    """A known application; ``number`` counts applications in order of submission."""

    submitted: NewApplication
    number: int
    leaf: Queue
    quotas: Quotas  # it counts against: those of its leaf, the parent queues, and limits
    state: ApplicationState = ApplicationState.NEW
    pending: dict[str, PendingAsk] = field(default_factory=dict)  # by allocation key
    ask_groups: dict[AskGroupKey, AskGroup] = field(default_factory=dict)
    awake: LazyHeap[AskGroup] = field(default_factory=LazyHeap)
    notified: dict[AskGroup, None] = field(default_factory=dict)  # not handled yet
    held_back: dict[AskGroup, None] = field(default_factory=dict)  # that wait at a gate
    usage: Total = field(default_factory=Total)  # by all of its allocations
    held: int = 0  # allocations, including placeholders
    placeholders_held: int = 0
    placeholders_asked: int = 0  # pending placeholder asks
    is_gang: bool = False  # from its first placeholder or placeholder ask on
    has_passed: bool = False  # it gathered nothing in its turn, and blocks no other gang
    sort_key: SortKey | None = None
    priority: int = 0  # of the next ask to be served
    is_counted: bool = False  # among the running applications of its queues
    state_timer: Timer | None = None
    execution_timer: Timer | None = None

    @property
    def application_id(self) -> str:
        """The id the RM gave it."""
        return self.submitted.application_id

    @property
    def used(self) -> Resource:
        """Return what all of its allocations use."""
        return self.usage.value

    @property
    def is_active(self) -> bool:
        """Return whether it has a real allocation; placeholders do not make it active."""
        return self.held > self.placeholders_held

    @property
    def has_begun(self) -> bool:
        """Return whether it is past the states in which placeholders are gathered."""
        return self.state not in _NOT_BEGUN

    @property
    def is_gathering(self) -> bool:
        """Return whether it waits for placeholders before it begins."""
        return bool(self.placeholders_asked) and not self.has_begun

    @property
    def keeps_its_turn(self) -> bool:
        """Return whether younger gangs wait for it."""
        return self.is_gathering and not self.has_passed

    @property
    def is_beginning(self) -> bool:
        """Return whether it waits for allocations to begin."""
        return self.state is ApplicationState.ACCEPTED and bool(self.pending)

    @property
    def is_starting(self) -> bool:
        """Return whether it is in state Starting."""
        return self.state is ApplicationState.STARTING and self.is_counted

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Return whether its quotas allow ``need``, of which ``reserved`` is counted already."""
        return self.quotas.can_take(need, reserved, is_counted=self.is_counted)

    def done_with_notified(self) -> None:
        """Finish notifications after a group was served or rejected: the order may have changed."""
        for ask_group in self.notified:
            ask_group.done_with()
        self.notified.clear()

    def usage_decreased(self) -> None:
        """Update the order after usage decreased; in a fair leaf it comes earlier."""
        if self.leaf.is_fair:
            self.leaf.awakens(self)
            for ask_group in self.ask_groups.values():
                if ask_group.waits_in is not None:
                    ask_group.waits_in.moved_up(ask_group)

    def moved(self) -> None:
        """Recheck gates after a change that may affect its asks or those of others in its leaf.

        That is a change of its state, of whether it counts as running, or of whether it has asks,
        placeholder asks and allocations. All of its groups held back by a gate are rechecked, and
        the next applicant in each admission order.
        """
        leaf = self.leaf
        leaf.beginning.put(self, is_in=self.is_beginning)
        if self.is_starting:
            leaf.starting.add(self.number)
        else:
            leaf.starting.discard(self.number)
        if leaf.is_state_aware:
            leaf.beginning.wake_first()
        if self.is_gang:
            self.has_passed &= self.is_gathering and not self.held
            leaf.gathering.put(self, is_in=self.keeps_its_turn)
            leaf.gathering.wake_first()
            leaf.root.gangs_moved[leaf] = None
        for ask_group in list(self.held_back):
            ask_group.wake()

    def pass_turn(self) -> None:
        """Let the next gang of the leaf gather: this one got nothing in its turn."""
        self.has_passed = True
        self.moved()

    def awakens(self, ask_group: AskGroup) -> None:
        """Have ``ask_group`` examined by the next pass."""
        self.awake.update(ask_group)
        self.leaf.awakens(self)

    def next_sort_key(self) -> SortKey | None:
        """Return its sort key among the applications of its leaf; None if nothing to serve."""
        ask_group = self.awake.first()
        if ask_group is None:
            return None
        self.priority = ask_group.priority
        return self.leaf.sort_key_of(self, ask_group.priority)

    def stop_state_timer(self) -> None:
        """Cancel the deadline of the current state."""
        cancel(self.state_timer)
        self.state_timer = None

    def stop_execution_timer(self) -> None:
        """Cancel the execution timeout: the application has ended."""
        cancel(self.execution_timer)
        self.execution_timer = None
