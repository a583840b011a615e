"""Rules about room: nodes hold what they can, queues what they may.

Everything is read in the scheduler's favour where the order of things is open. Of several
capacities the RM gave a node the largest counts: a smaller one has tests of its own (SI-NODE-018,
SI-GANG-025). Room counts as free as soon as the RM says a release, a removal or a decommission.
What exists counts once it is certain that it was taken over, and as far as it fits: that it counts
beyond the limit is only a SHOULD (SI-REC-013).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import NOTHING_TO_JUDGE, EntryJudgement, Judge, Monitor
from siconform.monitors.quotas import Quotas
from siconform.monitors.recovered_allocations import TakenOver
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    Released,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry

Places = Callable[[Allocated], Iterable[str]]
"""Where an allocation takes room: a node, or queues."""

MaximumOf = Callable[[str, str], int | None]
"""The most there may be of a resource in a place; None where there is no limit."""


def nodes_are_not_overfilled() -> Judge:
    """No new allocation takes a node above the largest capacity it may have at that moment."""
    nodes = _Capacities()
    occupancy = _Occupancy(lambda allocation: (allocation.node,), nodes.most)

    def judge(entry: Entry) -> EntryJudgement:
        match entry.content:
            case Allocated() as echo if occupancy.existing.knows(echo):
                occupancy.takes_if_it_fits(echo)
            case Allocated() as new:
                over = occupancy.takes(new)
                return f"node {over}" if over else ""
            case _:
                occupancy.hears(entry)
                nodes.hears(entry)
        return NOTHING_TO_JUDGE

    return judge


def queues_are_not_overfilled() -> Judge:
    """No new allocation takes a queue above the maximum the RM's configuration gives it."""
    return _queue_judge(lambda _: True)


def placeholders_count_against_the_quota() -> Judge:
    """No new allocation takes a queue with placeholders in it above its maximum."""
    return _queue_judge(lambda held: any(allocation.placeholder for allocation in held))


def _queue_judge(concerns: Callable[[list[Allocated]], bool]) -> Judge:
    quotas = Quotas()
    occupancy = _Occupancy(lambda allocation: quotas.limited(allocation.application), quotas.most)

    def judge(entry: Entry) -> EntryJudgement:
        match entry.content:
            case Allocated() as echo if occupancy.existing.knows(echo):
                occupancy.takes_if_it_fits(echo)
            case Allocated() as new if queues := quotas.limited(new.application):
                over = occupancy.takes(new)
                held = [allocation for queue in queues for allocation in occupancy.held(queue)]
                if concerns(held):
                    return f"queue {over}" if over else ""
            case _:
                occupancy.hears(entry)
                quotas.hears(entry)
        return NOTHING_TO_JUDGE

    return judge


class _Capacities:
    """What each node may have, by all the RM said of it since it is there."""

    def __init__(self) -> None:
        self._said: dict[str, list[Mapping[str, int]]] = {}

    def most(self, node: str, resource: str) -> int | None:
        said = self._said.get(node)
        return max(c.get(resource, 0) for c in said) if said else None

    def hears(self, entry: Entry) -> None:
        match entry.content:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._said.pop(node, None)
            case NodeRequest(node=node, capacity=capacity) if capacity is not None:
                self._said.setdefault(node, []).append(capacity)


class _Occupancy:
    """Which allocations hold room in which place."""

    def __init__(self, places: Places, most: MaximumOf) -> None:
        self._places = places
        self._most = most
        self._live: dict[str, Allocated] = {}
        self._in: dict[str, dict[str, Allocated]] = {}  # by place, then by identity
        self._removed: set[str] = set()  # applications, until they are submitted again
        self.existing = TakenOver()

    def held(self, place: str) -> list[Allocated]:
        """The allocations that hold room in this place."""
        return list(self._in.get(place, {}).values())

    def takes(self, new: Allocated) -> str:
        """Give it room; too much of what is then where, or nothing.

        What crossed with the removal of its application has ended, whenever that is told.
        """
        if new.application in self._removed:
            return ""
        self._begins(new)
        for place in self._places(new):
            for name in (n for n, amount in new.resource.items() if amount > 0):
                most = self._most(place, name)
                if most is None:
                    continue
                used = sum(a.resource.get(name, 0) for a in self._in[place].values())
                if used > most:
                    return f"{place} holds {used} of {name} with {new.identity}, at most {most}"
        return ""

    def takes_if_it_fits(self, existing: Allocated) -> None:
        """Give it room where there is some."""
        if self.takes(existing):
            self._ends([existing.identity])

    def hears(self, entry: Entry) -> None:
        """What is taken over, and what ends, with this."""
        for existing in self.existing.hears(entry):
            self.takes_if_it_fits(existing)
        match entry.content:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._ends_where(lambda a: a.node == node)
            case ApplicationRequest(application=application):
                self._removed.discard(application)
            case ApplicationRemoval(application=application):
                self._removed.add(application)
                self._ends_where(lambda a: a.application == application)
            case (
                ReleaseRequest(subject=AllOf(application=application))
                | Released(subject=AllOf(application=application))
            ):
                self._ends_where(lambda a: a.application == application)
            case AllocationRejected(key=key):
                self._ends_where(lambda a: a.key == key)
            case ReleaseRequest(subject=OneAllocation(identity=identity)):
                self._ends_one(identity)
            case Released(identity=identity, termination=termination):
                if termination not in BY_THE_SCHEDULER:
                    self._ends_one(identity)

    def _begins(self, new: Allocated) -> None:
        self._ends([new.identity])
        self._live[new.identity] = new
        for place in self._places(new):
            self._in.setdefault(place, {})[new.identity] = new

    def _ends_one(self, identity: str) -> None:
        self._ends([identity])
        self.existing.forgets(lambda a: a.identity == identity)

    def _ends_where(self, which: Callable[[Allocated], bool]) -> None:
        self._ends([identity for identity, a in self._live.items() if which(a)])
        self.existing.forgets(which)

    def _ends(self, identities: Iterable[str]) -> None:
        for identity in identities:
            if self._live.pop(identity, None) is not None:
                for held in self._in.values():
                    held.pop(identity, None)


MONITORS: Final = (
    Monitor(nodes_are_not_overfilled, ("SI-NODE-006",)),
    Monitor(queues_are_not_overfilled, ("SI-ASK-011",), presupposes=Feature.QUEUES),
    Monitor(placeholders_count_against_the_quota, ("SI-GANG-027",), presupposes=Feature.QUOTAS),
)
