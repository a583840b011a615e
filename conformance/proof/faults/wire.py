"""Faults in the bytes, and in names and types the texts fix."""

from siwire.r2023_12 import si_pb2 as si

from proof.fault import fault

_UNKNOWN_FIELD = b"\xa8\x3f\x01"  # number 1013, as a varint
_FIELD_3 = b"\x1a\x01x"  # number 3, as bytes


@fault("reserved-field-sent", "An allocation has a reserved field.", breaks=("SI-WIRE-008",))
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.MergeFromString(_FIELD_3)


@fault(
    "registration-answered-with-more",
    "The empty response to a registration has a field.",
    breaks=("SI-WIRE-006", "SI-REG-001"),
)
def _(response: si.RegisterResourceManagerResponse) -> None:
    response.MergeFromString(_UNKNOWN_FIELD)


@fault("ask-releases-without-partition", "The end of an ask names none.", breaks=("SI-REL-020",))
def _(response: si.AllocationResponse) -> None:
    for one in response.releasedAsks:
        one.partitionName = ""


@fault("groups-demanded", "A user without groups is refused.", breaks=("SI-APP-008",))
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if not one.ugi.groups:
            one.partitionName = "nowhere"


@fault("application-tags-judged", "Unknown tags are no tags.", breaks=("SI-APP-010",))
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.tags:
            one.partitionName = "nowhere"


@fault(
    "create-drains",
    "Creating a known node draining is rejected and drains it.",
    breaks=("SI-NODE-013",),
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == si.NodeInfo.CREATE_DRAIN:
            request.nodes.add(nodeID=node.nodeID, action=si.NodeInfo.DRAIN_NODE)


@fault(
    "partition-by-another-name",
    "A node is assigned to a partition by a name that is none of the well-known ones.",
    breaks=("SI-CONST-001",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if "node-partition" in node.attributes:
            node.attributes["si/node-partition"] = node.attributes["node-partition"]


@fault(
    "undefined-action-creates",
    "A node with an action nobody defined is created.",
    breaks=("SI-WIRE-011",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.action not in si.NodeInfo.ActionFromRM.values():
            node.action = si.NodeInfo.CREATE


@fault(
    "mem-is-memory",
    "What a resource called mem takes counts as memory.",
    breaks=("SI-CONST-009",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        resources = ask.resourceAsk.resources
        if "mem" in resources:
            resources["memory"].value += resources["mem"].value
