"""What an RM says about nodes."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from siwire.r2023_12 import si_pb2

from proof.independent import lives, recovery
from proof.independent.amounts import read
from proof.independent.books import USUAL_PARTITION, Node, World

_PARTITION = "si/node-partition"


class NodeError(Exception):
    """An action that cannot be done."""


def take(world: World, request: si_pb2.NodeRequest) -> bool:
    """Do what is asked of each node; says whether all of it could be done.

    A creation that is rejected has its verdict, and so is done with.
    """
    good = True
    for info in request.nodes:
        try:
            _ACTIONS.get(info.action, _nothing)(world, info)
        except NodeError as error:
            good = good and info.action in _CREATING
            world.outbox.node_rejected(info.nodeID, str(error))
        else:
            if world.has("acknowledges") and info.action not in _CREATING:
                world.outbox.node_accepted(info.nodeID)
    return good


def _known(world: World, info: si_pb2.NodeInfo) -> Node:
    node = world.nodes.get(info.nodeID)
    if node is None:
        raise NodeError(f"there is no node {info.nodeID}")
    return node


def _nothing(_: World, info: si_pb2.NodeInfo) -> None:
    raise NodeError(f"there is nothing to do for {info.nodeID}")


def _create(world: World, info: si_pb2.NodeInfo) -> None:
    partition = info.attributes.get(_PARTITION, USUAL_PARTITION)
    if not info.nodeID:
        raise NodeError("a node needs an id")
    if info.nodeID in world.nodes:
        raise NodeError(f"{info.nodeID} is there already")
    if partition not in world.partitions:
        raise NodeError(f"there is no partition {partition}")
    node = Node(
        name=info.nodeID,
        partition=partition,
        capacity=read(info.schedulableResource),
        occupied=read(info.occupiedResource),
        attributes=dict(info.attributes),
        draining=info.action == si_pb2.NodeInfo.CREATE_DRAIN,
    )
    world.nodes[node.name] = node
    world.outbox.node_accepted(node.name)
    for existing in info.existingAllocations:
        recovery.adopt(world, existing, node)


def _update(world: World, info: si_pb2.NodeInfo) -> None:
    node = _known(world, info)
    if info.HasField("schedulableResource"):
        node.capacity = read(info.schedulableResource)
    if info.HasField("occupiedResource"):
        node.occupied = read(info.occupiedResource)
    if info.attributes:
        node.attributes = dict(info.attributes)


def _drain(world: World, info: si_pb2.NodeInfo) -> None:
    _known(world, info).draining = True


def _undrain(world: World, info: si_pb2.NodeInfo) -> None:
    node = _known(world, info)
    if not node.draining:
        raise NodeError(f"{node.name} is not draining")
    node.draining = False


def _remove(world: World, info: si_pb2.NodeInfo) -> None:
    node = _known(world, info)
    del world.nodes[node.name]
    for grant in list(node.grants):
        if grant.told_to_leave:  # the RM was asked for it already and still has to answer
            world.vacate(grant)
            continue
        notice = lives.notice(world, grant, si_pb2.STOPPED_BY_RM, f"{node.name} is gone")
        world.outbox.released(notice)
        lives.has_ended(world, grant)


_CREATING: Final = (si_pb2.NodeInfo.CREATE, si_pb2.NodeInfo.CREATE_DRAIN)
_ACTIONS: Final[Mapping[int, Callable[[World, si_pb2.NodeInfo], None]]] = MappingProxyType(
    {
        si_pb2.NodeInfo.CREATE: _create,
        si_pb2.NodeInfo.CREATE_DRAIN: _create,
        si_pb2.NodeInfo.UPDATE: _update,
        si_pb2.NodeInfo.DRAIN_NODE: _drain,
        si_pb2.NodeInfo.DRAIN_TO_SCHEDULABLE: _undrain,
        si_pb2.NodeInfo.DECOMISSION: _remove,
    }
)
