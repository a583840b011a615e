"""Actions of the simulated scheduler: what a test makes it decide."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import grpc

from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import ConformanceFailure, PreconditionFailed
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRecommended,
    NodeRejected,
    RegistrationWanted,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import Amounts, AskRequest, Registration
from siconform.scheduler.decisions import release_of
from siconform.scheduler.expectations import Expectations
from siconform.scheduler.model import Live, Pending

_BY_TEST: Final = "by the test"
PLACEHOLDERS_TIMED_OUT: Final = "ResourceReservationTimeout"  # as yunikorn-core states it
_VERDICTS: Final = (NodeAccepted, NodeRejected, ApplicationAccepted, ApplicationRejected)


class Actions(Expectations):
    """Connection, switches, placing by hand, releases, states."""

    # the connection

    def awaits_rm(self, timeout: float | None = None) -> Registration:
        """Wait until the RM has registered in this test, then a moment for its streams.

        An RM may open a stream only when it has something to send.
        """
        limit = self.deadlines.connect + self.deadlines.register if timeout is None else timeout
        engine, history = self.engine, self.exchange.history

        def find() -> Registration | None:
            return engine.registration if engine.registrations > self._registrations else None

        with waiting("the RM", limit, WaitClass.ACK):
            registration = history.look(find, limit)
        self._raise_problems()
        if registration is None:
            raise PreconditionFailed(
                f"the RM did not register at {self.address} within {limit:g} s"
            )
        history.look(lambda: all(map(engine.is_open, UpdateKind)) or None, self.deadlines.quiet)
        self._begun = max(
            (i for i, e in self.received() if isinstance(e.content, RegistrationRequested)),
            default=self._begun,
        )
        return registration

    def aborts_stream(self, kind: UpdateKind, status: str = "UNAVAILABLE") -> None:
        """Abort one update stream; in 2021-02 it is the only one."""
        if not self.engine.is_open(kind):
            raise PreconditionFailed(f"the RM has not opened the {kind.value} stream")
        self.engine.abort(kind, grpc.StatusCode[status], _BY_TEST)

    def drops_connections(self) -> None:
        """Drop every connection and listen again at once; what is known stays known."""
        self.engine.drops_connections()

    @contextmanager
    def holding_registrations(self) -> Iterator[None]:
        """Answer no registration in this block, or only after some seconds."""
        self.engine.may_answer.clear()
        try:
            yield
        finally:
            self.engine.may_answer.set()

    @contextmanager
    def refusing_registrations(self) -> Iterator[None]:
        """Refuse every registration in this block."""
        self.switches.refuses = True
        try:
            yield
        finally:
            self.switches.refuses = False

    def demands_registration(self) -> None:
        """Send RESYNC (2021-02)."""
        self.sends(RegistrationWanted())

    # switches

    @contextmanager
    def placing_nothing(self) -> Iterator[None]:
        """Leave requests pending in this block; they are placed after it."""
        with self.switches.off("places"):
            yield
        self.engine.act(list)  # nothing but to place

    @contextmanager
    def delaying_verdicts(self, *kinds: type[Fact]) -> Iterator[None]:
        """Hold back verdicts of these kinds, by default all; they are sent at the end of the block.

        What has no verdict is not used: nothing is placed there.
        """
        self.switches.delayed = kinds or _VERDICTS
        try:
            yield
        finally:
            self.switches.delayed = ()
        self.gives_verdicts()

    def gives_verdicts(self, application: str = "") -> None:
        """Send the verdicts held back so far, or only the one on an application."""
        self.engine.act(lambda: self.engine.behaviour.gives_held_verdicts(application))

    def confirming_nothing(self) -> AbstractContextManager[None]:
        """Return a block in which releases of the RM are carried out and not confirmed."""
        return self.switches.off("confirms")

    def replacing_nothing(self) -> AbstractContextManager[None]:
        """Return a block in which no real request replaces a placeholder; it is placed freely."""
        return self.switches.off("replaces_placeholders")

    def reporting_no_states(self) -> AbstractContextManager[None]:
        """Return a block in which no state of an application is reported."""
        return self.switches.off("states")

    @contextmanager
    def adding_unknown_fields(self) -> Iterator[None]:
        """Add a field that no revision declares to all that is sent in this block."""
        self.switches.unknown_fields = True
        try:
            yield
        finally:
            self.switches.unknown_fields = False

    # placing

    def allocates(self, key: str, node: str | None = None) -> Allocated:
        """Allocate a pending request on this node, or on the first one with capacity for it."""

        def allocate() -> list[Fact]:
            behaviour, pending = self.engine.behaviour, self._pending(key)
            where = node or next(iter(behaviour.nodes_for(pending.ask)), None)
            if where is None:
                raise PreconditionFailed(f"no node has the capacity for {pending.ask}")
            return behaviour.allocates(pending, where, self._now())

        return self.engine.act(allocate)[0]  # type: ignore[return-value]  # what follows are states

    def rejects(self, key: str, reason: str = _BY_TEST) -> None:
        """Reject a pending request, however long it has been pending."""
        self.engine.act(lambda: self.engine.behaviour.rejects(self._pending(key), reason))

    def rejects_application(self, application: str, reason: str = _BY_TEST) -> None:
        """Reject an application whose verdict is held back, and its requests."""
        self.engine.act(lambda: self.engine.behaviour.rejects_application(application, reason))

    # releases

    def releases(
        self, *allocations: Allocated, termination: Termination, separately: bool = False
    ) -> Sequence[Released]:
        """Release allocations with this type, in one message or in one each."""
        behaviour = self.engine.behaviour
        return self.engine.act(  # type: ignore[return-value]  # one for each
            lambda: behaviour.releases(map(self._live, allocations), termination),
            separately=separately,
        )

    def releases_requests(
        self, *keys: str, termination: Termination = Termination.TIMEOUT
    ) -> Sequence[AskReleased]:
        """Release pending requests with this type, in one message."""
        behaviour = self.engine.behaviour
        return self.engine.act(  # type: ignore[return-value]  # one for each
            lambda: behaviour.releases_requests(map(self._pending, keys), termination)
        )

    def releases_all_of(self, application: str, termination: Termination) -> Released:
        """Release everything of an application by one release without identity."""
        behaviour = self.engine.behaviour
        (sent,) = self.engine.act(lambda: behaviour.releases_all_of(application, termination))
        return sent  # type: ignore[return-value]  # as it names an application

    def confirms(self, *allocations: Allocated) -> None:
        """Confirm releases of the RM by hand, in one message."""
        self.sends(*(release_of(one, Termination.STOPPED_BY_RM) for one in allocations))

    def times_out(self, application: str, *, state: str = "Failing") -> Sequence[Fact]:
        """Time out a gang: release its placeholders, requested and allocated, report any state.

        In one message of each stream, in 2021-02 in one for all.
        """
        model, behaviour = self.engine.behaviour.model, self.engine.behaviour

        def time_out() -> list[Fact]:
            pending = [one for one in model.pending_of(application) if one.ask.placeholder]
            live = [one for one in model.live_of(application) if one.allocation.placeholder]
            facts = [
                *behaviour.releases_requests(pending, Termination.TIMEOUT),
                *behaviour.releases(live, Termination.TIMEOUT),
            ]
            if state:
                why = PLACEHOLDERS_TIMED_OUT
                facts += behaviour.changes_state(application, state, why, self._now())
            return facts

        return self.engine.act(time_out)

    def changes_state(self, application: str, state: str, message: str = "") -> None:
        """Report a state of an application, known or not."""
        behaviour = self.engine.behaviour
        self.engine.act(lambda: behaviour.changes_state(application, state, message, self._now()))

    def recommends(self, amounts: Amounts) -> None:
        """Send a node recommendation (2021-02)."""
        self.sends(NodeRecommended(dict(amounts), _BY_TEST))

    def sends(self, *facts: Fact) -> None:
        """Send any facts, those of one stream in one message; what is known stays as it is."""
        self.engine.act(lambda: facts)

    def repeats(self, fact: Fact) -> None:
        """Send a fact again."""
        self.sends(fact)

    # what the scheduler knows

    def allocation_of(self, application: str) -> Allocated:
        """Wait for an allocation of an application; return the first."""
        return self.allocations_of(application)[0]

    def allocations_of(self, application: str, *, at_least: int = 1) -> list[Allocated]:
        """Wait until so many allocations of an application exist; return them."""

        def find() -> list[Allocated] | None:
            live = self.engine.behaviour.model.live_of(application)
            return [one.allocation for one in live] if len(live) >= at_least else None

        found: list[Allocated] = self._waits_for(find, f"{at_least} allocations of {application}")
        return found

    def pending_of(self, application: str, *, at_least: int = 1) -> list[AskRequest]:
        """Wait until so many requests of an application are pending; return them."""

        def find() -> list[AskRequest] | None:
            pending = self.engine.behaviour.model.pending_of(application)
            return [one.ask for one in pending] if len(pending) >= at_least else None

        what = f"{at_least} pending requests of {application}"
        found: list[AskRequest] = self._waits_for(find, what)
        return found

    def expects_pending(self, application: str) -> AskRequest:
        """Wait like ``pending_of`` for one request; ConformanceFailure if none is pending."""
        try:
            return self.pending_of(application)[0]
        except PreconditionFailed as failure:
            expected = f"{application} has a pending request"
            raise ConformanceFailure(failure.message, expected=expected) from None

    def leaves(self) -> None:
        """End the test: give up its switches."""
        self.engine.leaves()

    def _now(self) -> float:
        return self.exchange.history.now()

    def _pending(self, key: str) -> Pending:
        for pending in self.engine.behaviour.model.pending.values():
            if pending.ask.key == key:
                return pending
        raise PreconditionFailed(f"the RM has no pending request {key}")

    def _live(self, allocation: Allocated) -> Live:
        live = self.engine.behaviour.model.live.get(allocation.identity)
        if live is None:
            raise PreconditionFailed(f"the allocation {allocation.identity} has ended")
        return live

    def _waits_for(self, find: Callable[[], Sequence[Any] | None], what: str) -> Any:
        limit = self.deadlines.ack + self.deadlines.place

        with waiting(what, limit, WaitClass.PLACE):
            found = self.exchange.history.look(find, limit)
        self._raise_problems()
        if found is None:
            raise PreconditionFailed(f"{what}: not within {limit:g} s")
        return found
