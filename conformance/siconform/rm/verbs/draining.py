"""How an RM sees that a node is draining."""

from siconform.expecting.checks import control
from siconform.expecting.expectations import Expectations
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import Allocated
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs


class DrainingVerbs:
    """Draining shows in nothing but what is allocated on the node."""

    def __init__(
        self,
        *,
        expectations: Expectations,
        nodes: NodeVerbs,
        allocations: AllocationVerbs,
        waiting: WaitingAskVerbs,
    ) -> None:
        self._expectations = expectations
        self._nodes = nodes
        self._allocations = allocations
        self._waiting = waiting

    def sees_draining(self, node: Node, app: Application) -> None:
        """An ask of ``app`` gets nothing while ``node`` is draining, and ``node`` afterwards."""
        waiting = self._allocations.asks(app)
        self._expectations.is_not_told(Allocated(waiting))
        with control("undrained, the node takes the ask"):
            self._nodes.undrains(node)
            self._waiting.is_served(waiting, node=node)
