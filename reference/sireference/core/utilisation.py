"""Utilisation: actual usage of nodes and allocations, and the recommendation based on it."""

from sireference.core.model import Effect, RecommendedNode, UtilisationReport, quoted
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from sireference.core.state.resource_manager import ResourceManager


def report(rm: ResourceManager, given: UtilisationReport) -> list[Effect]:
    """Handle a report, which by itself changes no capacity and no amount (SI-UTIL-002).

    A node with usage unknown to the scheduler gets a recommendation to offer less; when that usage
    ends, to offer everything again (SI-NREC-001). The RM decides what to do with it. Usage of an
    allocation and reports for unknown ids have no effect.
    """
    known = rm.node(given.object_id)
    if known is None:
        return []
    _, node = known
    if node.capacity not in (node.whole, node.advised):  # the RM has changed it
        node.whole = node.advised = node.capacity
    advised = _advised(node, given.used)
    if advised == node.advised:
        return []
    node.advised = advised
    message = f"node {quoted(node.node_id)} should offer only what other usage leaves"
    return [RecommendedNode(rm.rm_id, node.node_id, advised, message)]


def _advised(node: Node, used: Resource) -> Resource:
    """Return the capacity of ``node`` without usage that is neither allocated nor occupied."""
    by_others = (used - node.allocated - node.used_by_others).amounts
    return Resource(
        {
            name: max(0, amount - max(0, by_others.get(name, 0)))
            for name, amount in node.whole.amounts.items()
        }
    )
