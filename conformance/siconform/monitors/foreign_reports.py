"""Rules about foreign allocations: which are rejected, and who ends them."""

from functools import partial
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.restated import ForeignEchoed
from siconform.monitors.used_names import Remembered
from siconform.protocol.notifications import Allocated, AllocationRejected, NodeAccepted, Released
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


_BY_KEY: Final = Identity.KEY_OF_THE_ASK
_FOREIGN: Final = Feature.FOREIGN_ALLOCATIONS
_REPORTS: Final = (
    *(ForeignAllocationRequest, ExistingAllocationRequest, AskRequest, AllocationRejected),
    *(NodeRequest, NodeAccepted, ReleaseRequest, Released),
)

_ForeignMonitor = partial(Monitor, presupposes=_FOREIGN, identity=_BY_KEY)

MONITORS: Final = (
    _ForeignMonitor(
        rejections_of_foreign_allocations_are_complete, ("SI-FOR-004",), observes=_REPORTS
    ),
    _ForeignMonitor(
        foreign_allocations_without_place_are_not_echoed,
        ("SI-FOR-004",),
        observes=(ForeignAllocationRequest, ForeignEchoed, NodeRequest, RegistrationAnswered),
        about_new_names=True,
    ),
    _ForeignMonitor(
        foreign_allocations_on_known_nodes_are_accepted,
        ("SI-FOR-005",),
        observes=_REPORTS,
        about_new_names=True,
    ),
    _ForeignMonitor(foreign_allocations_are_not_released, ("SI-FOR-008",), observes=_REPORTS),
)
