"""Covering: the cheapest set of victims that frees everything an ask lacks.

Victims are taken in order until they suffice, then victims that are not needed are dropped. That
may cost more than necessary, or fail because the first victims use up what their queue has above
its guarantee. So with at most `FEW` candidates, every set that could cost less is tried: a legal
set is found if one exists, and none is cheaper. With more candidates, and only if the first way
fails, the largest are tried as first victim, at most `_STARTS` of them. Both stop when the `Effort`
shared by all nodes of one search is used up; then only the first way is used.

The cost is the highest priority among the victims, then whether one of them is the originator of
its application, then their number.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final

from sireference.core.preemption.victims import Candidates, Victim, VictimSet
from sireference.core.state.allocation import Allocation

FEW: Final = 12  # these have 4096 subsets: no more are tried for a node
_STARTS: Final = 8
_MOST_TRIES: Final = 10_000  # some hundredths of a second

Cost = tuple[float, bool, int]
Lack = dict[str, int]  # what is missing, by resource type; every amount is above zero


@dataclass(frozen=True, slots=True)
class Demand:
    """What one node or queue lacks, and the candidates that could release it, in order."""

    lack: Lack
    victims: Sequence[Victim]
    is_there: Callable[[Victim], bool]

    def givers(self) -> Iterator[Victim]:
        """Return the candidates that have something of what is lacking."""
        for victim in self.victims:
            if any(victim.resource.amounts.get(name, 0) > 0 for name in self.lack):
                yield victim


@dataclass(slots=True)
class Effort:
    """How many candidates may still be examined in trying sets, and how many were."""

    left: int = _MOST_TRIES
    looks: int = 0


def cost(victims: Iterable[Victim]) -> Cost:
    """Return the cost of these victims: highest priority, originator, number."""
    highest, with_originator, count = -math.inf, False, 0
    for victim in victims:
        highest = max(highest, victim.priority)
        with_originator = with_originator or victim.is_originator
        count += 1
    return highest, with_originator, count


def cover(
    demands: Sequence[Demand],
    candidates: Candidates,
    effort: Effort,
    gone: Sequence[Victim] = (),
) -> list[Victim] | None:
    """Return the victims besides ``gone``, already counted in the demands; None if impossible."""
    found = _in_order(demands, candidates, effort, gone)
    few = _few(demands)
    if few is None:
        return (
            found if found is not None else _with_another_first(demands, candidates, effort, gone)
        )
    if found is not None and cost(found) <= _at_least(demands):
        return found
    return _Cheapest(few, demands, candidates, effort, gone).cheaper_than(found)


def _few(demands: Sequence[Demand]) -> list[Victim] | None:
    """Return all candidates with something lacking, in order; None if there are too many."""
    pool: dict[Allocation, Victim] = {}
    for demand in demands:
        for victim in demand.givers():
            pool[victim.allocation] = victim
            if len(pool) > FEW:
                return None
    return sorted(pool.values(), key=attrgetter("order"))


def _with_another_first(
    demands: Sequence[Demand], candidates: Candidates, effort: Effort, gone: Sequence[Victim]
) -> list[Victim] | None:
    """Start with one of the largest candidates if starting in order fails."""
    if effort.left <= 0:
        return None
    pool = {victim.allocation: victim for demand in demands for victim in demand.givers()}
    in_order = sorted(pool.values(), key=attrgetter("order"))
    found = None
    for first in sorted(in_order, key=lambda victim: -_share(victim, demands))[:_STARTS]:
        effort.left -= len(pool)
        found = _in_order(demands, candidates, effort, gone, first)
        if found is not None or effort.left <= 0:
            break
    return found


def _at_least(demands: Sequence[Demand]) -> Cost:
    """Return a lower bound of the cost of any set."""
    lowest, count = math.inf, 0
    for demand in demands:
        lowest = min(lowest, *(victim.priority for victim in demand.victims[:1]), math.inf)
        for name, amount in demand.lack.items():
            gives = [victim.resource.amounts.get(name, 0) for victim in demand.victims]
            most = max(gives, default=0)
            count = max(count, -(-amount // most) if most else 0)
    return lowest, False, count


def _share(victim: Victim, demands: Sequence[Demand]) -> float:
    """Return the share of what is lacking that the candidate releases, over all types."""
    gives = victim.resource.amounts
    return sum(
        min(1.0, gives.get(name, 0) / amount)
        for demand in demands
        for name, amount in demand.lack.items()
    )


def _in_order(
    demands: Sequence[Demand],
    candidates: Candidates,
    effort: Effort,
    gone: Sequence[Victim],
    first: Victim | None = None,
) -> list[Victim] | None:
    """Return the first candidates that suffice, in order; ``first`` comes before all others."""
    loss = VictimSet()
    for victim in gone:
        loss.add(victim)
    taken: list[Victim] = []
    for demand in demands:
        missing = _without(demand.lack, filter(demand.is_there, taken))
        if not missing:
            continue
        ahead = [first] if first is not None and demand.is_there(first) else []
        more = _take(missing, chain(ahead, demand.victims), candidates, effort, loss)
        if more is None:
            return None
        taken += more
    return taken


def _take(
    lack: Lack,
    victims: Iterable[Victim],
    candidates: Candidates,
    effort: Effort,
    loss: VictimSet,
) -> list[Victim] | None:
    missing = lack
    taken: list[Victim] = []
    for victim in victims:
        effort.looks += 1
        gives = victim.resource.amounts
        if (
            victim.allocation in loss.victims
            or not any(gives.get(name, 0) > 0 for name in missing)
            or not candidates.leaves_guarantees(victim, loss)
        ):
            continue
        loss.add(victim)
        taken.append(victim)
        missing = _without(missing, [victim])
        if not missing:
            return _spare_needless(lack, taken, loss)
    return None


def _without(lack: Lack, victims: Iterable[Victim]) -> Lack:
    """Return what is still lacking without these."""
    missing = lack
    for victim in victims:
        gives = victim.resource.amounts
        missing = {
            name: amount - gives.get(name, 0)
            for name, amount in missing.items()
            if amount > gives.get(name, 0)
        }
    return missing


def _spare_needless(lack: Lack, taken: list[Victim], loss: VictimSet) -> list[Victim]:
    """Return the members of ``taken`` that are needed."""
    surplus = {
        name: sum(victim.resource.amounts.get(name, 0) for victim in taken) - amount
        for name, amount in lack.items()
    }
    needed: list[Victim] = []
    for victim in reversed(taken):
        gives = victim.resource.amounts
        if all(gives.get(name, 0) <= more for name, more in surplus.items()):
            surplus = {name: more - gives.get(name, 0) for name, more in surplus.items()}
            loss.spare(victim)
        else:
            needed.append(victim)
    return needed[::-1]


class _Cheapest:
    """The cheapest of few sets, by branch and bound.

    A branch ends where it breaks a guarantee, where even all remaining candidates do not suffice,
    and where it costs no less than the best known set, including the minimum it still needs.
    """

    def __init__(
        self,
        pool: Sequence[Victim],
        demands: Sequence[Demand],
        candidates: Candidates,
        effort: Effort,
        gone: Sequence[Victim],
    ) -> None:
        self._pool = pool
        self._candidates = candidates
        self._effort = effort
        self._lacking = [amount for demand in demands for amount in demand.lack.values()]
        self._gives = _gives(pool, demands)
        none = [0] * len(self._lacking)
        self._together = [none]  # what all from this one on release, and the most of one
        self._most = [none]
        for gives in reversed(self._gives):
            self._together.insert(0, [*map(sum, zip(gives, self._together[0], strict=True))])
            self._most.insert(0, [*map(max, gives, self._most[0])])
        self._loss = VictimSet()
        for victim in gone:
            self._loss.add(victim)
        self._taken: list[Victim] = []
        self._found: list[Victim] | None = None
        self._cost: tuple[float, bool, float] = (math.inf, True, math.inf)

    def cheaper_than(self, known: list[Victim] | None) -> list[Victim] | None:
        """Return the cheapest set, ``known`` if none costs less, None if there is none."""
        if known is not None:
            self._found, self._cost = known, cost(known)
        self._extend(0, self._lacking)
        return self._found

    def _extend(self, start: int, missing: list[int]) -> None:
        """Try all sets that extend those taken with candidates from ``start`` on."""
        if all(amount <= 0 for amount in missing):
            self._found, self._cost = list(self._taken), cost(self._taken)
            return
        for place in range(start, len(self._pool)):
            together = self._together[place]
            if self._effort.left <= 0 or any(map(int.__gt__, missing, together)):
                return
            self._effort.left -= 1
            self._effort.looks += 1
            victim, gives = self._pool[place], self._gives[place]
            if not any(amount > 0 < given for amount, given in zip(missing, gives, strict=True)):
                continue
            left = [amount - given for amount, given in zip(missing, gives, strict=True)]
            if self._is_cheaper(victim, self._more(left, place + 1)) and (
                self._candidates.leaves_guarantees(victim, self._loss)
            ):
                self._loss.add(victim)
                self._taken.append(victim)
                self._extend(place + 1, left)
                self._loss.spare(self._taken.pop())

    def _more(self, missing: list[int], start: int) -> float:
        """Return how many more are needed at least."""
        return max(
            (
                math.ceil(amount / most) if most else math.inf
                for amount, most in zip(missing, self._most[start], strict=True)
                if amount > 0
            ),
            default=0,
        )

    def _is_cheaper(self, victim: Victim, more: float) -> bool:
        highest, with_originator, count = cost([*self._taken, victim])
        return (highest, with_originator, count + more) < self._cost


def _gives(pool: Sequence[Victim], demands: Sequence[Demand]) -> list[list[int]]:
    """Return what each would release of each lacking type, in each place."""
    gives: list[list[int]] = [[] for _ in pool]
    for demand in demands:
        for victim, amounts in zip(pool, gives, strict=True):
            counts = demand.is_there(victim)
            amounts += [
                victim.resource.amounts.get(name, 0) if counts else 0 for name in demand.lack
            ]
    return gives
