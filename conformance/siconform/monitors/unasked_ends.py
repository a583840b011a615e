"""Rules about what does not end an allocation: drains, smaller nodes, new configurations.

The scheduler may end an allocation for reasons of its own. So only releases count that report an
end on request of the RM where it requested none (``releases.py``).
"""

from typing import Final

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.releases import stops_go_back_to_the_rm
from siconform.monitors.restated import Placed
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import Allocated, Released
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    Amounts,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.recording.history import Entry


def drains_end_nothing() -> Evaluator:
    """An allocation on a node that the RM drained is not stopped unless the RM requested it."""
    return _ENDS.rule("drains_end_nothing")


def smaller_nodes_stop_nothing() -> Evaluator:
    """An allocation on a node that the RM made smaller is not stopped without a request."""
    return _ENDS.rule("smaller_nodes_stop_nothing")


def configurations_end_nothing() -> Evaluator:
    """After a change of the configuration no allocation is stopped without a request."""
    return _ENDS.rule("configurations_end_nothing")


class _Ends:
    def __init__(self) -> None:
        self._without_cause = stops_go_back_to_the_rm()
        self._nodes: dict[str, str] = {}  # by identity of a live allocation
        self._draining: set[str] = set()
        self._smaller: set[str] = set()
        self._capacities: dict[str, Amounts] = {}
        self._is_reconfigured = False

    def __call__(self, entry: Entry) -> Findings:
        finding = self._without_cause(entry)
        if entry.barrier:
            return NO_FINDINGS
        match entry.content:
            case Released(identity=identity) if identity:
                node = self._nodes.pop(identity, "")
                rules = {
                    "drains_end_nothing": node in self._draining,
                    "smaller_nodes_stop_nothing": node in self._smaller,
                    "configurations_end_nothing": bool(node) and self._is_reconfigured,
                }
                return {rule: finding for rule, concerns in rules.items() if concerns}
            case Allocated(identity=identity, node=node):
                self._nodes[identity] = node
            case NodeRequest() as request:
                self._follows(request)
            case ConfigurationSent():
                self._is_reconfigured = True
        self._nodes.update({one.identity: one.node for one in recovered_in(entry.content)})
        return NO_FINDINGS

    def _follows(self, request: NodeRequest) -> None:
        name, capacity = request.node, request.capacity
        match request.action:
            case Action.DRAIN | Action.CREATE_DRAINING:
                self._draining.add(name)
            case Action.UNDRAIN:
                self._draining.discard(name)
            case Action.DECOMMISSION:
                self._draining.discard(name)
                self._smaller.discard(name)
                self._capacities.pop(name, None)
                return
        if capacity is not None:
            before = self._capacities.get(name, {})
            if any(capacity.get(of, 0) < amount for of, amount in before.items()):
                self._smaller.add(name)
            self._capacities[name] = capacity


def removals_in_other_partitions_end_nothing() -> Evaluator:
    """The removal of an application in another partition than its own stops no allocation."""
    without_cause = stops_go_back_to_the_rm()
    partitions: dict[str, str] = {}  # by application
    removed: set[str] = set()  # applications, in another partition only

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=name, partition=partition):
                partitions[name] = partition
                removed.discard(name)
            case ApplicationRemoval(application=name, partition=partition):
                own = partitions.get(name)
                if own and partition and own != partition:
                    removed.add(name)
                    return ""
                partitions.pop(name, None)
                removed.discard(name)
        finding = without_cause(entry)
        match entry.content:
            case Released(application=name) if name in removed:
                return finding
        return NOTHING_TO_EVALUATE

    return evaluate


_ENDS: Final = SharedAnalysis(_Ends)
_OBSERVED: Final = (
    *(NodeRequest, ApplicationRequest, ApplicationRemoval, AskReleaseRequest, ReleaseRequest),
    *(ExistingAllocationRequest, Placed, Allocated, Released, ConfigurationSent),
    *(RegistrationRequested, RegistrationAnswered),
)
_FINDS: Final = (Released,)

MONITORS: Final = (
    Monitor(drains_end_nothing, ("SI-NODE-027",), _OBSERVED),
    Monitor(smaller_nodes_stop_nothing, ("SI-NODE-043",), _FINDS),
    Monitor(removals_in_other_partitions_end_nothing, ("SI-APP-019",), _OBSERVED),
    Monitor(configurations_end_nothing, ("SI-CFG-002",), _FINDS),
)
