"""Finds a node for an ask and makes the allocation."""

from siwire.r2023_12 import si_pb2

from mutation.independent.amounts import fits
from mutation.independent.state import Ask, Grant, Node, RMState

_REQUIRED_NODE = "requiredNode"


def usable(rm: RMState, node: Node) -> bool:
    """Return whether new allocations may be placed on a node."""
    ready = node.attributes.get("ready", "true").lower() != "false" or not rm.has("heeds-ready")
    return not node.draining and ready


def allowed(rm: RMState, ask: Ask) -> list[Node]:
    """Return the nodes an ask may go to, regardless of free resources."""
    wanted = {v for k, v in ask.wish.tags.items() if k.rpartition("/")[2] == _REQUIRED_NODE}
    return [
        node
        for node in rm.nodes.values()
        if usable(rm, node)
        and node.partition == ask.application.partition
        and (not wanted or node.name in wanted)
    ]


def find_node(rm: RMState, ask: Ask, first: Node | None = None) -> Node | None:
    """Find a node where one allocation fits, ``first`` if possible; None if queues forbid it."""
    if not ask.application.queue.has_capacity(ask.amount):
        return None
    nodes = [node for node in allowed(rm, ask) if fits(ask.amount, node.free)]
    if not nodes or first in nodes:
        return first if nodes else None
    if rm.has("round-robin"):
        rm.rotation += 1
        return nodes[rm.rotation % len(nodes)]
    return max(nodes, key=lambda node: (node.free.get("memory", 0), node.free.get("vcore", 0)))


def hopeless(rm: RMState, ask: Ask) -> bool:
    """Return whether the ask exceeds every node, even an empty one."""
    return bool(rm.nodes) and not any(fits(ask.amount, node.capacity) for node in rm.nodes.values())


def grant(rm: RMState, ask: Ask, node: Node) -> Grant:
    """Make an allocation and report it."""
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
        allocationID=rm.new_identity(),
        originator=wish.Originator,
    )
    if wish.HasField("preemptionPolicy"):
        shown.preemptionPolicy.CopyFrom(wish.preemptionPolicy)
    made = Grant(shown.allocationID, ask, ask.amount, node, shown)
    if wish.executionTimeoutMilliSeconds > 0:
        made.expires = rm.now + wish.executionTimeoutMilliSeconds / 1000
    rm.take_in(made)
    rm.outbox.granted(shown)
    return made
