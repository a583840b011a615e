"""The session of a worker: one registered RM for test after test, renewed with its target."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

from siwire import Revision, find_revision

from siconform.expecting.barriers import BarrierBehaviour, Barriers
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.endpoint import Endpoint
from siconform.expecting.link import Link
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.outcomes import (
    NotForThisTarget,
    PreconditionFailed,
    TargetLost,
    Unreachable,
    in_short,
)
from siconform.protocol.facets import Facet, Facets
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Registration
from siconform.protocol.timers import Timers
from siconform.recording.clock import VirtualClock
from siconform.recording.history import Exchange, History
from siconform.rm.probing import probe
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import Terms
from siconform.targets.traits import latency_for
from siconform.transport.connection import Connection
from siconform.transport.dialects import dialect_for
from siconform.transport.extension import Extension
from siconform.transport.reflection import Description

T = TypeVar("T")
R = TypeVar("R", bound=ResourceManager)


class TargetInUse(Protocol):
    """What the session needs to know of a target."""

    revision: Revision
    restartable: bool
    traits: frozenset[str]
    timers: Timers
    stated: Timers
    terms: Terms

    @property
    def address(self) -> str:
        """The address it listens on: host:port."""
        ...

    def alive(self) -> bool:
        """Return whether the target is running, as far as is known."""
        ...

    def restart(self) -> None:
        """Replace it with a fresh process."""
        ...


class Session:
    """Connections to one target. All traffic on them shares one history.

    ``observed`` may have been probed on another process of the same scheduler.
    """

    def __init__(
        self,
        target: TargetInUse,
        deadlines: Deadlines,
        name: str,
        observed: ProbedBehaviour | None = None,
    ) -> None:
        self.target = target
        self.deadlines = deadlines
        self.name = name
        self.history = self._new_history()
        self._numbers = count(1)
        self._behaviour = BarrierBehaviour()
        self._main: Connection | None = None
        self._barriers: Barriers | None = None
        self._serves_several: bool | None = None
        self._compared = False
        self._extension: Extension | None = None
        self._facets: Facets | None = None
        self.observed = ProbedBehaviour() if observed is None else observed

    def resource_manager(self, test: str) -> ResourceManager:
        """Return one test's view of the registered RM; register first if necessary."""
        connection, barriers = self._reaches(self._probed)
        return self._view(connection, barriers, test)

    def second_rm(self, exchange: Exchange, test: str) -> UnregisteredRM:
        """Return another, unregistered RM next to the registered one."""
        return self._unregistered_rm(exchange, test)

    def isolated_rm(self, test: str) -> UnregisteredRM:
        """Return an unregistered RM that is the only one of its scheduler, as far as it can see.

        If the target serves one RM only, this takes a fresh process; NotForThisTarget if the kit
        cannot start one.
        """
        self._reaches(self._probed)
        if not self._reaches(self.serves_several):
            if not self.target.restartable:
                raise NotForThisTarget(
                    "needs a separate RM and the target serves only one: let the kit start it"
                    ' (--target-command "... {address}")'
                )
            if self._main is not None or not self.target.alive():
                self.renew()
        return self._reaches(
            lambda: self._unregistered_rm(Exchange(self.history, start=len(self.history)), test)
        )

    def leaves_isolated_rm(self, unregistered_rm: UnregisteredRM) -> list[str]:
        """End the test of an isolated RM; return what could not be cleaned up, in words.

        A target that serves one RM is restarted with it.
        """
        if self._serves_several:
            return unregistered_rm.leaves()
        unregistered_rm.vanishes()
        self.renew()
        return []

    def restarts_under(self, unregistered_rm: UnregisteredRM) -> None:
        """Start a fresh scheduler process and connect this RM to it, unregistered."""
        if not self.target.restartable:
            raise NotForThisTarget(
                "needs a scheduler the kit can restart: let the kit start it"
                ' (--target-command "... {address}")'
            )
        rm_id, history = unregistered_rm.connection.rm_id, unregistered_rm.exchange.history
        self.renew()
        connection = self._connection(rm_id, history)
        connection.connects(self.deadlines.connect)
        extension = self._meanwhile()
        if isinstance(history.clock, VirtualClock):
            history.clock.serves(extension)
        unregistered_rm.moves_to(connection, extension)

    def connects(self, *, registered: bool) -> Connection:
        """Return the connection of one more RM, registered in the shared cluster or not."""
        connection = self._connect(f"siconform-{self.name}-{next(self._numbers)}")
        if registered:
            self._register(connection)
        return connection

    def starts_over(self) -> None:
        """Register the RM again under another id, if the target serves a second one."""
        if self.serves_several():
            self.discard()

    def starts_clean(self) -> None:
        """Leave what a test could not clean up: the next one has another RM, or another process.

        A target that serves one RM and that the kit cannot restart keeps what was left.
        """
        with suppress(TargetLost):  # the next test notices, too
            if self.serves_several():
                self.discard()
            elif self.target.restartable:
                self.renew()

    def renew(self) -> None:
        """Replace the target, which may be unusable after this test, where possible."""
        self.discard()
        if self.target.restartable:
            self.target.restart()

    def discard(self) -> None:
        """Cut the registered connection; the next test registers again."""
        if self._main is not None:
            self._main.close()
        if self._extension is not None:
            self._extension.close()
        self._main = self._barriers = self._extension = None
        self.history = self._new_history()

    def _new_history(self) -> History:
        return History(identity=dialect_for(self.target.revision).identity)

    def _reaches(self, begin: Callable[[], T]) -> T:
        """Return what ``begin`` gives; if unreachable, retry with a fresh process if possible.

        A process may be dying before that shows, and its address may have been reused by another
        program.
        """
        try:
            return begin()
        except Unreachable:
            if not self.target.restartable:
                raise
            self.renew()
            return begin()

    def _probed(self) -> tuple[Connection, Barriers]:
        """Return the registered connection; probe the target's behaviour the first time."""
        connection, barriers = self._registered()
        if not self.observed.probed:
            with suppress(PreconditionFailed):
                barriers.raise_on(UpdateKind.ALLOCATIONS)  # probe its order while nothing waits
            probe(
                self._view(connection, barriers, f"{self.name}-probe"),
                self.observed,
                connection.revision,
            )
            return self._registered()  # the RM may have been dropped once it was empty
        return connection, barriers

    def _view(self, connection: Connection, barriers: Barriers, test: str) -> ResourceManager:
        exchange = Exchange(self.history, start=len(self.history))
        connection.listeners.clear()  # left by a test that was interrupted
        return self._as(ResourceManager, connection, exchange, barriers, test)

    def _as(
        self,
        kind: type[R],
        connection: Connection,
        exchange: Exchange,
        barriers: Barriers,
        test: str,
    ) -> R:
        """Return an RM of this kind on the connection, with all that is known of the target."""
        target, link = self.target, Link(connection, barriers, self._meanwhile())
        profile = TargetProfile(target.timers, target.stated, target.terms)
        return kind(
            Endpoint(
                link,
                exchange,
                self.deadlines,
                target.alive,
                test,
                profile,
                self.observed,
                partial(self._registers_if_dropped, link),
            )
        )

    def _registered(self) -> tuple[Connection, Barriers]:
        if not self.target.alive():
            if not self.target.restartable:
                raise TargetLost("the target is gone")
            self.renew()
        if self._main is None or self._barriers is None:
            self._main = self._connect(f"siconform-{self.name}-{next(self._numbers)}")
            self._register(self._main)
            self._barriers = Barriers(self._main, self.deadlines, self._behaviour)
        else:
            self._registers_if_dropped(Link(self._main, self._barriers))
        return self._main, self._barriers

    def _registers_if_dropped(self, link: Link) -> None:
        """Register an RM again, as before, if a stream has ended and a new one is not served.

        The scheduler may have dropped it, once an earlier test or a probe had left it no objects.
        """
        connection = link.connection
        if connection.registration is None:
            return
        ended = [kind for kind in UpdateKind if not connection.is_open(kind)]
        if any(not link.barriers.are_answered(kind) for kind in ended):
            connection.drops_streams()  # the others may be about to end
            self._register(connection)

    def _register(self, connection: Connection) -> None:
        outcome = self._asks_to_register(connection)
        if outcome.status == "DEADLINE_EXCEEDED":
            raise TargetLost(
                f"the scheduler at {self.target.address} took the connection and did not answer "
                f"RegisterResourceManager in {self.deadlines.register:g} s"
            )
        if outcome.status != "OK":
            lost = Unreachable if outcome.status == "UNAVAILABLE" else TargetLost
            raise lost(
                f"the scheduler at {self.target.address} refused RegisterResourceManager: "
                f"{outcome.status} {in_short(outcome.details)}".rstrip()
            )
        connection.opens_all()

    def _asks_to_register(self, connection: Connection) -> RegistrationAnswered:
        """Register the RM as before, or for the first time with the usual configuration."""
        if connection.registration is not None:
            return connection.registers(connection.registration, self.deadlines.register)
        terms, queues = self.target.terms, self.target.terms.queues()
        registration = Registration(
            connection.rm_id,
            self.target.revision.name if terms.version is None else terms.version,
            queues.policy_group,
            queues,
            extra_config=terms.proposal(self.target.stated, self.deadlines.scaled_by),
        )
        return connection.registers(registration, self.deadlines.register)

    def _connection(self, rm_id: str, history: History) -> Connection:
        latency = latency_for(self.target.traits)
        target, terms = self.target, self.target.terms
        return Connection(
            target.address,
            target.revision,
            rm_id,
            history,
            latency,
            implements=partial(dialect_for, edited=terms.edited),
            access=terms.access,
        )

    def _connect(self, rm_id: str) -> Connection:
        connection = self._connection(rm_id, self.history)
        try:
            connection.connects(self.deadlines.connect)
            self._meanwhile()
            self._compares(connection)
        except Unreachable:
            connection.close()
            raise
        return connection

    def _compares(self, connection: Connection) -> None:
        """Check once that the target describes the assumed revision if none was given.

        A target without reflection, or that describes no known revision, is trusted.
        """
        if self.target.terms.revision_given or self._compared:
            return
        with suppress(NotForThisTarget):
            description = connection.asks_for_description(self.deadlines.ack)
            _describes(description, self.target.revision)
        self._compared = True

    def _meanwhile(self) -> Extension:
        """Return the target's extension of the SI; its facets are requested only once."""
        if self._extension is None:
            target = self.target
            extension = Extension(
                target.address, self.deadlines.ack, self._facets, target.terms.access
            )
            self._facets = extension.facets
            _implements(self._facets, self.target.revision)
            if extension.offers(Facet.VIRTUAL_CLOCK):
                self.history.clock = VirtualClock(extension)
            self._extension = extension
        return self._extension

    def _unregistered_rm(self, exchange: Exchange, test: str) -> UnregisteredRM:
        connection = self._connect(f"siconform-{self.name}-{next(self._numbers)}")
        barriers = Barriers(connection, self.deadlines, self._behaviour)
        return self._as(UnregisteredRM, connection, exchange, barriers, test)

    def serves_several(self) -> bool:
        """Return whether a second RM can register next to the first; asked only once."""
        if self._serves_several is None:
            self._serves_several = self._meanwhile().facets.several_rms
        if self._serves_several is None:
            self._registered()
            probe = self._connect(f"siconform-{self.name}-probe-{next(self._numbers)}")
            outcome = self._asks_to_register(probe)
            probe.close()
            self._serves_several = outcome.status == "OK"
        return self._serves_several


def _implements(facets: Facets, revision: Revision) -> None:
    """Raise TargetLost if the target states that it implements another revision."""
    try:
        stated = find_revision(facets.revision)
    except LookupError:
        return  # not stated, or not a known name
    if stated is not revision:
        raise _another(revision, stated.name)


def _describes(description: Description | None, revision: Revision) -> None:
    """Raise TargetLost if the target describes only other revisions."""
    implemented = frozenset[str]() if description is None else description.implemented()
    if implemented and revision.name not in implemented:
        raise _another(revision, max(implemented))


def _another(revision: Revision, other: str) -> TargetLost:
    return TargetLost(
        f"the scheduler implements SI {other}, not {revision}: give --revision {other}"
    )
