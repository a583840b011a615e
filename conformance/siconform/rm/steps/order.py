"""The order of service among asks that wait for the same capacity."""

from typing import Final

from siconform.expecting.checks import precondition
from siconform.outcomes import NotOffered
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.waiting_asks import WaitingAskSteps

_PRIORITIES: Final = (1, 5, 10, 7, 0)
_TURNS: Final = (10, 7, 5)
"""The first three served; neither the first nor the last asked for."""


class OrderSteps(WaitingAskSteps):
    """Asks that compete for the same capacity."""

    def has_full_node(self, *, memory: int = 10) -> Allocated:
        """Given: a node whose memory is used by this allocation, of a separate application.

        An ask that fits the node must wait; a scheduler may reject one that fits no node at all.
        """
        node = self.has_node(memory=memory)
        return self.has_allocation(self.has_application(), memory=memory, node=node)

    def serves_higher_priority_first(self) -> None:
        """Given: the highest-priority waiting ask of an application is served first.

        NotOffered otherwise: this is not required (SI-ASK-012).
        """
        full = self.has_full_node()
        application = self.has_application()
        asks = {
            priority: self.has_pending_ask(application, memory=10, priority=priority)
            for priority in _PRIORITIES
        }
        held = full
        for turn in _TURNS:
            self.releases(held)
            with precondition("one of several asks is allocated where one fits"):
                held = self.expect_one_of(*(Allocated(ask) for ask in asks.values()))
            if held.key != asks[turn].sent.key:
                raise NotOffered("the target does not offer an order by priority")
        self.removes_application(application)
        self.decommissions(full.node)
