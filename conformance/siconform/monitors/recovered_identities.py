"""Rules about what becomes of existing allocations: they stay what the RM reported them as."""

from collections import defaultdict
from collections.abc import Callable, Iterable
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
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.monitors.restated import AllocatedAgain, Placed, Updated
from siconform.protocol.notifications import Allocated, AllocationRejected, Released, Termination
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Content, Entry

_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)


def _taken_over_in(content: Content) -> tuple[Allocated, ...]:
    """Return the existing allocations of an element that a scheduler may take over."""
    match content:
        case Placed():
            return ()
        case NodeRequest(action=action) if action not in _CREATIONS:
            return ()
        case _:
            return recovered_in(content)


def recovered_allocations_are_not_allocated_again() -> Evaluator:
    """The key of an existing allocation, for which the RM never asked, is not allocated again."""

    def evaluation(echo: Allocated, reported: list[Allocated]) -> str:
        known = any(r.identity == echo.identity and r.node == echo.node for r in reported)
        message = f"existing allocation {echo.key} was allocated as {echo.identity} on {echo.node}"
        return violated_if(not known, message)

    return _of_echoes(evaluation, has_identity=True)


def recovered_allocations_keep_their_identity() -> Evaluator:
    """An existing allocation is echoed with the identity that the RM reported."""

    def evaluation(echo: Allocated, reported: list[Allocated]) -> str:
        known = any(r.identity == echo.identity for r in reported)
        return violated_if(not known, f"existing allocation {echo.key} became {echo.identity}")

    return _of_echoes(evaluation, has_identity=True)


def existing_allocations_without_identity_are_refused() -> Evaluator:
    """An existing allocation that was reported without identity is not echoed."""
    return _of_echoes(
        lambda echo, _: f"existing allocation {echo.key!r} has no identity, but was taken over",
        has_identity=False,
    )


def _of_echoes(
    evaluation: Callable[[Allocated, list[Allocated]], str], *, has_identity: bool
) -> Evaluator:
    """Return an evaluator of allocations whose key was reported and never asked for.

    Only reports with, or without, an identity count.
    """
    reported: defaultdict[str, list[Allocated]] = defaultdict(list)
    asked: dict[str, int] = {}  # how many allocations, while any of them may be live

    def evaluate(entry: Entry) -> EntryFinding:
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        match entry.content:
            case AskRequest(key=key, max_allocations=most):
                asked[key] = asked.get(key, 0) + most
                reported.pop(key, None)
            case Released(key=key) if asked.get(key) == 1:
                del asked[key]
            case Allocated(key=key) as echo if key in reported:
                return evaluation(echo, reported[key])
            case AllocatedAgain(allocation=echo) if echo.key in reported:
                return evaluation(echo, reported[echo.key])
            case AllocationRejected(key=key) if key in reported and not has_identity:
                return ""
            case content:
                for existing in _taken_over_in(content):
                    if bool(existing.identity) is has_identity and existing.key not in asked:
                        reported[existing.key].append(existing)
        return NOTHING_TO_EVALUATE

    return evaluate


def nodes_with_unknown_allocations_are_refused() -> Evaluator:
    """An existing allocation of an unknown application is not echoed if it came with its node."""
    return _without_place(lambda content: isinstance(content, NodeRequest))


def allocations_without_place_are_refused() -> Evaluator:
    """An existing allocation on an unknown node, or of an unknown application, is not echoed."""
    return _without_place(lambda content: isinstance(content, ExistingAllocationRequest))


def _without_place(concerns: Callable[[Content], bool]) -> Evaluator:
    """Return an evaluator of what is echoed though the RM never sent its node or application."""
    places = _Places()

    def evaluate(entry: Entry) -> EntryFinding:
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        places.observe(entry.content, reports=concerns(entry.content))
        match entry.content:
            case AllocationRejected() as rejection if places.lacked_by(rejection):
                return ""
            case Allocated(identity=identity) as echo if missing := places.missing_for(echo):
                return f"{identity} {missing}, which is unknown, was taken over"
        return NOTHING_TO_EVALUATE

    return evaluate


class _Places:
    """The existing allocations without a place: their node or application is unknown.

    Without the registration it is unknown which of them exist.
    """

    def __init__(self) -> None:
        self._is_complete = False
        self._applications: set[str] = set()
        self._nodes: set[str] = set()
        self._reported: dict[str, Allocated] = {}

    def observe(self, content: Content, *, reports: bool) -> None:
        """Note what the RM sends, and whether its reports of existing allocations count."""
        match content:
            case RegistrationAnswered(status="OK"):
                self._is_complete = True
            case ApplicationRequest(application=application):
                self._applications.add(application)
            case NodeRequest(node=node, action=action) if action in _CREATIONS:
                self._nodes.add(node)
        if self._is_complete and reports:
            without_place = (one for one in _taken_over_in(content) if self._missing(one))
            self._reported.update({one.identity: one for one in without_place})

    def lacked_by(self, rejection: AllocationRejected) -> bool:
        """Return whether this rejects one of them."""
        about = (rejection.key, rejection.application)
        return any((one.key, one.application) == about for one in self._reported.values())

    def missing_for(self, echo: Allocated) -> str:
        """Return which place is still missing for an allocation that is echoed; "" if none."""
        reported = self._reported.get(echo.identity)
        is_echo = reported is not None and reported.key == echo.key
        return self._missing(reported) if reported is not None and is_echo else ""

    def _missing(self, existing: Allocated) -> str:
        if existing.application not in self._applications:
            return f"of {existing.application!r}"
        return "" if existing.node in self._nodes else f"on {existing.node}"


def allocations_of_updated_nodes_are_ignored() -> Evaluator:
    """An allocation that is only attached to an update of its node is not echoed."""
    attached: dict[str, str] = {}  # key by identity
    reported: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case NodeRequest(action=action, existing=existing) if action not in _CREATIONS:
                attached.update({e.identity: e.key for e in existing if e.identity not in reported})
                return "" if existing else NOTHING_TO_EVALUATE
            case Allocated(identity=identity, key=key) if attached.get(identity) == key:
                return f"allocation {identity}, attached to an update of its node, was taken over"
            case content:
                for one in _taken_over_in(content):
                    reported.add(one.identity)
                    attached.pop(one.identity, None)
        return NOTHING_TO_EVALUATE

    return evaluate


def allocations_without_gang_data_are_not_replaced() -> Evaluator:
    """No existing allocation is replaced unless it has a task group and the placeholder flag."""
    return _not_replaced(lambda existing: not (existing.placeholder and existing.task_group))


def recovered_real_allocations_are_not_replaced() -> Evaluator:
    """No existing allocation of a task group is replaced without the placeholder flag."""
    return _not_replaced(lambda existing: bool(existing.task_group) and not existing.placeholder)


def _not_replaced(concerns: Callable[[Allocated], bool]) -> Evaluator:
    """Return an evaluator that counts the replacements of others in the same application."""
    concerned: dict[str, str] = {}  # the application, by identity

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Released(
                identity=identity, application=name, termination=Termination.PLACEHOLDER_REPLACED
            ):
                if identity in concerned:
                    return f"existing allocation {identity}, not a placeholder, was replaced"
                return "" if name in concerned.values() else NOTHING_TO_EVALUATE
            case Released(identity=identity) | Updated(key=identity):
                concerned.pop(identity, None)
            case content:
                for one in _taken_over_in(content):
                    concerned.pop(one.identity, None)
                    if one.identity and concerns(one):
                        concerned[one.identity] = one.application
        return NOTHING_TO_EVALUATE

    return evaluate


_REPORTS: Final[Iterable[type]] = (*REPORTING, Released, Allocated, AllocationRejected)
_ECHOES: Final = (*_REPORTS, AllocatedAgain, AskRequest)
_PLACES: Final = (*_REPORTS, ApplicationRequest, RegistrationAnswered)

_PlaceMonitor = partial(Monitor, observes=_PLACES, about_new_names=True)
_GangMonitor = partial(Monitor, observes=(*_REPORTS, Updated), presupposes=Feature.GANG)

MONITORS: Final = (
    Monitor(recovered_allocations_are_not_allocated_again, ("SI-REC-002",), _ECHOES),
    Monitor(recovered_allocations_keep_their_identity, ("SI-REC-003",), _ECHOES),
    Monitor(existing_allocations_without_identity_are_refused, ("SI-REC-004",), _ECHOES),
    _PlaceMonitor(nodes_with_unknown_allocations_are_refused, ("SI-REC-006",)),
    _PlaceMonitor(allocations_without_place_are_refused, ("SI-REC-008",)),
    _GangMonitor(allocations_without_gang_data_are_not_replaced, ("SI-REC-012",)),
    Monitor(allocations_of_updated_nodes_are_ignored, ("SI-REC-015",), tuple(_REPORTS)),
    _GangMonitor(recovered_real_allocations_are_not_replaced, ("SI-REC-019",)),
)
