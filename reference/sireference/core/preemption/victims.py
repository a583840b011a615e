"""Victims: the allocations an ask may preempt, and their order.

An allocation may be a victim if it is not ending already, did not opt out (SI-PRE-003), has no
priority above the ask's (SI-PRE-005), belongs to another application and does not require its node.
If the ask claims a guarantee of its queue, the victim is in another leaf, within the preemption
fence of the ask, and no queue that only loses falls below its own guarantee. Leaves with preemption
disabled have no victims.

The order: lower priority first, then allocations that are not originators, then the latest.
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
    """An allocation that may be asked to end, with the ``priority`` compared to the ask's."""

    allocation: Allocation
    priority: int

    @property
    def resource(self) -> Resource:
        """Return the resources it releases."""
        return self.allocation.record.ask.resource

    @property
    def is_originator(self) -> bool:
        """Return whether it is the originator of its application."""
        return self.allocation.record.ask.originator

    @property
    def order(self) -> tuple[int, bool, int]:
        """Return its place among victims."""
        return (self.priority, self.is_originator, -self.allocation.number)


@dataclass(slots=True)
class VictimSet:
    """Victims chosen so far, and the resources that queues lose."""

    victims: dict[Allocation, None] = field(default_factory=dict)
    _of: dict[Queue, Resource] = field(default_factory=dict)

    def of(self, queue: Queue) -> Resource:
        """Return what ``queue`` loses."""
        return self._of.get(queue, NOTHING)

    def add(self, victim: Victim) -> None:
        """Add ``victim`` to those that end."""
        self.victims[victim.allocation] = None
        for queue in victim.allocation.application.leaf.path:
            self._of[queue] = self.of(queue) + victim.resource

    def spare(self, victim: Victim) -> None:
        """Remove ``victim``: it may stay."""
        del self.victims[victim.allocation]
        for queue in victim.allocation.application.leaf.path:
            self._of[queue] -= victim.resource


class _Comparison(NamedTuple):
    """How priorities in a leaf compare to the ask's, below the lowest common parent queue."""

    behind_fence: bool  # a priority fence hides the priority of the allocation
    offset: int
    most: int  # the ask's priority

    def priority(self, allocation: Allocation) -> int:
        """Return the compared priority: of the ask, or of the fence that hides it."""
        return self.offset + (0 if self.behind_fence else allocation.record.ask.priority)


class Candidates:
    """Possible victims of one ask, and of others with the same leaf and priority.

    Results for each node and queue are cached: no allocation may be added there meanwhile, and
    victims that were asked to end must be passed to `have_gone`.
    """

    def __init__(self, partition: Partition, pending: PendingAsk) -> None:
        self._allocations = partition.allocations
        self._ask = pending.ask
        self.application = pending.application
        self._leaf = pending.application.leaf
        self._barrier = eligibility.fence(self._leaf)
        self._comparisons: dict[Queue, _Comparison | None] = {}
        self._known: dict[Node | Queue, SortedKeyList[Victim, tuple[int, bool, int]]] = {}

    def on(self, node: Node) -> Sequence[Victim]:
        """Return those on ``node``, in order of eviction."""
        if node not in self._known:
            self._known[node] = self._sorted(self._allocations.on(node).values())
        return self._known[node]

    def below(self, queue: Queue) -> Sequence[Victim]:
        """Return those in ``queue`` and below it, in order of eviction."""
        if queue not in self._known:
            everybody = self._allocations.all.values()
            self._known[queue] = self._sorted(
                a for a in everybody if queue in a.application.leaf.path
            )
        return self._known[queue]

    def have_gone(self, allocations: Iterable[Allocation]) -> None:
        """Remove these, which were asked to end."""
        for allocation in allocations:
            victim = self.victim(allocation)
            for place in (allocation.node, *allocation.application.leaf.path):
                if victim is not None and place in self._known:
                    self._known[place].discard(victim)

    def _sorted(
        self, allocations: Iterable[Allocation]
    ) -> "SortedKeyList[Victim, tuple[int, bool, int]]":
        return SortedKeyList(self._among(allocations), key=attrgetter("order"))

    def among(self, allocations: Iterable[Allocation]) -> list[Victim]:
        """Return the possible victims among ``allocations``, in order of eviction."""
        return sorted(self._among(allocations), key=attrgetter("order"))

    def _among(self, allocations: Iterable[Allocation]) -> Iterator[Victim]:
        for allocation in allocations:
            victim = self.victim(allocation) if self.may_go(allocation) else None
            if victim is not None:
                yield victim

    def victim(self, allocation: Allocation) -> Victim | None:
        """Return it as a victim of the ask; None if its queue or its priority forbids that."""
        comparison = self.comparison(allocation.application.leaf)
        if comparison is None:
            return None
        priority = comparison.priority(allocation)
        return Victim(allocation, priority) if priority <= comparison.most else None

    def may_go(self, allocation: Allocation) -> bool:
        """Return whether it may be preempted for this application."""
        return may_be_preempted(allocation) and allocation.application is not self.application

    def comparison(self, leaf: Queue) -> _Comparison | None:
        """Return how priorities in ``leaf`` compare; None if it has no victims for this ask."""
        if leaf not in self._comparisons:
            is_in_reach = self._ask.required_node or (
                leaf is not self._leaf and self._barrier in leaf.path
            )
            has_victims = is_in_reach and not eligibility.is_disabled(leaf)
            self._comparisons[leaf] = self._compare(leaf) if has_victims else None
        return self._comparisons[leaf]

    def _compare(self, leaf: Queue) -> _Comparison:
        above = next(queue for queue in self._leaf.path if queue in leaf.path)
        behind_fence, offset = fence_and_offset(above, leaf)
        own_behind_fence, own_offset = fence_and_offset(above, self._leaf)
        most = own_offset + (0 if own_behind_fence else self._ask.priority)
        return _Comparison(behind_fence, offset, most)

    def leaves_guarantees(self, victim: Victim, loss: VictimSet) -> bool:
        """Return whether all queues that only lose keep their guarantee without ``victim``."""
        if self._ask.required_node:
            return True
        for queue in victim.allocation.application.leaf.path:
            if queue in self._leaf.path:
                return True  # from here on up the ask takes what the victim releases
            if queue.guaranteed is not None:
                left = queue.used - queue.yielding - loss.of(queue) - victim.resource
                if not is_kept(queue.guaranteed, victim.resource, left):
                    return False
        return True


def may_be_preempted(allocation: Allocation) -> bool:
    """Return whether it is a possible victim: not ending, not opted out, no required node."""
    ask = allocation.record.ask
    policy = ask.preemption_policy
    return (
        allocation.open_release is None
        and (policy is None or policy.allow_preempt_self)
        and not ask.required_node
    )


def is_kept(guaranteed: Resource, lost: Resource, left: Resource) -> bool:
    """Return whether ``left`` covers ``guaranteed`` for the types in ``lost``."""
    return all(
        left.amounts.get(name, 0) >= amount
        for name, amount in guaranteed.amounts.items()
        if lost.amounts.get(name, 0) > 0
    )


def fence_and_offset(above: Queue, leaf: Queue) -> tuple[bool, int]:
    """Return how ``above`` sees priorities in ``leaf``: whether a fence hides them, and the offset.

    Each queue on the way up adds its offset; a fence hides what is below it.
    """
    behind_fence, offset = False, 0
    for queue in leaf.path:
        if queue is above:
            break
        properties = queue.config.properties
        if properties.priority_policy is PriorityPolicy.FENCE:
            behind_fence, offset = True, 0
        offset += properties.priority_offset
    return behind_fence, offset
