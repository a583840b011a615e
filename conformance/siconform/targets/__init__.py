"""What is judged: a scheduler somewhere, and as far as the kit may start it again."""

from typing import Protocol

from siwire import Revision

from siconform.outcomes import TargetLost
from siconform.protocol.timers import Timers
from siconform.targets.terms import Terms


class TargetUnavailable(TargetLost):
    """No target to talk to in the first place; the message is the sentence the user reads."""


class Target(Protocol):
    """A scheduler under test, for as long as one worker lives."""

    revision: Revision  # it is told to speak
    time_scale: float  # the factor on every deadline
    traits: frozenset[str]  # what is peculiar about it, such as "one-rm-per-process"
    restartable: bool  # whether the kit can start it again
    timers: Timers  # how long its own timers run, as far as known beforehand
    stated: Timers  # the same by the user, who knows better than the target itself
    terms: Terms  # how to register with it, and what it does not offer

    @property
    def name(self) -> str:
        """As the user knows it."""

    @property
    def address(self) -> str:
        """HOST:PORT for ``grpc.insecure_channel``; another one after a restart."""

    def alive(self) -> bool:
        """Whether its process is still there; where the kit started none: True."""

    def restart(self) -> None:
        """A fresh process in place of the old one. TargetUnavailable when it does not come up."""

    def stop(self) -> None:
        """End the process, if it is ours; harmless when done twice."""
