"""Rules about what may not take a node above its capacity, by what took or gave capacity there.

Like the rule that no node is overfilled at all (``capacity.py``), each with one more reason: an
update, what others occupy, a rejected creation, or an allocation that existed before.
"""

from collections.abc import Mapping
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.node_amounts import NodeAmounts, SentAmounts
from siconform.monitors.occupancy import OCCUPANCY, Occupancy
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import (
    Action,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
)
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


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


class _Limits:
    def __init__(self) -> None:
        self._amounts = SentAmounts()
        self._occupancy = Occupancy(lambda allocation: (allocation.node,), self._most)
        self._reports: dict[str, str] = {}  # the rule by identity of an existing allocation
        self._negative: set[str] = set()  # nodes with foreign amounts of zero or less

    def _most(self, node: str, resource: str) -> int | None:
        amounts = self._amounts.of(node)
        return None if amounts is None else amounts.most(resource)

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case Allocated() as echo if self._occupancy.is_not_new(echo):
                self._occupancy.takes_if_it_fits(echo)
            case Allocated() as new:
                over = self._occupancy.takes(new)
                return self._evaluated(new, over)
            case content:
                self._occupancy.observe(entry)
                self._amounts.observe(entry)
                if not entry.barrier:
                    self._notes(content)
        return NO_FINDINGS

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

    def _evaluated(self, new: Allocated, over: str) -> Findings:
        node = self._amounts.of(new.node)
        held = self._occupancy.held(new.node)
        if node is None or all(one.identity != new.identity for one in held):
            return NO_FINDINGS
        found: dict[str, EntryFinding] = {}
        if new.node in self._negative:
            finding = f"node {over}" if over else ""
            found["negative_foreign_amounts_add_no_capacity"] = finding
        existing = self._existing(held)
        for name in (n for n, amount in new.resource.items() if amount > 0):
            used = self._occupancy.used(new.node, name)
            for rule, (most, otherwise) in _limits(node, name).items():
                if most < otherwise:
                    wrong = most < used <= otherwise
                    message = f"node {new.node} holds {used} of {name} with {new.identity}"
                    finding = f"{message}, at most {most}" if wrong else ""
                    found[rule] = found.get(rule) or finding
            for rule, theirs in existing.items():
                wrong = node.most(name) < used <= node.most(name) + theirs.get(name, 0)
                message = f"node {over} and {theirs[name]} of it existed" if wrong else ""
                found[rule] = found.get(rule) or message
        return found

    def _existing(self, held: list[Allocated]) -> Mapping[str, Mapping[str, int]]:
        """Return what existing allocations hold, by the rule about them."""
        found: dict[str, dict[str, int]] = {}
        if self._reports:
            for one in held:
                if rule := self._reports.get(one.identity):
                    theirs = found.setdefault(rule, {})
                    for name, amount in one.resource.items():
                        theirs[name] = theirs.get(name, 0) + amount
        return found


def _limits(node: NodeAmounts, name: str) -> Mapping[str, tuple[int, int]]:
    """Return the limit of each rule, and the one without the reason that the rule is about."""
    most, now = node.most(name), node.most_now(name)
    free = node.most_free_at_creation(name)
    free_now = node.most_free_now(name)
    return {
        "rejected_creations_add_no_capacity": (node.most_of_first_creation(name), most),
        "node_reports_without_action_add_no_capacity": (node.most_with_action(name), most),
        "smaller_nodes_get_less": (now, most),
        "occupied_resource_is_not_available": (free, most),
        "newly_occupied_resource_is_not_available": (free_now, min(free, now)),
        "resources_left_out_of_an_update_stay": (node.most_free_as_kept(name), free_now),
    }


_LIMITS: Final = SharedAnalysis(_Limits)
_OBSERVED: Final = (*OCCUPANCY, ForeignAllocationRequest)
_FINDS: Final = (Allocated,)

MONITORS: Final = (
    Monitor(rejected_creations_add_no_capacity, ("SI-NODE-003",), _OBSERVED),
    Monitor(occupied_resource_is_not_available, ("SI-NODE-007",), _FINDS),
    Monitor(smaller_nodes_get_less, ("SI-NODE-018",), _FINDS),
    Monitor(newly_occupied_resource_is_not_available, ("SI-NODE-021",), _FINDS),
    Monitor(resources_left_out_of_an_update_stay, ("SI-NODE-022",), _FINDS),
    Monitor(node_reports_without_action_add_no_capacity, ("SI-NODE-036",), _FINDS),
    Monitor(existing_allocations_of_nodes_hold_capacity, ("SI-REC-001",), _FINDS),
    Monitor(existing_allocations_of_draining_nodes_hold_capacity, ("SI-REC-023",), _FINDS),
    Monitor(reported_allocations_hold_capacity, ("SI-REC-007",), _FINDS),
    Monitor(
        negative_foreign_amounts_add_no_capacity,
        ("SI-FOR-010",),
        observes=_FINDS,
        presupposes=Feature.FOREIGN_ALLOCATIONS,
        identity=Identity.KEY_OF_THE_ASK,
    ),
)
