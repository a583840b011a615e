"""The scheduler's own timers, as far as the kit was told how long they run."""

from functools import cached_property
from typing import Final

from siconform.expecting.observations import Observations
from siconform.outcomes import PreconditionFailed
from siconform.protocol.timers import UNKNOWN, Timers

_PLACEMENTS: Final = (
    4  # that a test may need before a limit is over, each as slow as the slowest seen
)


class TimerSteps(Observations):
    """Each is a premise: the timer is known, and short enough to wait for."""

    @cached_property
    def timers(self) -> Timers:
        """What is known beforehand, what the target says for this RM, what the user told."""
        described = UNKNOWN
        if self._link.extension is not None:
            described = self._link.extension.describes(self.connection.rm_id).timers
        return self.profile.timers.with_known(described).with_known(self.profile.stated)

    def waiting_timeout(self) -> float:
        """Seconds an application is waiting before it is completed."""
        return self._can_be_waited_for(
            self.timers.waiting_to_completed,
            "how long an application is waiting before it is completed",
            "--waiting-timeout",
        )

    def long_enough_to_be_served(self, seconds: float) -> float:
        """So many seconds, or more where this scheduler takes longer to serve an ask."""
        return max(seconds, _PLACEMENTS * self.latency.slowest)

    def shortest_wait(self) -> float | None:
        """After so many seconds with nothing left an application may be completed; None: unknown.

        Where nobody said how long an application waits, it may be as long as the RM proposed.
        """
        if self.timers.waiting_to_completed is not None:
            return self.timers.waiting_to_completed
        return self.terms.proposed_timers(
            self.profile.stated, self.deadlines.scaled_by
        ).waiting_to_completed

    def connection_loss_timeout(self) -> float:
        """Seconds an RM that lost its connection is kept before it is stopped."""
        return self._can_be_waited_for(
            self.timers.connection_loss,
            "how long an RM that lost its connection is kept",
            "--connection-loss-timeout",
        )

    def placeholder_timeout(self) -> float:
        """Seconds a gang whose application names no limit may wait for its placeholders."""
        return self._can_be_waited_for(
            self.timers.placeholder,
            "how long the scheduler lets a gang wait for its placeholders",
            "--placeholder-timeout",
        )

    def _can_be_waited_for(self, seconds: float | None, what: str, option: str) -> float:
        if seconds is None:
            raise PreconditionFailed(f"not known: {what} (tell it with {option} SECONDS)")
        longest = self.terms.longest_timer
        if seconds > longest and not self.exchange.history.clock.is_virtual:
            raise PreconditionFailed(
                f"{what} is {seconds:g} s, too long to wait for ({longest:g} s at most: "
                "--longest-timer SECONDS)"
            )
        return seconds
