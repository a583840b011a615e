"""Faults about nodes and their capacity."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import fault, keep

Action: Final = si.NodeInfo
_AREAS: Final = ("NODE", "RES", "CONST")


@fault(
    "node-accepted-twice",
    "A node that is known is accepted again.",
    "NODE",
    "CONN",
    "REG",
    breaks=("SI-NODE-002",),
)
def _(response: si.NodeResponse) -> None:
    response.accepted.extend(si.AcceptedNode(nodeID=node.nodeID) for node in response.rejected)
    del response.rejected[:]


@fault(
    "node-replaced",
    "A known node is registered anew, in place of the one before.",
    *_AREAS,
    breaks=("SI-NODE-003",),
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.CREATE:
            again = request.nodes.add()
            again.CopyFrom(node)
            again.action = Action.UPDATE


@fault(
    "node-verdict-missing",
    "Nothing is said about a new node.",
    "NODE",
    "WIRE",
    "CONN",
    "REG",
    breaks=("SI-NODE-001",),
)
def _(response: si.NodeResponse) -> None:
    del response.accepted[:]


@fault(
    "node-rejection-missing",
    "Nothing is said about a node that is rejected.",
    *_AREAS,
    breaks=("SI-NODE-002", "SI-NODE-004"),
)
def _(response: si.NodeResponse) -> None:
    del response.rejected[:]


@fault("node-verdict-twice", "Each verdict on a node comes twice.", "NODE", breaks=("SI-NODE-004",))
def _(response: si.NodeResponse) -> None:
    response.accepted.extend(list(response.accepted))
    response.rejected.extend(list(response.rejected))


@fault(
    "node-rejected-without-reason",
    "The reason of a rejected node is left out.",
    *_AREAS,
    breaks=("SI-NODE-042",),
)
def _(response: si.NodeResponse) -> None:
    for node in response.rejected:
        node.reason = ""


@fault(
    "node-of-any-partition",
    "The partition of a node is not looked at.",
    *_AREAS,
    breaks=("SI-NODE-009",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.attributes.pop("si/node-partition", None)


@fault(
    "node-attributes-judged",
    "Nodes with other attributes than known ones are refused.",
    *_AREAS,
    breaks=("SI-NODE-008",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if any(not name.startswith("si") for name in node.attributes):
            node.attributes["si/node-partition"] = "nowhere"


@fault(
    "drain-decommissions",
    "A drained node loses what runs on it.",
    *_AREAS,
    breaks=("SI-NODE-027", "SI-NODE-028"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.DRAIN_NODE:
            node.action = Action.DECOMISSION


@fault(
    "undrain-ignored",
    "A drained node stays closed.",
    *_AREAS,
    breaks=("SI-NODE-012", "SI-NODE-028"),
)
def _(request: si.NodeRequest) -> None:
    keep(request.nodes, lambda node: node.action != Action.DRAIN_TO_SCHEDULABLE)


@fault(
    "created-drained-is-open",
    "A node created draining takes work at once.",
    *_AREAS,
    breaks=("SI-NODE-011", "SI-NODE-012", "SI-REC-009"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.CREATE_DRAIN:
            node.action = Action.CREATE


@fault(
    "update-opens", "An update of a drained node opens it again.", *_AREAS, breaks=("SI-NODE-025",)
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.UPDATE:
            request.nodes.add(nodeID=node.nodeID, action=Action.DRAIN_TO_SCHEDULABLE)


@fault(
    "update-creates", "An update of an unknown node creates it.", *_AREAS, breaks=("SI-NODE-015",)
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == Action.UPDATE:
            again = request.nodes.add()
            again.CopyFrom(node)
            again.action = Action.CREATE


@fault(
    "update-ignored",
    "An update of a node has no effect.",
    *_AREAS,
    breaks=("SI-NODE-017", "SI-NODE-018", "SI-NODE-020", "SI-NODE-021"),
)
def _(request: si.NodeRequest) -> None:
    keep(request.nodes, lambda node: node.action != Action.UPDATE)


@fault(
    "update-forgets-capacity",
    "An update that says nothing of capacity takes it away.",
    "NODE",
    breaks=("SI-NODE-022",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.UPDATE and not node.HasField("schedulableResource"):
            for name in ("memory", "vcore"):
                node.schedulableResource.resources[name].value = 0


@fault(
    "decommission-ignored",
    "A decommissioned node stays.",
    *_AREAS,
    "CONN",
    breaks=("SI-NODE-030", "SI-NODE-031"),
)
def _(request: si.NodeRequest) -> None:
    keep(request.nodes, lambda node: node.action != Action.DECOMISSION)


@fault(
    "decommission-drains",
    "A decommissioned node is only drained.",
    *_AREAS,
    "CONN",
    breaks=("SI-NODE-030", "SI-NODE-031", "SI-NODE-032"),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.DECOMISSION:
            node.action = Action.DRAIN_NODE


@fault(
    "unknown-action-creates",
    "A node without action is created.",
    *_AREAS,
    "WIRE",
    breaks=("SI-NODE-036",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action not in Action.ActionFromRM.values() or not node.action:
            node.action = Action.CREATE


@fault(
    "occupied-ignored",
    "What others take of a node is not counted.",
    *_AREAS,
    "REC",
    breaks=("SI-NODE-007",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.ClearField("occupiedResource")


@fault(
    "capacity-doubled",
    "Twice as much is placed on a node as it has.",
    *_AREAS,
    "ALLOC",
    breaks=("SI-NODE-006",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        for quantity in node.schedulableResource.resources.values():
            quantity.value = min(2 * quantity.value, 2**63 - 1)


@fault("capacity-halved", "Half of a node is never used.", *_AREAS, "ALLOC", breaks=("SI-RES-003",))
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        for quantity in node.schedulableResource.resources.values():
            quantity.value //= 2


@fault(
    "occupied-only-ignored",
    "An update of what others take has no effect.",
    *_AREAS,
    breaks=("SI-NODE-021",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action == Action.UPDATE:
            node.ClearField("occupiedResource")
