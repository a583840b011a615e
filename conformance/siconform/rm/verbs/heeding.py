"""What an RM has to see heeded before a test about it says anything: nobody has to heed it."""

from typing import Any

from siwire import Capability

from siconform.outcomes import NotOffered
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
)
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.waiting_asks import WaitingVerbs


class HeedingVerbs(NodeVerbs, ApplicationVerbs, WaitingVerbs):
    """Each is a given: NotOffered where the target was seen not to heed it."""

    def has_ask_left_alone(self, application: str, reason: str, **wanted: Any) -> Ask:
        """Given: an ask that fits and is not allocated, for this reason.

        NotOffered where it is allocated: the target does not heed what speaks against it.
        """
        ask = self.asks(application, **wanted)
        if self.may_be_told(Allocated(ask)) is not None:
            raise NotOffered(f"the target does not heed {reason}")
        return ask

    def has_accepted(self, application: str, reason: str) -> None:
        """Given: the application is accepted; NotOffered where it is not, for want of this."""
        accepted = ApplicationAccepted(application)
        told = self.is_told_one_of(accepted, ApplicationRejected(application))
        if not accepted.matches(told):
            raise NotOffered(f"the target does not heed {reason}")

    def rejected(self, ask: Ask) -> bool:
        """Whether the ask was rejected, which it may be where there is no room for it."""
        return bool(self.hears(AskRejected(ask)))

    def has_constraints_heeded(self) -> None:
        """Given: an ask goes only where its placement constraint lets it."""
        revision = self.connection.revision
        if not revision.can(Capability.PLACEMENT_CONSTRAINTS):
            raise NotOffered(f"SI {revision} has no placement constraints")
        node = self.has_node()
        app = self.has_application()
        nowhere = on_nodes(where("siconform", "nowhere"))
        self.has_ask_left_alone(app, "placement constraints", constraint=nowhere)
        self.removes_application(app)
        self.decommissions(node)
