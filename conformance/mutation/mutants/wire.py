"""Mutants of encoding, and of names and types the specification fixes."""

from functools import partial
from typing import Final

from mutation.lists import ALLOCATIONS, CREATED_APPLICATIONS, NODES
from mutation.main_revision import NAME, si
from mutation.mutant import mutant, row

_UNKNOWN_FIELD = b"\xa8\x3f\x01"  # field 1013, a varint
_FIELD_3 = b"\x1a\x01x"  # field 3, bytes
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)


_row(
    "reserved-field-sent",
    "An allocation has a reserved field.",
    ALLOCATIONS.each(lambda one: one.MergeFromString(_FIELD_3)),
    breaks=("SI-WIRE-008",),
)


@_mutant(
    "registration-answered-with-more",
    "The empty response to a registration has a field.",
    breaks=("SI-WIRE-017", "SI-REG-001"),
)
def _(response: si.RegisterResourceManagerResponse) -> None:
    response.MergeFromString(_UNKNOWN_FIELD)


_row(
    "groups-demanded",
    "A user without groups is rejected.",
    CREATED_APPLICATIONS.where(lambda one: not one.ugi.groups).put(partitionName="nowhere"),
    breaks=("SI-APP-008",),
)
_row(
    "tagged-applications-rejected",
    "Unknown tags are dropped.",
    CREATED_APPLICATIONS.where(lambda one: one.tags).put(partitionName="nowhere"),
    breaks=("SI-APP-010",),
)


@_mutant(
    "create-drains",
    "Creating a known node draining is rejected and drains it.",
    breaks=("SI-NODE-013",),
)
def _(request: si.NodeRequest) -> None:
    for node in list(request.nodes):
        if node.action == si.NodeInfo.CREATE_DRAIN:
            request.nodes.add(nodeID=node.nodeID, action=si.NodeInfo.DRAIN_NODE)


@_mutant(
    "partition-by-another-name",
    "A node is assigned to a partition by an attribute that is not well-known.",
    breaks=("SI-CONST-001",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if "node-partition" in node.attributes:
            node.attributes["si/node-partition"] = node.attributes["node-partition"]


_row(
    "undefined-action-creates",
    "A node with an undefined action is created.",
    NODES.where(lambda node: node.action not in si.NodeInfo.ActionFromRM.values()).put(
        action=si.NodeInfo.CREATE
    ),
    breaks=("SI-WIRE-011",),
)


@_mutant(
    "mem-is-memory",
    "A resource called mem counts as memory.",
    breaks=("SI-CONST-009",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        resources = ask.resourcePerAlloc.resources
        if "mem" in resources:
            resources["memory"].value += resources["mem"].value
