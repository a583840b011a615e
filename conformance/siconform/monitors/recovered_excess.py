"""Rules about existing allocations beyond the limits, and about those that are reported again.

A scheduler should take them over however much there is, so they count in full here.
"""

from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.node_amounts import SentAmounts
from siconform.monitors.occupancy import OCCUPANCY, Occupancy, Places
from siconform.monitors.quotas import QUOTAS, Quotas
from siconform.monitors.restated import ReportedAgain
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import ExistingAllocationRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry

_NODE: Final = "node "
_QUEUE: Final = "queue "


def recovered_allocations_count_beyond_the_limits() -> Evaluator:
    """Nothing new is placed where existing allocations hold more than the limit."""
    return _EXCESS.rule("recovered_allocations_count_beyond_the_limits")


def allocations_reported_again_hold_capacity() -> Evaluator:
    """Nothing new is placed where an allocation is live again that had ended with its node."""
    return _EXCESS.rule("allocations_reported_again_hold_capacity")


class _InFull(Occupancy):
    """Existing allocations count whether they fit or not; ``taken`` are the latest of them."""

    def __init__(self, places: Places) -> None:
        super().__init__(places, None)
        self.taken: list[Allocated] = []

    def takes_if_it_fits(self, existing: Allocated) -> None:
        """Add it, even if that exceeds a limit."""
        self.takes(existing)
        self.taken.append(existing)


class _Excess:
    def __init__(self) -> None:
        self._amounts = SentAmounts()
        self._quotas = Quotas()
        self._occupancy = _InFull(self._places)
        self._beyond: set[str] = set()  # existing ones that exceeded a limit
        self._again: set[str] = set()  # reported again after their end

    def _places(self, allocation: Allocated) -> list[str]:
        queues = self._quotas.limited(allocation.application)
        return [f"{_NODE}{allocation.node}", *(f"{_QUEUE}{queue}" for queue in queues)]

    def _most(self, place: str, resource: str) -> int | None:
        if place.startswith(_QUEUE):
            return self._quotas.most(place.removeprefix(_QUEUE), resource)
        amounts = self._amounts.of(place.removeprefix(_NODE))
        return None if amounts is None else amounts.most(resource)

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case Allocated() as echo if self._occupancy.is_not_new(echo):
                self._occupancy.takes_reported(echo)
            case Allocated() as new:
                self._occupancy.takes(new)
                return self._evaluated(new) if self._beyond or self._again else NO_FINDINGS
            case ReportedAgain(allocation=again):
                self._again.add(again.identity)
                report = ExistingAllocationRequest(again)
                self._occupancy.observe(entry.with_content(report))
            case _:
                self._occupancy.observe(entry)
                self._amounts.observe(entry)
                if not entry.barrier:
                    self._quotas.observe(entry)
        if self._occupancy.taken:
            self._beyond |= {one.identity for one in self._occupancy.taken if self._exceeds(one)}
            self._occupancy.taken.clear()
        return NO_FINDINGS

    def _exceeds(self, existing: Allocated) -> bool:
        return any(
            most is not None and self._occupancy.used(place, name) > most
            for place in self._places(existing)
            for name, amount in existing.resource.items()
            if amount > 0
            for most in (self._most(place, name),)
        )

    def _evaluated(self, new: Allocated) -> Findings:
        found: dict[str, EntryFinding] = {}
        for place in self._places(new):
            held = {one.identity: one for one in self._occupancy.held(place)}
            if new.identity not in held:
                continue
            again = [held[identity] for identity in self._again & held.keys()]
            for name in (n for n, amount in new.resource.items() if amount > 0):
                most, used = self._most(place, name), self._occupancy.used(place, name)
                if most is None:
                    continue
                message = f"{place} holds {used} of {name} with {new.identity}, at most {most}"
                if self._beyond & held.keys():
                    rule = "recovered_allocations_count_beyond_the_limits"
                    found[rule] = found.get(rule) or (message if used > most else "")
                if again and place.startswith(_NODE):
                    rule = "allocations_reported_again_hold_capacity"
                    theirs = sum(one.resource.get(name, 0) for one in again)
                    is_theirs = used > most >= used - theirs
                    found[rule] = found.get(rule) or (message if is_theirs else "")
        return found


_EXCESS: Final = SharedAnalysis(_Excess)
_OBSERVED: Final = (*OCCUPANCY, *QUOTAS)
_FINDS: Final = (Allocated,)

MONITORS: Final = (
    Monitor(
        recovered_allocations_count_beyond_the_limits,
        ("SI-REC-013",),
        observes=_OBSERVED,
        presupposes=Feature.QUOTAS,
    ),
    Monitor(
        allocations_reported_again_hold_capacity,
        ("SI-REC-026",),
        observes=_FINDS,
        identity=Identity.KEY_OF_THE_ASK,
    ),
)
