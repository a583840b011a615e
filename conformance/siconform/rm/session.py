"""The RM of a worker: registered once, used by one test after another, replaced with its target."""

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
from siconform.outcomes import NotForThisTarget, TargetLost, Unreachable, in_short
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
    """What the RM needs to know of a target."""

    revision: Revision
    restartable: bool
    traits: frozenset[str]
    timers: Timers
    stated: Timers
    terms: Terms

    @property
    def address(self) -> str:
        """Where it listens: host:port."""
        ...

    def alive(self) -> bool:
        """Whether it is still there, as far as can be told."""
        ...

    def restart(self) -> None:
        """Replace it by a fresh process."""
        ...


class Session:
    """Connections to one target. Everything said on them shares one history.

    What is ``observed`` may be known from another process of the same scheduler.
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
        """The registered RM, seen by one test; registers first where that has not happened yet."""
        connection, barriers = self._reaches(self._probed)
        return self._view(connection, barriers, test)

    def second_rm(self, exchange: Exchange, test: str) -> UnregisteredRM:
        """Another RM, not registered, beside the one that is."""
        return self._unregistered_rm(exchange, test)

    def isolated_rm(self, test: str) -> UnregisteredRM:
        """An RM, not registered, that has the scheduler to itself as far as it can tell.

        Where the target serves one RM only, that takes a fresh process; NotForThisTarget if the
        kit cannot start one.
        """
        self._reaches(self._probed)
        if not self._reaches(self.serves_several):
            if not self.target.restartable:
                raise NotForThisTarget(
                    "needs an RM of its own and the target serves one: let the kit start it"
                    ' (--target-command "... {address}")'
                )
            if self._main is not None or not self.target.alive():
                self.renew()
        return self._reaches(
            lambda: self._unregistered_rm(Exchange(self.history, start=len(self.history)), test)
        )

    def leaves_isolated_rm(self, unregistered_rm: UnregisteredRM) -> list[str]:
        """The test with an RM of its own is over; what it could not clear up, in words.

        A target that serves one RM is used up: there the RM goes with its scheduler.
        """
        if self._serves_several:
            return unregistered_rm.leaves()
        unregistered_rm.vanishes()
        self.renew()
        return []

    def restarts_under(self, unregistered_rm: UnregisteredRM) -> None:
        """A fresh scheduler process, to which this RM is connected and not yet registered."""
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
        """The connection of one more RM, maybe registered in the cluster of all tests."""
        connection = self._connect(f"siconform-{self.name}-{next(self._numbers)}")
        if registered:
            self._register(connection)
        return connection

    def starts_over(self) -> None:
        """The RM registers anew under another id, where the target serves a second one."""
        if self.serves_several():
            self.discard()

    def renew(self) -> None:
        """The target may be unusable after this test: a fresh one for the next, where possible."""
        self.discard()
        if self.target.restartable:
            self.target.restart()

    def discard(self) -> None:
        """Cut the registered connection; the next test registers anew."""
        if self._main is not None:
            self._main.close()
        if self._extension is not None:
            self._extension.close()
        self._main = self._barriers = self._extension = None
        self.history = self._new_history()

    def _new_history(self) -> History:
        return History(identity=dialect_for(self.target.revision).identity)

    def _reaches(self, begin: Callable[[], T]) -> T:
        """What ``begin`` gives; where nothing answers, with a fresh process if the kit has one.

        A process can be at its end before that shows, and an address be somebody else's by now.
        """
        try:
            return begin()
        except Unreachable:
            if not self.target.restartable:
                raise
            self.renew()
            return begin()

    def _probed(self) -> tuple[Connection, Barriers]:
        """The registered connection; the first time the habits of the target are looked at."""
        connection, barriers = self._registered()
        if not self.observed.probed:
            probe(
                self._view(connection, barriers, f"{self.name}-probe"),
                self.observed,
                connection.revision,
            )
        return connection, barriers

    def _view(self, connection: Connection, barriers: Barriers, test: str) -> ResourceManager:
        exchange = Exchange(self.history, start=len(self.history))
        connection.listeners.clear()  # of a test that did not come to its end
        return self._as(ResourceManager, connection, exchange, barriers, test)

    def _as(
        self,
        kind: type[R],
        connection: Connection,
        exchange: Exchange,
        barriers: Barriers,
        test: str,
    ) -> R:
        """An RM of this kind on the connection, with everything that is known of the target."""
        target, link = self.target, Link(connection, barriers, self._meanwhile())
        profile = TargetProfile(target.timers, target.stated, target.terms)
        return kind(
            Endpoint(link, exchange, self.deadlines, target.alive, test, profile, self.observed)
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
        elif self._was_dropped(self._main, self._barriers):
            self._register(self._main)
        return self._main, self._barriers

    def _was_dropped(self, connection: Connection, barriers: Barriers) -> bool:
        """Whether a stream of this RM has ended, and nobody serves it on another.

        The scheduler may have dropped it for what an earlier test did: it registers once more.
        """
        ended = [kind for kind in UpdateKind if not connection.is_open(kind)]
        return any(not barriers.are_answered(kind) for kind in ended)

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
        """See once whether the target describes the revision that was taken for want of a word.

        One that offers no reflection, or describes none of the texts, is taken at that.
        """
        if self.target.terms.revision_given or self._compared:
            return
        with suppress(NotForThisTarget):
            description = connection.asks_for_description(self.deadlines.ack)
            _describes(description, self.target.revision)
        self._compared = True

    def _meanwhile(self) -> Extension:
        """What the target offers beside the SI; asked of it once, whatever process it is now."""
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
        """Whether a second RM can register beside the first: asked of the target once."""
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
    """TargetLost where the target says that it speaks another revision: nothing would be right."""
    try:
        received = find_revision(facets.revision)
    except LookupError:
        return  # it does not say, or in words of its own
    if received is not revision:
        raise _another(revision, received.name)


def _describes(description: Description | None, revision: Revision) -> None:
    """TargetLost where the target describes another text, and nothing of this one."""
    implemented = frozenset[str]() if description is None else description.implemented()
    if implemented and revision.name not in implemented:
        raise _another(revision, max(implemented))


def _another(revision: Revision, received: str) -> TargetLost:
    return TargetLost(
        f"the scheduler speaks SI {received}, not {revision}: give --revision {received}"
    )
