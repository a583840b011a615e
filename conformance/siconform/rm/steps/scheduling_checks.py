"""Checks that the scheduler serves an RM: on every stream, as before, or not at all."""

from collections.abc import Callable

from siconform.expecting.checks import unless_over
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskRejected,
    NodeAccepted,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.rm.steps.gangs import GangSteps, timed_out
from siconform.rm.steps.waiting_asks import WaitingAskSteps


class SchedulingCheckSteps(GangSteps, WaitingAskSteps):
    """Checks that use their own nodes, applications and asks."""

    def is_treated_as_reported(self, outcome: RegistrationAnswered) -> None:
        """Check that an RM is served after a successful registration, and only then."""
        if outcome.status == "DEADLINE_EXCEEDED":
            raise ConformanceFailure("the registration was not answered", expected="OK or an error")
        node = self.registers_node()
        if outcome.status == "OK":
            self.expect(NodeAccepted(node))
        else:
            self.stays_quiet(NodeAccepted(node))

    def is_served_on_every_stream(self) -> None:
        """Check each stream: a node and an application are accepted, an ask is allocated."""
        node = self.registers_node()
        self.expect(NodeAccepted(node))
        application = self.submits_application()
        self.expect(ApplicationAccepted(application))
        self.expect(Allocated(self.asks(application), node=node))

    def is_as_before_once_replayed(self, forgets: Callable[[], None]) -> None:
        """Check that after ``forgets`` a replay by the RM restores the scheduler's state.

        Of a node with 10 memory, 3 are allocated, 2 held by a placeholder, and 6 more asked for.
        """
        node = self.has_node(memory=10)
        app = self.has_application()
        normal = self.has_allocation(app, memory=3)
        gang = self.has_gang(members=1, memory=2)
        placeholder = self.has_placeholder(gang)
        pending = self.has_waiting_ask(app, memory=6)

        forgets()
        self.passes_over(AskRejected(pending))  # from before
        self.submits_application(app)
        self.submits_gang_again(gang)
        self.registers_node(node, existing=(normal, placeholder))
        self.expect(NodeAccepted(node))
        self.asks_again(pending)

        def is_over() -> bool:
            return bool(self.observe(timed_out(placeholder)))

        with unless_over(is_over, "the gang timed out meanwhile"):
            self.expect_none(Allocated(pending))
            self.still_holds(normal)
            self.is_served(pending, node=node)
            self.expect(Allocated(self.asks(app, memory=2), node=node))
            self.expect_none(Allocated(self.asks(app)))
