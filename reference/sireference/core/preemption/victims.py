"""Victims: which allocations an ask may ask to go, and in which order.

An allocation may be a victim if it is not on its way out already, did not opt out (SI-PRE-003), has
no priority above the ask's (SI-PRE-005), is not of the ask's application and is not bound to its
node. If the ask claims what is guaranteed to its queue, the victim is in another leaf, within the
ask's fence, and no queue that only loses falls below its own guarantee by losing it. Where
preemption is disabled there are no victims.

The order: lower priority goes first, then what did not originate its application, then what was
allocated last.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from sortedcontainers import SortedKeyList

from sireference.configuration.model import PriorityPolicy
from sireference.core.preemption import eligibility
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue


@dataclass(frozen=True, slots=True)
class Victim:
    """An allocation that may be asked to go; ``priority`` is the one that compares to the ask's."""

    allocation: Allocation
    priority: int

    @property
    def resource(self) -> Resource:
        """What comes free with it."""
        return self.allocation.record.ask.resource

    @property
    def is_originator(self) -> bool:
        """Whether its application began with it."""
        return self.allocation.record.ask.originator

    @property
    def order(self) -> tuple[int, bool, int]:
        """Its place among victims."""
        return (self.priority, self.is_originator, -self.allocation.number)


@dataclass(slots=True)
class VictimSet:
    """Victims taken so far, and what queues lose by them."""

    victims: dict[Allocation, None] = field(default_factory=dict)
    _of: dict[Queue, Resource] = field(default_factory=dict)

    def of(self, queue: Queue) -> Resource:
        """What ``queue`` loses."""
        return self._of.get(queue, NOTHING)

    def add(self, victim: Victim) -> None:
        """Count ``victim`` among those that go."""
        self.victims[victim.allocation] = None
        for queue in victim.allocation.application.leaf.path:
            self._of[queue] = self.of(queue) + victim.resource

    def spare(self, victim: Victim) -> None:
        """Take ``victim`` out: it may stay."""
        del self.victims[victim.allocation]
        for queue in victim.allocation.application.leaf.path:
            self._of[queue] -= victim.resource


class _Comparison(NamedTuple):
    """How priorities in a leaf compare to the ask's, below the lowest queue above both."""

    is_fenced: bool  # the priority of the allocation itself does not show
    offset: int
    most: int  # the ask's

    def priority(self, allocation: Allocation) -> int:
        """The priority that is compared: of the ask, or of the fence it is behind."""
        return self.offset + (0 if self.is_fenced else allocation.record.ask.priority)


class Candidates:
    """Those who may be victims of one ask, and of others that have the same leaf and priority.

    What is found out of a place is remembered: nobody may be added there meanwhile, and of those
    who are asked to go it has to be told.
    """

    def __init__(self, partition: Partition, pending: PendingAsk) -> None:
        self._allocations = partition.allocations
        self._ask = pending.ask
        self._application = pending.application
        self._leaf = pending.application.leaf
        self._barrier = eligibility.fence(self._leaf)
        self._comparisons: dict[Queue, _Comparison | None] = {}
        self._known: dict[Node | Queue, SortedKeyList[Victim, tuple[int, bool, int]]] = {}

    def on(self, node: Node) -> Sequence[Victim]:
        """Those on ``node``, who goes first coming first."""
        if node not in self._known:
            self._known[node] = self._sorted(self._allocations.on(node).values())
        return self._known[node]

    def below(self, queue: Queue) -> Sequence[Victim]:
        """Those in ``queue`` and below it, who goes first coming first."""
        if queue not in self._known:
            everybody = self._allocations.all.values()
            self._known[queue] = self._sorted(
                a for a in everybody if queue in a.application.leaf.path
            )
        return self._known[queue]

    def have_gone(self, allocations: Iterable[Allocation]) -> None:
        """These were asked to go."""
        for allocation in allocations:
            victim = self._victim(allocation)
            for place in (allocation.node, *allocation.application.leaf.path):
                if victim is not None and place in self._known:
                    self._known[place].discard(victim)

    def _sorted(
        self, allocations: Iterable[Allocation]
    ) -> "SortedKeyList[Victim, tuple[int, bool, int]]":
        return SortedKeyList(self._among(allocations), key=attrgetter("order"))

    def among(self, allocations: Iterable[Allocation]) -> list[Victim]:
        """Those of ``allocations`` who may be victims, who goes first coming first."""
        return sorted(self._among(allocations), key=attrgetter("order"))

    def _among(self, allocations: Iterable[Allocation]) -> Iterator[Victim]:
        for allocation in allocations:
            victim = self._victim(allocation) if self._may_go(allocation) else None
            if victim is not None:
                yield victim

    def _victim(self, allocation: Allocation) -> Victim | None:
        """As a victim of the ask; None if its queue or its priority is against that."""
        comparison = self._comparison(allocation.application.leaf)
        if comparison is None:
            return None
        priority = comparison.priority(allocation)
        return Victim(allocation, priority) if priority <= comparison.most else None

    def _may_go(self, allocation: Allocation) -> bool:
        return may_be_preempted(allocation) and allocation.application is not self._application

    def _comparison(self, leaf: Queue) -> _Comparison | None:
        """How priorities in ``leaf`` compare; None if it has no victims for this ask."""
        if leaf not in self._comparisons:
            is_in_reach = self._ask.required_node or (
                leaf is not self._leaf and self._barrier in leaf.path
            )
            has_victims = is_in_reach and not eligibility.is_disabled(leaf)
            self._comparisons[leaf] = self._compare(leaf) if has_victims else None
        return self._comparisons[leaf]

    def _compare(self, leaf: Queue) -> _Comparison:
        above = next(queue for queue in self._leaf.path if queue in leaf.path)
        is_fenced, offset = fence_and_offset(above, leaf)
        own_is_fenced, own_offset = fence_and_offset(above, self._leaf)
        most = own_offset + (0 if own_is_fenced else self._ask.priority)
        return _Comparison(is_fenced, offset, most)

    def leaves_guarantees(self, victim: Victim, loss: VictimSet) -> bool:
        """Whether the queues that only lose keep what is guaranteed to them without ``victim``."""
        if self._ask.required_node:
            return True
        for queue in victim.allocation.application.leaf.path:
            if queue in self._leaf.path:
                return True  # from here on up the ask takes what the victim gives
            if queue.guaranteed is not None:
                left = queue.used - queue.yielding - loss.of(queue) - victim.resource
                if not is_kept(queue.guaranteed, victim.resource, left):
                    return False
        return True


def may_be_preempted(allocation: Allocation) -> bool:
    """Whether it may go for anybody: not on its way already, not opted out, nor bound to a node."""
    ask = allocation.record.ask
    policy = ask.preemption_policy
    return (
        allocation.open_release is None
        and (policy is None or policy.allow_preempt_self)
        and not ask.required_node
    )


def is_kept(guaranteed: Resource, lost: Resource, left: Resource) -> bool:
    """Whether ``left`` is as much as is ``guaranteed``, of the types that are ``lost``."""
    return all(
        left.amounts.get(name, 0) >= amount
        for name, amount in guaranteed.amounts.items()
        if lost.amounts.get(name, 0) > 0
    )


def fence_and_offset(above: Queue, leaf: Queue) -> tuple[bool, int]:
    """What ``above`` sees of priorities in ``leaf``: whether a fence hides them, and the offset.

    Each queue on the way up adds its offset; a fence hides what is below it.
    """
    is_fenced, offset = False, 0
    for queue in leaf.path:
        if queue is above:
            break
        properties = queue.config.properties
        if properties.priority_policy is PriorityPolicy.FENCE:
            is_fenced, offset = True, 0
        offset += properties.priority_offset
    return is_fenced, offset
