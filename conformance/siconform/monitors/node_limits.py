"""Rules about what may not take a node above its capacity: anything, or for one more reason.

The reasons are an update, what others occupy, a rejected creation, an allocation that existed
before, and foreign allocations.

Where the order of messages is open, the scheduler gets the benefit of the doubt. Of several
capacities the RM gave a node the largest counts: smaller ones have their own tests (SI-NODE-018,
SI-GANG-025). Capacity counts as free as soon as the RM sends a release, removal or decommission.
Existing allocations count once certainly taken over, and as far as they fit: counting them beyond
the limit is only a SHOULD (SI-REC-013).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.foreign_limits import FOREIGN_LIMITS, ForeignLimits, Usage
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.node_amounts import NodeAmounts, SentAmounts
from siconform.monitors.occupancy import OCCUPANCY, Occupancy
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import (
    Action,
    Amounts,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
)
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def nodes_are_not_overfilled() -> Evaluator:
    """No new allocation takes a node above the largest capacity it may have at the time."""
    return _LIMITS.rule("nodes_are_not_overfilled")


def foreign_allocations_keep_their_capacity() -> Evaluator:
    """No new allocation takes a node above its capacity minus its certain foreign allocations."""
    return _LIMITS.rule("foreign_allocations_keep_their_capacity")


def updated_foreign_allocations_hold_their_new_amount() -> Evaluator:
    """No new allocation needs what a foreign allocation holds since it was reported again."""
    return _LIMITS.rule("updated_foreign_allocations_hold_their_new_amount")


def moved_foreign_allocations_count_on_their_node() -> Evaluator:
    """No new allocation needs what a foreign allocation holds where it was reported last."""
    return _LIMITS.rule("moved_foreign_allocations_count_on_their_node")


def rejected_creations_add_no_capacity() -> Evaluator:
    """No new allocation needs the capacity of a creation that was rejected as a duplicate."""
    return _LIMITS.rule("rejected_creations_add_no_capacity")


def occupied_resource_is_not_available() -> Evaluator:
    """No new allocation needs what others have occupied since the node was created."""
    return _LIMITS.rule("occupied_resource_is_not_available")


def smaller_nodes_get_less() -> Evaluator:
    """No new allocation needs more than the capacity of a certain update."""
    return _LIMITS.rule("smaller_nodes_get_less")


def newly_occupied_resource_is_not_available() -> Evaluator:
    """No new allocation needs what others occupy since a certain update."""
    return _LIMITS.rule("newly_occupied_resource_is_not_available")


def resources_left_out_of_an_update_stay() -> Evaluator:
    """No new allocation needs more than a node had before an update that named no amount."""
    return _LIMITS.rule("resources_left_out_of_an_update_stay")


def node_reports_without_action_add_no_capacity() -> Evaluator:
    """No new allocation needs the capacity of a message about the node without an action."""
    return _LIMITS.rule("node_reports_without_action_add_no_capacity")


def existing_allocations_of_nodes_hold_capacity() -> Evaluator:
    """No new allocation needs what an existing allocation holds that came with its node."""
    return _LIMITS.rule("existing_allocations_of_nodes_hold_capacity")


def existing_allocations_of_draining_nodes_hold_capacity() -> Evaluator:
    """The same of one that came with a node that was created draining."""
    return _LIMITS.rule("existing_allocations_of_draining_nodes_hold_capacity")


def reported_allocations_hold_capacity() -> Evaluator:
    """No new allocation needs what an existing allocation holds that was reported by itself."""
    return _LIMITS.rule("reported_allocations_hold_capacity")


def negative_foreign_amounts_add_no_capacity() -> Evaluator:
    """No node is overfilled on which a foreign allocation of zero or less was reported."""
    return _LIMITS.rule("negative_foreign_amounts_add_no_capacity")


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The capacity of a node in one resource, and the lower limits of rules with a reason."""

    most: int
    of_rules: tuple[tuple[str, int, int], ...]  # rule, limit, and the limit without its reason


class _Limits:
    def __init__(self) -> None:
        self._amounts = SentAmounts()
        self._occupancy = Occupancy(lambda allocation: (allocation.node,), self._most)
        self._foreign = ForeignLimits()
        self._reports: dict[str, str] = {}  # the rule by identity of an existing allocation
        self._negative: set[str] = set()  # nodes with foreign amounts of zero or less
        self._of_barriers: dict[str, Amounts] = {}  # capacities of the nodes of barriers

    def _bounds(self, name: str, resource: str) -> _Bounds | None:
        """Return the limits of a node; None if the RM sent no capacity of it."""
        node = self._amounts.of(name)
        if node is None:
            return None
        if resource not in node.derived:
            node.derived[resource] = _bounds(node, resource) if node.has_capacity else None
        bounds: _Bounds | None = node.derived[resource]
        return bounds

    def _most(self, node: str, resource: str) -> int | None:
        bounds = self._bounds(node, resource)
        if bounds is not None:
            return bounds.most
        capacity = self._of_barriers.get(node)
        return None if capacity is None else capacity.get(resource, 0)

    def __call__(self, entry: Entry) -> Findings:
        content = entry.content
        if not isinstance(content, Allocated):
            self._occupancy.observe(entry)
            self._foreign.observe(entry)
            self._amounts.observe(entry)
            if entry.barrier:
                self._notes_barrier(content)
            else:
                self._notes(content)
            return NO_FINDINGS
        if self._occupancy.is_not_new(content):
            self._occupancy.takes_reported(content)
            return NO_FINDINGS
        over = self._occupancy.takes(content)
        return {
            "nodes_are_not_overfilled": f"node {over}" if over else "",
            **self._foreign.allocates(content, over, lambda: self._usage(content)),
            **self._evaluated(content, over),
        }

    def _notes_barrier(self, content: object) -> None:
        match content:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._of_barriers.pop(node, None)
            case NodeRequest(node=node, capacity=capacity) if capacity is not None:
                self._of_barriers[node] = capacity

    def _notes(self, content: object) -> None:
        match content:
            case NodeRequest(action=Action.CREATE_DRAINING, existing=existing) if existing:
                rule = "existing_allocations_of_draining_nodes_hold_capacity"
                self._reports.update({one.identity: rule for one in existing})
            case NodeRequest(action=Action.CREATE, existing=existing) if existing:
                rule = "existing_allocations_of_nodes_hold_capacity"
                self._reports.update({one.identity: rule for one in existing})
            case ExistingAllocationRequest() as report:
                rule = "reported_allocations_hold_capacity"
                self._reports.update({one.identity: rule for one in recovered_in(report)})
            case ForeignAllocationRequest(node=node, resource=resource):
                if all(amount <= 0 for amount in (resource or {}).values()):
                    self._negative.add(node)

    def _usage(self, new: Allocated) -> Iterator[Usage]:
        """Yield what is held and the capacity of each resource that an allocation takes."""
        for name in (n for n, amount in new.resource.items() if amount > 0):
            most = self._most(new.node, name)
            if most is not None:
                yield name, self._occupancy.used(new.node, name), most

    def _evaluated(self, new: Allocated, over: str) -> dict[str, EntryFinding]:
        found: dict[str, EntryFinding] = {}
        is_known = self._amounts.of(new.node) is not None
        if not is_known or not self._occupancy.holds(new.node, new.identity):
            return found
        if new.node in self._negative:
            finding = f"node {over}" if over else ""
            found["negative_foreign_amounts_add_no_capacity"] = finding
        existing = self._existing(new.node)
        for name, used, capacity in self._usage(new):
            bounds = self._bounds(new.node, name)
            for rule, most, otherwise in bounds.of_rules if bounds is not None else ():
                wrong = most < used <= otherwise
                message = f"node {new.node} holds {used} of {name} with {new.identity}"
                finding = f"{message}, at most {most}" if wrong else ""
                found[rule] = found.get(rule) or finding
            for rule, theirs in existing.items():
                wrong = capacity < used <= capacity + theirs.get(name, 0)
                message = f"node {over} and {theirs[name]} of it existed" if wrong else ""
                found[rule] = found.get(rule) or message
        return found

    def _existing(self, node: str) -> Mapping[str, Mapping[str, int]]:
        """Return what existing allocations hold on a node, by the rule about them."""
        found: dict[str, dict[str, int]] = {}
        if self._reports:
            for one in self._occupancy.held(node):
                if rule := self._reports.get(one.identity):
                    theirs = found.setdefault(rule, {})
                    for name, amount in one.resource.items():
                        theirs[name] = theirs.get(name, 0) + amount
        return found


def _bounds(node: NodeAmounts, name: str) -> _Bounds:
    most, now = node.most(name), node.most_now(name)
    free = node.most_free_at_creation(name)
    free_now = node.most_free_now(name)
    of_rules = {
        "rejected_creations_add_no_capacity": (node.most_of_first_creation(name), most),
        "node_reports_without_action_add_no_capacity": (node.most_with_action(name), most),
        "smaller_nodes_get_less": (now, most),
        "occupied_resource_is_not_available": (free, most),
        "newly_occupied_resource_is_not_available": (free_now, min(free, now)),
        "resources_left_out_of_an_update_stay": (node.most_free_as_kept(name), free_now),
    }
    lower = ((rule, limit, without) for rule, (limit, without) in of_rules.items())
    return _Bounds(most, tuple(one for one in lower if one[1] < one[2]))


_LIMITS: Final = SharedAnalysis(_Limits)
_OBSERVED: Final = (*OCCUPANCY, *FOREIGN_LIMITS)
_FINDS: Final = (Allocated,)
_FOREIGN: Final = Feature.FOREIGN_ALLOCATIONS
_BY_KEY: Final = Identity.KEY_OF_THE_ASK

_ForeignMonitor = partial(Monitor, observes=_FINDS, presupposes=_FOREIGN, identity=_BY_KEY)

MONITORS: Final = (
    Monitor(nodes_are_not_overfilled, ("SI-NODE-006",), _OBSERVED),
    Monitor(rejected_creations_add_no_capacity, ("SI-NODE-003",), _FINDS),
    Monitor(occupied_resource_is_not_available, ("SI-NODE-007",), _FINDS),
    Monitor(smaller_nodes_get_less, ("SI-NODE-018",), _FINDS),
    Monitor(newly_occupied_resource_is_not_available, ("SI-NODE-021",), _FINDS),
    Monitor(resources_left_out_of_an_update_stay, ("SI-NODE-022",), _FINDS),
    Monitor(node_reports_without_action_add_no_capacity, ("SI-NODE-036",), _FINDS),
    Monitor(existing_allocations_of_nodes_hold_capacity, ("SI-REC-001",), _FINDS),
    Monitor(existing_allocations_of_draining_nodes_hold_capacity, ("SI-REC-023",), _FINDS),
    Monitor(reported_allocations_hold_capacity, ("SI-REC-007",), _FINDS),
    _ForeignMonitor(foreign_allocations_keep_their_capacity, ("SI-FOR-001", "SI-FOR-009")),
    _ForeignMonitor(updated_foreign_allocations_hold_their_new_amount, ("SI-FOR-002",)),
    _ForeignMonitor(moved_foreign_allocations_count_on_their_node, ("SI-FOR-009",)),
    _ForeignMonitor(negative_foreign_amounts_add_no_capacity, ("SI-FOR-010",)),
)
