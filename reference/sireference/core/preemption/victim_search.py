"""The choice of victims: on which node an ask would cost least, and whom.

On each node those have to go, there and elsewhere, who together make the ask fit there and below
the maximum of each queue on its path, at the least cost (`covering`). Of the nodes the one wins
where that is lowest, then the one that would be tried first for an allocation.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sireference.core.preemption.covering import Cost, Demand, Effort, Lack, cost, cover
from sireference.core.preemption.victims import Candidates, Victim, VictimSet
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.states import AllocationState, NodeState


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

    The first goes through all nodes. The next begin with what is known from then: as preemptions
    begin, a node can only cost more, except the one that was chosen.
    """

    def __init__(self, partition: Partition, pending: PendingAsk) -> None:
        self.looked_at = 0  # nodes, each with what is on it
        self._partition = partition
        self._ask = pending.ask
        self._profile = pending.key.profile
        self._need = pending.ask.resource
        self._path = pending.application.leaf.path
        self._candidates = Candidates(pending)
        self._below: dict[Queue, list[Victim]] = {}
        self._costs: list[tuple[Cost, int, Node]] | None = None  # a heap
        self._effort = Effort()

    def choose(self) -> Choice | None:
        """Where the next ask would go and who has to go for it.

        None if that is not possible, or if it is not necessary: what comes free already will do.
        """
        self._effort = Effort()
        if any(_excess(self._need, queue, NOTHING) for queue in self._path):
            self._costs = None  # victims below the queue count for every node: nothing is known
        if self._costs is None:
            self._costs = self._scan()
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
        for victim in self._candidates.among(self._partition.allocations.on(choice.node).values()):
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

    def _scan(self) -> list[tuple[Cost, int, Node]]:
        self._below.clear()
        costs: list[tuple[Cost, int, Node]] = []
        for place, node in enumerate(self._nodes()):
            self.looked_at += 1
            choice = self._on(node)
            if choice is not None:
                costs.append((choice.cost, place, node))
        heapq.heapify(costs)
        return costs

    def _nodes(self) -> Iterator[Node]:
        """The nodes to think about, in the order they would be tried for an allocation."""
        room = self._partition.node_index
        if self._ask.required_node:
            node = self._partition.nodes.get(self._ask.required_node)
            is_there = node is not None and node.state is NodeState.SCHEDULABLE
            if node is not None and is_there and room.is_open(self._profile, node):
                yield node
            return
        is_like_another = False
        for node in room.index:
            if not room.is_open(self._profile, node):
                continue
            if self._need.fits(node.free + node.yielding):
                if is_like_another:  # no victims on either: the choice would be the same
                    continue
                is_like_another = True
            yield node

    def _on(self, node: Node) -> Choice | None:
        """Who would have to go for the ask to fit on ``node``, None if that is not possible."""
        if _lack(self._need, node.free + node.allocated):
            return None
        lack = _lack(self._need, node.free + node.yielding)
        demands: list[Demand] = []
        if lack:
            there = self._partition.allocations.on(node).values()
            demands.append(Demand(lack, self._candidates.among(there)))
        demands += self._below_maxima(VictimSet())
        victims = cover(demands, self._candidates, self._effort)
        return None if victims is None else Choice(node, tuple(victims))

    def _below_maxima(self, loss: VictimSet) -> list[Demand]:
        """What is lacking for the ask to fit below the maximum of every queue."""
        excesses = [(queue, _excess(self._need, queue, loss.of(queue))) for queue in self._path]
        return [
            Demand(
                excess,
                [one for one in self._who_is_below(queue) if one.allocation not in loss.victims],
            )
            for queue, excess in excesses
            if excess
        ]

    def _who_is_below(self, queue: Queue) -> list[Victim]:
        if queue not in self._below:
            self._below[queue] = self._candidates.among(
                allocation
                for allocation in self._partition.allocations.all.values()
                if queue in allocation.application.leaf.path
            )
        return self._below[queue]


def _lack(need: Resource, room: Resource) -> Lack:
    have = room.amounts
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
