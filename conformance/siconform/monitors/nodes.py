"""Rules about nodes: one verdict for each creation, and no new allocation on draining nodes."""

from collections import Counter
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.draining import RequiredNodes
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    Barriers,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import Action, AskRequest, NodeRequest
from siconform.recording.history import Entry

_CREATIONS = (Action.CREATE, Action.CREATE_DRAINING)


def creations_get_at_most_one_verdict() -> Evaluator:
    """Verdicts on a node never outnumber the requests about it.

    Actions other than a creation may be acknowledged with an acceptance, too.
    """
    named: Counter[str] = Counter()
    evaluated: Counter[str] = Counter()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case NodeRequest(node=node):
                named[node] += 1
            case NodeAccepted(node=node) | NodeRejected(node=node):
                evaluated[node] += 1
                surplus = evaluated[node] > named[node]
                return violated_if(surplus, f"one verdict too many on node {node}")
        return NOTHING_TO_EVALUATE

    return evaluate


def nodes_of_allocations_exist() -> Evaluator:
    """The node of a new allocation is registered by this RM and not certainly gone."""
    known: set[str] = set()
    leaving: Certainty[str] = Certainty()

    def evaluate(entry: Entry) -> EntryFinding:
        known.difference_update(leaving.observe(entry))
        match entry.content:
            case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING, node=node):
                known.add(node)
                leaving.forgets(lambda left: left == node)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                leaving.send(node, UpdateKind.NODES)
            case Allocated(node=node, identity=identity):
                message = f"allocation {identity} is on {node}, not a node of this RM"
                return violated_if(node not in known, message)
        return NOTHING_TO_EVALUATE

    return evaluate


def draining_nodes_get_nothing_new() -> Evaluator:
    """Nothing is placed on a certainly draining node until the RM makes it schedulable.

    Existing allocations and replacements are not new allocations; those of asks that require the
    node are left out.
    """
    drains = _Draining()

    def evaluate(entry: Entry) -> EntryFinding:
        begins = drains.observe(entry)
        match entry.content:
            case Allocated(node=node) as new if node in drains.nodes and not drains.excuses(new):
                return f"allocation {new.identity} is on {node}, which is draining"
        return "" if begins and not entry.barrier else NOTHING_TO_EVALUATE

    return evaluate


class _Draining:
    """The nodes that are certainly draining."""

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self._known: set[str] = set()
        self._certainty: Certainty[str] = Certainty()
        self._excused: set[str] = set()  # existing identities, applications with a replacement
        self._required = RequiredNodes()

    def observe(self, entry: Entry) -> bool:
        """Return whether the RM drains another node with this."""
        self._excused |= {existing.identity for existing in recovered_in(entry.content)}
        self._required.observe(entry.content)
        self.nodes.update(self._certainty.observe(entry))
        match entry.content:
            case NodeRequest(node=node, action=action) if action in _CREATIONS:
                return self._creates(node, action)
            case NodeRequest(node=node, action=Action.DRAIN) if node in self._known:
                self._certainty.send(node, UpdateKind.NODES)
                return True
            case NodeRequest(node=node, action=Action.UNDRAIN | Action.DECOMMISSION as action):
                self._forgets(node)
                if action is Action.DECOMMISSION:
                    self._known.discard(node)
            case Released(application=application, termination=Termination.PLACEHOLDER_REPLACED):
                self._excused.add(application)
        return False

    def excuses(self, new: Allocated) -> bool:
        """Return whether it existed before, replaces a placeholder, or had to be on this node."""
        replacing = bool(new.task_group) and new.application in self._excused
        return replacing or new.identity in self._excused or new in self._required

    def _creates(self, node: str, action: Action) -> bool:
        is_new = node not in self._known
        self._known.add(node)
        if is_new:
            self._forgets(node)
            if action is Action.CREATE_DRAINING:
                self.nodes.add(node)
        return is_new and action is Action.CREATE_DRAINING

    def _forgets(self, node: str) -> None:
        self.nodes.discard(node)
        self._certainty.forgets(lambda draining: draining == node)


MONITORS: Final = (
    Monitor(
        creations_get_at_most_one_verdict,
        ("SI-NODE-004",),
        observes=(NodeRequest, NodeAccepted, NodeRejected),
    ),
    Monitor(
        nodes_of_allocations_exist,
        ("SI-ALLOC-001",),
        observes=(NodeRequest, Allocated, StreamEnded, Barriers),
    ),
    Monitor(
        draining_nodes_get_nothing_new,
        ("SI-NODE-026",),
        observes=(AskRequest, Allocated, Released, *REPORTING, StreamEnded, Barriers),
    ),
)
