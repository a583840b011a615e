"""Rules about what keeps an application active: its allocations, live or recovered.

States come on another stream than allocations. So an allocation counts once all states from before
its announcement have come, and a state is wrong if no end of the allocation was on its way.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.content_types import CERTAINTY, NODES
from siconform.monitors.monitor import Barriers, EntryFinding, Evaluator, Monitor
from siconform.monitors.recovered_allocations import REPORTING, TakenOver
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.application_states import COMPLETED, OVER, WAITING
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationUpdated,
    Released,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry


def active_applications_do_not_wait() -> Evaluator:
    """An application with a live real allocation is reported neither waiting nor completed."""
    return _ACTIVITY.rule("active_applications_do_not_wait")


def active_applications_do_not_complete() -> Evaluator:
    """An application with a live real allocation is not reported completed."""
    return _ACTIVITY.rule("active_applications_do_not_complete")


def applications_that_run_again_do_not_complete() -> Evaluator:
    """An application that waited and has an allocation again is not reported completed."""
    return _ACTIVITY.rule("applications_that_run_again_do_not_complete")


def recovered_allocations_keep_their_application_active() -> Evaluator:
    """An application with a recovered real allocation is neither waiting nor completed."""
    return _ACTIVITY.rule("recovered_allocations_keep_their_application_active")


def active_applications_are_not_accepted_again() -> Evaluator:
    """An application with a live real allocation is not accepted when it is added again."""
    return _ACTIVITY.rule("active_applications_are_not_accepted_again")


@dataclass(slots=True, eq=False)
class _Held:
    identity: str
    key: str
    application: str
    node: str
    recovered: bool
    steady: bool = False  # whether everything sent before its announcement has come


@dataclass(slots=True, eq=False)
class _Suspicion:
    held: _Held
    rules: tuple[str, ...]
    message: str


class _Activity:
    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._of: dict[str, dict[str, _Held]] = {}  # by application, then by identity
        self._may_end: set[str] = set()  # applications that may end by themselves
        self._waited: set[str] = set()
        self._last: dict[str, tuple[str, int]] = {}  # state and its timestamp
        self._added: dict[str, bool] = {}  # added again, and whether while it was active
        self._existing = TakenOver()
        self._announced: Certainty[_Held] = Certainty()
        self._suspected: Certainty[_Suspicion] = Certainty()

    def __call__(self, entry: Entry) -> Findings:
        for existing in self._existing.observe(entry):
            if not (existing.placeholder or existing.task_group):
                self._begins(existing, recovered=True)
        for held in self._announced.observe(entry):
            held.steady = True
        found: dict[str, EntryFinding] = {}
        for suspicion in self._suspected.observe(entry):
            if self._held.get(suspicion.held.identity) is suspicion.held:
                found |= dict.fromkeys(suspicion.rules, suspicion.message)
        if entry.barrier:
            return found
        return {**self._observe(entry), **found}

    def _observe(self, entry: Entry) -> Findings:
        match entry.content:
            case ApplicationRequest() as request:
                self._adds(request)
            case AskRequest(task_group=group, placeholder=placeholder, timeout_ms=limit) as ask:
                if group or placeholder or limit > 0:
                    self._may_end.add(ask.application)
            case Allocated() as new if not self._existing.knows(new):
                if not (new.placeholder or new.task_group):
                    self._begins(new, recovered=False)
            case ApplicationAccepted(application=name):
                return self._is_accepted(name)
            case ApplicationUpdated(application=name, state=state, timestamp=since):
                before, self._last[name] = self._last.get(name), (state, since)
                if not since or before != (state, since):  # else it is repeated
                    return self._is_reported(name, state)
            case _:
                self._observe_end(entry)
        return NO_FINDINGS

    def _observe_end(self, entry: Entry) -> None:
        match entry.content:
            case (
                ReleaseRequest(subject=OneAllocation(identity=identity))
                | Released(identity=identity)
            ) if identity:
                self._ends([identity], lambda existing: existing.identity == identity)
            case (
                ReleaseRequest(subject=AllOf(application=name))
                | Released(application=name)
                | ApplicationRemoval(application=name)
            ):
                its = list(self._of.get(name, ()))
                self._ends(its, lambda existing: existing.application == name)
                if isinstance(entry.content, ApplicationRemoval):
                    self._forgets(name)
            case AllocationRejected(key=key):
                named = [i for i, held in self._held.items() if held.key == key]
                self._ends(named, lambda existing: existing.key == key)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                there = [i for i, held in self._held.items() if held.node == node]
                self._ends(there, lambda existing: existing.node == node)

    def _forgets(self, name: str) -> None:
        self._may_end.discard(name)
        self._waited.discard(name)
        self._last.pop(name, None)
        self._added.pop(name, None)

    def _begins(self, allocation: Allocated, *, recovered: bool) -> None:
        name, identity = allocation.application, allocation.identity
        held = _Held(identity, allocation.key, name, allocation.node, recovered)
        self._held[identity] = held
        self._of.setdefault(name, {})[identity] = held
        self._announced.send(held, UpdateKind.APPLICATIONS)

    def _ends(self, identities: Iterable[str], which: Callable[[Allocated], bool]) -> None:
        """End these, and the existing ones that were not certainly taken over yet."""
        self._existing.forgets(which)
        for identity in identities:
            held = self._held.pop(identity, None)
            if held is not None:
                its = self._of[held.application]
                del its[identity]
                if not its:
                    del self._of[held.application]

    def _steady(self, name: str) -> list[_Held]:
        """Return allocations that certainly keep an application active."""
        if name in self._may_end or not name:
            return []
        return [held for held in self._of.get(name, {}).values() if held.steady]

    def _adds(self, request: ApplicationRequest) -> None:
        name = request.application
        if request.timeout_ms > 0 or request.placeholder_ask:
            self._may_end.add(name)
        is_open = name in self._added
        self._added[name] = not is_open and bool(self._steady(name))

    def _is_accepted(self, name: str) -> Findings:
        was_active = self._added.pop(name, False)
        steady = self._steady(name)
        if was_active and steady:
            message = f"{name} was accepted again while {steady[0].identity} was live"
            self._suspects(steady[0], message, "active_applications_are_not_accepted_again")
            return {"active_applications_are_not_accepted_again": ""}
        return NO_FINDINGS

    def _is_reported(self, name: str, state: str) -> Findings:
        waits, completed = WAITING.accepts(state), COMPLETED.accepts(state)
        steady = self._steady(name)
        if not steady:
            if waits:
                self._waited.add(name)
            return NO_FINDINGS
        rules = ["active_applications_do_not_wait", "active_applications_do_not_complete"]
        if name in self._waited:
            rules.append("applications_that_run_again_do_not_complete")
        recovered = [held for held in steady if held.recovered]
        if waits or completed:
            message = f"{name} became {state} while {steady[0].identity} was live"
            self._suspects(steady[0], message, *(rules if completed else rules[:1]))
            for held in recovered[:1]:
                rule = "recovered_allocations_keep_their_application_active"
                self._suspects(held, message, rule)
        elif OVER.accepts(state):
            self._may_end.add(name)
        if recovered:
            rules.append("recovered_allocations_keep_their_application_active")
        return dict.fromkeys(rules, "")

    def _suspects(self, held: _Held, message: str, *rules: str) -> None:
        self._suspected.send(_Suspicion(held, rules, message), UpdateKind.ALLOCATIONS)


_ACTIVITY: Final = SharedAnalysis(_Activity)
_OBSERVED: Final = (
    *(ApplicationRequest, ApplicationRemoval, ApplicationAccepted, ApplicationUpdated),
    *(AskRequest, Allocated, ReleaseRequest, Released, AllocationRejected),
    *(*NODES, *REPORTING, *CERTAINTY),
)
_FINDS: Final = (ApplicationAccepted, ApplicationUpdated, Barriers)

MONITORS: Final = (
    Monitor(active_applications_do_not_wait, ("SI-APP-027",), _OBSERVED),
    Monitor(active_applications_are_not_accepted_again, ("SI-APP-002",), _FINDS),
    Monitor(applications_that_run_again_do_not_complete, ("SI-APP-028",), _FINDS),
    Monitor(active_applications_do_not_complete, ("SI-APP-029",), _FINDS),
    Monitor(recovered_allocations_keep_their_application_active, ("SI-REC-014",), _FINDS),
)
