"""The scheduler's timers, as far as their durations are known."""

from functools import cached_property
from typing import Final

from siconform.expecting.observations import Observations
from siconform.outcomes import PreconditionFailed
from siconform.protocol.timers import UNKNOWN, Timers

_PLACEMENTS: Final = 4  # that a test may need before a limit, each as slow as the slowest


class TimerSteps(Observations):
    """Preconditions: a timer is known, and short enough to wait for."""

    @cached_property
    def timers(self) -> Timers:
        """Known durations; the user's values override the target's, and these the defaults."""
        described = UNKNOWN
        if self._link.extension is not None:
            described = self._link.extension.describes(self.connection.rm_id).timers
        return self.profile.timers.with_known(described).with_known(self.profile.stated)

    def waiting_timeout(self) -> float:
        """Return the seconds an application waits before it is completed."""
        return self._can_be_waited_for(
            self.timers.waiting_to_completed,
            "how long an application is waiting before it is completed",
            "--waiting-timeout",
        )

    def long_enough_to_be_served(self, seconds: float) -> float:
        """Return this many seconds, or more if this scheduler takes longer to serve an ask."""
        return max(seconds, _PLACEMENTS * self.latency.slowest)

    def shortest_wait(self) -> float | None:
        """Return after how many seconds an idle application may complete; None: unknown.

        If the duration is not known, the one proposed by the RM may apply.
        """
        if self.timers.waiting_to_completed is not None:
            return self.timers.waiting_to_completed
        return self.terms.proposed_timers(
            self.profile.stated, self.deadlines.scaled_by
        ).waiting_to_completed

    def connection_loss_timeout(self) -> float:
        """Return the seconds an RM that lost its connection is kept before it is stopped."""
        return self._can_be_waited_for(
            self.timers.connection_loss,
            "how long an RM that lost its connection is kept",
            "--connection-loss-timeout",
        )

    def placeholder_timeout(self) -> float:
        """Return the seconds a gang may wait for placeholders if its application sets no limit."""
        return self._can_be_waited_for(
            self.timers.placeholder,
            "how long the scheduler lets a gang wait for its placeholders",
            "--placeholder-timeout",
        )

    def _can_be_waited_for(self, seconds: float | None, what: str, option: str) -> float:
        if seconds is None:
            raise PreconditionFailed(f"not known: {what} (set {option} SECONDS)")
        longest = self.terms.longest_timer
        if seconds > longest and not self.exchange.history.clock.is_virtual:
            raise PreconditionFailed(
                f"{what} is {seconds:g} s, too long to wait for ({longest:g} s at most: "
                "--longest-timer SECONDS)"
            )
        return seconds
