"""How an RM sees that a node is draining."""

from siconform.expecting.checks import control
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.waiting_asks import WaitingAskSteps


class DrainingSteps(WaitingAskSteps):
    """Draining shows in nothing but what is allocated on the node."""

    def sees_draining(self, node: Node, app: Application) -> None:
        """An ask of ``app`` gets nothing while ``node`` is draining, and ``node`` afterwards."""
        waiting = self.asks(app)
        self.expect_none(Allocated(waiting))
        with control("undrained, the node takes the ask"):
            self.undrains(node)
            self.is_served(waiting, node=node)
