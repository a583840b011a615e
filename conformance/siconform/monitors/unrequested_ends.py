"""Rules about ends on request of the RM, where it requested none.

The scheduler may end an allocation for reasons of its own. So only releases count that report an
end on request of the RM: at all, after drains, of smaller nodes, after new configurations.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from siconform.monitors.monitor import Evaluator, Monitor
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import Allocated, Released, Termination
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
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry


def stops_go_back_to_the_rm() -> Evaluator:
    """STOPPED_BY_RM ends an allocation only if the RM requested something that ends it.

    That is a release, the removal of the application or the decommission of the node; a withdrawn
    ask is accepted, too, as it is also a request of the RM. Earlier allocations end with a new
    registration, before or after its answer, so unknown ones are ignored.
    """
    return _ENDS.rule("stops_go_back_to_the_rm")


def drains_end_nothing() -> Evaluator:
    """An allocation on a node that the RM drained is not stopped unless the RM requested it."""
    return _ENDS.rule("drains_end_nothing")


def smaller_nodes_stop_nothing() -> Evaluator:
    """An allocation on a node that the RM made smaller is not stopped without a request."""
    return _ENDS.rule("smaller_nodes_stop_nothing")


def removals_in_other_partitions_end_nothing() -> Evaluator:
    """The removal of an application in another partition than its own stops no allocation."""
    return _ENDS.rule("removals_in_other_partitions_end_nothing")


def configurations_end_nothing() -> Evaluator:
    """After a change of the configuration no allocation is stopped without a request."""
    return _ENDS.rule("configurations_end_nothing")


_ELSEWHERE: Final = "application, in another partition"


class _Ends:
    def __init__(self) -> None:
        self._causes = _Causes()
        self._nodes: dict[str, str] = {}  # by identity of a live allocation
        self._draining: set[str] = set()
        self._smaller: set[str] = set()
        self._capacities: dict[str, Amounts] = {}
        self._partitions: dict[str, str] = {}  # by application
        self._removed: set[str] = set()  # applications, in another partition only
        self._is_reconfigured = False

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case Released() as release:
                return self._released(release, is_barrier=entry.barrier)
            case RegistrationRequested() | RegistrationAnswered():
                self._causes.reregisters()
            case ApplicationRequest(application=name, partition=partition):
                self._partitions[name] = partition
                self._removed.discard(name)
            case ApplicationRemoval() as removal if self._is_elsewhere(removal):
                self._removed.add(removal.application)
                self._causes.ended[_ELSEWHERE].add(removal.application)
                return {"removals_in_other_partitions_end_nothing": ""}
            case ApplicationRemoval(application=name):
                self._partitions.pop(name, None)
                self._removed.discard(name)
        self._causes.observe(entry.content)
        if not entry.barrier:
            self._observe(entry.content)
        return NO_FINDINGS

    def _is_elsewhere(self, removal: ApplicationRemoval) -> bool:
        """Return whether it names another partition than the application is in."""
        own = self._partitions.get(removal.application)
        return bool(own and removal.partition and own != removal.partition)

    def _released(self, release: Released, *, is_barrier: bool) -> Findings:
        stopped = release.termination is Termination.STOPPED_BY_RM
        node = "" if is_barrier else self._nodes.pop(release.identity, "")
        if not stopped:
            return NO_FINDINGS
        concerns = {
            "stops_go_back_to_the_rm": True,
            "drains_end_nothing": node in self._draining,
            "smaller_nodes_stop_nothing": node in self._smaller,
            "configurations_end_nothing": bool(node) and self._is_reconfigured,
        }
        finding = self._causes.missing_for(release, "application", _ELSEWHERE)
        found = {rule: finding for rule, is_so in concerns.items() if is_so}
        if release.application in self._removed:
            rule = "removals_in_other_partitions_end_nothing"
            found[rule] = self._causes.missing_for(release, "application")
        return found

    def _observe(self, content: Content) -> None:
        match content:
            case Allocated(identity=identity, node=node):
                self._nodes[identity] = node
            case NodeRequest() as request:
                self._follows(request)
            case ConfigurationSent():
                self._is_reconfigured = True
        self._nodes.update({one.identity: one.node for one in recovered_in(content)})

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


class _Causes:
    """What the RM asked to end, and the node of each allocation."""

    def __init__(self) -> None:
        self.placed: dict[str, Allocated] = {}
        self.ended: dict[str, set[str]] = defaultdict(set)  # by kind of name

    def reregisters(self) -> None:
        """Count everything as ended: the RM registers again."""
        self.ended["identity"].update(self.placed)

    def observe(self, content: Content) -> None:
        placed = (content,) if isinstance(content, Allocated) else recovered_in(content)
        for allocation in placed:
            self.placed[allocation.identity] = allocation
        for kind, name in _asked_to_end(content):
            self.ended[kind].add(name)

    def missing_for(self, release: Released, *removals: str) -> str:
        """Return a message if no cause is known; ``removals`` of applications are such causes."""
        if release.identity:
            one = self.placed.get(release.identity)
            meant = [one] if one else []
        else:
            meant = [a for a in self.placed.values() if a.application == release.application]
        if not meant:
            return ""
        names = [("identity", release.identity)]
        names += [(removal, release.application) for removal in removals]
        names += [("node", allocation.node) for allocation in meant]
        names += [("key", allocation.key) for allocation in meant]
        if any(name in self.ended[kind] for kind, name in names):
            return ""
        what = release.identity or f"everything of {release.application}"
        return f"{what} was released as STOPPED_BY_RM, but the RM had not asked for its end"


def _asked_to_end(content: object) -> Iterator[tuple[str, str]]:
    match content:
        case NodeRequest(action=Action.DECOMMISSION, node=node):
            yield "node", node
        case (
            ApplicationRemoval(application=application)
            | ReleaseRequest(subject=AllOf(application=application))
            | AskReleaseRequest(subject=AllOf(application=application))
        ):
            yield "application", application
        case ReleaseRequest(subject=OneAllocation(identity=identity)):
            yield "identity", identity
        case AskReleaseRequest(subject=OneAsk(key=key)):
            yield "key", key
        case _:
            pass


_ENDS: Final = SharedAnalysis(_Ends)
_OBSERVED: Final = (
    *(NodeRequest, ApplicationRequest, ApplicationRemoval, AskReleaseRequest, ReleaseRequest),
    *(ExistingAllocationRequest, Placed, Allocated, Released, ConfigurationSent),
    *(RegistrationRequested, RegistrationAnswered),
)
_FINDS: Final = (Released,)

MONITORS: Final = (
    Monitor(stops_go_back_to_the_rm, ("SI-REL-013",), _OBSERVED),
    Monitor(drains_end_nothing, ("SI-NODE-027",), _FINDS),
    Monitor(smaller_nodes_stop_nothing, ("SI-NODE-043",), _FINDS),
    Monitor(
        removals_in_other_partitions_end_nothing,
        ("SI-APP-019",),
        observes=(ApplicationRemoval, Released),
    ),
    Monitor(configurations_end_nothing, ("SI-CFG-002",), _FINDS),
)
