"""Handles requests about nodes."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from siwire.r2023_12 import si_pb2

from mutation.independent import lifecycle, recovery
from mutation.independent.amounts import read
from mutation.independent.state import USUAL_PARTITION, Node, RMState

_PARTITION = "si/node-partition"


class NodeError(Exception):
    """An action that cannot be done."""


def take(rm: RMState, request: si_pb2.NodeRequest) -> bool:
    """Carry out the actions on nodes; return whether all succeeded.

    A creation that is rejected is answered by its rejection and does not count.
    """
    good = True
    for info in request.nodes:
        try:
            _ACTIONS.get(info.action, _nothing)(rm, info)
        except NodeError as error:
            good = good and info.action in _CREATING
            rm.outbox.node_rejected(info.nodeID, str(error))
        else:
            if rm.has("acknowledges") and info.action not in _CREATING:
                rm.outbox.node_accepted(info.nodeID)
    return good


def _known(rm: RMState, info: si_pb2.NodeInfo) -> Node:
    node = rm.nodes.get(info.nodeID)
    if node is None:
        raise NodeError(f"there is no node {info.nodeID}")
    return node


def _nothing(_: RMState, info: si_pb2.NodeInfo) -> None:
    raise NodeError(f"unsupported action on {info.nodeID}")


def _create(rm: RMState, info: si_pb2.NodeInfo) -> None:
    partition = info.attributes.get(_PARTITION, USUAL_PARTITION)
    if not info.nodeID:
        raise NodeError("a node needs an id")
    if info.nodeID in rm.nodes:
        raise NodeError(f"{info.nodeID} exists already")
    if partition not in rm.partitions:
        raise NodeError(f"there is no partition {partition}")
    node = Node(
        name=info.nodeID,
        partition=partition,
        capacity=read(info.schedulableResource),
        occupied=read(info.occupiedResource),
        attributes=dict(info.attributes),
        draining=info.action == si_pb2.NodeInfo.CREATE_DRAIN,
    )
    rm.nodes[node.name] = node
    rm.outbox.node_accepted(node.name)
    for existing in info.existingAllocations:
        recovery.adopt(rm, existing, node)


def _update(rm: RMState, info: si_pb2.NodeInfo) -> None:
    node = _known(rm, info)
    if info.HasField("schedulableResource"):
        node.capacity = read(info.schedulableResource)
    if info.HasField("occupiedResource"):
        node.occupied = read(info.occupiedResource)
    if info.attributes:
        node.attributes = dict(info.attributes)


def _drain(rm: RMState, info: si_pb2.NodeInfo) -> None:
    _known(rm, info).draining = True


def _undrain(rm: RMState, info: si_pb2.NodeInfo) -> None:
    node = _known(rm, info)
    if not node.draining:
        raise NodeError(f"{node.name} is not draining")
    node.draining = False


def _remove(rm: RMState, info: si_pb2.NodeInfo) -> None:
    node = _known(rm, info)
    del rm.nodes[node.name]
    for grant in list(node.grants):
        if grant.asked_to_leave:  # its release was already sent and is not confirmed yet
            rm.vacate(grant)
            continue
        notice = lifecycle.notice(rm, grant, si_pb2.STOPPED_BY_RM, f"{node.name} is gone")
        rm.outbox.released(notice)
        lifecycle.has_ended(rm, grant)


_CREATING: Final = (si_pb2.NodeInfo.CREATE, si_pb2.NodeInfo.CREATE_DRAIN)
_ACTIONS: Final[Mapping[int, Callable[[RMState, si_pb2.NodeInfo], None]]] = MappingProxyType(
    {
        si_pb2.NodeInfo.CREATE: _create,
        si_pb2.NodeInfo.CREATE_DRAIN: _create,
        si_pb2.NodeInfo.UPDATE: _update,
        si_pb2.NodeInfo.DRAIN_NODE: _drain,
        si_pb2.NodeInfo.DRAIN_TO_SCHEDULABLE: _undrain,
        si_pb2.NodeInfo.DECOMISSION: _remove,
    }
)
