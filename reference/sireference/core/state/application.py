"""One application: its state, its asks in lines, its allocations."""

from dataclasses import dataclass, field

from sireference.core.model import NewApplication
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.ask_group import AskGroup, AskGroupKey, PendingAsk
from sireference.core.state.gang import Gang
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quota
from sireference.core.state.timers import Timer
from sireference.core.states import ApplicationState

_NOT_BEGUN = (ApplicationState.NEW, ApplicationState.ACCEPTED)


@dataclass(slots=True, eq=False)
class Application:
    """An application in the books; ``number`` counts applications in the order they came."""

    submitted: NewApplication
    number: int
    leaf: Queue
    quotas: tuple[Quota, ...]  # it counts against: those of its leaf, the queues above, and limits
    state: ApplicationState = ApplicationState.NEW
    pending: dict[str, PendingAsk] = field(default_factory=dict)  # by allocation key
    allocations: dict[str, Allocation] = field(default_factory=dict)  # by identity
    used: Resource = NOTHING  # by all of its allocations
    ask_groups: dict[AskGroupKey, AskGroup] = field(default_factory=dict)
    awake: LazyHeap[AskGroup] = field(default_factory=LazyHeap)
    notified: dict[AskGroup, None] = field(default_factory=dict)  # lines that are not done with it
    held_back: dict[AskGroup, None] = field(default_factory=dict)  # lines that sleep at a gate
    sort_key: SortKey | None = None
    priority: int = 0  # of the ask it would have served
    is_counted: bool = False  # among the running applications of its queues
    state_timer: Timer | None = None
    execution_timer: Timer | None = None
    gang: Gang | None = None  # from its first placeholder or placeholder ask on

    @property
    def application_id(self) -> str:
        """The id the RM gave it."""
        return self.submitted.application_id

    @property
    def is_active(self) -> bool:
        """Whether it has a real allocation; placeholders do not make it active."""
        return len(self.allocations) > (self.gang.held if self.gang else 0)

    @property
    def has_begun(self) -> bool:
        """Whether it is past the states in which placeholders are gathered."""
        return self.state not in _NOT_BEGUN

    @property
    def is_gathering(self) -> bool:
        """Whether it waits for placeholders before it begins."""
        return bool(self.gang and self.gang.asked) and not self.has_begun

    @property
    def keeps_its_turn(self) -> bool:
        """Whether younger gangs wait for it."""
        return self.gang is not None and self.is_gathering and not self.gang.has_passed

    @property
    def is_beginning(self) -> bool:
        """Whether it waits for allocations to begin."""
        return self.state is ApplicationState.ACCEPTED and bool(self.pending)

    @property
    def is_starting(self) -> bool:
        """Whether it has begun, and only just."""
        return self.state is ApplicationState.STARTING and self.is_counted

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Whether it may run, and its quotas can take ``need`` more, of which it was ``promised``.

        See `Quota.can_take`.
        """
        return all(
            quota.can_take(need, reserved) and (self.is_counted or quota.has_slot())
            for quota in self.quotas
        )

    def use(self, resource: Resource) -> None:
        """Count ``resource`` wherever the application counts."""
        for quota in self.quotas:
            quota.book(resource)

    def give_back(self, resource: Resource) -> None:
        """Count ``resource`` no more."""
        for quota in self.quotas:
            quota.unbook(resource)

    def reserve(self, resource: Resource) -> None:
        """Keep ``resource`` wherever the application counts, even if it has to come free."""
        for quota in self.quotas:
            quota.reserve(resource)

    def unreserve(self, resource: Resource) -> None:
        """Keep it no more."""
        for quota in self.quotas:
            quota.unreserve(resource)

    def done_with_notified(self) -> None:
        """One of its lines was served or turned away: the turns of all of them may be later now."""
        for ask_group in self.notified:
            ask_group.done_with()
        self.notified.clear()

    def has_less(self) -> None:
        """It uses less than before: in a fair leaf its sleeping lines may have moved up."""
        if self.leaf.is_fair:
            for ask_group in self.ask_groups.values():
                if ask_group.waits_in is not None:
                    ask_group.waits_in.moved_up(ask_group)

    def its_gang(self) -> Gang:
        """What it has of task groups; from now on it has."""
        if self.gang is None:
            self.gang = Gang()
        return self.gang

    def moved(self) -> None:
        """Something changed that may hold back its lines, or those of others in its leaf.

        That is its state, whether it counts as running, and whether it has asks, placeholder asks
        and allocations at all. Every line of its own that a gate holds back is asked again, and so
        is whoever comes first now where one comes after the other.
        """
        leaf = self.leaf
        leaf.beginning.put(self, is_in=self.is_beginning)
        if self.is_starting:
            leaf.starting.add(self.number)
        else:
            leaf.starting.discard(self.number)
        if leaf.is_state_aware:
            leaf.beginning.wake_first()
        if self.gang is not None:
            self.gang.has_passed &= self.is_gathering and not self.allocations
            leaf.gathering.put(self, is_in=self.keeps_its_turn)
            leaf.gathering.wake_first()
            leaf.root.turns[leaf] = None
        for ask_group in list(self.held_back):
            self.wake(ask_group)

    def wake(self, ask_group: AskGroup) -> None:
        """``line`` is worth a look."""
        ask_group.unblock()
        self._stands(ask_group)

    def notify(self, ask_group: AskGroup) -> None:
        """``line``, which sleeps, is worth a look when its turn comes, if it still may go then."""
        self.notified[ask_group] = None
        ask_group.notified_by = ask_group.waits_in
        self._stands(ask_group)

    def dismiss(self, ask_group: AskGroup) -> None:
        """``line`` was called in vain: when its turn came, it could not go any more."""
        self.notified.pop(ask_group, None)
        ask_group.notified_by = None

    def _stands(self, ask_group: AskGroup) -> None:
        self.awake.join(ask_group)
        self.leaf.wake(self)

    def next_sort_key(self) -> SortKey | None:
        """The turn among the applications of its leaf."""
        ask_group = self.awake.first()
        if ask_group is None:
            return None
        self.priority = ask_group.priority
        return self.leaf.sort_key_of(self, ask_group.priority)

    def stop_state_timer(self) -> None:
        """The state lasts."""
        if self.state_timer is not None:
            self.state_timer.cancel()
            self.state_timer = None

    def stop_execution_timer(self) -> None:
        """It is not running any more."""
        if self.execution_timer is not None:
            self.execution_timer.cancel()
            self.execution_timer = None
