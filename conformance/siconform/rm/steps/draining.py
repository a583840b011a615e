"""Steps that observe draining nodes."""

from siconform.expecting.checks import control
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.waiting_asks import WaitingAskSteps


class DrainingSteps(WaitingAskSteps):
    """Draining nodes; draining is visible only in what is allocated on the node."""

    def sees_draining(self, node: Node, app: Application) -> None:
        """Check that an ask of ``app`` gets nothing until ``node`` is undrained."""
        waiting = self.asks(app)
        self.expect_none(Allocated(waiting))
        with control("undrained, the node takes the ask"):
            self.undrains(node)
            self.is_served(waiting, node=node)
