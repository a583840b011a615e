"""Victims: which allocations an ask may ask to go, and in which order.

An allocation may be a victim if it is not on its way out already, did not opt out (SI-PRE-003), has
no priority above the ask's (SI-PRE-005), is not of the ask's application and is not bound to its
node. If the ask claims what is guaranteed to its queue, the victim is in another leaf, within the
ask's fence, and no queue that only loses falls below its own guarantee by losing it. Where
preemption is disabled there are no victims.

The order: lower priority goes first, then what did not originate its application, then what was
allocated last.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sireference.configuration.model import PriorityPolicy
from sireference.core.preemption import eligibility
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
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
    """Those who may be victims of one ask."""

    def __init__(self, pending: PendingAsk) -> None:
        self._ask = pending.ask
        self._application = pending.application
        self._leaf = pending.application.leaf
        self._fence = eligibility.fence(self._leaf)
        self._comparisons: dict[Queue, _Comparison | None] = {}

    def among(self, allocations: Iterable[Allocation]) -> list[Victim]:
        """Those of ``allocations`` who may be victims, who goes first coming first."""
        victims: list[Victim] = []
        for allocation in allocations:
            comparison = self._comparison(allocation.application.leaf)
            if comparison is not None and self._may_go(allocation):
                priority = comparison.priority(allocation)
                if priority <= comparison.most:
                    victims.append(Victim(allocation, priority))
        return sorted(victims, key=lambda victim: victim.order)

    def _may_go(self, allocation: Allocation) -> bool:
        return may_be_preempted(allocation) and allocation.application is not self._application

    def _comparison(self, leaf: Queue) -> _Comparison | None:
        """How priorities in ``leaf`` compare; None if it has no victims for this ask."""
        if leaf not in self._comparisons:
            is_in_reach = self._ask.required_node or (
                leaf is not self._leaf and self._fence in leaf.path
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
