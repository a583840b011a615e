"""Nodes that drain: which certainly do, how each came to it, and what has to stay away from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.content_types import CERTAINTY, NODES
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import REQUIRED_NODE, Action, AskRequest, NodeRequest
from siconform.recording.history import Content, Entry

_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)


def nodes_created_draining_get_nothing() -> Evaluator:
    """Nothing is placed on a node created draining until the RM makes it schedulable."""
    return _PLACEMENTS.rule("nodes_created_draining_get_nothing")


def filled_nodes_get_nothing_before_they_are_undrained() -> Evaluator:
    """A node created draining gets nothing besides the existing allocations reported on it."""
    return _PLACEMENTS.rule("filled_nodes_get_nothing_before_they_are_undrained")


def updates_do_not_undrain() -> Evaluator:
    """Nothing is placed on a node that drained before the RM updated it."""
    return _PLACEMENTS.rule("updates_do_not_undrain")


def creations_do_not_undrain() -> Evaluator:
    """Nothing is placed on a draining node after its creation was sent again and rejected."""
    return _PLACEMENTS.rule("creations_do_not_undrain")


def entries_of_one_message_take_effect_in_order() -> Evaluator:
    """Nothing is placed on a node that drains since the message that created it."""
    return _PLACEMENTS.rule("entries_of_one_message_take_effect_in_order")


@dataclass(slots=True, eq=False)
class _Node:
    message: int  # that created it
    created_draining: bool
    accepted: bool = False
    is_drained: bool = False  # by the RM
    drains: bool = False  # certainly
    in_its_message: bool = False  # whether the creation and the drain came in one message
    filled: bool = False  # whether existing allocations were reported on it
    updated: bool = False  # since it drains
    created_again: bool = False  # whether another creation of it is not answered yet
    rejected_again: bool = False  # since it drains

    def violated(self) -> Mapping[str, bool]:
        """Return the rules that concern the node while it drains."""
        return {
            "nodes_created_draining_get_nothing": self.created_draining,
            "filled_nodes_get_nothing_before_they_are_undrained": (
                self.created_draining and self.filled
            ),
            "updates_do_not_undrain": self.updated,
            "creations_do_not_undrain": self.rejected_again,
            "entries_of_one_message_take_effect_in_order": self.in_its_message,
        }


class RequiredNodes:
    """The nodes that asks require by their tags, drained or not (SI-NODE-026)."""

    def __init__(self) -> None:
        self._nodes: dict[str, str] = {}  # by key

    def observe(self, content: Content) -> None:
        """Note the last ask with a key."""
        if isinstance(content, AskRequest):
            self._nodes[content.key] = content.tags.get(REQUIRED_NODE, "")

    def __contains__(self, new: Allocated) -> bool:
        """Return whether the ask of this allocation required its node."""
        return bool(new.node) and self._nodes.get(new.key) == new.node


class _Placements:
    """Finds new allocations on draining nodes.

    Existing allocations and replacements are not new ones; those of asks that require the node are
    left out (SI-NODE-026).
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._drains: Certainty[tuple[str, _Node]] = Certainty()
        self._existing: set[str] = set()  # identities
        self._replacing: set[str] = set()  # applications
        self._required = RequiredNodes()

    def __call__(self, entry: Entry) -> Findings:
        for name, node in self._drains.observe(entry):
            if self._nodes.get(name) is node:
                node.drains = True
        if entry.barrier:
            return NO_FINDINGS
        self._required.observe(entry.content)
        found = self._is_filled(recovered_in(entry.content))
        return {**self._observe(entry), **found} if found else self._observe(entry)

    def _is_filled(self, reported: Sequence[Allocated]) -> Findings:
        """Note existing allocations that the RM reports by themselves."""
        found = NO_FINDINGS
        for existing in reported:
            self._existing.add(existing.identity)
            node = self._nodes.get(existing.node)
            if node is not None and node.created_draining:
                node.filled = True
                found = _holds("filled_nodes_get_nothing_before_they_are_undrained")
        return found

    def _observe(self, entry: Entry) -> Findings:
        match entry.content:
            case NodeRequest() as request:
                return self._is_requested(request, entry.number)
            case NodeAccepted(node=name) if name in self._nodes:
                self._nodes[name].accepted = True
            case NodeRejected(node=name) if name in self._nodes:
                return self._is_rejected(name)
            case Released(application=application, termination=Termination.PLACEHOLDER_REPLACED):
                self._replacing.add(application)
            case Allocated(node=name) as new if name in self._nodes:
                return self._is_placed(new, self._nodes[name])
        return NO_FINDINGS

    def _is_requested(self, request: NodeRequest, message: int) -> Findings:
        name, node = request.node, self._nodes.get(request.node)
        if node is None:
            return self._is_created(request, message)
        match request.action:
            case Action.CREATE | Action.CREATE_DRAINING:
                node.created_again = True
            case Action.DRAIN:
                self._drains.send((name, node), UpdateKind.NODES)
                node.is_drained = True
                node.in_its_message = node.message == message
                return _holds("entries_of_one_message_take_effect_in_order", node.in_its_message)
            case Action.UPDATE if node.drains:
                node.updated = True
                return _holds("updates_do_not_undrain", node.updated)
            case Action.UNDRAIN | Action.DECOMMISSION as action:
                self._drains.forgets(lambda drain: drain[0] == name)
                del self._nodes[name]
                if action is Action.UNDRAIN:
                    again = self._nodes[name] = _Node(-1, created_draining=False)
                    again.accepted = node.accepted
        return NO_FINDINGS

    def _is_created(self, request: NodeRequest, message: int) -> Findings:
        if request.action not in _CREATIONS:
            return NO_FINDINGS
        draining = request.action is Action.CREATE_DRAINING
        node = self._nodes[request.node] = _Node(
            message, draining, is_drained=draining, drains=draining
        )
        node.filled = bool(request.existing)
        return _holds("nodes_created_draining_get_nothing", draining)

    def _is_rejected(self, name: str) -> Findings:
        node = self._nodes[name]
        if not node.accepted:
            del self._nodes[name]  # a further creation may succeed
            return NO_FINDINGS
        again, node.created_again = node.created_again, False
        node.rejected_again |= node.is_drained and again
        return _holds("creations_do_not_undrain", node.rejected_again)

    def _is_placed(self, new: Allocated, node: _Node) -> Findings:
        replaces = bool(new.task_group) and new.application in self._replacing
        is_excused = replaces or new.identity in self._existing or new in self._required
        if not node.drains or is_excused:
            return NO_FINDINGS
        message = f"allocation {new.identity} is on {new.node}, which is draining"
        return {rule: message for rule, concerns in node.violated().items() if concerns}


def _holds(rule: str, precondition: object = "always") -> Findings:
    finding: EntryFinding = ""
    return {rule: finding} if precondition else NO_FINDINGS


_PLACEMENTS: Final = SharedAnalysis(_Placements)
_OBSERVED: Final = (*NODES, *REPORTING, AskRequest, Allocated, Released, *CERTAINTY)
_FINDS: Final = (*REPORTING, NodeRejected, Allocated)

MONITORS: Final = (
    Monitor(nodes_created_draining_get_nothing, ("SI-NODE-011", "SI-NODE-012"), _OBSERVED),
    Monitor(filled_nodes_get_nothing_before_they_are_undrained, ("SI-REC-009",), _FINDS),
    Monitor(updates_do_not_undrain, ("SI-NODE-025",), _FINDS),
    Monitor(creations_do_not_undrain, ("SI-NODE-039",), _FINDS),
    Monitor(entries_of_one_message_take_effect_in_order, ("SI-NODE-037",), _FINDS),
)
