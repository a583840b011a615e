"""The order of service: asks that wait for the same room, and which of them is served first."""

from typing import Final

from siconform.expecting.checks import premise
from siconform.expecting.expectations import Expectations
from siconform.outcomes import NotOffered
from siconform.protocol.notifications import Allocated
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs

_PRIORITIES: Final = (1, 2, 10, 7, 0)
_TURNS: Final = (10, 7)
"""The first two of these; neither those asked for first, nor those asked for last."""


class OrderVerbs:
    """Asks that compete for the same room."""

    def __init__(
        self,
        *,
        expectations: Expectations,
        nodes: NodeVerbs,
        applications: ApplicationVerbs,
        allocations: AllocationVerbs,
        waiting: WaitingAskVerbs,
    ) -> None:
        self._expectations = expectations
        self._nodes = nodes
        self._applications = applications
        self._allocations = allocations
        self._waiting = waiting

    def has_full_node(self, *, memory: int = 10) -> Allocated:
        """Given: a node whose memory is taken by this allocation, of an application of its own.

        An ask that fits it has to wait then; a scheduler may reject one that fits no node at all.
        """
        node = self._nodes.has_node(memory=memory)
        return self._allocations.has_allocation(
            self._applications.has_application(), memory=memory, node=node
        )

    def serves_higher_priority_first(self) -> None:
        """Given: of waiting asks of one application the highest is served first; else not offered.

        No text makes that an obligation (SI-ASK-012).
        """
        full = self.has_full_node()
        application = self._applications.has_application()
        asks = {
            priority: self._waiting.has_pending_ask(application, memory=10, priority=priority)
            for priority in _PRIORITIES
        }
        held = full
        for turn in _TURNS:
            self._allocations.releases(held)
            with premise("one of several asks is allocated where there is room for one"):
                held = self._expectations.is_told_one_of(*(Allocated(ask) for ask in asks.values()))
            if held.key != asks[turn].said.key:
                raise NotOffered("the target does not offer an order by priority")
        self._applications.removes_application(application)
        self._nodes.decommissions(full.node)
