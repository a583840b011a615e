"""Rules about foreign allocations: which are rejected, where they count, and who ends them."""

from collections import defaultdict
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.foreign_occupancy import ForeignOccupancy
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.node_amounts import SentAmounts
from siconform.monitors.occupancy import OCCUPANCY, Occupancy
from siconform.monitors.remembered import Remembered
from siconform.monitors.restated import ForeignEchoed
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    NodeAccepted,
    Released,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import Identity, OneAllocation
from siconform.recording.history import Entry

_KINDS: Final = ("static", "default")
_TAG: Final = "foreign"


def updated_foreign_allocations_hold_their_new_amount() -> Evaluator:
    """No new allocation needs what a foreign allocation holds since it was reported again."""
    return _CAPACITY.rule("updated_foreign_allocations_hold_their_new_amount")


def moved_foreign_allocations_count_on_their_node() -> Evaluator:
    """No new allocation needs what a foreign allocation holds where it was reported last."""
    return _CAPACITY.rule("moved_foreign_allocations_count_on_their_node")


class _Capacity:
    """Finds allocations that need foreign capacity, on nodes with reports of one or the other kind.

    An allocation counts if its ask was sent after the reports had been processed.
    """

    def __init__(self) -> None:
        self._amounts = SentAmounts()
        self._foreign = ForeignOccupancy(effects_matter=False)
        self._occupancy = Occupancy(lambda allocation: (allocation.node,), self._most)
        self._asked: dict[str, int] = {}  # the number of the message, by key of a pending ask
        self._nodes: dict[str, str] = {}  # the last one by key
        self._lost: set[str] = set()  # keys whose node was decommissioned
        self._with: defaultdict[str, set[str]] = defaultdict(set)  # rules by node

    def _most(self, node: str, resource: str) -> int | None:
        amounts = self._amounts.of(node)
        return None if amounts is None else amounts.most(resource)

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case Allocated() as echo if self._occupancy.is_not_new(echo):
                self._occupancy.takes_if_it_fits(echo)
            case Allocated() as new:
                over, asked = self._occupancy.takes(new), self._asked.pop(new.key, 0)
                rules = self._with.get(new.node)
                if rules and not over and asked > self._foreign.changed.get(new.node, asked):
                    return dict.fromkeys(rules, self._finding(new))
            case _:
                self._foreign.observe(entry)
                self._occupancy.observe(entry)
                self._amounts.observe(entry)
                if not entry.barrier:
                    self._follows(entry)
        return NO_FINDINGS

    def _finding(self, new: Allocated) -> EntryFinding:
        if not self._foreign.holds_capacity_on(new.node):
            return NOTHING_TO_EVALUATE
        for name in (n for n, amount in new.resource.items() if amount > 0):
            theirs = self._foreign.used(new.node, name)
            own, most = self._occupancy.used(new.node, name), self._most(new.node, name)
            if theirs and most is not None and own + theirs > most:
                return (
                    f"node {new.node} holds {own} of {name} with {new.identity} and {theirs} for"
                    f" foreign allocations, at most {most}"
                )
        return ""

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


def rejections_of_foreign_allocations_are_complete() -> Evaluator:
    """The rejection of a foreign allocation names no application and gives a reason."""
    foreign: set[str] = set()
    others: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ForeignAllocationRequest(key=key) if key not in others:
                foreign.add(key)
            case AskRequest(key=key):
                _is_of_others(key)
            case ExistingAllocationRequest(allocation=allocation):
                _is_of_others(allocation.key)
            case AllocationRejected(key=key) as rejection if key in foreign:
                if rejection.application:
                    return f"rejection of the foreign {key} names {rejection.application!r}"
                missing = not rejection.reason.strip()
                return f"rejection of the foreign {key} gives no reason" if missing else ""
        return NOTHING_TO_EVALUATE

    def _is_of_others(key: str) -> None:
        if key in foreign:
            foreign.discard(key)
            others.add(key)

    return evaluate


def foreign_allocations_without_place_are_not_echoed() -> Evaluator:
    """A foreign allocation on a node that the RM never sent is not announced.

    Without the registration it is unknown which nodes exist.
    """
    is_complete = False
    nodes: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_complete
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_complete = True
            case NodeRequest(node=node):
                nodes.add(node)
            case ForeignAllocationRequest(node=node) if is_complete and node not in nodes:
                return ""
            case ForeignEchoed(allocation=echo) if is_complete and echo.node not in nodes:
                return f"the foreign {echo.key} on {echo.node}, which is unknown, was taken over"
        return NOTHING_TO_EVALUATE

    return evaluate


def foreign_allocations_on_known_nodes_are_accepted() -> Evaluator:
    """The first report of a foreign allocation, of some amount on an accepted node, succeeds."""
    created: set[str] = set()
    accepted: set[str] = set()
    known = Remembered()  # keys
    right: set[str] = set()  # keys of reports without anything to reject

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING, node=node):
                created.add(node)
            case NodeAccepted(node=node) if node in created:
                accepted.add(node)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                created.discard(node)
                accepted.discard(node)
                right.clear()
            case ForeignAllocationRequest(key=key, node=node) as report:
                is_right = key not in known and node in accepted and _is_plain(report)
                known.add(key)
                if is_right:
                    right.add(key)
                    return ""
                right.discard(key)
            case AllocationRejected(key=key) if key in right:
                return f"the foreign {key} on a known node was rejected"
            case AskRequest(key=key) | ExistingAllocationRequest(allocation=Allocated(key=key)):
                known.add(key)
                right.discard(key)
        return NOTHING_TO_EVALUATE

    return evaluate


def _is_plain(report: ForeignAllocationRequest) -> bool:
    amounts = (report.resource or {}).values()
    return (
        bool(report.key)
        and report.partition == "default"
        and report.tags.get(_TAG) in _KINDS
        and all(amount >= 0 for amount in amounts)
        and any(amounts)
    )


def foreign_allocations_are_not_released() -> Evaluator:
    """The scheduler ends no foreign allocation, unless the RM ended it or removed its node."""
    nodes: dict[str, set[str]] = {}  # by key of a foreign allocation
    ended: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ForeignAllocationRequest(key=key, node=node):
                nodes.setdefault(key, set()).add(node)
                return ""
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                ended.update(key for key, named in nodes.items() if node in named)
            case ReleaseRequest(subject=OneAllocation(identity=key)) if key in nodes:
                ended.add(key)
            case Released(application="", identity=key) as release if key in nodes:
                message = f"the foreign {key} was released as {release.termination.value}"
                return violated_if(key not in ended, message)
        return NOTHING_TO_EVALUATE

    return evaluate


_CAPACITY: Final = SharedAnalysis(_Capacity)
_OBSERVED: Final = (*(*OCCUPANCY, ForeignAllocationRequest, AskRequest, AskRejected, AskReleased),)
_BY_KEY: Final = Identity.KEY_OF_THE_ASK
_FOREIGN: Final = Feature.FOREIGN_ALLOCATIONS
_REPORTS: Final = (
    *(ForeignAllocationRequest, ExistingAllocationRequest, AskRequest, AllocationRejected),
    *(NodeRequest, NodeAccepted, ReleaseRequest, Released),
)

MONITORS: Final = (
    Monitor(
        updated_foreign_allocations_hold_their_new_amount,
        ("SI-FOR-002",),
        observes=_OBSERVED,
        presupposes=_FOREIGN,
        identity=_BY_KEY,
    ),
    Monitor(
        rejections_of_foreign_allocations_are_complete,
        ("SI-FOR-004",),
        observes=_REPORTS,
        presupposes=_FOREIGN,
        identity=_BY_KEY,
    ),
    Monitor(
        foreign_allocations_without_place_are_not_echoed,
        ("SI-FOR-004",),
        observes=(ForeignAllocationRequest, ForeignEchoed, NodeRequest, RegistrationAnswered),
        presupposes=_FOREIGN,
        identity=_BY_KEY,
        about_new_names=True,
    ),
    Monitor(
        foreign_allocations_on_known_nodes_are_accepted,
        ("SI-FOR-005",),
        observes=_REPORTS,
        presupposes=_FOREIGN,
        identity=_BY_KEY,
        about_new_names=True,
    ),
    Monitor(
        foreign_allocations_are_not_released,
        ("SI-FOR-008",),
        observes=_REPORTS,
        presupposes=_FOREIGN,
        identity=_BY_KEY,
    ),
    Monitor(
        moved_foreign_allocations_count_on_their_node,
        ("SI-FOR-009",),
        observes=(Allocated,),
        presupposes=_FOREIGN,
        identity=_BY_KEY,
    ),
)
