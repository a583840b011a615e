"""Utilisation: what nodes and allocations really use, and what the scheduler recommends for it."""

from sireference.core.model import Effect, RecommendedNode, UtilisationReport, quoted
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from sireference.core.state.resource_manager import ResourceManager


def report(rm: ResourceManager, given: UtilisationReport) -> list[Effect]:
    """Take a report, which changes no capacity and no amount by itself (SI-UTIL-002).

    A node that is used by somebody the scheduler does not know of is recommended to offer less;
    when that use is over, to offer all again (SI-NREC-001). What the RM makes of it is its affair.
    Nothing follows from what an allocation uses, or from the report of an unknown id.
    """
    known = rm.node(given.object_id)
    if known is None:
        return []
    _, node = known
    if node.capacity not in (node.whole, node.advised):  # the RM has said something of its own
        node.whole = node.advised = node.capacity
    advised = _advised(node, given.used)
    if advised == node.advised:
        return []
    node.advised = advised
    message = f"node {quoted(node.node_id)} may offer as much as others leave of it"
    return [RecommendedNode(rm.rm_id, node.node_id, advised, message)]


def _advised(node: Node, used: Resource) -> Resource:
    """What others leave of ``node``: all but what is used and neither allocated nor occupied."""
    by_others = (used - node.allocated - node.used_by_others).amounts
    return Resource(
        {
            name: max(0, amount - max(0, by_others.get(name, 0)))
            for name, amount in node.whole.amounts.items()
        }
    )
