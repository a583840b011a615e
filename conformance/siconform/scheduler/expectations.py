"""Expectations of what the RM sends, and must not send."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import CameLate, ConformanceFailure, PreconditionFailed, TargetLost
from siconform.protocol.notifications import Allocated, StreamEnded, Termination, UpdateKind
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import (
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry
from siconform.scheduler.driven_rm import NEEDS_A_DRIVER, DrivenRM
from siconform.scheduler.endpoint import SchedulerSteps
from siconform.scheduler.patterns import Sent, sent_like
from siconform.transport.connection import BARRIER_PREFIX

R = TypeVar("R")
Pattern = Request | Sent[Any]
_RELEASES: Final = (ReleaseRequest, AskReleaseRequest)


class Expectations(SchedulerSteps):
    """What one test expects the RM to send. Each element satisfies one expectation only.

    A pattern is ``Sent(type, field=value)``, or a request: then each field that differs from its
    default has to agree.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._taken: set[int] = set()

    def expects(self, *patterns: Pattern, timeout: float | None = None) -> Any:
        """Wait for the first element that matches a pattern; LATE within the grace, else FAIL."""
        return self.expects_entry(*patterns, timeout=timeout).content

    def expects_entry(self, *patterns: Pattern, timeout: float | None = None) -> Entry:
        """Wait like ``expects``; return the element with its time and message."""
        wanted = [pattern_of(one) for one in patterns]
        kind = _class_of(wanted)
        limit = getattr(self.deadlines, kind) if timeout is None else timeout
        history = self.exchange.history
        begun = history.now()
        find = partial(self._find, wanted)
        with waiting(_either(wanted), limit, kind) as wait:
            index = history.look(find, limit * (1 + self.deadlines.grace))
            self._raise_problems()
            if index is None:
                raise self._missing(wanted, limit)
            self._taken.add(index)
            entry = history[index]
            wait.took = entry.at - begun
        if wait.took > limit:
            raise CameLate(
                f"after {wait.took:.1f} s, allowed {limit:.1f} s",
                expected=f"{_either(wanted)} within {limit:g} s",
                happened=f"it came after {wait.took:.2f} s",
            )
        return entry

    def expects_confirmation(
        self, allocation: Allocated, termination: Termination, *, timeout: float | None = None
    ) -> Entry:
        """Wait for the confirmation of a release: by the identity, or for all of its application.

        One that covers all may confirm several, so it is not consumed.
        """
        one = OneAllocation(allocation.application, allocation.identity)
        everything = Sent(
            ReleaseRequest, subject=AllOf(allocation.application), termination=termination
        )
        by_itself = Sent(ReleaseRequest, subject=one, termination=termination)
        entry = self.expects_entry(by_itself, everything, timeout=timeout)
        self._taken = {i for i in self._taken if not everything.matches(self._at(i).content)}
        return entry

    def expects_registration(self, *, after: int) -> Entry:
        """Wait until the RM registers at or after this entry, for the next time in this test."""
        limit, history = self.deadlines.register, self.exchange.history

        def find() -> int | None:
            for index, entry in self.received():
                is_next = index not in self._taken and index >= after
                if is_next and isinstance(entry.content, RegistrationRequested):
                    return index
            return None

        with waiting("a registration", limit, WaitClass.ACK):
            index = history.look(find, limit)
        if index is None:
            raise self._lost("a registration", limit)
        self._taken.add(index)
        return history[index]

    def expects_none(self, *patterns: Pattern) -> None:
        """Raise a barrier, then fail on a match so far or in the quiet window.

        Without a driver there is no barrier: the window is then that of an answer.
        """
        has_barrier = self._rm is not None and self._rm.has_driver
        if has_barrier:
            self.raises_barrier()
        self.stays_quiet(*patterns, window=self.deadlines.quiet if has_barrier else None)

    def waits(self) -> None:
        """Send nothing for as long as any answer may take."""
        self.stays_quiet()

    def stays_quiet(self, *patterns: Pattern, window: float | None = None) -> None:
        """Fail on a match so far or in the window, without a barrier; by default ``ack``."""
        wanted = [pattern_of(one) for one in patterns]
        seconds = self.deadlines.ack if window is None else window
        with waiting("what should not come", seconds, WaitClass.QUIET):
            found = self.exchange.history.look(partial(self._find, wanted), seconds)
        self._raise_problems()
        if found is not None:
            what = self._at(found).content
            raise ConformanceFailure(
                f"received: {what}", expected=f"no {_either(wanted)}", happened=str(what)
            )

    def comes(self, pattern: Pattern, *, within: float) -> bool:
        """Return whether a match has come, consumed or not, or comes within these seconds."""
        wanted = pattern_of(pattern)
        with waiting(str(wanted), within, WaitClass.QUIET):
            found = self.exchange.history.look(lambda: self.entries(wanted) or None, within)
        self._raise_problems()
        return found is not None

    def raises_barrier(self) -> None:
        """Drive the RM to send a node, an application and a request, and wait for them.

        It is assumed that an RM sends what it has decided earlier first on each stream. An RM that
        does not is only seen by the quiet window that follows. Nothing is placed for a barrier.
        """
        rm = self._driven()
        node = rm.adds_node(BARRIER_PREFIX + rm.new_name("node"), cordoned=True)
        app = rm.submits(application=BARRIER_PREFIX + rm.new_name("app"))
        limit, history = 2 * self.deadlines.ack, self.exchange.history
        wanted = (
            Sent(NodeRequest, node=node),
            Sent(ApplicationRequest, application=app),
            Sent(AskRequest, application=app),
        )

        def find() -> bool | None:
            sent = [entry.content for entry in self.exchange.entries() if entry.barrier]
            return all(any(map(one.matches, sent)) for one in wanted) or None

        with waiting("a barrier", limit, WaitClass.BARRIER):
            came = history.look(find, limit)
        with suppress(PreconditionFailed):  # a driver without these actions; a reset does it too
            rm.ends_application(app)
            rm.removes_node(node)
        if not came:
            raise PreconditionFailed(f"the RM did not send a node and a request in {limit:g} s")

    def stays_connected(self) -> None:
        """Fail if a stream that the RM had opened has ended, or the RM registered again.

        The streams of the registration before may end after this one has begun. A stream that the
        RM half-closes in good order is no failure: it may open it again when it needs it.
        """
        opened: set[str] = set()
        for index, entry in self.received():
            if isinstance(entry.content, RegistrationRequested) and index > self._begun:
                raise ConformanceFailure(
                    "the RM registered again", expected="the streams stay open"
                )
            stream = "" if entry.kind is None else self.engine.dialect.method(entry.kind)
            if not isinstance(entry.content, StreamEnded):
                opened.add(stream)
            elif stream in opened and entry.content.status != "OK":
                raise ConformanceFailure(
                    f"the {entry.content.kind.value} stream ended: {entry.content.status}",
                    expected="the streams stay open",
                )
        closed = [kind.value for kind in UpdateKind if not self.engine.is_open(kind)]
        if closed:
            raise ConformanceFailure(f"not open: {', '.join(closed)}")

    # what was observed

    def observed(self, pattern: type[R] | Pattern) -> list[R]:
        """Return everything of a type or pattern that the RM sent, in the order of arrival."""
        return [entry.content for entry in self.entries(pattern)]  # type: ignore[misc]

    def entries(self, pattern: type[Any] | Pattern) -> list[Entry]:
        """Return the entries of what matches, with their times and messages."""
        wanted = Sent(pattern) if isinstance(pattern, type) else pattern_of(pattern)
        return [entry for _, entry in self.received() if wanted.matches(entry.content)]

    def sent(self, kind: type[R]) -> list[Entry]:
        """Return the entries of what this scheduler sent, of a type of fact."""
        return [
            entry
            for entry in self.exchange.entries()
            if not entry.sent_by_rm and isinstance(entry.content, kind)
        ]

    def requests_of(self, application: str) -> list[AskRequest]:
        """Return all asks of an application, repeated ones too."""
        return self.observed(Sent(AskRequest, application=application))

    @contextmanager
    def only_new(self) -> Iterator[None]:
        """Let expectations in this block see only what comes after its start."""
        before = self._taken
        self._taken = before | {index for index, _ in self.received()}
        try:
            yield
        finally:
            self._taken = before

    def _find(self, patterns: list[Sent[Any]]) -> int | None:
        for index, entry in self.received():
            if index not in self._taken and any(one.matches(entry.content) for one in patterns):
                return index
        return None

    def _at(self, index: int) -> Entry:
        return self.exchange.history[index]

    def _missing(self, wanted: list[Sent[Any]], limit: float) -> Exception:
        expected = f"{_either(wanted)} within {limit:g} s"
        if not self._alive():
            return TargetLost(f"the RM died while waiting for {_either(wanted)}")
        kinds = tuple(one.kind for one in wanted)
        other = [
            entry.content
            for index, entry in self.received()
            if index not in self._taken and isinstance(entry.content, kinds)
        ]
        happened = f"received instead: {other[-1]}" if other else "nothing matching was received"
        message = happened if other else f"never received: {_either(wanted)}"
        return ConformanceFailure(message, expected=expected, happened=happened)

    def _lost(self, what: str, limit: float) -> Exception:
        if not self._alive():
            return TargetLost(f"the RM died while waiting for {what}")
        return ConformanceFailure(f"never received: {what}", expected=f"{what} within {limit:g} s")

    def _driven(self) -> DrivenRM:
        if self._rm is None:
            raise PreconditionFailed(f"a barrier {NEEDS_A_DRIVER}")
        return self._rm

    def _raise_problems(self) -> None:
        """Raise what went wrong in the kit on the threads of its server."""
        if self.engine.problems:
            raise self.engine.problems.pop(0)


def pattern_of(pattern: Pattern) -> Sent[Any]:
    """Return a request as a pattern, and a pattern as it is."""
    return pattern if isinstance(pattern, Sent) else sent_like(pattern)


def _class_of(patterns: list[Sent[Any]]) -> WaitClass:
    releases = any(one.kind in _RELEASES for one in patterns)
    return WaitClass.RELEASE if releases else WaitClass.ACK


def _either(patterns: list[Sent[Any]]) -> str:
    return " or ".join(map(str, patterns))
