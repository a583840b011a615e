"""Mutants of encoding, and of names and types the specification fixes."""

from functools import partial
from typing import Final

from mutation.lists import ALLOCATIONS, CREATED_APPLICATIONS, EVENTS, NODES, RELEASED
from mutation.main_revision import NAME, si
from mutation.mutant import mutant, row

_UNKNOWN_FIELD = b"\xa8\x3f\x01"  # field 1013, a varint
_FIELD_3 = b"\x1a\x01x"  # field 3, bytes
_FIELD_7 = b"\x3a\x01x"
_FIELD_13 = b"\x6a\x01x"
_NODE_READY_OF_2023 = 301
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME)


_row(
    "reserved-field-sent",
    "An allocation has a reserved field.",
    ALLOCATIONS.each(lambda one: one.MergeFromString(_FIELD_3)),
    breaks=("SI-WIRE-008",),
)


_row(
    "allocation-id-sent",
    "An allocation has the identity of an older revision, whose number is reserved now.",
    ALLOCATIONS.each(lambda one: one.MergeFromString(_FIELD_13)),
    breaks=("SI-WIRE-008",),
)
_row(
    "allocation-id-of-a-release-sent",
    "A release has the identity of an older revision, whose number is reserved now.",
    RELEASED.each(lambda one: one.MergeFromString(_FIELD_7)),
    breaks=("SI-WIRE-008",),
)
_row(
    "reserved-detail-sent",
    "The schedulability of a node is reported by a number that was once that of its readiness.",
    EVENTS.turn("eventChangeDetail", {si.EventRecord.NODE_SCHEDULABLE: _NODE_READY_OF_2023}),
    breaks=("SI-WIRE-008",),
    areas=("EVT",),
)


@_mutant(
    "response-has-a-reserved-field",
    "A response has the released asks of an older revision, whose number is reserved now.",
    "ALLOC",
    breaks=("SI-WIRE-008",),
)
def _(response: si.AllocationResponse) -> None:
    if response.ByteSize():
        response.MergeFromString(_FIELD_3)


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
