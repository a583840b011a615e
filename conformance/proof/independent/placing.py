"""Where an ask finds room, and the allocation made of it."""

from siwire.r2023_12 import si_pb2

from proof.independent.amounts import fits
from proof.independent.books import Ask, Grant, Node, World

_REQUIRED_NODE = "requiredNode"


def usable(world: World, node: Node) -> bool:
    """Whether anything new may be placed on a node."""
    ready = node.attributes.get("ready", "true").lower() != "false" or not world.has("heeds-ready")
    return not node.draining and ready


def allowed(world: World, ask: Ask) -> list[Node]:
    """The nodes an ask may go to, whatever is free on them."""
    wanted = {v for k, v in ask.wish.tags.items() if k.rpartition("/")[2] == _REQUIRED_NODE}
    return [
        node
        for node in world.nodes.values()
        if usable(world, node)
        and node.partition == ask.application.partition
        and (not wanted or node.name in wanted)
    ]


def find_node(world: World, ask: Ask, first: Node | None = None) -> Node | None:
    """A node with room for one allocation, ``first`` if it has some; None where queues forbid."""
    if not ask.application.queue.has_room(ask.amount):
        return None
    nodes = [node for node in allowed(world, ask) if fits(ask.amount, node.room)]
    if not nodes or first in nodes:
        return first if nodes else None
    if world.has("round-robin"):
        world.rotation += 1
        return nodes[world.rotation % len(nodes)]
    return max(nodes, key=lambda node: (node.room.get("memory", 0), node.room.get("vcore", 0)))


def hopeless(world: World, ask: Ask) -> bool:
    """Whether no node there is could hold an ask even if it were empty."""
    return bool(world.nodes) and not any(
        fits(ask.amount, node.capacity) for node in world.nodes.values()
    )


def grant(world: World, ask: Ask, node: Node) -> Grant:
    """Make an allocation and tell it."""
    wish = ask.wish
    shown = si_pb2.Allocation(
        allocationKey=wish.allocationKey,
        allocationTags=wish.tags,
        resourcePerAlloc=wish.resourceAsk,
        priority=wish.priority,
        nodeID=node.name,
        applicationID=wish.applicationID,
        partitionName=ask.application.partition,
        taskGroupName=wish.taskGroupName,
        placeholder=ask.placeholder,
        allocationID=world.new_identity(),
        originator=wish.Originator,
    )
    if wish.HasField("preemptionPolicy"):
        shown.preemptionPolicy.CopyFrom(wish.preemptionPolicy)
    made = Grant(shown.allocationID, ask, ask.amount, node, shown)
    if wish.executionTimeoutMilliSeconds > 0:
        made.expires = world.now + wish.executionTimeoutMilliSeconds / 1000
    world.take_in(made)
    world.outbox.granted(shown)
    return made
