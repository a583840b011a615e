"""Targets: schedulers and RMs under test, and how the kit can restart them."""

from typing import Protocol

from siwire import Revision

from siconform.outcomes import TargetLost
from siconform.protocol.timers import Timers
from siconform.targets.terms import Terms


class TargetUnavailable(TargetLost):
    """No target is available; the message is shown to the user."""


class Target(Protocol):
    """A scheduler or RM under test, for the lifetime of one worker."""

    revision: Revision  # the revision in use
    time_scale: float  # factor on every deadline
    restartable: bool  # whether the kit can restart it
    traits: frozenset[str]  # peculiarities, such as "one-rm-per-process"
    timers: Timers  # known durations of its timers
    stated: Timers  # the same as stated by the user, which take precedence
    terms: Terms  # how to register with it, and what it does not offer

    @property
    def name(self) -> str:
        """The name the user knows."""

    @property
    def address(self) -> str:
        """HOST:PORT of the scheduler, also if the kit simulates it; it may change on a restart."""

    def alive(self) -> bool:
        """Return whether its process is running; True if the kit did not start it."""

    def restart(self) -> None:
        """Replace the process with a fresh one. TargetUnavailable if it does not come up."""

    def stop(self) -> None:
        """End the process if the kit started it; repeated calls are harmless."""
