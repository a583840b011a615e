"""How an RM sees that a node is draining."""

from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import Allocated
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.waiting_asks import WaitingVerbs


class DrainingVerbs(NodeVerbs, WaitingVerbs):
    """Nothing but its allocations shows it."""

    def sees_draining(self, node: Node, app: Application) -> None:
        """An ask of ``app`` gets nothing while ``node`` is draining, and ``node`` afterwards."""
        waiting = self.asks(app)
        self.is_not_told(Allocated(waiting))
        with self.control("undrained, the node takes the ask"):
            self.undrains(node)
            self.is_served(waiting, node=node)
