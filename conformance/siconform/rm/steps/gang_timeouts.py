"""Gang timeouts: gangs that wait for their last placeholder or have finished."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import Final, Unpack

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.checks import agrees, control, precondition, unless_over
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.application_states import FAILURE, RESUMING, RUNNING, WAITING
from siconform.protocol.handles import Ask, Gang, Limit
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    Released,
    Termination,
)
from siconform.rm.steps.gangs import (
    ANOTHER_GROUP,
    TASK_GROUP,
    GangOptions,
    GangSteps,
    timed_out,
)
from siconform.rm.steps.waiting_asks import WaitingAskSteps

SHORT_LIMIT: Final = 1.5
"""Seconds an application sets as its timeout: enough for a few requests and answers."""

_ENDED: Final = "the gang may have ended meanwhile; a longer placeholder timeout leaves more time"
_ONLY_WHOLE: Final = "the target allocates placeholders only when the whole gang fits"
_TOO_SHORT: Final = "the target does not offer a placeholder timeout that is long enough"


@dataclass(frozen=True, slots=True)
class PartialGang:
    """A gang with one unplaced placeholder. ``since``: before its first ask."""

    gang: Gang
    placeholders: tuple[Allocated, ...]
    pending: Ask
    since: float


@dataclass(frozen=True, slots=True)
class WaitingGang:
    """A gang whose real allocation ended (after ``since``), with placeholders left over.

    ``took``: how many seconds the replacement of a placeholder by that allocation took.
    """

    gang: Gang
    leftovers: tuple[Allocated, ...]
    since: float
    took: float


class GangTimeoutSteps(GangSteps, WaitingAskSteps):
    """The placeholder timeout, and the end of a gang application."""

    def short_limit(self, seconds: float = SHORT_LIMIT) -> Limit:
        """Given: a known placeholder timeout that is short enough to wait for."""
        if not self.timers.placeholder_from_application_timeout:
            return self.limit_of_scheduler()
        longer = self.long_enough_to_be_served(max(1.0, self.deadlines.scaled_by) * seconds)
        return Limit(longer, timeout_ms=round(1000 * longer))

    def limit_of_scheduler(self) -> Limit:
        """Given: the scheduler's placeholder timeout is known; the application sets none."""
        return Limit(self.placeholder_timeout())

    def has_partial_gang(
        self,
        application: str | None = None,
        *,
        members: int = 3,
        memory: int = 2,
        node_memory: int | None = None,
        groups: Sequence[str] = (),
        at_once: bool = False,
        **options: Unpack[GangOptions],
    ) -> PartialGang:
        """Given: a gang with all placeholders allocated except one, which fits no single node.

        They are of one task group unless ``groups`` names that of each.

        Each node takes one placeholder, all of ``node_memory`` if that is not given. The resources
        of the last one exist as well, its memory on a node without vcore: a scheduler that waits
        for capacity for the whole gang does not wait. NotOffered if the scheduler rejects it.

        The asks are sent in one message: between two messages the gang has no pending ask, and a
        scheduler may report it as waiting. Only one that allocates whole gangs is sent the last ask
        when it has allocated the others, unless all have to come ``at_once``.
        """
        # the style may be probed, which needs an empty cluster
        options["style"] = self.spelled(options.get("style"))
        for _ in range(members - 1):
            self.has_node(memory=memory if node_memory is None else node_memory)
        self.has_node(memory=memory, vcore=0)
        return self._lacks_one(
            lambda: self.has_gang(application, members=members, memory=memory, **options),
            groups or [TASK_GROUP] * members,
            at_once=at_once,
        )

    def has_gang_with_a_group_missing(
        self, *, style: str | None = None, limit: Limit | None = None, at_once: bool = False
    ) -> PartialGang:
        """Given: a gang of two groups of one placeholder each, of which one fits no single node.

        ``at_once`` as for ``has_partial_gang``.
        """
        style = self.spelled(style)  # may be probed, which needs an empty cluster
        self.has_node(memory=2)
        self.has_node(memory=2, vcore=0)  # enough memory for both, but no vcore
        return self._lacks_one(
            lambda: self.has_gang(members=2, style=style, limit=limit),
            [TASK_GROUP, ANOTHER_GROUP],
            at_once=at_once,
        )

    def _lacks_one(
        self, submit: Callable[[], Gang], groups: Sequence[str], *, at_once: bool
    ) -> PartialGang:
        """Ask for a placeholder of each of these groups; all but one are allocated."""
        if at_once or not self.observed.allocates_gangs_whole:
            gang, since = submit(), self.now()
            with self.one_message():
                asks = [self.asks_placeholder(gang, group=group) for group in groups]
            try:
                placeholders = self.has_some_placeholders(gang, asks, len(asks) - 1)
            except NotOffered:
                if at_once or not self.observed.allocates_gangs_whole:
                    raise
            else:
                keys = {placeholder.key for placeholder in placeholders}
                pending = next(ask for ask in asks if ask not in keys)
                self.is_pending(pending)
                return PartialGang(gang, placeholders, pending, since)
        return self._is_sent_the_last_ask_later(submit(), groups)

    def _is_sent_the_last_ask_later(self, gang: Gang, groups: Sequence[str]) -> PartialGang:
        """Ask for a placeholder of the last group when those of the others are allocated.

        NotOffered if they are not, or if the application then moves on, as if nothing was missing.
        """
        since, (*others, last) = self.now(), groups
        with self.one_message():
            asks = [self.asks_placeholder(gang, group=group) for group in others]
        placeholders = self.collects(Allocated(application=gang), most=len(asks))
        self.synchronise_all()
        moved = tuple(ApplicationUpdated(gang, state=state) for state in (RUNNING, WAITING))
        if len(placeholders) < len(asks) or self.first_within(moved, 0.0) is not None:
            raise NotOffered(_ONLY_WHOLE)
        pending = self.asks_placeholder(gang, group=last)
        self.is_pending(pending)
        return PartialGang(gang, tuple(placeholders), pending, since)

    def has_some_placeholders(
        self, gang: Gang, asks: Sequence[Ask], number: int
    ) -> tuple[Allocated, ...]:
        """Given: so many placeholders of a gang, the others of which fit nowhere.

        NotOffered if the scheduler allocates placeholders only when the whole gang fits.
        """
        anyone = [Allocated(ask) for ask in asks]
        with precondition("the placeholders that fit are allocated"), self.unless_whole(gang):
            return tuple(self.expect_one_of(*anyone) for _ in range(number))

    @contextmanager
    def unless_whole(self, gang: Gang) -> Iterator[None]:
        """Turn a failure into NotOffered if the scheduler allocates only whole gangs."""
        if self.observed.allocates_gangs_whole:
            raise NotOffered(_ONLY_WHOLE)
        try:
            yield
        except ConformanceFailure:
            self.removes_application(gang)
            if self._allocates_gangs_whole():
                raise NotOffered(_ONLY_WHOLE) from None
            raise

    def _allocates_gangs_whole(self) -> bool:
        """Return whether a gang gets all its placeholders at once, when the last one fits."""
        with self.aside():
            self.has_node(memory=7)  # more than another test's gang leaves free
            gang = self.has_gang(members=2, memory=7)
            with self.one_message():  # one ask of two would be a whole gang as well
                asks = self.asks_placeholders(gang)
            anyone = [Allocated(ask) for ask in asks]
            if self.receive_if_any(*anyone) is None:
                self.has_node(memory=7)
                with suppress(ConformanceFailure):
                    self.observed.allocates_gangs_whole = all(map(self.expect, anyone))
        return bool(self.observed.allocates_gangs_whole)

    def ignores_early_asks(self) -> bool:
        """Return whether a real ask is lost if placeholders are pending when it is sent (C-26).

        No node may have free memory of more than 5.
        """
        incomplete = self.has_partial_gang(members=2, memory=6, at_once=True)
        early = self.asks(incomplete.gang)
        self.settles()  # it may be dropped by the next scheduling cycle only
        self.has_node(memory=7)
        with precondition("the last placeholder of a gang is allocated"):
            self.is_allocated_in_time(incomplete.gang, Allocated(incomplete.pending))
        is_lost = self.receive_if_any(Allocated(early)) is None
        self.records(f"a real ask before the last placeholder: {'dropped' if is_lost else 'kept'}")
        return is_lost

    def has_time_left(self, partial: PartialGang) -> None:
        """Given: the gang has not timed out, however long its set-up took."""
        if self._is_over(partial.gang, partial.since):
            raise PreconditionFailed("the gang timed out before the test could use it")

    @contextmanager
    def unless_ended_before(self, moment: float, gang: Gang, since: float) -> Iterator[None]:
        """Make a failure inconclusive if a gang submitted after ``since`` may have ended by then.

        Or if its placeholder timeout has shown: NotOffered if that is known to be too short for a
        test that outlasts the waiting of an application.
        """

        def has_expired() -> bool:
            return any(map(self.observe, expiry_of(gang)))

        try:
            with unless_over(
                lambda: self._time_left(gang, since, at=moment) <= 0 or has_expired(), _ENDED
            ):
                yield
        except PreconditionFailed as failure:
            limit = self.timers.placeholder if gang.limit is None else gang.limit.seconds
            preparing = self.long_enough_to_be_served(0.5)
            needed = preparing + self.waiting_timeout() + self.deadlines.timer
            if limit is None or limit > needed or not has_expired():
                raise
            raise NotOffered(_TOO_SHORT) from failure

    def expect_no_replacement_in_time(self, partial: PartialGang, *patterns: Fact) -> None:
        """Expect none of these; inconclusive if the gang may have timed out meanwhile.

        That is computed from the known timeout, not taken from the scheduler's reports. A scheduler
        may take longer to replace than to place: it gets half of the time that is left.
        """
        gang, since = partial.gang, partial.since
        longer = min(self.deadlines.place, self._time_left(gang, since) / 2)
        with self.unless_ended(gang, since):
            window = max(self.window_before_end(gang, since), longer)
            self.expect_none(*patterns, window=window)

    def unless_ended(self, gang: Gang, since: float) -> AbstractContextManager[None]:
        """Make a failure inconclusive if a gang submitted after ``since`` may have ended."""
        return unless_over(lambda: self._is_over(gang, since), _ENDED)

    def expect_none_before_end(self, gang: Gang, since: float, *patterns: Fact) -> None:
        """Expect none; inconclusive if a gang submitted after ``since`` may have ended."""
        with self.unless_ended(gang, since):
            self.expect_none(*patterns, window=self.window_before_end(gang, since))

    def expect_before_end(self, gang: Gang, since: float, pattern: Fact) -> None:
        """Expect this; inconclusive if a gang submitted after ``since`` may have ended before.

        On virtual time an allocation may take as long as until silence counts, although the wait
        is longer.
        """
        is_placement = isinstance(pattern, Allocated)
        by = self.now() + (self.quiet_window() if is_placement else self.deadlines.place)
        with unless_over(
            lambda: self._time_left(gang, since, at=self._decisive_moment(by)) <= 0, _ENDED
        ):
            self.expect(pattern)

    def is_allocated_in_time(self, gang: Gang, *patterns: Allocated) -> Allocated:
        """Expect one of these; NotOffered if the placeholder timeout of the gang comes first."""
        over = Termination.TIMEOUT  # an ask may also be released because the RM withdrew it
        received: Fact = self.expect_one_of(
            *patterns,
            Released(application=gang, termination=over),
            AskReleased(application=gang, termination=over),
            *(ApplicationUpdated(gang, state=state) for state in (FAILURE, RESUMING)),
        )
        if not isinstance(received, Allocated):
            raise NotOffered(_TOO_SHORT)
        return received

    def has_duplicate_rejected(self, gang: Gang) -> None:
        """Given: a duplicate of the gang is rejected; NotOffered if the gang has failed by then."""
        with precondition("the duplicate is rejected"):
            received = self.expect_one_of(ApplicationRejected(gang), ApplicationAccepted(gang))
            if self.observe(Released(application=gang, termination=Termination.TIMEOUT)):
                raise NotOffered(_TOO_SHORT)
            agrees(received, ApplicationRejected(gang))

    def expect_in_time(self, waiting: WaitingGang, pattern: Fact) -> None:
        """Expect this; inconclusive if the gang may have finished waiting before.

        On virtual time a replacement may take twice as long as the first, although the wait is
        longer.
        """
        by = self.now() + max(self.quiet_window(), 2 * waiting.took)
        with unless_over(
            lambda: self._decisive_moment(by) - waiting.since >= self.waiting_timeout(),
            "the gang may have finished waiting meanwhile",
        ):
            self.expect(pattern)

    def expect_expiry(self, of: Gang, placeholders: Sequence[Allocated]) -> list[Released]:
        """Wait for the placeholder timeout and the release of each of these.

        The scheduler may release them one after the other, each after the previous confirmation.
        """
        return self._are_withdrawn(placeholders, self._seconds(of))

    def has_expired(self, partial: PartialGang) -> list[Released]:
        """Given: the releases of a partial gang's timeout; confirmed unless disabled."""
        with precondition("a gang with a pending placeholder ask times out"):
            return self.expect_expiry(partial.gang, partial.placeholders)

    def has_begun_to_expire(self, partial: PartialGang) -> tuple[Released, Allocated]:
        """Given: the first release of a timeout, unconfirmed, and a placeholder still held."""
        with precondition("a gang with a pending placeholder ask times out"):
            return self._is_withdrawn_first(partial.placeholders, self._seconds(partial.gang))

    def has_release_of(self, placeholder: Allocated) -> Released:
        """Given: this placeholder is released too, now or after the last confirmation."""
        with precondition("the next placeholder is released"):
            return self.expect(timed_out(placeholder))

    def expect_ask_released(self, ask: Ask) -> Fact:
        """Expect the timeout of this pending ask, or of all the application's asks in one message.

        Where asks have no separate release, a pending one may also be rejected.
        """
        over = Termination.TIMEOUT
        received: Fact = self.expect_one_of(
            AskReleased(ask, termination=over),
            AskReleased("", ask.sent.application, over),
            *self.ends_otherwise(ask, over),
        )
        return received

    def has_last_release(self, partial: PartialGang) -> tuple[Released, Allocated]:
        """Given: the last release of a timeout, the only unconfirmed one, and its placeholder."""
        first, left = self.has_begun_to_expire(partial)
        self.confirms(first)
        return self.has_release_of(left), left

    def has_confirmed(self, releases: Sequence[Released]) -> None:
        """Given: these releases are confirmed and the confirmations processed.

        There is no quiet window: an application with nothing left may end soon.
        """
        for release in releases:
            self.confirms(release)
        self.synchronise_all()

    def outwaits_gangs(self, *, memory: int, limit: Limit | None = None) -> None:
        """Wait until a partial gang that starts now has timed out, after all earlier ones.

        This is also the control. Its members are too large for any free capacity of the test, and
        its ``limit`` is that of the longest gang (default: the short limit).
        """
        witness = self.has_partial_gang(memory=memory, limit=limit or self.short_limit())
        with control("a gang with a pending placeholder ask times out"):
            self.expect_expiry(witness.gang, witness.placeholders)

    def has_waiting_gang(self, *, leftovers: int = 1, groups: Sequence[str] = ()) -> WaitingGang:
        """Given: the only real allocation of a gang was released; placeholders are left over.

        These are of one task group unless ``groups`` names that of each.
        """
        gang, placeholders = self.has_complete_gang(
            members=leftovers + 1, groups=[TASK_GROUP, *groups] if groups else ()
        )
        before = self.now()
        real, gone = self.has_replaced(gang, placeholders)
        since = self.now()
        self.releases(real)
        with precondition("a release by the RM is confirmed"):
            self.expect(Released(identity=real.identity))
        left = tuple(p for p in placeholders if p is not gone)
        return WaitingGang(gang, left, since, took=since - before)

    def expect_clean_up(self, waiting: WaitingGang) -> list[Released]:
        """Wait for the waiting timeout and the release of every leftover.

        The scheduler may release them one after the other, each after the previous confirmation.
        """
        return self._are_withdrawn(waiting.leftovers, self.waiting_timeout())

    def has_begun_to_clean_up(self, waiting: WaitingGang) -> tuple[Released, Allocated]:
        """Given: the first release of a leftover, unconfirmed, and a leftover not yet released."""
        with precondition("the leftovers of a waiting gang are released in time"):
            return self._is_withdrawn_first(waiting.leftovers, self.waiting_timeout())

    def _are_withdrawn(self, placeholders: Sequence[Allocated], seconds: float) -> list[Released]:
        return [self._is_withdrawn(seconds, placeholder) for placeholder in placeholders]

    def _is_withdrawn_first(
        self, placeholders: Sequence[Allocated], seconds: float
    ) -> tuple[Released, Allocated]:
        first = self._is_withdrawn(seconds, *placeholders)
        return first, next(p for p in placeholders if p.identity != first.identity)

    def _is_withdrawn(self, seconds: float, *placeholders: Allocated) -> Released:
        """Return the first of these to be released, when a timer of this duration is due.

        NotOffered if the gang no longer waits because its asks were rejected.
        """
        limit = seconds + self.deadlines.timer
        patterns = tuple(timed_out(placeholder) for placeholder in placeholders)
        try:
            received = self.await_entry(patterns, limit, first=seconds)[1]
        except ConformanceFailure as failure:
            for name in {str(placeholder.application) for placeholder in placeholders}:
                if self.observe(AskRejected(application=name)):
                    raise NotOffered(not_offered(Feature.WAITING_ASKS)) from failure
            raise
        assert isinstance(received, Released)  # noqa: S101  # as every pattern is
        return received

    def window_before_end(self, gang: Gang, since: float) -> float:
        """Return the quiet window; if the gang may end in its second half, until then."""
        window = self.quiet_window()
        left = self._time_left(gang, since)
        return left if window / 2 <= left < window else window

    def _is_over(self, gang: Gang, since: float) -> bool:
        """Return whether the gang may have ended by now, as far as its limits are known."""
        return self._time_left(gang, since) <= 0

    def _decisive_moment(self, by: float) -> float:
        """Return ``by`` on virtual time, where a wait may take longer, and else the time now."""
        return by if self.exchange.history.clock.is_virtual else self.now()

    def _time_left(self, gang: Gang, since: float, *, at: float | None = None) -> float:
        """Return the seconds from ``at``, or now, until the gang may end; infinity if not known.

        With all its placeholders and no real allocation it has nothing that runs or is pending: it
        may be waiting, for as long as any application.
        """
        limits = [self.timers.placeholder if gang.limit is None else gang.limit.seconds]
        placed = self.observe(Allocated(application=gang, placeholder=True))
        if len(placed) >= gang.members:
            limits.append(self.timers.waiting_to_completed)
        moment = self.now() if at is None else at
        return min((since + one - moment for one in limits if one is not None), default=inf)

    def _seconds(self, gang: Gang) -> float:
        if gang.limit is None:
            raise PreconditionFailed(f"no limit was set for the placeholders of {gang}")
        return gang.limit.seconds


def expiry_of(gang: Gang) -> tuple[Fact, ...]:
    """Return every element by which a placeholder timeout can show."""
    return (
        Released(application=gang, termination=Termination.TIMEOUT),
        AskReleased(application=gang),
        ApplicationUpdated(gang, state=FAILURE),
        ApplicationUpdated(gang, state=RESUMING),
    )
