"""The simulated resource manager a test speaks through."""

from collections.abc import Callable
from contextlib import suppress

from siwire import Capability

from siconform.expecting.deadlines import Patience
from siconform.expecting.fences import Fences
from siconform.expecting.observed import Observed
from siconform.protocol.notifications import (
    CONFIRMED,
    AskReleased,
    Fact,
    Kind,
    Released,
)
from siconform.protocol.requests import AskReleaseSaying, ReleaseSaying
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.recording.history import Exchange
from siconform.rm.verbs.application_states import StateVerbs
from siconform.rm.verbs.configuration import ConfigurationVerbs
from siconform.rm.verbs.draining import DrainingVerbs
from siconform.rm.verbs.events import EventVerbs
from siconform.rm.verbs.metrics import MetricsVerbs
from siconform.rm.verbs.order import TurnVerbs
from siconform.rm.verbs.placement_constraints import PlacementVerbs
from siconform.rm.verbs.recovery import RecoveryVerbs
from siconform.rm.verbs.service import ServiceVerbs
from siconform.rm.verbs.snapshots import SnapshotVerbs
from siconform.targets.terms import PLAIN, Terms
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


class ResourceManager(
    StateVerbs,
    TurnVerbs,
    RecoveryVerbs,
    EventVerbs,
    DrainingVerbs,
    PlacementVerbs,
    SnapshotVerbs,
    MetricsVerbs,
    ConfigurationVerbs,
    ServiceVerbs,
):
    """One test's view of a registered RM: its verbs, its expectations, its own ids.

    It confirms what the scheduler releases of its own accord, allocations and asks, with the same
    type, once for each; inside ``confirming_nothing`` only the asks.
    """

    def __init__(
        self,
        connection: Connection,
        exchange: Exchange,
        fences: Fences,
        patience: Patience,
        alive: Callable[[], bool],
        *,
        prefix: str,
        timers: Timers = UNKNOWN,
        stated: Timers = UNKNOWN,
        extension: Extension | None = None,
        terms: Terms = PLAIN,
        observed: Observed | None = None,
    ) -> None:
        super().__init__(connection, exchange, fences, patience, alive, observed=observed)
        self.terms = terms
        self._prepare_speaking(prefix)
        self.known = timers
        self.stated = stated
        self.extension = extension
        self._has_confirmed = False  # since the last fence
        connection.listeners.append(self._confirms)

    def fences_all(self) -> None:
        """As ever; what came until now is confirmed before, where the RM does that by itself."""
        with self.connection.hearing:
            if self._has_confirmed:
                self._unfenced.add(Kind.ALLOCATIONS)
            self._has_confirmed = False
        super().fences_all()

    def _is_something_under_way(self) -> bool:
        return self._has_confirmed or super()._is_something_under_way()

    def leaves(self) -> list[str]:
        """Clear up and stop listening; what could not be cleared up, in words."""
        try:
            return self.clears_up()
        finally:
            with suppress(ValueError):  # another listens in its place by now
                self.connection.listeners.remove(self._confirms)

    def _confirms(self, fact: Fact) -> None:
        if isinstance(fact, Released) and fact.termination in CONFIRMED:
            if self._confirms_releases and not self._is_left_open(fact):
                confirmation = ReleaseSaying(
                    application=fact.application,
                    identity=fact.identity,
                    termination=fact.termination,
                    key=fact.key,
                    partition=fact.partition,
                )
                self._confirms_by(confirmation)
        elif (
            isinstance(fact, AskReleased)
            and fact.termination in CONFIRMED
            and not self._may_be_an_answer(fact)
        ):
            withdrawal = AskReleaseSaying(
                fact.application, fact.key, fact.partition, fact.termination
            )
            self._confirms_by(withdrawal)

    def _confirms_by(self, saying: ReleaseSaying | AskReleaseSaying) -> None:
        self._has_confirmed = True
        self.connection.say(Kind.ALLOCATIONS, [saying])

    def _may_be_an_answer(self, release: AskReleased) -> bool:
        """Without a type it cannot be told from the confirmation of what this RM withdrew."""
        if self.connection.revision.can(Capability.TYPED_ASK_RELEASE):
            return False
        return any(
            entry.rm == self.connection.rm_id
            and isinstance(said := entry.content, AskReleaseSaying)
            and said.application in ("", release.application)
            and said.key in ("", release.key)
            for entry in self.exchange.entries()
        )
