"""Rules about the verdicts on nodes: which creations have to be accepted, and which rejected.

Other actions than creations may be acknowledged with an acceptance, and fail with a rejection. So a
verdict only counts where no such answer can still come.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.content_types import CERTAINTY, NODES
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
)
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import NodeAccepted, NodeRejected, UpdateKind
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action, NodeRequest
from siconform.recording.history import Entry

CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)
_PARTITION: Final = "si/node-partition"
_RESERVED: Final = ("si/", "ready")  # how attributes with a meaning begin
_Shapes = set[frozenset[str]]  # names of attributes
_Concerns = Callable[[NodeRequest, _Shapes], bool]  # whether a rule is about a creation


def known_nodes_are_rejected() -> Evaluator:
    """A node that was accepted is not accepted again before the RM decommissions it."""
    return _VERDICTS.rule("known_nodes_are_rejected")


def known_nodes_are_rejected_when_created_draining() -> Evaluator:
    """A node that was accepted is not accepted again as one that is created draining."""
    return _VERDICTS.rule("known_nodes_are_rejected_when_created_draining")


def draining_nodes_are_rejected_when_created_again() -> Evaluator:
    """A draining node is not accepted again before the RM decommissions it."""
    return _VERDICTS.rule("draining_nodes_are_rejected_when_created_again")


def drained_nodes_can_be_created_again() -> Evaluator:
    """A drained and decommissioned node is not rejected when it is created as before."""
    return _VERDICTS.rule("drained_nodes_can_be_created_again")


def removed_nodes_can_be_created_again() -> Evaluator:
    """A node that is decommissioned without draining is not rejected when it is created again."""
    return _VERDICTS.rule("removed_nodes_can_be_created_again")


@dataclass(slots=True)
class _Creation:
    request: NodeRequest
    of_known: bool = False  # whether the node had been accepted
    of_draining: bool = False
    again: str = ""  # the rule for a node that is certainly gone


@dataclass(slots=True)
class _Node:
    exists: NodeRequest | None = None  # the creation that was accepted
    drains: bool = False  # whether the RM has sent so
    open: list[_Creation] = field(default_factory=list)  # creations without verdict
    acknowledged: list[object] = field(default_factory=list)  # actions that still may be
    left: NodeRequest | None = None  # its last creation, once it was decommissioned
    gone: str = ""  # the rule for its next creation, once it is certainly gone


class _Verdicts:
    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._certainty: Certainty[tuple[str, object, str]] = Certainty()

    def __call__(self, entry: Entry) -> Findings:
        for name, action, rule in self._certainty.observe(entry):
            self._is_certain(name, action, rule)
        if entry.barrier:
            return NO_FINDINGS
        match entry.content:
            case RegistrationAnswered(status="OK"):
                self._registers()
            case NodeRequest(action=action) as request if action in CREATIONS:
                node = self._nodes.setdefault(request.node, _Node())
                is_as_before = request == node.left and not request.existing
                rule = node.gone if is_as_before and not node.open else ""
                known = node.exists is not None
                node.open.append(_Creation(request, known, known and node.drains, rule))
                node.gone = ""
            case NodeRequest(node=name) as request if name in self._nodes:
                self._acts(name, request)
            case NodeAccepted(node=name) if name in self._nodes:
                return _accepted(self._nodes[name])
            case NodeRejected(node=name) if name in self._nodes:
                return _rejected(self._nodes[name])
        return NO_FINDINGS

    def _acts(self, name: str, request: NodeRequest) -> None:
        node, action, rule = self._nodes[name], object(), ""
        match request.action:
            case Action.DRAIN:
                node.drains = True
            case Action.UNDRAIN:
                node.drains = False
            case Action.DECOMMISSION:
                node.acknowledged.extend(node.open)
                node.left, node.open, node.gone = node.exists, [], ""
                if node.left is not None:
                    drained = node.drains or node.left.action is Action.CREATE_DRAINING
                    rule = f"{'drained' if drained else 'removed'}_nodes_can_be_created_again"
                node.exists, node.drains = None, False
        node.acknowledged.append(action)
        self._certainty.send((name, action, rule), UpdateKind.NODES)

    def _is_certain(self, name: str, action: object, rule: str) -> None:
        node = self._nodes.get(name)
        if node is None:
            return
        node.acknowledged = [one for one in node.acknowledged if one is not action]
        if rule and node.exists is None and not node.open and not node.acknowledged:
            node.gone = rule

    def _registers(self) -> None:
        """Keep only answers that may still be on their way."""
        self._certainty.forgets(lambda _: True)
        for name, node in list(self._nodes.items()):
            late = [*node.open, *node.acknowledged]
            if late:
                self._nodes[name] = _Node(acknowledged=late)
            else:
                del self._nodes[name]


def _accepted(node: _Node) -> Findings:
    if node.exists is None and node.open:
        accepted = node.open.pop(0)
        node.exists = accepted.request
        node.drains |= accepted.request.action is Action.CREATE_DRAINING
        return {accepted.again: ""} if accepted.again else NO_FINDINGS
    if node.acknowledged:
        node.acknowledged.pop(0)
        return NO_FINDINGS
    if not node.open:
        return NO_FINDINGS
    message = f"node {node.open[0].request.node} was accepted again"
    return {rule: message for rule, concerns in _rules(node.open.pop(0)).items() if concerns}


def _rejected(node: _Node) -> Findings:
    if not node.open:
        return NO_FINDINGS
    rejected = node.open.pop(0)
    if rejected.again and not node.acknowledged and not node.open:
        gone = f"node {rejected.request.node} was rejected after it had been decommissioned"
        return {rejected.again: gone}
    if node.exists is None:
        return NO_FINDINGS
    return {rule: "" for rule, concerns in _rules(rejected).items() if concerns}


def _rules(creation: _Creation) -> Mapping[str, bool]:
    draining = creation.request.action is Action.CREATE_DRAINING
    return {
        "known_nodes_are_rejected": True,
        "known_nodes_are_rejected_when_created_draining": creation.of_known and draining,
        "draining_nodes_are_rejected_when_created_again": creation.of_draining,
    }


def new_nodes_are_accepted() -> Evaluator:
    """The first creation of a node, with capacity and nothing that could be wrong, succeeds."""
    return _first_creation(lambda _request, _shapes: True)


def attributes_prevent_no_acceptance() -> Evaluator:
    """A new node is not rejected for attributes without a meaning, or for having none.

    Other nodes have been accepted by then.
    """
    return _first_creation(
        lambda request, shapes: (
            bool(shapes - {_shape(request)})
            and not any(key.startswith(_RESERVED) for key in request.attributes)
        )
    )


def _first_creation(concerns: _Concerns) -> Evaluator:
    is_complete = False
    sent: dict[str, NodeRequest | None] = {}  # the creation; None where it is unclear
    shapes: _Shapes = set()  # the attributes of accepted nodes

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_complete
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_complete = True
            case NodeRequest(node=name) as request:
                is_first = is_complete and name not in sent
                sent[name] = request if is_first and _is_plain(request) else None
            case NodeAccepted(node=name) if accepted := sent.get(name):
                sent[name] = None
                concerned = concerns(accepted, shapes)
                shapes.add(_shape(accepted))
                return "" if concerned else NOTHING_TO_EVALUATE
            case NodeRejected(node=name, reason=reason) if rejected := sent.get(name):
                sent[name] = None
                if concerns(rejected, shapes):
                    return f"the new node {name} was rejected: {reason}"
        return NOTHING_TO_EVALUATE

    return evaluate


def _shape(request: NodeRequest) -> frozenset[str]:
    return frozenset(request.attributes)


def _is_plain(request: NodeRequest) -> bool:
    """Return whether nothing in a creation gives a scheduler a reason to reject it."""
    amounts = (request.capacity or {}).values()
    return (
        request.action in CREATIONS
        and bool(request.node)
        and any(amounts)
        and all(amount >= 0 for amount in (*amounts, *(request.occupied or {}).values()))
        and not (request.existing or request.legacy_fields or request.unknown_field)
        and _PARTITION not in request.attributes
    )


def nodes_without_id_are_not_accepted() -> Evaluator:
    """A creation without a node ID is not accepted."""
    created, acted = 0, 0

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal created, acted
        match entry.content:
            case NodeRequest(node="", action=action):
                created += action in CREATIONS
                acted += action not in CREATIONS
            case NodeRejected(node="") if created and not acted:
                return ""
            case NodeAccepted(node="") if created and not acted:
                return "a node without ID was accepted"
        return NOTHING_TO_EVALUATE

    return evaluate


def rejections_of_nodes_give_a_reason() -> Evaluator:
    """The rejection of a node has a reason that is not empty."""

    def evaluation(rejection: NodeRejected) -> str:
        missing = not rejection.reason.strip()
        return violated_if(missing, f"rejection of node {rejection.node} gives no reason")

    return of_each(NodeRejected, evaluation)


_VERDICTS: Final = SharedAnalysis(_Verdicts)
_NODES: Final = (*NODES, RegistrationAnswered)
_OBSERVED: Final = (*_NODES, *CERTAINTY)
_FINDS: Final = (NodeAccepted, NodeRejected)

_NewNameMonitor = partial(Monitor, outlives_registrations=True, about_new_names=True)
_LastingMonitor = partial(Monitor, observes=_FINDS, outlives_registrations=True)

MONITORS: Final = (
    Monitor(
        known_nodes_are_rejected, ("SI-NODE-002",), observes=_OBSERVED, outlives_registrations=True
    ),
    _NewNameMonitor(new_nodes_are_accepted, ("SI-NODE-001",), observes=_NODES),
    Monitor(nodes_without_id_are_not_accepted, ("SI-NODE-005",), _NODES),
    _NewNameMonitor(attributes_prevent_no_acceptance, ("SI-NODE-008",), observes=_NODES),
    _LastingMonitor(known_nodes_are_rejected_when_created_draining, ("SI-NODE-013",)),
    _NewNameMonitor(drained_nodes_can_be_created_again, ("SI-NODE-030",), observes=_FINDS),
    _NewNameMonitor(removed_nodes_can_be_created_again, ("SI-NODE-031",), observes=_FINDS),
    _LastingMonitor(draining_nodes_are_rejected_when_created_again, ("SI-NODE-039",)),
    Monitor(
        rejections_of_nodes_give_a_reason,
        ("SI-NODE-042",),
        observes=(NodeRejected,),
        about_one_message=True,
    ),
)
