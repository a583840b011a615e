"""Expectations: what the RM is told, what it is not told, and what a test may take for granted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

from siconform.expecting.deadlines import Patience
from siconform.expecting.fences import Fences
from siconform.expecting.observed import Observed
from siconform.outcomes import CameLate, NotAsTheTextSays, PremiseLost, TargetLost
from siconform.protocol.events import EventTold
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import (
    CONFIRMED,
    Allocated,
    AllocationRejected,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    Kind,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
    kind_of,
)
from siconform.recording.clock import LONGEST_STEP
from siconform.recording.history import Entry, Exchange
from siconform.transport.connection import Connection

_FOR_ANOTHER: Final = (Termination.PLACEHOLDER_REPLACED, Termination.PREEMPTED_BY_SCHEDULER)

F = TypeVar("F", bound=Fact)
T = TypeVar("T")


class Expectations:
    """What one test hears. Each told element answers one expectation only."""

    def __init__(
        self,
        connection: Connection,
        exchange: Exchange,
        fences: Fences,
        patience: Patience,
        alive: Callable[[], bool],
        *,
        observed: Observed | None = None,
    ) -> None:
        self.connection = connection
        self.exchange = exchange
        self.patience = patience
        self.seen_before = Observed() if observed is None else observed
        self._fences = fences
        self._alive = alive
        self._heard: set[int] = set()  # indexes of entries that answered an expectation
        self._open_releases: set[tuple[str, Termination]] = set()  # that were heard
        self._unfenced: set[Kind] = set()

    def is_told(self, pattern: F, *, patience: float | None = None) -> F:
        """Wait for an element that matches; LATE within the grace, FAIL without it."""
        return self._await((pattern,), patience)  # type: ignore[return-value]  # matches its type

    def is_told_one_of(self, *patterns: F, patience: float | None = None) -> F:
        """Wait for the first element that matches one of the legal outcomes the test names."""
        return self._await(patterns, patience)  # type: ignore[return-value]  # matches one's type

    def is_not_told(self, *patterns: Fact) -> None:
        """Fence every stream concerned, then a quiet window: nothing unheard may match."""
        concerned = self._unfenced | {kind_of(p) for p in patterns}
        for kind in Kind:
            if kind in concerned:
                self.fences(kind)
        self.stays_quiet(*patterns)

    def stays_quiet(self, *patterns: Fact, window: float | None = None) -> None:
        """No matching element so far, nor within the quiet window (no fence)."""
        seconds = self.quiet_window() if window is None else window
        what = self._past(patterns, seconds, fenced=False)
        if what is not None:
            failure = NotAsTheTextSays(
                f"came: {what}", expected=f"no {_either(patterns)}", happened=f"{what}"
            )
            failure.unwanted = tuple(p for p in patterns if p.matches(what))
            raise failure

    def quiet_window(self) -> float:
        """Seconds of silence before "nothing came" is believed: the target sets the pace."""
        return self.seen_before.pace.quiet(self.patience.quiet, 2 * self.patience.place)

    def settle_window(self) -> float:
        """The same on the wall, where the target's time has passed already."""
        return self.seen_before.pace.settle(self.patience.settle, 2 * self.patience.place)

    def hears(self, pattern: F) -> list[F]:
        """Every element of this test so far that matches, whether it answered something or not."""
        return [
            content
            for _, entry in self._told()
            if isinstance(content := entry.content, type(pattern)) and pattern.matches(content)
        ]

    def fences(self, kind: Kind) -> None:
        """Return once everything said on the stream of this kind was processed."""
        self._unfenced.discard(kind)
        self._guarded(lambda: self._fences.raise_on(kind))

    def fences_all(self) -> None:
        """Fence every stream that was spoken on since its last fence."""
        for kind in sorted(self._unfenced, key=lambda k: k.value):
            self.fences(kind)

    @contextmanager
    def control(self, legal_twin: str) -> Iterator[None]:
        """The legal twin of a negative test: if it fails, the test proved nothing."""
        try:
            yield
        except NotAsTheTextSays as failure:
            message = f"control failed ({legal_twin}): {failure.says}"
            raise PremiseLost(message, expected=legal_twin, happened=failure.happened) from failure

    @contextmanager
    def premise(self, situation: str) -> Iterator[None]:
        """The situation a test starts from: if it cannot be had, the test could not run."""
        try:
            yield
        except NotAsTheTextSays as failure:
            message = f"premise lost ({situation}): {failure.says}"
            raise PremiseLost(message, expected=situation, happened=failure.happened) from failure

    def says_why(
        self, rejection: NodeRejected | ApplicationRejected | AskRejected | AllocationRejected
    ) -> None:
        """The rejection carries a reason a person can read."""
        if not rejection.reason.strip():
            raise NotAsTheTextSays(
                "the rejection gives no reason", expected="a reason", happened=str(rejection)
            )

    def agrees(self, told: Fact, pattern: Fact) -> None:
        """What was told in any case says the right thing."""
        if not pattern.matches(told):
            raise NotAsTheTextSays(f"told {told}", expected=str(pattern), happened=str(told))

    def is_told_none_of(self, told: Fact, *patterns: Fact) -> None:
        """What was told in any case says none of these things."""
        for pattern in patterns:
            if pattern.matches(told):
                raise NotAsTheTextSays(
                    f"told {told}", expected=f"not {pattern}", happened=str(told)
                )

    def agrees_if_repeated(self, told: Fact, pattern: Allocated) -> None:
        """An allocation that repeats the priority of its ask, which it need not, says that one."""
        if isinstance(told, Allocated) and (told.priority or told.priority_class):
            self.agrees(told, pattern)

    def records(self, freedom: str, used: Fact | None = None, *, otherwise: str = "") -> None:
        """Note how the target uses a freedom the text leaves it: what it told, or what else."""
        said = used.in_short() if used is not None else otherwise
        self.exchange.recorded.append(f"{freedom}: {said}" if said else freedom)

    def _await(self, patterns: tuple[Fact, ...], patience: float | None) -> Fact:
        return self._await_entry(patterns, patience)[1]

    def _await_entry(
        self,
        patterns: tuple[Fact, ...],
        patience: float | None,
        slack: float | None = None,
        *,
        first: float = 0.0,
    ) -> tuple[Entry, Fact]:
        """Grace applies to ``slack``: its class's limit, an answer's where a test sets its own.

        A ``patience`` of its own is for a timer, of which ``first`` seconds may pass at once.
        """
        history = self.exchange.history
        limit = self._deadline_of(patterns) if patience is None else patience
        if slack is None:
            slack = limit if patience is None else min(limit, self.patience.ack)
        longest = limit + self.patience.grace * slack
        begun, begun_moment = history.now(), history.moment()

        def find() -> tuple[int, Fact] | None:
            found = self._find(patterns)
            if found is None and self._deaf(patterns):
                raise self._missing(patterns, limit)
            return found

        if patience is None:
            found = history.clock.along(partial(history.look, find), longest)
        else:
            look = self._fenced_look(patterns, find)
            settled = min(limit, self.patience.ack)
            found = history.clock.past(look, longest, first=first, settled=settled)
        if found is None:
            raise self._missing(patterns, limit)
        entry, fact = history[found[0]], self._hear(*found)
        took = entry.at - begun if patience is None else entry.moment - begun_moment
        self._judge_time(patterns, took, limit)
        return entry, fact

    def _past(
        self, patterns: tuple[Fact, ...], seconds: float, *, fenced: bool = True
    ) -> Fact | None:
        """The first matching element that came until so much time has passed, or None.

        Without fences it does not matter when it came.
        """
        history = self.exchange.history
        find = partial(self._find, patterns)
        look = self._fenced_look(patterns, find) if fenced else partial(history.look, find)
        found = history.clock.past(
            look,
            seconds,
            first=0.0 if fenced else min(seconds, LONGEST_STEP),
            settled=self.settle_window(),
            under_way=fenced or self._is_something_under_way(),
        )
        return None if found is None else self._hear(*found)

    def _is_something_under_way(self) -> bool:
        """Whether the RM said anything that is not known to have been processed."""
        return bool(self._unfenced)

    def _fenced_look(
        self, patterns: tuple[Fact, ...], find: Callable[[], T | None]
    ) -> Callable[[float], T | None]:
        """Where time passes at once, a fence has to bring what came of it before one looks."""
        history = self.exchange.history
        kinds = {kind_of(p) for p in patterns if not isinstance(p, StreamEnded)}

        def look(seconds: float) -> T | None:
            if history.clock.is_virtual:
                for kind in Kind:
                    if kind in kinds and self.connection.is_open(kind):
                        self._guarded(partial(self._fences.raise_on, kind))
            return history.look(find, seconds)

        return look

    def _hear(self, index: int, fact: Fact) -> Fact:
        self._heard.add(index)
        if isinstance(fact, Released) and fact.termination in CONFIRMED:
            self._open_releases.add((fact.identity, fact.termination))
        return fact

    def _reminds(self, told: Fact) -> bool:
        """Whether this was heard before: a release may be repeated until it is confirmed."""
        return isinstance(told, Released) and (
            (told.identity, told.termination) in self._open_releases
        )

    def _judge_time(self, patterns: tuple[Fact, ...], took: float, limit: float) -> None:
        if took > limit:
            raise CameLate(
                f"after {took:.1f} s, allowed {limit:.1f} s",
                expected=f"{_either(patterns)} within {limit:g} s",
                happened=f"it came after {took:.2f} s",
            )

    def _missing(self, patterns: tuple[Fact, ...], limit: float) -> Exception:
        expected = f"{_either(patterns)} within {limit:g} s"
        if not self._alive():
            return TargetLost(f"the target died while waiting for {_either(patterns)}")
        ended = self._deaf(patterns)
        if ended:
            return NotAsTheTextSays(
                f"the {ended.kind.value} stream ended: {ended.status} {ended.details}".rstrip(),
                expected=expected,
            )
        related = self._related(patterns)
        happened = f"came instead: {related}" if related else "nothing of the kind came"
        failure = NotAsTheTextSays(
            happened if related else f"never told: {_either(patterns)}",
            expected=expected,
            happened=happened,
        )
        failure.awaited = patterns
        return failure

    def _related(self, patterns: tuple[Fact, ...]) -> Fact | None:
        """The last unheard element about the same thing, such as a rejection instead.

        A state of an application is never meant: it may be reported at any time, whatever else is.
        """
        last = None
        conversations = {kind_of(pattern) for pattern in patterns}
        for index, entry in self._told():
            content = entry.content
            if index in self._heard or not isinstance(content, Fact):
                continue
            if isinstance(content, ApplicationUpdated):
                continue
            elsewhere = kind_of(content) not in conversations
            if not elsewhere and any(_same_subject(pattern, content) for pattern in patterns):
                last = content
        return last

    def _deaf(self, patterns: tuple[Fact, ...]) -> StreamEnded | None:
        """The end of the stream all patterns would come on, if it ended and was not reopened."""
        kinds = {kind_of(p) for p in patterns}
        kind, *more = kinds
        if kind is None or more or any(isinstance(p, StreamEnded) for p in patterns):
            return None
        if self.connection.is_open(kind):
            return None
        ends = [
            entry.content
            for _, entry in self._told()
            if isinstance(entry.content, StreamEnded) and entry.kind is kind
        ]
        return ends[-1] if ends else None

    def _find(self, patterns: tuple[Fact, ...]) -> tuple[int, Fact] | None:
        for index, entry in self._told():
            content = entry.content
            if index in self._heard or not isinstance(content, Fact) or self._reminds(content):
                continue
            if any(pattern.matches(content) for pattern in patterns):
                return index, content
        return None

    def _told(self) -> Iterator[tuple[int, Entry]]:
        start = self.exchange.start
        for offset, entry in enumerate(self.exchange.entries()):
            if not entry.said_by_rm and not entry.fence and entry.rm == self.connection.rm_id:
                yield start + offset, entry

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except PremiseLost as lost:
            if not self._alive():
                raise TargetLost(f"the target died: {lost.says}") from lost
            raise

    def _deadline_of(self, patterns: tuple[Fact, ...]) -> float:
        if any(isinstance(p, Allocated) or _is_decision(p) for p in patterns):
            return self.patience.place
        if any(isinstance(p, (Released, AskReleased)) for p in patterns):
            return self.patience.release
        if any(isinstance(p, EventTold) for p in patterns):
            return self.patience.events
        return self.patience.ack


def _is_decision(pattern: Fact) -> bool:
    """Whether the scheduler releases something to place something else."""
    return isinstance(pattern, Released) and pattern.termination in _FOR_ANOTHER


def _either(patterns: tuple[Fact, ...]) -> str:
    return " or ".join(str(p) for p in patterns)


def _same_subject(pattern: Fact, told: Fact) -> bool:
    subjects = (
        ("node",) if isinstance(pattern, (NodeAccepted, NodeRejected)) else ("key", "application")
    )
    for name in subjects:
        wanted = getattr(pattern, name, None)
        if isinstance(wanted, str) and wanted and agree(wanted, getattr(told, name, None)):
            return True
    return False
