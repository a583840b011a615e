"""One partition of one RM: everything that is known in it."""

from collections import OrderedDict, deque
from dataclasses import dataclass

from sireference.configuration.model import PartitionConfig
from sireference.core.books.application import Application
from sireference.core.books.callbacks import Callbacks
from sireference.core.books.groups import Groups
from sireference.core.books.live import LiveAllocation
from sireference.core.books.node import Node
from sireference.core.books.pending import Line, PendingAsk
from sireference.core.books.preemption import Preemptions, Preemptors
from sireference.core.books.proposals import Proposal
from sireference.core.books.queue import Queue
from sireference.core.books.room import Room
from sireference.core.books.timers import Timer, Timers
from sireference.core.model import Ask, ChangeType, Settings
from sireference.core.resources import Resource
from sireference.core.states import (
    ALLOCATION_TRANSITIONS,
    ASK_TRANSITIONS,
    ApplicationState,
    AskHappening,
    AskState,
    NodeState,
    TerminationType,
    fire,
)


class Identities:
    """Identities of allocations, never the same twice."""

    __slots__ = ("_made", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made = 0

    def next(self) -> str:
        """A new one."""
        self._made += 1
        return f"{self._prefix}{self._made}"


@dataclass(frozen=True, slots=True)
class Finished:
    """What is remembered of an application that is over."""

    application_id: str
    queue: str  # it was in
    state: ApplicationState
    timer: Timer


class Partition:
    """The books of one partition, and the counters that put things in order."""

    def __init__(
        self,
        rm_id: str,
        config: PartitionConfig,
        settings: Settings,
        timers: Timers,
        identities: Identities,
        *,
        callbacks: Callbacks,
    ) -> None:
        self.rm_id = rm_id
        self.name = config.name
        self.is_draining = False  # takes no new nodes and applications
        self.config = config
        self.settings = settings
        self.timers = timers
        self.identities = identities
        self.callbacks = callbacks
        self.journal = callbacks.journal
        self.states = callbacks.states
        self.root = Queue(config.root)
        self.allocations: dict[str, LiveAllocation] = {}
        self.nodes: dict[str, Node] = {}
        self.room = Room(config.node_sort_policy, self.nodes, Groups(self.allocations))
        self.preemptions = Preemptions(self.room, callbacks)
        self.preemptors = Preemptors()
        self.applications: dict[str, Application] = {}
        # the first to finish first; it is taken again and again, which a plain dict is slow at
        self.finished: OrderedDict[str, Finished] = OrderedDict()
        self._by_key: dict[str, dict[Application, None]] = {}  # of a pending ask
        self.proposals: deque[Proposal] = deque()  # a question is open about the first
        self._numbers = 0

    @property
    def total(self) -> Resource:
        """The capacity of all nodes."""
        return self.root.total

    @total.setter
    def total(self, capacity: Resource) -> None:
        self.root.total = capacity

    def number(self) -> int:
        """The next number in the order of arrival."""
        self._numbers += 1
        return self._numbers

    def new_identity(self) -> str:
        """An identity for a new allocation, none that the RM brought along."""
        identity = self.identities.next()
        while identity in self.allocations:
            identity = self.identities.next()
        return identity

    # Asks

    def queue_up(self, application: Application, ask: Ask) -> None:
        """Let ``ask`` wait for its turn."""
        state = fire(ASK_TRANSITIONS, AskState.INITIAL, AskHappening.ASKED)
        self._take_in(PendingAsk(ask, self.number(), application, state=state))
        self.journal.asked(application, ask)

    def replace(self, earlier: PendingAsk, ask: Ask) -> None:
        """Let ``ask`` wait in place of ``earlier``, if it wants more than was made already.

        It waits for the same placeholders, as long as it is of their task group, and for the same
        victims, as long as it is of the same size and for the same node.
        """
        if ask.max_allocations <= earlier.made:
            self.drop(earlier)
            return
        state = fire(ASK_TRANSITIONS, AskState.INITIAL, AskHappening.ASKED)
        later = PendingAsk(ask, earlier.number, earlier.application, earlier.made, state)
        later.since = earlier.since
        later.outlook = earlier.outlook
        awaited = list(earlier.awaited.values())
        if earlier.preemption is not None and earlier.key.shape == later.key.shape:
            self.preemptions.take_over(earlier.preemption, later)
        self._remove(earlier, AskHappening.WITHDRAWN)
        self.journal.asked(later.application, ask, ChangeType.SET)
        if ask.task_group == earlier.ask.task_group and not ask.is_placeholder:
            later.had_placeholder = earlier.had_placeholder
            for placeholder in awaited[: ask.max_allocations - earlier.made]:
                self.park(later, placeholder)
        self._take_in(later)

    def with_key(self, key: str) -> list[Application]:
        """The applications that have a pending ask with that key, in the order they came."""
        return sorted(self._by_key.get(key, ()), key=lambda application: application.number)

    def _take_in(self, pending: PendingAsk) -> None:
        application = pending.application
        is_news = not application.pending
        application.pending[pending.ask.key] = pending
        self._by_key.setdefault(pending.ask.key, {})[application] = None
        if pending.ask.is_placeholder:
            gang = application.its_gang()
            gang.asked += 1
            is_news = is_news or gang.asked == 1
        if is_news:
            application.moved()
        if pending.wants_more:
            self.stand(pending)

    def stand(self, pending: PendingAsk) -> None:
        """Let ``pending`` stand in the line it belongs in."""
        application = pending.application
        key = pending.key
        line = application.lines.get(key)
        if line is None:
            need = pending.ask.resource
            line = Line(application, key, need, self.number())
            application.lines[key] = line
            self.room.wanted(line.shape)
        before = pending.line
        line.join(pending)
        self.states.joined(line, pending)
        if before is not line:
            self._clear(before)
        if line.first() is pending:
            if line.bed is None:
                application.wake(line)
            else:
                line.bed.moved_up(line)

    def drop(self, pending: PendingAsk, happening: AskHappening = AskHappening.WITHDRAWN) -> None:
        """Let ``pending`` wait no more; a placeholder it waited for is replaced by nobody."""
        self._remove(pending, happening)
        self.journal.over(pending, happening)

    def _remove(self, pending: PendingAsk, happening: AskHappening) -> None:
        application, line = pending.application, pending.line
        pending.state = fire(ASK_TRANSITIONS, pending.state, happening)
        key = pending.ask.key
        del application.pending[key]
        del self._by_key[key][application]
        if not self._by_key[key]:
            del self._by_key[key]
        for live in pending.awaited.values():
            live.replaced_by = None
        pending.awaited.clear()
        self._let_go(pending)
        self._clear(line)
        if pending.line is not None:  # it was not the first there
            pending.line.leave(pending)
        is_news = not application.pending
        if pending.ask.is_placeholder and application.gang is not None:
            application.gang.asked -= 1
            is_news = is_news or not application.gang.asked
        if is_news:
            application.moved()

    def _let_go(self, pending: PendingAsk) -> None:
        """Whatever was to be preempted for it: it does not need it any more."""
        if pending.preemption is not None:
            self.preemptions.end(pending.preemption)
        if pending.preemption_timer is not None:
            pending.preemption_timer.cancel()
            pending.preemption_timer = None
        if pending.vetoes is not None:
            pending.vetoes.stop_timer()
        self.preemptors.forget(pending)

    def served(self, pending: PendingAsk) -> None:
        """One more allocation of ``pending`` is made; with its last one it is over."""
        pending.made += 1
        if pending.made >= pending.ask.max_allocations:
            self.drop(pending, AskHappening.ALL_ALLOCATED)
            self.states.moved(pending)
        else:
            self._clear(pending.line)

    def park(self, pending: PendingAsk, placeholder: LiveAllocation) -> None:
        """Let one allocation of ``pending`` wait for the end of ``placeholder``."""
        pending.awaited[placeholder.allocation.identity] = placeholder
        placeholder.replaced_by = pending
        self.states.moved(pending)
        self._clear(pending.line)

    def unpark(self, placeholder: LiveAllocation) -> PendingAsk | None:
        """The ask that waited for the end of ``placeholder``; it waits for it no more."""
        pending, placeholder.replaced_by = placeholder.replaced_by, None
        if pending is not None:
            del pending.awaited[placeholder.allocation.identity]
        return pending

    def propose(self, proposal: Proposal) -> None:
        """Let ``proposal`` wait until the RM agrees to it."""
        self.proposals.append(proposal)
        if proposal.is_turn:
            proposal.pending.proposed += 1
            self._clear(proposal.pending.line)

    def unpropose(self) -> Proposal:
        """The first proposal; nothing waits for it any more."""
        proposal = self.proposals.popleft()
        if proposal.is_turn:
            proposal.pending.proposed -= 1
        return proposal

    def _clear(self, line: Line | None) -> None:
        """Remove ``line`` if nobody stands in it."""
        if line is None or line.first() is not None:
            return
        line.leave_bed()
        line.done_with()
        line.application.awake.leave(line)
        if line.application.lines.get(line.key) is line:
            del line.application.lines[line.key]
            self.room.unwanted(line.shape)

    # Allocations

    def book(self, live: LiveAllocation) -> None:
        """Count ``live`` on its node, in its queues, in its application."""
        resource = live.allocation.ask.resource
        live.number = self.number()
        self.preemptors.changes += 1
        self.allocations[live.allocation.identity] = live
        live.application.allocations[live.allocation.identity] = live
        if live.is_placeholder:
            live.application.its_gang().book(live)
        live.application.used += resource
        live.application.use(resource)
        live.node.book(live)
        self.room.came(live)
        if live.node.state is NodeState.SCHEDULABLE:
            self.room.shrank(live.node)
        if len(live.application.allocations) == 1:
            live.application.moved()
        self.callbacks.came(live)

    def unbook(self, live: LiveAllocation, termination: TerminationType) -> None:
        """End ``live``; what it held is free for others."""
        live.state = fire(ALLOCATION_TRANSITIONS, live.state, termination)
        if live.timer is not None:
            live.timer.cancel()
            live.timer = None
        self.preemptors.changes += 1
        del self.allocations[live.allocation.identity]
        del live.application.allocations[live.allocation.identity]
        if live.is_placeholder:
            live.application.its_gang().unbook(live)
        live.node.unbook(live)
        self.room.went(live)
        if live.node.state is NodeState.SCHEDULABLE:
            self.room.grew(live.node)
        live.application.used -= live.allocation.ask.resource
        live.application.has_less()
        live.application.give_back(live.allocation.ask.resource)
        if not live.application.allocations:
            live.application.moved()
        self.callbacks.went(live)
        self.journal.went(live, termination)
