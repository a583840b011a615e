"""How an RM sees that it is served: on every stream, as before, or not at all."""

from collections.abc import Callable

from siconform.expecting.checks import unless_over
from siconform.expecting.expectations import Expectations
from siconform.expecting.inbox import Inbox
from siconform.expecting.observations import Observations
from siconform.outcomes import NotAsTheTextSays
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskRejected,
    NodeAccepted,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.gangs import GangVerbs, timed_out
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs


class ServedVerbs:
    """Shown by nodes, applications and asks of its own."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        expectations: Expectations,
        observations: Observations,
        nodes: NodeVerbs,
        applications: ApplicationVerbs,
        allocations: AllocationVerbs,
        waiting: WaitingAskVerbs,
        gangs: GangVerbs,
    ) -> None:
        self._inbox = inbox
        self._expectations = expectations
        self._observations = observations
        self._nodes = nodes
        self._applications = applications
        self._allocations = allocations
        self._waiting = waiting
        self._gangs = gangs

    def is_treated_as_told(self, outcome: RegistrationAnswered) -> None:
        """Served after a registration that succeeded, not served after one that failed."""
        if outcome.status == "DEADLINE_EXCEEDED":
            raise NotAsTheTextSays("the registration was not answered", expected="OK or an error")
        node = self._nodes.registers_node()
        if outcome.status == "OK":
            self._expectations.is_told(NodeAccepted(node))
        else:
            self._expectations.stays_quiet(NodeAccepted(node))

    def is_served_on_every_stream(self) -> None:
        """On each stream: a node and an application are accepted, an ask is allocated."""
        node = self._nodes.registers_node()
        self._expectations.is_told(NodeAccepted(node))
        application = self._applications.submits_application()
        self._expectations.is_told(ApplicationAccepted(application))
        self._expectations.is_told(Allocated(self._allocations.asks(application), node=node))

    def is_as_before_once_replayed(self, forgets: Callable[[], None]) -> None:
        """What ``forgets`` makes the scheduler forget is as it was once all is said again.

        Of a node with 10: 3 are allocated, 2 are a placeholder's, and 6 more are asked for.
        """
        node = self._nodes.has_node(memory=10)
        app = self._applications.has_application()
        normal = self._allocations.has_allocation(app, memory=3)
        gang = self._gangs.has_gang(members=1, memory=2)
        placeholder = self._gangs.has_placeholder(gang)
        pending = self._waiting.has_waiting_ask(app, memory=6)

        forgets()
        self._applications.submits_application(app)
        self._gangs.submits_gang_again(gang)
        self._nodes.registers_node(node, existing=(normal, placeholder))
        self._expectations.is_told(NodeAccepted(node))
        self._observations.passes_over(AskRejected(pending))  # the end of what it was before
        self._allocations.asks_again(pending)

        def is_over() -> bool:
            return bool(self._inbox.hears(timed_out(placeholder)))

        with unless_over(is_over, "the time of the gang was over meanwhile"):
            self._expectations.is_not_told(Allocated(pending))
        self._allocations.still_holds(normal)
        self._waiting.is_served(pending, node=node)
        self._expectations.is_told(Allocated(self._allocations.asks(app, memory=2), node=node))
        self._expectations.is_not_told(Allocated(self._allocations.asks(app)))
