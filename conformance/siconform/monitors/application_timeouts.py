"""Rules about the execution timeout of applications, as far as releases with TIMEOUT show it.

Gangs are left out: their placeholders have a timeout of their own. So are asks with a timeout.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.protocol.requests import (
    ApplicationRemoval,
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry

_PER_SECOND: Final = 1000
_SLACK: Final = 0.05  # seconds that clocks may differ by


def applications_are_given_their_time() -> Evaluator:
    """No allocation ends by timeout before its application has had its time since it was added."""
    return _TIMEOUTS.rule("applications_are_given_their_time")


def waiting_does_not_count_as_running() -> Evaluator:
    """No allocation ends by timeout before its application has had its time since it first asked.

    An application does not run before its first ask.
    """
    return _TIMEOUTS.rule("waiting_does_not_count_as_running")


def applications_without_timeout_are_not_limited() -> Evaluator:
    """No allocation ends by timeout if neither its application nor its ask has one."""
    return _TIMEOUTS.rule("applications_without_timeout_are_not_limited")


@dataclass(slots=True)
class _Application:
    timeout: float  # seconds; 0 for none
    added: float
    asked: float | None = None  # the first time
    is_clear: bool = True  # whether nothing else may end its allocations by timeout


class _Timeouts:
    def __init__(self) -> None:
        self._applications: dict[str, _Application] = {}
        self._owners: dict[str, _Application] = {}  # by identity of a live allocation

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case _ if entry.barrier:
                pass
            case ApplicationRequest(application=name) as request:
                self._adds(name, request, entry.moment)
            case ApplicationRemoval(application=name):
                self._is_unclear(name)
                self._applications.pop(name, None)
            case AskRequest() as ask:
                self._asks(ask, entry.moment)
            case Updated(application=name):
                self._is_unclear(name)
            case Allocated(identity=identity, application=name) if name in self._applications:
                self._owners[identity] = self._applications[name]
            case ReleaseRequest(subject, Termination.TIMEOUT):
                self._may_be_answered(subject)
            case Released() as end:
                return self._ends(end, entry.moment)
            case content:
                for existing in recovered_in(content):
                    self._is_unclear(existing.application)
        return NO_FINDINGS

    def _ends(self, end: Released, moment: float) -> Findings:
        owner = self._owners.pop(end.identity, None)
        if owner is None or not owner.is_clear:
            return NO_FINDINGS
        if end.termination is Termination.TIMEOUT:
            return _evaluated(end.identity, owner, moment)
        rule = "applications_without_timeout_are_not_limited"
        return NO_FINDINGS if owner.timeout else {rule: ""}

    def _may_be_answered(self, released: OneAllocation | AllOf) -> None:
        """Leave out what the RM releases: its end may answer that with the same type."""
        if isinstance(released, OneAllocation):
            self._owners.pop(released.identity, None)
        else:
            self._is_unclear(released.application)

    def _is_unclear(self, name: str) -> None:
        if name in self._applications:
            self._applications[name].is_clear = False

    def _adds(self, name: str, request: ApplicationRequest, moment: float) -> None:
        known = self._applications.get(name)
        if known is not None:
            known.is_clear = False  # either of them may have been accepted
            return
        timeout = max(request.timeout_ms, 0) / _PER_SECOND
        added = self._applications[name] = _Application(timeout, moment)
        added.is_clear = not request.placeholder_ask

    def _asks(self, ask: AskRequest, moment: float) -> None:
        asking = self._applications.get(ask.application)
        if asking is None:
            return
        if asking.asked is None:
            asking.asked = moment
        if ask.placeholder or ask.task_group or ask.timeout_ms > 0:
            asking.is_clear = False


def _evaluated(identity: str, owner: _Application, moment: float) -> Findings:
    if not owner.timeout:
        message = f"allocation {identity} ended by timeout, but its application has none"
        return {"applications_without_timeout_are_not_limited": message}
    if moment <= owner.added:  # a record without times
        return NO_FINDINGS
    since = {
        "applications_are_given_their_time": owner.added,
        "waiting_does_not_count_as_running": owner.asked or owner.added,
    }
    found: dict[str, EntryFinding] = {}
    for rule, began in since.items():
        early = moment - began < owner.timeout - _SLACK
        had = f"{moment - began:.3f} s of {owner.timeout:g} s"
        found[rule] = f"allocation {identity} ended by timeout after {had}" if early else ""
    return found


_TIMEOUTS: Final = SharedAnalysis(_Timeouts)
_OBSERVED: Final = (
    *(ApplicationRequest, ApplicationRemoval, AskRequest, Updated, Allocated, Released),
    *(NodeRequest, ExistingAllocationRequest, Placed, ReleaseRequest),
)
_FINDS: Final = (Released,)

_TimeoutMonitor = partial(Monitor, presupposes=Feature.EXECUTION_TIMEOUT)

MONITORS: Final = (
    _TimeoutMonitor(applications_are_given_their_time, ("SI-APP-012",), observes=_OBSERVED),
    _TimeoutMonitor(applications_without_timeout_are_not_limited, ("SI-APP-013",), observes=_FINDS),
    _TimeoutMonitor(waiting_does_not_count_as_running, ("SI-APP-014",), observes=_FINDS),
)
