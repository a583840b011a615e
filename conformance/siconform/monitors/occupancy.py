"""Which allocations hold capacity where, and how much each of them certainly holds.

Updates are not acknowledged: until one is certain, an allocation may hold the old or the new
amount, and only the smaller one counts against others. Then it holds the new amount, as far as that
fits: counting it beyond the limit is only a SHOULD (SI-ALLOC-014, SI-REC-013). Rejected updates
change nothing. Where it is unclear which update was rejected or where an allocation is, nothing
that depends on it counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.monitor import Barriers
from siconform.monitors.recovered_allocations import REPORTING, TakenOver, recovered_in
from siconform.monitors.restated import Echoed, Placed, Updated, UpdateRejected
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    Amounts,
    ApplicationRemoval,
    ApplicationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry

OCCUPANCY: Final = (
    Allocated,
    *REPORTING,
    Updated,
    Echoed,
    UpdateRejected,
    AllocationRejected,
    Released,
    ReleaseRequest,
    NodeAccepted,
    NodeRejected,
    ApplicationRequest,
    ApplicationRemoval,
    StreamEnded,
    Barriers,
)
"""What Occupancy observes."""

Places = Callable[[Allocated], Iterable[str]]
"""Where an allocation takes capacity: a node, or queues."""

MaximumOf = Callable[[str, str], int | None]
"""The limit of a resource in a place; None if there is none."""


_NOTHING: Final[Mapping[str, int]] = {}


def least(amounts: Sequence[Mapping[str, int]], resource: str) -> int:
    """Return the smallest of these amounts of a resource."""
    return min(one.get(resource, 0) for one in amounts)


@dataclass(slots=True)
class _Held:
    allocation: Allocated
    amounts: list[Amounts]  # it holds one of them
    places: Sequence[str] = ()
    counted: Mapping[str, int] = field(default_factory=dict)  # as held in each of its places


@dataclass(slots=True, eq=False)
class _Update:
    identity: str
    amounts: Amounts
    doubtful: bool = field(default=False)  # whether it, or another one with it, was rejected


class Occupancy:
    """Which allocations hold capacity in which place."""

    def __init__(self, places: Places, most: MaximumOf | None) -> None:
        """Without ``most`` there is no limit."""
        self._places = places
        self._most = most
        self._live: dict[str, _Held] = {}
        self._of: dict[str, dict[str, None]] = {}  # identities by application
        self._in: dict[str, dict[str, _Held]] = {}  # by place, then by identity
        self._used: dict[str, dict[str, int]] = {}  # of each resource, by place
        self._removed: set[str] = set()  # applications, until they are submitted again
        self._released: set[str] = set()  # by the RM, perhaps before they were announced
        self._existing = TakenOver()
        self._placed: set[tuple[str, str]] = set()  # identity and node, by the RM
        self._named: dict[str, set[str]] = {}  # nodes that updates of an identity named
        self._updates: Certainty[_Update] = Certainty()
        self._open: dict[str, list[_Update]] = {}

    def held(self, place: str) -> list[Allocated]:
        """Return the allocations that hold capacity in this place."""
        return [held.allocation for held in self._in.get(place, {}).values()]

    def holds(self, place: str, identity: str) -> bool:
        """Return whether an allocation holds capacity in this place."""
        return identity in self._in.get(place, ())

    def used(self, place: str, resource: str) -> int:
        """Return how much of a resource is certainly held in this place."""
        return self._used.get(place, _NOTHING).get(resource, 0)

    def _recount(self, held: _Held) -> None:
        """Count what it certainly holds, after a change, in its places."""
        amounts = held.amounts
        if len(amounts) == 1:
            now = amounts[0]
        else:
            now = {name: least(amounts, name) for name in {n for one in amounts for n in one}}
        self._count(held, now)

    def _count(self, held: _Held, now: Mapping[str, int]) -> None:
        for place in held.places:
            used = self._used.setdefault(place, {})
            for name, amount in held.counted.items():
                used[name] -= amount
            for name, amount in now.items():
                used[name] = used.get(name, 0) + amount
        held.counted = now

    def is_not_new(self, received: Allocated) -> bool:
        """Return whether the RM reported it as existing, so that it takes no new capacity."""
        return self._existing.knows(received) or (received.identity, received.node) in self._placed

    def takes(self, new: Allocated) -> str:
        """Add it; return which limit is then exceeded, or "".

        An allocation that crossed with its release or its application's removal has already ended.
        """
        if self._has_ended(new):
            return ""
        self._begins(new)
        over = self._too_much(new)
        self._counts_where_it_is_certain(new.identity)
        return over

    def _has_ended(self, new: Allocated) -> bool:
        return new.application in self._removed or new.identity in self._released

    def _too_much(self, new: Allocated) -> str:
        if self._most is None:
            return ""
        for place in self._places(new):
            for name in (n for n, amount in new.resource.items() if amount > 0):
                most, used = self._most(place, name), self.used(place, name)
                if most is not None and used > most:
                    return f"{place} holds {used} of {name} with {new.identity}, at most {most}"
        return ""

    def takes_if_it_fits(self, existing: Allocated) -> None:
        """Add it unless that exceeds a limit."""
        if self.takes(existing):
            self._ends([existing.identity])

    def takes_reported(self, announced: Allocated) -> None:
        """Add an announced one that ``is_not_new``, once what was placed before it has come.

        The RM decided where it is. So the order of announcements does not show whether an
        allocation that is announced later was placed later, too.
        """
        if not self._existing.awaits_barriers:
            self.takes_if_it_fits(announced)
        elif announced.identity not in self._live and not self._has_ended(announced):
            self._existing.is_echoed(announced)

    def observe(self, entry: Entry) -> None:
        """Apply what this entry takes over, updates and ends."""
        content = entry.content
        if isinstance(content, (Released, ReleaseRequest)) and not entry.barrier:
            self._observe_release(content)  # nothing becomes certain with it
            return
        for existing in self._existing.observe(entry):
            self.takes_if_it_fits(existing)
        for update in self._updates.observe(entry):
            self._is_certain(update)
        if entry.barrier:
            return
        self._released.difference_update(a.identity for a in recovered_in(content))
        match content:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._ends_where(lambda a: a.node == node)
            case ApplicationRequest(application=application):
                self._removed.discard(application)
            case ApplicationRemoval(application=application):
                self._removed.add(application)
                self._ends_all_of(application)
            case AllocationRejected(key=key):
                self._ends_where(lambda a: a.key == key)
            case _:
                self._observe_one(entry)

    def _observe_release(self, content: Released | ReleaseRequest) -> None:
        match content:
            case Released(identity="", application=application):
                self._ends_all_of(application)
            case Released(identity=identity, termination=termination):
                if termination not in BY_THE_SCHEDULER:
                    self._ends_one(identity)
            case ReleaseRequest(subject=AllOf(application=application)):
                self._ends_all_of(application)
            case ReleaseRequest(subject=OneAllocation(identity=identity)):
                self._released.add(identity)
                self._ends_one(identity)

    def _observe_one(self, entry: Entry) -> None:
        match entry.content:
            case Updated(key=identity, resource=resource, node=node):
                self._may_become(identity, resource)
                self._may_be_on(identity, node)
            case Placed(allocation=placed):
                self._placed.add((placed.identity, placed.node))
                self._may_become(placed.identity, placed.resource)
                self._may_be_on(placed.identity, placed.node)
            case Echoed(allocation=received):
                self._may_be_on(received.identity, received.node)
            case UpdateRejected(key=identity, certain=True):
                self._is_refused(identity)
            case UpdateRejected(key=identity):
                self._ends_one(identity)

    def _may_become(self, identity: str, amounts: Amounts) -> None:
        update = _Update(identity, amounts)
        self._open.setdefault(identity, []).append(update)
        self._updates.send(update, UpdateKind.ALLOCATIONS)
        if identity in self._live:
            held = self._live[identity]
            held.amounts.append(amounts)
            self._recount(held)

    def _may_be_on(self, identity: str, node: str) -> None:
        if node:
            self._named.setdefault(identity, set()).add(node)
            self._counts_where_it_is_certain(identity)

    def _counts_where_it_is_certain(self, identity: str) -> None:
        """Drop it if it was also named on another node: then it counts on neither."""
        held = self._live.get(identity)
        if held is not None and self._named.get(identity, set()) - {held.allocation.node}:
            self._ends_one(identity)

    def _is_certain(self, update: _Update) -> None:
        """Apply the update unless it was rejected."""
        waiting = self._open[update.identity]
        waiting.remove(update)
        held = self._live.get(update.identity)
        if held is None or update.doubtful:
            return
        before = held.amounts
        held.amounts = [update.amounts, *(one.amounts for one in waiting)]
        self._recount(held)
        if not self._fits(held):
            held.amounts = before
            self._recount(held)

    def _fits(self, held: _Held) -> bool:
        if self._most is None:
            return True
        limits = (
            (self._most(place, name), self.used(place, name))
            for place in self._places(held.allocation)
            for name in {name for amounts in held.amounts for name in amounts}
        )
        return all(most is None or used <= most for most, used in limits)

    def _is_refused(self, identity: str) -> None:
        """Note a rejected update; which one is known only if there is just one."""
        waiting, held = self._open.get(identity, []), self._live.get(identity)
        for update in waiting:
            update.doubtful = True
        if held is None:
            return
        if len(waiting) == 1 and len(held.amounts) > 1:
            held.amounts.remove(waiting[0].amounts)
            self._recount(held)
        elif not waiting:
            self._ends_one(identity)  # a late rejection: the earlier amount is no longer known

    def _begins(self, new: Allocated) -> None:
        self._ends([new.identity])
        amounts = [update.amounts for update in self._open.get(new.identity, [])]
        places = tuple(self._places(new))
        held = self._live[new.identity] = _Held(new, [new.resource, *amounts], places)
        self._of.setdefault(new.application, {})[new.identity] = None
        for place in places:
            self._in.setdefault(place, {})[new.identity] = held
        self._recount(held)

    def _ends_one(self, identity: str) -> None:
        self._ends([identity])
        self._existing.forgets_one(identity)

    def _ends_all_of(self, application: str) -> None:
        self._ends(list(self._of.get(application, ())))
        self._existing.forgets(lambda a: a.application == application)

    def _ends_where(self, which: Callable[[Allocated], bool]) -> None:
        self._ends([identity for identity, held in self._live.items() if which(held.allocation)])
        self._existing.forgets(which)

    def _ends(self, identities: Iterable[str]) -> None:
        for identity in identities:
            ended = self._live.pop(identity, None)
            if ended is not None:
                self._count(ended, _NOTHING)
                its = self._of[ended.allocation.application]
                del its[identity]
                if not its:
                    del self._of[ended.allocation.application]
                for place in ended.places:
                    self._in[place].pop(identity, None)
