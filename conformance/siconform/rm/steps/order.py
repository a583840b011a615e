"""The order of service: asks that wait for the same room, and which of them is served first."""

from typing import Final

from siconform.expecting.checks import precondition
from siconform.outcomes import NotOffered
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.waiting_asks import WaitingAskSteps

_PRIORITIES: Final = (1, 2, 10, 7, 0)
_TURNS: Final = (10, 7)
"""The first two of these; neither those asked for first, nor those asked for last."""


class OrderSteps(WaitingAskSteps):
    """Asks that compete for the same room."""

    def has_full_node(self, *, memory: int = 10) -> Allocated:
        """Given: a node whose memory is taken by this allocation, of an application of its own.

        An ask that fits it has to wait then; a scheduler may reject one that fits no node at all.
        """
        node = self.has_node(memory=memory)
        return self.has_allocation(self.has_application(), memory=memory, node=node)

    def serves_higher_priority_first(self) -> None:
        """Given: of waiting asks of one application the highest is served first; else not offered.

        No text makes that an obligation (SI-ASK-012).
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
            with precondition("one of several asks is allocated where there is room for one"):
                held = self.expect_one_of(*(Allocated(ask) for ask in asks.values()))
            if held.key != asks[turn].sent.key:
                raise NotOffered("the target does not offer an order by priority")
        self.removes_application(application)
        self.decommissions(full.node)
