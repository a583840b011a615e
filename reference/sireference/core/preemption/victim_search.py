"""The choice of victims: on which node an ask would cost least, and whom.

On each node those have to go, there and elsewhere, who together make the ask fit there and below
the maximum of each queue on its path, at the least cost (`covering`). Of the nodes the one wins
where that is lowest, then the one that would be tried first for an allocation. Where there are very
many that is said of the first `_ENOUGH` on which the ask could be: others are not looked at.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sireference.core.preemption.covering import Cost, Demand, Effort, Lack, cost, cover
from sireference.core.preemption.victims import Candidates, Victim, VictimSet
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.states import AllocationState, NodeState

_ENOUGH: Final = 100  # nodes on which an ask could be, for a choice between them
_MOST_LOOKS: Final = 1_000  # at nodes and victims at one time


@dataclass(frozen=True, slots=True)
class Choice:
    """Where an ask would go, and at whose cost."""

    node: Node
    victims: tuple[Victim, ...]

    @property
    def cost(self) -> Cost:
        """What makes it worse than another."""
        return cost(self.victims)


class Search:
    """The search for victims on behalf of asks that are alike, one after the other.

    The first goes through nodes until it has enough to choose from. The next begin with what is
    known from then: as preemptions begin, a node can only cost more, except the one that was
    chosen. One that has not found any after many looks is paused; another one may go on with the
    nodes that are ``left``.
    """

    def __init__(
        self,
        partition: Partition,
        pending: PendingAsk,
        candidates: Candidates | None = None,
        left: Iterator[tuple[int, Node]] | None = None,
    ) -> None:
        self.looks = 0  # so far, at nodes and victims
        self.is_paused = left is not None
        self._partition = partition
        self._ask = pending.ask
        self._profile = pending.key.profile
        self._need = pending.ask.resource
        self._path = pending.application.leaf.path
        self._candidates = candidates or Candidates(partition, pending)
        self._effort = Effort()
        self._costs: list[tuple[Cost, int, Node]] = []  # a heap
        self.left = left or enumerate(self._nodes())

    def choose(self) -> Choice | None:
        """Where the next ask would go and who has to go for it.

        None if that is not possible, or if it is not necessary: what comes free already will do.
        None, too, if the search is paused.
        """
        self._effort = Effort()
        if not self.is_paused and any(_excess(self._need, queue, NOTHING) for queue in self._path):
            self._costs = []  # victims below the queue count for every node: nothing is known
            self.left = enumerate(self._nodes())
        self._look_around()
        while self._costs:
            known, place, node = self._costs[0]
            choice = self._on(node)
            if choice is None:
                heapq.heappop(self._costs)
            elif choice.cost != known:
                heapq.heapreplace(self._costs, (choice.cost, place, node))
            else:
                return choice if choice.victims else None
        return None

    def further(self, choice: Choice) -> tuple[Victim, ...]:
        """Who else could go from the node of ``choice``, in order, if that is not enough."""
        loss = VictimSet()
        for victim in choice.victims:
            loss.add(victim)
        others: list[Victim] = []
        for victim in self._candidates.on(choice.node):
            if victim.allocation not in loss.victims and self._candidates.leaves_guarantees(
                victim, loss
            ):
                loss.add(victim)
                others.append(victim)
        return tuple(others)

    def with_all(self, node: Node, allowed: Iterable[Allocation]) -> Choice | None:
        """Who goes if all of ``allowed`` go from ``node``, as far as they are still there.

        None if one of them may not go any more, or if they are not enough to make room.
        """
        there = [
            allocation for allocation in allowed if allocation.state is AllocationState.ALLOCATED
        ]
        victims = self._candidates.among(there)
        loss = VictimSet()
        for victim in victims:
            if not self._candidates.leaves_guarantees(victim, loss):
                return None
            loss.add(victim)
        gain = sum((victim.resource for victim in victims), NOTHING)
        if len(victims) < len(there) or _lack(self._need, node.free + node.yielding + gain):
            return None
        others = cover(self._below_maxima(loss), self._candidates, self._effort, victims)
        return None if others is None else Choice(node, (*victims, *others))

    def _look_around(self) -> None:
        """Look at nodes until there are enough on which the ask could be, or there was too much."""
        looks_before = self.looks
        self.is_paused = False
        for place, node in self.left:
            choice = self._on(node)
            if choice is not None:
                heapq.heappush(self._costs, (choice.cost, place, node))
            if len(self._costs) >= _ENOUGH:
                break
            if self.looks - looks_before >= _MOST_LOOKS:
                self.is_paused = not self._costs
                break

    def _nodes(self) -> Iterator[Node]:
        """The nodes to think about, in the order they would be tried for an allocation."""
        capacity = self._partition.node_index
        if self._ask.required_node:
            node = self._partition.nodes.get(self._ask.required_node)
            is_there = node is not None and node.state is NodeState.SCHEDULABLE
            if node is not None and is_there and capacity.is_open(self._profile, node):
                yield node
            return
        for node in list(capacity.index):
            if capacity.is_open(self._profile, node):
                yield node
                if self._need.fits(node.free + node.yielding):
                    return  # without victims there: none costs less

    def _on(self, node: Node) -> Choice | None:
        """Who would have to go for the ask to fit on ``node``, None if that is not possible."""
        self.looks += 1
        if node.state is not NodeState.SCHEDULABLE or _lack(self._need, node.free + node.allocated):
            return None
        looks_before = self._effort.looks
        lack = _lack(self._need, node.free + node.yielding)
        demands: list[Demand] = []
        if lack:
            there = self._candidates.on(node)
            demands.append(Demand(lack, there, lambda victim: victim.allocation.node is node))
        demands += self._below_maxima(VictimSet())
        victims = cover(demands, self._candidates, self._effort)
        self.looks += self._effort.looks - looks_before
        return None if victims is None else Choice(node, tuple(victims))

    def _below_maxima(self, loss: VictimSet) -> list[Demand]:
        """What is lacking for the ask to fit below the maximum of every queue."""
        demands: list[Demand] = []
        for queue in self._path:
            excess = _excess(self._need, queue, loss.of(queue))
            if excess:
                victims: Sequence[Victim] = self._candidates.below(queue)
                if loss.victims:
                    victims = [one for one in victims if one.allocation not in loss.victims]
                demands.append(Demand(excess, victims, partial(_is_below, queue)))
        return demands


def _is_below(queue: Queue, victim: Victim) -> bool:
    return queue in victim.allocation.application.leaf.path


def _lack(need: Resource, capacity: Resource) -> Lack:
    have = capacity.amounts
    return {
        name: amount - have.get(name, 0)
        for name, amount in need.amounts.items()
        if amount > 0 and amount > have.get(name, 0)
    }


def _excess(need: Resource, queue: Queue, loss: Resource) -> Lack:
    """What ``need`` would take too much in ``queue`` when all that has to go is gone."""
    if queue.maximum is None:
        return {}
    have, most = (queue.used - queue.yielding - loss).amounts, queue.maximum.amounts
    return {
        name: have.get(name, 0) + amount - most[name]
        for name, amount in need.amounts.items()
        if amount > 0 and name in most and have.get(name, 0) + amount > most[name]
    }
