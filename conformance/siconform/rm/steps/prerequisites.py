"""What a scheduler need not do, and has to be seen to do before a test about it says anything."""

from typing import Any

from siwire import Capability

from siconform.catalogue.features import Feature, not_offered
from siconform.outcomes import NotOffered
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
)
from siconform.rm.steps.basic import BasicSteps


class PrerequisiteSteps(BasicSteps):
    """Each sets something up; NotOffered where the target pays no heed to it."""

    def needs(self, feature: Feature) -> None:
        """NotOffered where the target was said not to offer this, or was seen not to."""
        if feature in self.terms.without:
            raise NotOffered(not_offered(feature))
        if feature is Feature.QUOTAS:
            self.needs(Feature.QUEUES)
        states = bool(self.observed.reported_states) if self.observed.probed else None
        seen = {
            Feature.STATE_REPORTS: states,
            Feature.QUOTAS: self.observed.heeds_quotas,
            Feature.WAITING_ASKS: self.observed.keeps_waiting_asks,
            Feature.SEVERAL_ALLOCATIONS: self.observed.serves_several_allocations,
            Feature.FOREIGN_ALLOCATIONS: self.observed.counts_foreign_allocations,
        }
        if seen.get(feature) is False:
            raise NotOffered(not_offered(feature))

    def has_asks_apart(self) -> None:
        """Given: asks have a maximum, a timeout and a release of their own; else not applicable."""
        self._has_words(Capability.ASKS_APART, "asks apart from allocations")

    def has_occupied_resource(self) -> None:
        """Given: nodes may be said to be occupied by others; else not applicable."""
        self._has_words(Capability.OCCUPIED_RESOURCE, "occupied resource of a node")

    def _has_words(self, capability: Capability, what: str) -> None:
        revision = self.connection.revision
        if not revision.can(capability):
            raise NotOffered(f"SI {revision} has no {what}")

    def has_ask_left_alone(self, /, application: str, reason: str, **wanted: Any) -> Ask:
        """Given: an ask that fits and is not allocated, for this reason.

        NotOffered where it is allocated: the target does not heed what speaks against it.
        """
        ask = self.asks(application, **wanted)
        if self.receive_if_any(Allocated(ask)) is not None:
            raise NotOffered(f"the target does not heed {reason}")
        return ask

    def has_accepted(self, application: str, reason: str) -> None:
        """Given: the application is accepted; NotOffered where it is not, for want of this."""
        accepted = ApplicationAccepted(application)
        received = self.expect_one_of(accepted, ApplicationRejected(application))
        if not accepted.matches(received):
            raise NotOffered(f"the target does not heed {reason}")

    def rejected(self, ask: Ask) -> bool:
        """Whether the ask was rejected, which it may be where there is no room for it."""
        return bool(self.observe(AskRejected(ask)))

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
