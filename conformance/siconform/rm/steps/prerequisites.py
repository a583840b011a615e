"""Prerequisites: optional behaviour that must be observed before a test of it can run."""

from collections.abc import Sequence
from typing import Any

from siwire import Capability

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.checks import has_at_least, needs_some
from siconform.outcomes import NotOffered
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.handles import Ask
from siconform.protocol.matchers import NoneOf
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
)
from siconform.protocol.requests import AskRequest
from siconform.rm.steps.basic import BasicSteps


class PrerequisiteSteps(BasicSteps):
    """Steps that set something up; NotOffered if the target ignores it."""

    def needs(self, feature: Feature) -> None:
        """Raise NotOffered if the target is stated, or was observed, not to offer this."""
        if feature in self.terms.without:
            raise NotOffered(not_offered(feature))
        if feature is Feature.QUOTAS:
            self.needs(Feature.QUEUES)
        states = bool(self.observed.reported_states) if self.observed.probed else None
        seen = {
            Feature.STATE_REPORTS: states,
            Feature.QUOTAS: self.observed.enforces_quotas,
            Feature.WAITING_ASKS: self.observed.keeps_waiting_asks,
            Feature.SEVERAL_ALLOCATIONS: self.observed.serves_several_allocations,
            Feature.FOREIGN_ALLOCATIONS: self.observed.counts_foreign_allocations,
        }
        if seen.get(feature) is False:
            raise NotOffered(not_offered(feature))

    def has_asks_apart(self) -> None:
        """Given: asks have their own maximum, timeout and release; else not applicable."""
        self._has_words(Capability.ASKS_APART, "asks apart from allocations")

    def has_partly_allocated_ask(self, application: str, *, memory: int) -> tuple[Ask, Allocated]:
        """Given: an ask for two allocations of this memory, of which the first is made.

        NotOffered if the scheduler waits until both fit.
        """
        self.has_asks_apart()
        self.needs(Feature.SEVERAL_ALLOCATIONS)
        ask = self.asks(application, memory=memory, times=2)
        [first] = self.has_first_allocations(ask, 1)
        return ask, first

    def has_first_allocations(self, ask: Ask, count: int) -> list[Allocated]:
        """Given: those of an ask's allocations that fit; NotOffered if it is all or none."""
        allocations = self.collects(Allocated(ask), most=count)
        needs_some(allocations, of="to allocate an ask in part")
        has_at_least(count, allocations, "an ask is allocated as often as fits")
        return allocations

    def has_allocations_of_one_ask(
        self, application: str, *, times: int = 2, memory: int = 1
    ) -> list[Allocated]:
        """Given: all the allocations of one ask, which have the same key."""
        self.has_asks_apart()
        self.needs(Feature.SEVERAL_ALLOCATIONS)
        ask = self.asks(application, memory=memory, times=times)
        allocations = self.collects(Allocated(ask), most=times)
        has_at_least(times, allocations, "an ask is allocated as often as it asks")
        return allocations

    def has_occupied_resource(self) -> None:
        """Given: nodes can have resources occupied by others; else not applicable."""
        self._has_words(Capability.OCCUPIED_RESOURCE, "occupied resource of a node")

    def has_one_list_of_nodes(self) -> None:
        """Given: a request lists new and known nodes in one order; else not applicable."""
        self._has_words(Capability.THREE_UPDATE_STREAMS, "common order of new and known nodes")

    def has_originators(self) -> None:
        """Given: an ask can be flagged as that of the originator; else not applicable."""
        self._has_words(Capability.ORIGINATOR, "originator of an application")

    def has_updates_of_allocations(self) -> None:
        """Given: the amount of a live allocation can be changed; else not applicable."""
        revision = self.connection.revision
        if revision.can(Capability.ASKS_APART):
            raise NotOffered(f"SI {revision} has no updates of live allocations")

    def has_foreign_allocations(self) -> None:
        """Given: foreign allocations can be reported, and count; else not applicable."""
        revision = self.connection.revision
        if revision.can(Capability.ASKS_APART):
            raise NotOffered(f"SI {revision} has no foreign allocations")
        self.needs(Feature.FOREIGN_ALLOCATIONS)

    def _has_words(self, capability: Capability, what: str) -> None:
        revision = self.connection.revision
        if not revision.can(capability):
            raise NotOffered(f"SI {revision} has no {what}")

    def has_ask_left_alone(self, /, application: str, reason: str, **wanted: Any) -> Ask:
        """Given: an ask that fits but is not allocated, for this reason.

        NotOffered if it is allocated: the target ignores the reason.
        """
        ask = self.asks(application, **wanted)
        if self.receive_if_any(Allocated(ask)) is not None:
            raise NotOffered(f"the target does not enforce {reason}")
        return ask

    def has_accepted(self, application: str, reason: str) -> None:
        """Given: the application is accepted; NotOffered if not, for lack of this."""
        accepted = ApplicationAccepted(application)
        received = self.expect_one_of(accepted, ApplicationRejected(application))
        if not accepted.matches(received):
            raise NotOffered(f"the target does not apply {reason}")

    def any_new_key(self, *, but: Sequence[str] = ()) -> NoneOf:
        """Return any key but these and those of earlier tests' asks, whose ends may come late."""
        before = self.exchange.history.between(0, self.exchange.start)
        asks = (one.content for one in before if isinstance(one.content, AskRequest))
        return NoneOf((*(ask.key for ask in asks), *but), "of this test")

    def expect_of_originator(self, allocated: Allocated) -> None:
        """Expect the ask of an originator to be allocated like this; NotOffered if it is refused.

        The specification does not define the purpose of the flag (SI-ASK-024).
        """
        if isinstance(self.expect_one_of(allocated, AskRejected(allocated.key)), AskRejected):
            raise NotOffered("the target does not offer asks of an originator")

    def rejected(self, ask: Ask) -> bool:
        """Return whether the ask was rejected, which is allowed if it does not fit."""
        return bool(self.observe(AskRejected(ask)))

    def has_constraints_enforced(self) -> None:
        """Given: placement constraints are enforced."""
        revision = self.connection.revision
        if not revision.can(Capability.PLACEMENT_CONSTRAINTS):
            raise NotOffered(f"SI {revision} has no placement constraints")
        node = self.has_node()
        app = self.has_application()
        nowhere = on_nodes(where("siconform", "nowhere"))
        self.has_ask_left_alone(app, "placement constraints", constraint=nowhere)
        self.removes_application(app)
        self.decommissions(node)
