"""One partition of one RM: everything that is known in it."""

from collections import OrderedDict, deque
from dataclasses import dataclass

from sireference.configuration.model import PartitionConfig
from sireference.core.model import Ask, ChangeType, Identification, Release, Rules, Settings
from sireference.core.resources import Resource
from sireference.core.state.affinity_counts import AffinityCounts
from sireference.core.state.allocation import Allocation, Allocations
from sireference.core.state.application import Application, AskGroup, PendingAsk
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.gang import Gang, Replacements
from sireference.core.state.identities import Identities
from sireference.core.state.node import Node
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.preemption import Preemptions, Preemptors
from sireference.core.state.proposals import Proposal
from sireference.core.state.queue import Queue
from sireference.core.state.timers import Timer, Timers
from sireference.core.states import (
    ALLOCATION_TRANSITIONS,
    ASK_TRANSITIONS,
    ApplicationState,
    AskState,
    AskTrigger,
    NodeState,
    TerminationType,
    fire,
)


@dataclass(frozen=True, slots=True)
class Finished:
    """What is remembered of an application that is over."""

    application_id: str
    queue: str  # it was in
    state: ApplicationState
    timer: Timer


class Partition:
    """All that is known of one partition, and the counters that put things in order."""

    def __init__(
        self,
        rm_id: str,
        config: PartitionConfig,
        settings: Settings,
        timers: Timers,
        identities: Identities,
        *,
        callbacks: Callbacks,
        rules: Rules,
    ) -> None:
        self.rm_id = rm_id
        self.name = config.name
        self.is_draining = False  # takes no new nodes and applications
        self.config = config
        self.settings = settings
        self.timers = timers
        self.identities = identities
        self.rules = rules
        self.callbacks = callbacks
        self.event_log = callbacks.event_log
        self.states = callbacks.states
        self.root = Queue(config.root)
        self.allocations = Allocations()
        self.nodes: dict[str, Node] = {}
        self.node_index = NodeIndex(
            config.node_sort_policy, self.nodes, AffinityCounts(self.allocations.all)
        )
        self.preemptions = Preemptions(self.node_index, callbacks)
        self.preemptors = Preemptors(self.node_index)
        self.gangs: dict[Application, Gang] = {}  # from the first placeholder or its ask on
        self.replacements = Replacements()
        self.applications: dict[str, Application] = {}
        # the first to finish first; it is taken again and again, which a plain dict is slow at
        self.finished: OrderedDict[str, Finished] = OrderedDict()
        self._by_key: dict[str, dict[Application, None]] = {}  # of a pending ask
        self.proposals: deque[Proposal] = deque()
        self.is_asking = False  # the RM, about the first of them
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

    def new_identity(self, ask: Ask) -> str:
        """The identity of a new allocation of ``ask``, none that the RM brought along."""
        if self.rules.identification is Identification.BY_KEY:
            return ask.key
        identity = self.identities.next()
        while identity in self.allocations.all:
            identity = self.identities.next()
        return identity

    # Asks

    def queue_up(self, application: Application, ask: Ask) -> None:
        """Let ``ask`` wait for its turn."""
        state = fire(ASK_TRANSITIONS, AskState.INITIAL, AskTrigger.ASKED)
        self._take_in(PendingAsk(ask, self.number(), application, state=state))
        self.event_log.asked(application, ask)

    def replace(self, earlier: PendingAsk, ask: Ask) -> None:
        """Let ``ask`` wait in place of ``earlier``, if it wants more than was made already.

        It waits for the same placeholders, as long as it is of their task group, and for the same
        victims, as long as it is of the same size and for the same node.
        """
        if ask.max_allocations <= earlier.made:
            self.drop(earlier)
            return
        state = fire(ASK_TRANSITIONS, AskState.INITIAL, AskTrigger.ASKED)
        later = PendingAsk(ask, earlier.number, earlier.application, earlier.made, state)
        later.since = earlier.since
        later.told = earlier.told
        awaited = list(self.replacements.of(earlier).values())
        preemption = self.preemptions.of(earlier)
        if preemption is not None and earlier.key.profile == later.key.profile:
            self.preemptions.take_over(preemption, later)
        self._remove(earlier, AskTrigger.WITHDRAWN)
        self.event_log.asked(later.application, ask, ChangeType.SET)
        if ask.task_group == earlier.ask.task_group and not ask.is_placeholder:
            later.had_placeholder = earlier.had_placeholder
            for placeholder in awaited[: ask.max_allocations - earlier.made]:
                self.hold_for_replacement(later, placeholder)
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
            self.its_gang(application)
            application.placeholders_asked += 1
            is_news = is_news or application.placeholders_asked == 1
        if is_news:
            application.moved()
        if pending.wants_more:
            self.stand(pending)

    def stand(self, pending: PendingAsk) -> None:
        """Let ``pending`` wait in the group it belongs in."""
        application = pending.application
        key = pending.key
        ask_group = application.ask_groups.get(key)
        if ask_group is None:
            need = pending.ask.resource
            ask_group = AskGroup(application, key, need, self.number())
            application.ask_groups[key] = ask_group
            self.node_index.wanted(ask_group.profile)
        before = pending.ask_group
        ask_group.join(pending)
        self.states.joined(ask_group, pending)
        if before is not ask_group:
            self._clear(before)
        if ask_group.first() is pending:
            if ask_group.waits_in is None:
                application.awakens(ask_group)
            else:
                ask_group.waits_in.moved_up(ask_group)

    def drop(self, pending: PendingAsk, trigger: AskTrigger = AskTrigger.WITHDRAWN) -> None:
        """Let ``pending`` wait no more; a placeholder it waited for is replaced by nobody."""
        self._remove(pending, trigger)
        self.event_log.over(pending, trigger)

    def _remove(self, pending: PendingAsk, trigger: AskTrigger) -> None:
        application, ask_group = pending.application, pending.ask_group
        pending.state = fire(ASK_TRANSITIONS, pending.state, trigger)
        key = pending.ask.key
        del application.pending[key]
        del self._by_key[key][application]
        if not self._by_key[key]:
            del self._by_key[key]
        self.replacements.forget(pending)
        self._let_go(pending)
        self._clear(ask_group)
        if pending.ask_group is not None:  # it was not the first there
            pending.ask_group.leave(pending)
        is_news = not application.pending
        if pending.ask.is_placeholder:
            application.placeholders_asked -= 1
            is_news = is_news or not application.placeholders_asked
        if is_news:
            application.moved()

    def _let_go(self, pending: PendingAsk) -> None:
        """Whatever was to be preempted for it: it does not need it any more."""
        preemption = self.preemptions.of(pending)
        if preemption is not None:
            self.preemptions.end(preemption)
        if pending.exclusions is not None:
            pending.exclusions.stop_timer()
        self.preemptors.forget(pending)

    def served(self, pending: PendingAsk) -> None:
        """One more allocation of ``pending`` is made; with its last one it is over."""
        pending.made += 1
        if pending.made >= pending.ask.max_allocations:
            self.drop(pending, AskTrigger.ALL_ALLOCATED)
            self.states.moved(pending)
        else:
            self._clear(pending.ask_group)

    def hold_for_replacement(self, pending: PendingAsk, placeholder: Allocation) -> None:
        """Let one allocation of ``pending`` wait for the end of ``placeholder``."""
        self.replacements.hold(pending, placeholder)
        self.states.moved(pending)
        self._clear(pending.ask_group)

    def its_gang(self, application: Application) -> Gang:
        """What ``application`` has of task groups; from now on it is a gang."""
        gang = self.gangs.get(application)
        if gang is None:
            application.is_gang = True
            gang = self.gangs[application] = Gang()
        return gang

    def propose(self, proposal: Proposal) -> None:
        """Let ``proposal`` wait until the RM agrees to it."""
        self.proposals.append(proposal)
        if proposal.serves:
            proposal.pending.proposed += 1
            self._clear(proposal.pending.ask_group)

    def unpropose(self) -> Proposal:
        """The first proposal; nothing waits for it any more."""
        proposal = self.proposals.popleft()
        if proposal.serves:
            proposal.pending.proposed -= 1
        return proposal

    def _clear(self, ask_group: AskGroup | None) -> None:
        """Remove ``ask_group`` if there is no ask in it."""
        if ask_group is None or ask_group.first() is not None:
            return
        ask_group.unblock()
        ask_group.done_with()
        ask_group.application.awake.remove(ask_group)
        if ask_group.application.ask_groups.get(ask_group.key) is ask_group:
            del ask_group.application.ask_groups[ask_group.key]
            self.node_index.unwanted(ask_group.profile)

    # Allocations

    def book(self, allocation: Allocation) -> None:
        """Count ``allocation`` on its node, in its queues, in its application."""
        application, node = allocation.application, allocation.node
        resource = allocation.record.ask.resource
        allocation.number = self.number()
        self.allocations.add(allocation)
        application.held += 1
        if allocation.is_placeholder:
            application.placeholders_held += 1
            self.its_gang(application).book(allocation)
        application.used += resource
        application.quotas.book(resource)
        node.book(resource)
        self.node_index.allocation_added(allocation)
        if node.state is NodeState.SCHEDULABLE:
            self.node_index.capacity_used(node)
        if application.held == 1:
            application.moved()
        self.callbacks.allocation_added(allocation)

    def ask_for_release(
        self, allocation: Allocation, termination: TerminationType, message: str
    ) -> Release:
        """What asks the RM to end it; it ends when the RM has confirmed (SI-REL-011)."""
        allocation.open_release = termination
        gang = self.gangs.get(allocation.application)
        if gang is not None:
            gang.mark(allocation)
        return allocation.release(termination, message)

    def unbook(self, allocation: Allocation, termination: TerminationType) -> None:
        """End ``allocation``; what it held is free for others."""
        application, node = allocation.application, allocation.node
        resource = allocation.record.ask.resource
        allocation.state = fire(ALLOCATION_TRANSITIONS, allocation.state, termination)
        if allocation.timer is not None:
            allocation.timer.cancel()
            allocation.timer = None
        self.allocations.remove(allocation)
        application.held -= 1
        if allocation.is_placeholder:
            self._placeholder_ended(allocation)
        node.unbook(resource)
        self.node_index.allocation_removed(allocation)
        if node.state is NodeState.SCHEDULABLE:
            self.node_index.capacity_freed(node)
        application.used -= resource
        application.has_less()
        application.quotas.unbook(resource)
        if not application.held:
            application.moved()
        self.callbacks.allocation_removed(allocation)
        self.event_log.allocation_removed(allocation, termination)

    def _placeholder_ended(self, placeholder: Allocation) -> None:
        """One placeholder less; with the last one there is nothing left that could time out."""
        application = placeholder.application
        application.placeholders_held -= 1
        gang = self.gangs.get(application)
        if gang is not None:
            gang.mark(placeholder)
            if not application.placeholders_held:
                gang.stop_timer()
