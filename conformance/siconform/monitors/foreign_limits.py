"""What foreign allocations leave of a node, and which rule an allocation there is evidence for."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from siconform.monitors.foreign_occupancy import ForeignOccupancy
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding
from siconform.monitors.shared import Findings
from siconform.protocol.notifications import Allocated, AskRejected, AskReleased
from siconform.protocol.requests import (
    Action,
    AskRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Entry

FOREIGN_LIMITS: Final = (ForeignAllocationRequest, AskRequest, AskRejected, AskReleased)
"""What ForeignLimits observes, in addition to Occupancy."""

Usage = tuple[str, int, int]
"""A resource, how much of it allocations hold on a node, and the node's capacity."""


class ForeignLimits:
    """Finds allocations that need the capacity of foreign ones.

    The rules about updated and moved ones are about nodes with such reports, and an allocation
    counts for them if its ask was sent after the reports had been processed.
    """

    def __init__(self) -> None:
        self._certain = ForeignOccupancy()
        self._processed = ForeignOccupancy(effects_matter=False)
        self._asked: dict[str, int] = {}  # the number of the message, by key of a pending ask
        self._nodes: dict[str, str] = {}  # the last one by key
        self._lost: set[str] = set()  # keys whose node was decommissioned
        self._with: defaultdict[str, set[str]] = defaultdict(set)  # rules by node

    def observe(self, entry: Entry) -> None:
        """Apply what this entry reports, makes certain, asks for and ends."""
        self._certain.observe(entry)
        self._processed.observe(entry)
        if not entry.barrier:
            self._follows(entry)

    def allocates(
        self, new: Allocated, over: str, usage: Callable[[], Iterable[Usage]]
    ) -> Findings:
        """Return the findings for a new allocation, unless it takes its node ``over`` capacity."""
        asked, node = self._asked.pop(new.key, 0), new.node
        found: dict[str, EntryFinding] = {}
        if over:
            return found
        if self._certain.holds_capacity_on(node):
            rule = "foreign_allocations_keep_their_capacity"
            found[rule] = _too_much(new, usage(), self._certain)
        rules = self._with.get(node)
        if rules and asked > self._processed.changed.get(node, asked):
            theirs = self._processed
            holds = theirs.holds_capacity_on(node)
            finding = _too_much(new, usage(), theirs) if holds else NOTHING_TO_EVALUATE
            found |= dict.fromkeys(rules, finding)
        return found

    def _follows(self, entry: Entry) -> None:
        match entry.content:
            case AskRequest(key=key):
                self._asked[key] = entry.number
            case AskRejected(key=key) | AskReleased(key=key):
                self._asked.pop(key, None)
            case ForeignAllocationRequest(key=key, node=node):
                self._is_reported(key, node)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._with.pop(node, None)
                self._lost |= {key for key, where in self._nodes.items() if where == node}
            case NodeRequest(action=Action.UPDATE, node=node) if node in self._nodes.values():
                self._with[node].add("moved_foreign_allocations_count_on_their_node")
            case ReleaseRequest(subject=OneAllocation(application="", identity=key)):
                self._nodes.pop(key, None)

    def _is_reported(self, key: str, node: str) -> None:
        before = self._nodes.get(key)
        if before is not None:
            moved = before != node or key in self._lost
            kept, went = (
                "updated_foreign_allocations_hold_their_new_amount",
                "moved_foreign_allocations_count_on_their_node",
            )
            self._with[node].add(went if moved else kept)
        self._nodes[key] = node
        self._lost.discard(key)


def _too_much(new: Allocated, usage: Iterable[Usage], foreign: ForeignOccupancy) -> str:
    for name, own, most in usage:
        theirs = foreign.used(new.node, name)
        if theirs and own + theirs > most:
            return (
                f"node {new.node} holds {own} of {name} with {new.identity} and {theirs} for"
                f" foreign allocations, at most {most}"
            )
    return ""
