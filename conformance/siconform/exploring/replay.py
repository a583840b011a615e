"""Replay of a recorded history: an RM sends the same messages with the same barriers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

from siconform.expecting.barriers import Barriers
from siconform.expecting.endpoint import Endpoint
from siconform.expecting.link import Link
from siconform.expecting.observations import Observations
from siconform.exploring.counterexample import Counterexample, violations
from siconform.exploring.leak_check import REQUIREMENTS
from siconform.exploring.recorded import Message, Received, Recorded, Registers, Sent
from siconform.outcomes import ConformanceFailure, TargetLost
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    UpdateKind,
)
from siconform.protocol.requests import (
    ExistingAllocationRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    Request,
    StreamOpening,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Exchange
from siconform.rm.sender import Sender
from siconform.rm.session import Session
from siconform.verdicts import Verdict

EXPECTED_AT_THE_END: Final = "what_was_expected_is_received"
_WORTH_WAITING: Final = 0.25  # seconds between two messages; less is normal latency

_KEPT: Final[Mapping[type[Fact], tuple[str, ...]]] = {
    NodeAccepted: ("node",),
    NodeRejected: ("node",),
    ApplicationAccepted: ("application",),
    ApplicationRejected: ("application",),
    ApplicationUpdated: ("application", "state"),
    Allocated: ("key", "application"),
    Released: ("identity", "termination"),
    AskReleased: ("key", "termination"),
    AskRejected: ("key",),
    AllocationRejected: ("key",),
}
"""The fields of a fact that a repeated one must match."""


class Again(Enum):
    """Whether the recorded verdict on a history is reproduced."""

    COMES = "the same verdict is reproduced"
    COMES_NOT = "this verdict is not reproduced; it may depend on the time between two messages"
    CANNOT_DECIDE = "the messages alone do not show whether this verdict is reproduced"


@dataclass
class Replayed:
    """The result of a replay."""

    exchange: Exchange
    counterexamples: list[Counterexample]
    verdict: "Again | None" = None  # about the recorded verdict, if any
    not_received: list[Fact] = field(default_factory=list)  # but were in the recording


class Repeater(Observations, Sender):
    """An RM that sends what it is given, and confirms nothing by itself."""

    def __init__(self, session: Session, exchange: Exchange, *, registered: bool) -> None:
        connection, deadlines = session.connects(registered=registered), session.deadlines
        link = Link(connection, Barriers(connection, deadlines))
        alive = session.target.alive
        super().__init__(Endpoint(link, exchange, deadlines, alive, prefix=connection.rm_id))
        self._has_sent = False  # since the last extra barrier

    def repeats(self, *requests: Request) -> None:
        """Resend a message as one, regardless of other streams."""
        with self.unordered(), self.one_message():
            self.send(*requests)
        self._has_sent = True

    def synchronise_stream(self, kind: UpdateKind) -> None:
        """Send a barrier on the stream, unless there was one since the last message on it.

        The allocation stream gets a second one, as certainty may take both.
        """
        if self._synchronisation.needs_barrier(kind):
            self.barriers(kind)
        elif kind is UpdateKind.ALLOCATIONS and self._has_sent:
            self._has_sent = False
            self.barriers(kind)


class Replay:
    """Sends everything in the recorded order, each after what had been received before it.

    Messages that the scheduler does not send this time are awaited once and then skipped. Ids are
    kept except those that the scheduler assigns: allocations are found by key.
    """

    def __init__(self, session: Session, recorded: Recorded) -> None:
        self._session = session
        self._recorded = recorded
        self._rms: dict[str, Repeater] = {}
        self._identities: dict[str, str] = {}  # recorded to current
        self._received: list[tuple[str, Fact]] = []  # recorded, not yet seen
        self._missing: list[Fact] = []
        self._moment: float | None = None

    def plays(self) -> Replayed:
        """Replay to the end and evaluate it; raise TargetLost if there is no target."""
        exchange = Exchange(self._session.history, start=len(self._session.history))
        lost = None
        try:
            self._replay_messages(exchange)
            expectation = self._expects(exchange)
            own = self._evaluates_again()
        except TargetLost as error:
            if not exchange.entries():
                raise
            lost = Counterexample("the_scheduler_lives", error.message, (), exchange, error)
            expectation, own = None, Again.CANNOT_DECIDE
        finally:
            for rm in self._rms.values():
                rm.connection.close()
        exchange.end = len(exchange.history)
        found = [
            *violations(exchange, {}, self._lacks()),
            *(f for f in (lost, expectation) if f is not None),
        ]
        return Replayed(exchange, found, self._of_monitor(found, own), self._missing)

    def _lacks(self) -> frozenset[str]:
        return self._session.observed.lacks(self._session.target.terms.without)

    def _replay_messages(self, exchange: Exchange) -> None:
        registering = {m.rm for m in self._recorded.messages if isinstance(m, Registers)}
        for name in self._recorded.rms:
            registered = name not in registering
            self._rms[name] = Repeater(self._session, exchange, registered=registered)
        for message in self._recorded.messages:
            self._plays(message)
        self._catches_up()
        for rm in self._rms.values():
            rm.synchronise_all()
            rm.stays_quiet()

    def _plays(self, message: Message) -> None:
        rm = self._rms.get(message.rm)
        match message:
            case Received(facts=facts):
                self._received += [(message.rm, fact) for fact in facts]
            case Registers(request=request) if rm is not None:
                rm.connection.registers(
                    _registration(rm.connection.rm_id, request), rm.deadlines.register
                )
            case Sent() if rm is not None:
                self._resend(rm, message)
            case _:
                pass

    def _resend(self, rm: Repeater, message: Sent) -> None:
        if message.barrier:
            if not all(isinstance(request, StreamOpening) for request in message.requests):
                rm.synchronise_stream(message.kind)
            return
        self._catches_up()
        self._lets_pass(rm, message.moment)
        requests = [self._renamed(request) for request in message.requests]
        rm.repeats(*requests)

    def _lets_pass(self, rm: Repeater, moment: float) -> None:
        gap = 0.0 if self._moment is None else moment - self._moment
        self._moment = moment
        if gap > _WORTH_WAITING:
            rm.stays_quiet(window=gap)

    def _catches_up(self) -> None:
        """Wait for all facts recorded up to here, or note that they are missing."""
        received, self._received = self._received, []
        for name, fact in received:
            rm, pattern = self._rms.get(name), self._pattern(fact)
            if rm is None or pattern is None:
                continue
            timeout = rm.deadlines.quiet if self._missing else rm.deadlines.place
            try:
                seen = rm.expect(pattern, timeout=timeout)
            except ConformanceFailure:
                self._missing.append(fact)
            else:
                if isinstance(fact, Allocated) and isinstance(seen, Allocated):
                    self._identities[fact.identity] = seen.identity

    def _pattern(self, fact: Fact) -> Fact | None:
        """Return the fact reduced to what must match: subject and meaning, not details."""
        kept = _KEPT.get(type(fact))
        if kept is None:
            return None
        named = {name: getattr(fact, name) for name in kept}
        if isinstance(fact, Released):
            named["identity"] = self._identities.get(fact.identity, fact.identity)
        return type(fact)(**named)

    def _renamed(self, request: Request) -> Request:
        match request:
            case ReleaseRequest(subject=OneAllocation(application, identity, key)):
                now = self._identities.get(identity, identity)
                return replace(request, subject=OneAllocation(application, now, key))
            case NodeRequest(existing=existing) if existing:
                return replace(request, existing=tuple(self._again(a) for a in existing))
            case ExistingAllocationRequest(allocation=allocation):
                return ExistingAllocationRequest(self._again(allocation))
            case _:
                return request

    def _again(self, existing: Allocated) -> Allocated:
        identity = existing.identity
        return replace(existing, identity=self._identities.get(identity, identity))

    def _expects(self, exchange: Exchange) -> Counterexample | None:
        """Return a counterexample if the expected end of the history does not arrive."""
        expected = self._recorded.expected
        if expected is None:
            return None
        pattern: Any = expected
        if isinstance(expected, Released):
            now = self._identities.get(expected.identity, expected.identity)
            pattern = replace(expected, identity=now)
        rm = next(iter(self._rms.values()))
        if rm.observe(pattern):
            return None
        try:
            rm.expect(pattern)
        except ConformanceFailure as failure:
            message = failure.message
            return Counterexample(
                EXPECTED_AT_THE_END, message, REQUIREMENTS, exchange, failure, expected
            )
        return None

    def _of_monitor(self, found: list[Counterexample], own: Again) -> Again | None:
        """Return whether the recorded verdict is reproduced, also if a monitor gave it."""
        evaluated = self._recorded.evaluated
        if evaluated is None:
            return None
        if not evaluated.monitor:
            return own
        if any(counterexample.name == evaluated.monitor for counterexample in found):
            return Again.COMES
        return Again.CANNOT_DECIDE if self._missing else Again.COMES_NOT

    def _evaluates_again(self) -> Again:
        """Return whether the test's expectation about facts gives the same verdict."""
        evaluated = self._recorded.evaluated
        if evaluated is None or evaluated.verdict != Verdict.FAIL.value:
            return Again.CANNOT_DECIDE
        rm = next(iter(self._rms.values()))
        if evaluated.unwanted:
            usual = {p: self._recorded.received(p) for p in evaluated.unwanted}
            return _comes(any(len(rm.observe(p)) >= n > 0 for p, n in usual.items()))
        if not evaluated.awaited:
            return Again.CANNOT_DECIDE
        usual = {p: self._recorded.received(p) for p in evaluated.awaited}
        if any(len(rm.observe(p)) > n for p, n in usual.items()):
            return Again.COMES_NOT
        rm.stays_quiet(window=rm.deadlines.place)
        return _comes(all(len(rm.observe(p)) <= n for p, n in usual.items()))


def _comes(again: bool) -> Again:  # noqa: FBT001  # its only argument
    return Again.COMES if again else Again.COMES_NOT


def _registration(rm_id: str, request: Any) -> Registration:
    """Return the recorded registration for another RM."""
    return Registration(
        rm_id,
        request.get("version", ""),
        request.get("policyGroup", ""),
        request.get("config", ""),
        request.get("buildInfo", {}),
        request.get("extraConfig", {}),
    )
