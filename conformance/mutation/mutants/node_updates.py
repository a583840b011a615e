"""Mutants of node state after a rejected duplicate, an update, a decommission."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from google.protobuf.message import Message
from siwire.r2021_02 import si_pb2 as si_2021_02

from mutation.lists import NODES
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, keep, mutant, row

Action: Final = si.NodeInfo
_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAIN)
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)


def _with_each_duplicate(
    request: si.NodeRequest, wire: Wire, change: Callable[[Any, Any], None]
) -> None:
    """Append an update of a node to each duplicate of it."""
    for node in list(request.nodes):
        if node.action in _CREATIONS and node.nodeID in wire.memory["nodes"]:
            update = request.nodes.add(nodeID=node.nodeID, action=Action.UPDATE)
            change(update, node)
        elif node.action in _CREATIONS:
            wire.memory["nodes"].add(node.nodeID)


@_mutant(
    "duplicate-brings-attributes",
    "The attributes of a rejected duplicate replace those of the node.",
    breaks=("SI-NODE-003",),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    def change(update: Any, duplicate: Any) -> None:
        update.attributes.update(duplicate.attributes or {"siconform": "wiped"})

    _with_each_duplicate(request, wire, change)


_row(
    "updated-amounts-lose-their-sign",
    "An update to an amount below zero gives the node as much above zero.",
    NODES.where(lambda node: node.action == Action.UPDATE).amounts("schedulableResource", abs),
    breaks=("SI-NODE-018",),
)


@_mutant(
    "drained-cannot-be-decommissioned",
    "A drained node stays when it is decommissioned.",
    breaks=("SI-NODE-033", "SI-NODE-030", "SI-NODE-032"),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    for node in request.nodes:
        if node.action in (Action.DRAIN_NODE, Action.CREATE_DRAIN):
            wire.memory["drained"].add(node.nodeID)
        elif node.action == Action.DRAIN_TO_SCHEDULABLE:
            wire.memory["drained"].discard(node.nodeID)
    keep(
        request.nodes,
        lambda node: (
            not (node.action == Action.DECOMISSION and node.nodeID in wire.memory["drained"])
        ),
    )


@_mutant(
    "updated-attributes-ignored",
    "Updated node attributes are ignored (2021-02).",
    "NODE",
    breaks=("SI-NODE-020", "SI-NODE-038"),
    revision="2021-02",
)
def _(request: si_2021_02.UpdateRequest) -> None:
    for node in request.updatedNodes:
        node.attributes.clear()


@_mutant(
    "updated-attributes-shown-only",
    "Updated attributes are shown, but asks are matched with the earlier ones (2021-02).",
    breaks=("SI-NODE-020", "SI-NODE-038"),
    revision="2021-02",
)
def _(request: si_2021_02.UpdateRequest, wire: Wire) -> None:
    """Let asks match the earlier values of attributes instead of the current ones."""
    wire.memory["later"] = later = wire.memory["later"] or {}
    before = wire.memory["before"] = wire.memory["before"] or {}
    for created in request.newSchedulableNodes:
        before.update({(created.nodeID, key): one for key, one in created.attributes.items()})
    for node in request.updatedNodes:
        for key, value in node.attributes.items():
            later[key, value] = before.get((node.nodeID, key), "nothing")
        for (name, key), value in before.items():
            if node.attributes and name == node.nodeID and key not in node.attributes:
                node.attributes[key] = value
    for ask in request.asks:
        _look_back(ask, later)


def _look_back(ask: Message, later: dict[tuple[str, str], str]) -> None:
    simple: Any = ask
    constraint = simple.placementConstraint.simpleConstraint.nodeAffinityConstraint
    for condition in constraint.targetExpressions:
        values = list(condition.targetValues)
        earlier = {value: key for key, value in later.items() if key[0] == condition.targetKey}
        swapped = [
            later.get((condition.targetKey, one), earlier.get(one, ("", one))[1]) for one in values
        ]
        del condition.targetValues[:]
        condition.targetValues.extend(swapped)
