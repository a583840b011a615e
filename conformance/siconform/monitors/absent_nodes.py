"""Rules about nodes that do not exist: nothing but a creation brings one about."""

from collections.abc import Collection
from functools import partial
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.content_types import CERTAINTY
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.protocol.notifications import Allocated, UpdateKind
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action, NodeRequest
from siconform.recording.history import Entry

_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)


def updates_create_no_node() -> Evaluator:
    """Nothing is placed on a node that the RM updated but never created."""
    return _named_only_by(Action.UPDATE)


def drains_create_no_node() -> Evaluator:
    """Nothing is placed on a node that the RM drained, undrained or removed but never created."""
    return _named_only_by(Action.DRAIN, Action.UNDRAIN, Action.DECOMMISSION)


def node_reports_without_action_create_no_node() -> Evaluator:
    """Nothing is placed on a node that the RM named without an action and never created."""
    return _named_only_by(Action.UNSET)


def _named_only_by(*actions: Action) -> Evaluator:
    """Return an evaluator of what is placed on nodes that never existed since the registration.

    Without the registration it is unknown which nodes exist.
    """
    is_complete = False
    created: set[str] = set()
    named: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_complete
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_complete = True
            case NodeRequest(node=node, action=action) if action in _CREATIONS:
                created.add(node)
                named.discard(node)
            case NodeRequest(node=node, action=action) if action in actions:
                if is_complete and node not in created:
                    named.add(node)
                    return ""
            case Allocated(node=node, identity=identity) if node in named:
                return f"allocation {identity} is on {node}, which was never created"
        return NOTHING_TO_EVALUATE

    return evaluate


def decommissioned_nodes_get_nothing() -> Evaluator:
    """Nothing is placed on a certainly decommissioned node until it is created again."""
    return _gone(())


def removed_nodes_stay_removed() -> Evaluator:
    """A certainly decommissioned node stays gone, whatever but a creation the RM sends for it."""
    return _gone((Action.DRAIN, Action.UNDRAIN, Action.DECOMMISSION))


def _gone(named_again_by: Collection[Action]) -> Evaluator:
    """Return an evaluator of what is placed on gone nodes, or on those of them named again."""
    known: set[str] = set()
    gone: set[str] = set()
    watched: set[str] = set()
    leaving: Certainty[str] = Certainty()

    def evaluate(entry: Entry) -> EntryFinding:
        settled = leaving.observe(entry)
        known.difference_update(settled)
        gone.update(settled)
        if not named_again_by:
            watched.update(settled)
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        match entry.content:
            case NodeRequest(node=node, action=action) if action in _CREATIONS:
                known.add(node)
                gone.discard(node)
                watched.discard(node)
                leaving.forgets(lambda left: left == node)
            case NodeRequest(node=node, action=action) if node in gone:
                if action in named_again_by:
                    watched.add(node)
                    return ""
            case NodeRequest(node=node, action=Action.DECOMMISSION) if node in known:
                leaving.send(node, UpdateKind.NODES)
                return NOTHING_TO_EVALUATE if named_again_by else ""
            case Allocated(node=node, identity=identity) if node in watched:
                return f"allocation {identity} is on {node}, which was decommissioned"
        return NOTHING_TO_EVALUATE

    return evaluate


_OBSERVED: Final = (NodeRequest, Allocated, RegistrationAnswered)
_GONE: Final = (NodeRequest, Allocated, *CERTAINTY)

_NewNameMonitor = partial(Monitor, observes=_OBSERVED, about_new_names=True)

MONITORS: Final = (
    _NewNameMonitor(updates_create_no_node, ("SI-NODE-015",)),
    _NewNameMonitor(drains_create_no_node, ("SI-NODE-035",)),
    _NewNameMonitor(node_reports_without_action_create_no_node, ("SI-NODE-036",)),
    Monitor(decommissioned_nodes_get_nothing, ("SI-NODE-033",), _GONE),
    Monitor(removed_nodes_stay_removed, ("SI-NODE-035",), _GONE),
)
