"""Partition: the complete state of one partition of one RM."""

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from sireference.configuration.model import PartitionConfig
from sireference.core.model import Ask, Identification, Release, Rules, Settings
from sireference.core.resources import Resource
from sireference.core.state.affinity_counts import AffinityCounts
from sireference.core.state.allocation import Allocation, Allocations
from sireference.core.state.application import Application, AskGroup
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.enforcements import Enforcements
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.state.gang import Gangs, Replacements
from sireference.core.state.identities import Identities
from sireference.core.state.node import Node
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.state.preemption import Preemptions, Preemptors
from sireference.core.state.proposals import Proposal
from sireference.core.state.queue import Queue
from sireference.core.state.slots_lacked import SlotsLacked
from sireference.core.state.timers import Timer, Timers, cancel
from sireference.core.states import (
    ALLOCATION_TRANSITIONS,
    ApplicationState,
    NodeState,
    TerminationType,
    fire,
)

_SCHEDULABLE: Final = NodeState.SCHEDULABLE  # an Enum lookup for every allocation is slow


@dataclass(frozen=True, slots=True)
class Finished:
    """What is remembered of a finished application."""

    application_id: str
    queue: str  # it was in
    state: ApplicationState
    timer: Timer


class Partition:
    """The state of one partition, and the counters that define order."""

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
        self.rm_id, self.name = rm_id, config.name
        self.is_draining = False  # accepts no new nodes and applications
        self.config = config
        self.settings, self.timers = settings, timers
        self.identities, self.rules = identities, rules
        self.identifies_by_key = rules.identification is Identification.BY_KEY  # allocations
        self.callbacks = callbacks
        self.event_log, self.states = callbacks.event_log, callbacks.states
        self.root = Queue(config.root)
        self.allocations = Allocations()
        self.nodes: dict[str, Node] = {}
        affinities = AffinityCounts(self.allocations.all)
        self.node_index = NodeIndex(config.node_sort_policy, self.nodes, affinities)
        self.foreign = ForeignAllocations(self.node_index)
        self.preemptions = Preemptions(self.node_index, callbacks)
        self.preemptors = Preemptors(self.node_index)
        self.enforcements = Enforcements()
        self.slots_lacked: dict[Application, SlotsLacked] = {}  # by applications that wait to run
        self.gangs, self.replacements = Gangs(), Replacements()
        self._numbers = count(1)
        self.asks = PendingAsks(
            self._numbers,
            callbacks,
            self.node_index,
            gangs=self.gangs,
            replacements=self.replacements,
            preemptions=self.preemptions,
            preemptors=self.preemptors,
        )
        self.applications: dict[str, Application] = {}
        self.finished: OrderedDict[str, Finished] = OrderedDict()  # in order of finishing
        self.proposals: deque[Proposal] = deque()
        self.is_asking = False  # the RM, about the first proposal
        self.to_wake: deque[AskGroup] = deque()  # after a configuration update

    @property
    def total(self) -> Resource:
        """Return the capacity of all nodes."""
        return self.root.total

    @total.setter
    def total(self, capacity: Resource) -> None:
        self.root.total = capacity

    def number(self) -> int:
        """Return the next number in the order of arrival."""
        return next(self._numbers)

    def new_identity(self, ask: Ask) -> str:
        """Return an unused identity for an allocation of ``ask``."""
        if self.identifies_by_key:
            return ask.key
        identity = self.identities.next()
        while identity in self.allocations.all:
            identity = self.identities.next()
        return identity

    def propose(self, proposal: Proposal) -> None:
        """Let ``proposal`` wait for the RM's approval."""
        self.proposals.append(proposal)
        if proposal.serves:
            self.asks.hold(proposal.pending)

    def unpropose(self) -> Proposal:
        """Remove and return the first proposal."""
        proposal = self.proposals.popleft()
        if proposal.serves:
            proposal.pending.held -= 1
        return proposal

    def book(self, allocation: Allocation) -> None:
        """Count ``allocation`` on its node, in its queues and in its application."""
        application, node = allocation.application, allocation.node
        ask = allocation.record.ask
        resource = ask.resource
        allocation.number = next(self._numbers)
        self.allocations.add(allocation)
        application.held += 1
        if ask.is_placeholder:
            application.placeholders_held += 1
            self.gangs.begin(application).book(allocation)
        application.usage.add(resource)
        application.quotas.book(resource)
        node.book(resource)
        self.node_index.allocation_added(allocation)
        if node.state is _SCHEDULABLE:
            self.node_index.capacity_used(node)
        if application.held == 1:
            application.moved()
        self.callbacks.allocation_added(allocation)

    def resize(self, allocation: Allocation, resource: Resource) -> bool:
        """Resize ``allocation`` to ``resource``; return whether any type decreased."""
        application, node = allocation.application, allocation.node
        record = allocation.record
        before = record.ask.resource
        more, shrinks = resource - before, not before.fits(resource)
        allocation.record = replace(record, ask=replace(record.ask, resource=resource))
        self.preemptions.resized(allocation, more)
        application.usage.add(more)
        application.quotas.book(more)
        node.book(more)
        self.node_index.resized(node, frees=shrinks)
        if shrinks:
            application.usage_decreased()
            application.quotas.shrunk()
        self.callbacks.allocation_resized(allocation, before)
        return shrinks

    def ask_for_release(
        self, allocation: Allocation, termination: TerminationType, message: str
    ) -> Release:
        """Return the release request to the RM; it ends when confirmed (SI-REL-011)."""
        allocation.open_release = termination
        gang = self.gangs.get(allocation.application)
        if gang is not None:
            gang.mark(allocation)
        return allocation.release(termination, message)

    def unbook(self, allocation: Allocation, termination: TerminationType) -> None:
        """End ``allocation`` and free its resources."""
        application, node = allocation.application, allocation.node
        resource = allocation.record.ask.resource
        allocation.state = fire(ALLOCATION_TRANSITIONS, allocation.state, termination)
        cancel(allocation.timer)
        allocation.timer = None
        self.allocations.remove(allocation)
        application.held -= 1
        if allocation.is_placeholder:
            self.placeholder_ended(allocation)
        node.unbook(resource)
        self.node_index.allocation_removed(allocation)
        if node.state is _SCHEDULABLE:
            self.node_index.capacity_freed(node)
        application.usage.subtract(resource)
        application.usage_decreased()
        application.quotas.unbook(resource)
        if not application.held:
            application.moved()
        self.callbacks.allocation_removed(allocation)
        self.event_log.allocation_removed(allocation, termination)

    def placeholder_ended(self, placeholder: Allocation) -> None:
        """Uncount a placeholder; stop the timeout with the last one."""
        application = placeholder.application
        application.placeholders_held -= 1
        gang = self.gangs.get(application)
        if gang is not None:
            gang.mark(placeholder)
            if not application.placeholders_held:
                gang.stop_timer()
