"""Rules about capacity: neither nodes nor queues hold more than their limits.

Where the order of messages is open, the scheduler gets the benefit of the doubt. Of several
capacities the RM gave a node the largest counts: smaller ones have their own tests (SI-NODE-018,
SI-GANG-025). Capacity counts as free as soon as the RM sends a release, removal or decommission.
Existing allocations count once certainly taken over, and as far as they fit: counting them beyond
the limit is only a SHOULD (SI-REC-013).
"""

from collections.abc import Callable
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.foreign_occupancy import ForeignOccupancy
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.monitors.occupancy import OCCUPANCY, Occupancy
from siconform.monitors.quotas import QUOTAS, Quotas
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import Action, ForeignAllocationRequest, NodeRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def nodes_are_not_overfilled() -> Evaluator:
    """No new allocation takes a node above the largest capacity it may have at the time."""
    nodes = _Capacities()
    occupancy = Occupancy(lambda allocation: (allocation.node,), nodes.most)

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated() as echo if occupancy.is_not_new(echo):
                occupancy.takes_if_it_fits(echo)
            case Allocated() as new:
                over = occupancy.takes(new)
                return f"node {over}" if over else ""
            case _:
                occupancy.observe(entry)
                nodes.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def foreign_allocations_keep_their_capacity() -> Evaluator:
    """No new allocation takes a node above its capacity minus its certain foreign allocations."""
    nodes, foreign = _Capacities(), ForeignOccupancy()
    occupancy = Occupancy(lambda allocation: (allocation.node,), nodes.most)

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated() as echo if occupancy.is_not_new(echo):
                occupancy.takes_if_it_fits(echo)
            case Allocated(node=node) as new:
                if not occupancy.takes(new) and foreign.holds_capacity_on(node):
                    return _too_much(new, nodes, foreign, occupancy)
            case _:
                foreign.observe(entry)
                occupancy.observe(entry)
                nodes.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def _too_much(
    new: Allocated, nodes: "_Capacities", foreign: ForeignOccupancy, occupancy: Occupancy
) -> str:
    for name in (n for n, amount in new.resource.items() if amount > 0):
        most, theirs = nodes.most(new.node, name), foreign.used(new.node, name)
        own = occupancy.used(new.node, name)
        if theirs and most is not None and own + theirs > most:
            return (
                f"node {new.node} holds {own} of {name} with {new.identity} and {theirs} for"
                f" foreign allocations, at most {most}"
            )
    return ""


def queues_are_not_overfilled() -> Evaluator:
    """No new allocation takes a queue above the maximum the RM's configuration gives it."""
    return _queue_evaluator(lambda _: True)


def placeholders_count_against_the_quota() -> Evaluator:
    """No new allocation takes a queue with placeholders in it above its maximum."""
    return _queue_evaluator(lambda held: any(allocation.placeholder for allocation in held))


def _queue_evaluator(concerns: Callable[[list[Allocated]], bool]) -> Evaluator:
    quotas = Quotas()
    occupancy = Occupancy(lambda allocation: quotas.limited(allocation.application), quotas.most)

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated() as echo if occupancy.is_not_new(echo):
                occupancy.takes_if_it_fits(echo)
            case Allocated() as new if queues := quotas.limited(new.application):
                over = occupancy.takes(new)
                held = [allocation for queue in queues for allocation in occupancy.held(queue)]
                if concerns(held):
                    return f"queue {over}" if over else ""
            case _:
                if quotas.may_limit:
                    occupancy.observe(entry)
                quotas.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


class _Capacities:
    """All capacities the RM has sent for each node since its registration."""

    def __init__(self) -> None:
        self._largest: dict[str, dict[str, int]] = {}  # by node and resource

    def most(self, node: str, resource: str) -> int | None:
        largest = self._largest.get(node)
        return largest.get(resource, 0) if largest is not None else None

    def observe(self, entry: Entry) -> None:
        match entry.content:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._largest.pop(node, None)
            case NodeRequest(node=node, capacity=capacity) if capacity is not None:
                largest = self._largest.get(node)
                if largest is None:
                    self._largest[node] = dict(capacity)
                    return
                for name in largest.keys() | capacity.keys():
                    largest[name] = max(largest.get(name, 0), capacity.get(name, 0))


MONITORS: Final = (
    Monitor(nodes_are_not_overfilled, ("SI-NODE-006",), observes=OCCUPANCY),
    Monitor(
        foreign_allocations_keep_their_capacity,
        ("SI-FOR-001",),
        observes=(*OCCUPANCY, ForeignAllocationRequest),
        presupposes=Feature.FOREIGN_ALLOCATIONS,
        identity=Identity.KEY_OF_THE_ASK,
    ),
    Monitor(
        queues_are_not_overfilled,
        ("SI-ASK-011",),
        observes=(*OCCUPANCY, *QUOTAS),
        presupposes=Feature.QUEUES,
    ),
    Monitor(
        placeholders_count_against_the_quota,
        ("SI-GANG-027",),
        observes=(*OCCUPANCY, *QUOTAS),
        presupposes=Feature.QUOTAS,
    ),
)
