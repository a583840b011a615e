"""Mutants of nodes and their capacity."""

from functools import partial
from typing import Final

from mutation.lists import ACCEPTED_NODES, NODES, REJECTED_NODES
from mutation.main_revision import NAME, si
from mutation.mutant import mutant, row

Action: Final = si.NodeInfo
_AREAS: Final = ("NODE", "RES", "CONST")
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


@_mutant(
    "node-ids-in-lower-case",
    "The IDs of nodes are converted to lower case.",
    breaks=("SI-NODE-001",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.nodeID = node.nodeID.lower()


@_mutant(
    "node-accepted-twice",
    "A known node is accepted again.",
    "NODE",
    "CONN",
    "REG",
    breaks=("SI-NODE-002",),
)
def _(response: si.NodeResponse) -> None:
    response.accepted.extend(si.AcceptedNode(nodeID=node.nodeID) for node in response.rejected)
    del response.rejected[:]


@_mutant(
    "node-replaced",
    "A known node is registered again and replaces the first.",
    *_AREAS,
    breaks=("SI-NODE-003",),
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.CREATE:
            again = request.nodes.add()
            again.CopyFrom(node)
            again.action = Action.UPDATE


_row(
    "node-verdict-missing",
    "A new node is not answered.",
    ACCEPTED_NODES.none(),
    breaks=("SI-NODE-001",),
    areas=("NODE", "WIRE", "CONN", "REG"),
)
_row(
    "node-rejection-missing",
    "A rejected node is not reported.",
    REJECTED_NODES.none(),
    breaks=("SI-NODE-002", "SI-NODE-004"),
)
_row(
    "node-verdict-twice",
    "Each verdict on a node comes twice.",
    ACCEPTED_NODES.twice(),
    REJECTED_NODES.twice(),
    breaks=("SI-NODE-004",),
    areas=("NODE",),
)
_row(
    "node-rejected-without-reason",
    "The reason of a rejected node is left out.",
    REJECTED_NODES.without("reason"),
    breaks=("SI-NODE-042",),
)


@_mutant(
    "node-of-any-partition",
    "The partition of a node is ignored.",
    *_AREAS,
    breaks=("SI-NODE-009",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.attributes.pop("si/node-partition", None)


@_mutant(
    "attributed-nodes-rejected",
    "Nodes with other attributes than known ones are rejected.",
    *_AREAS,
    breaks=("SI-NODE-008",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if any(not name.startswith("si") for name in node.attributes):
            node.attributes["si/node-partition"] = "nowhere"


_row(
    "drain-decommissions",
    "A drained node loses its allocations.",
    NODES.turn("action", {Action.DRAIN_NODE: Action.DECOMISSION}),
    breaks=("SI-NODE-027", "SI-NODE-028"),
)
_row(
    "undrain-ignored",
    "A drained node cannot be undrained.",
    NODES.only(lambda node: node.action != Action.DRAIN_TO_SCHEDULABLE),
    breaks=("SI-NODE-012", "SI-NODE-028"),
)
_row(
    "created-drained-is-open",
    "A node created draining is used at once.",
    NODES.turn("action", {Action.CREATE_DRAIN: Action.CREATE}),
    breaks=("SI-NODE-011", "SI-NODE-012", "SI-REC-009"),
)


@_mutant(
    "update-opens", "An update of a drained node undrains it.", *_AREAS, breaks=("SI-NODE-025",)
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.UPDATE:
            request.nodes.add(nodeID=node.nodeID, action=Action.DRAIN_TO_SCHEDULABLE)


@_mutant(
    "attributes-open",
    "An update of a drained node's attributes undrains it.",
    *_AREAS,
    breaks=("SI-NODE-025",),
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.UPDATE and node.attributes:
            request.nodes.add(nodeID=node.nodeID, action=Action.DRAIN_TO_SCHEDULABLE)


@_mutant(
    "update-creates", "An update of an unknown node creates it.", *_AREAS, breaks=("SI-NODE-015",)
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.UPDATE:
            again = request.nodes.add()
            again.CopyFrom(node)
            again.action = Action.CREATE


_row(
    "update-ignored",
    "An update of a node has no effect.",
    NODES.only(lambda node: node.action != Action.UPDATE),
    breaks=("SI-NODE-017", "SI-NODE-018", "SI-NODE-020"),
)


@_mutant(
    "update-forgets-capacity",
    "An update without capacity sets it to zero.",
    "NODE",
    breaks=("SI-NODE-022",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.UPDATE and not node.HasField("schedulableResource"):
            for name in ("memory", "vcore"):
                node.schedulableResource.resources[name].value = 0


_row(
    "decommission-ignored",
    "A decommissioned node stays.",
    NODES.only(lambda node: node.action != Action.DECOMISSION),
    breaks=("SI-NODE-030", "SI-NODE-031"),
    areas=(*_AREAS, "CONN"),
)
_row(
    "decommission-drains",
    "A decommissioned node is only drained.",
    NODES.turn("action", {Action.DECOMISSION: Action.DRAIN_NODE}),
    breaks=("SI-NODE-030", "SI-NODE-031", "SI-NODE-032"),
    areas=(*_AREAS, "CONN"),
)
_row(
    "unknown-action-creates",
    "A node without action is created.",
    NODES.where(
        lambda node: not node.action or node.action not in Action.ActionFromRM.values()
    ).put(action=Action.CREATE),
    breaks=("SI-NODE-036",),
    areas=(*_AREAS, "WIRE"),
)
_row(
    "capacity-doubled",
    "Twice the capacity of a node is allocated.",
    NODES.amounts("schedulableResource", lambda value: min(2 * value, 2**63 - 1)),
    breaks=("SI-NODE-006",),
    areas=(*_AREAS, "ALLOC"),
)
_row(
    "capacity-halved",
    "Half of the capacity of a node is never used.",
    NODES.amounts("schedulableResource", lambda value: value // 2),
    breaks=("SI-RES-003",),
    areas=(*_AREAS, "ALLOC"),
)
