"""Victim search: the node and the victims that cost least for an ask.

On each node, victims there and elsewhere are chosen that make the ask fit there and below the
maximum of each queue on its path, at the least cost (`covering`). The cheapest node wins, then the
one that would be tried first for an allocation. On large clusters only the first `_ENOUGH` possible
nodes are compared.
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

_ENOUGH: Final = 100  # possible nodes that are compared
_MOST_LOOKS: Final = 1_000  # nodes and victims examined in one run
_SCHEDULABLE: Final = NodeState.SCHEDULABLE  # an Enum lookup for every node is slow


@dataclass(frozen=True, slots=True)
class Choice:
    """Where an ask would go, and its victims."""

    node: Node
    victims: tuple[Victim, ...]

    @property
    def cost(self) -> Cost:
        """Return the cost for comparison."""
        return cost(self.victims)


class Search:
    """The search for victims for a series of similar asks.

    The first ask examines nodes until there are enough to choose from. The next ones use the known
    costs: as preemptions begin, a node can only cost more, except the chosen one. A search that has
    found nothing after many nodes is paused; another one may continue with the nodes that are
    ``left``.
    """

    def __init__(
        self,
        partition: Partition,
        pending: PendingAsk,
        candidates: Candidates | None = None,
        left: Iterator[tuple[int, Node]] | None = None,
    ) -> None:
        self.looks = 0  # nodes and victims examined so far
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
        """Return where the next ask goes and its victims.

        None if preemption is impossible or unnecessary because pending releases suffice; also None
        if the search is paused.
        """
        self._effort = Effort()
        if not self.is_paused and any(_excess(self._need, queue, NOTHING) for queue in self._path):
            self._costs = []  # victims below the queue count for every node: no cost is known
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
        """Return further possible victims on the node of ``choice``, in order."""
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
        """Return the choice if all remaining members of ``allowed`` leave ``node``.

        None if one of them may not be preempted any more, or if they do not suffice.
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
        """Examine nodes until there are enough possible ones or the limit is reached."""
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
        """Yield the candidate nodes, in the order they would be tried for an allocation."""
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
                    return  # a node without victims: none costs less

    def _on(self, node: Node) -> Choice | None:
        """Return the victims that make the ask fit on ``node``, None if impossible."""
        self.looks += 1
        if node.state is not _SCHEDULABLE or not self._need.fits(node.allocatable):
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
        """Return what the ask lacks to fit below the maximum of every queue."""
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
    """Return by how much ``need`` exceeds the maximum of ``queue`` after all pending releases."""
    if queue.maximum is None:
        return {}
    have, most = (queue.used - queue.yielding - loss).amounts, queue.maximum.amounts
    return {
        name: have.get(name, 0) + amount - most[name]
        for name, amount in need.amounts.items()
        if amount > 0 and name in most and have.get(name, 0) + amount > most[name]
    }
