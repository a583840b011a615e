"""How an RM sees that a node is draining."""

from siconform.rm.facts import Allocated
from siconform.rm.handles import Application, Node
from siconform.rm.node_verbs import NodeVerbs
from siconform.rm.waiting_verbs import WaitingVerbs


class DrainingVerbs(NodeVerbs, WaitingVerbs):
    """Nothing but its allocations shows it."""

    def sees_draining(self, node: Node, app: Application) -> None:
        """An ask of ``app`` gets nothing while ``node`` is draining, and ``node`` afterwards."""
        waiting = self.asks(app)
        self.is_not_told(Allocated(waiting))
        with self.control("undrained, the node takes the ask"):
            self.undrains(node)
            self.is_served(waiting, node=node)
