"""One RM's end of its streams, and what all classes of its steps have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.inbox import Inbox
from siconform.expecting.link import Link
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.expecting.synchronisation import Synchronisation
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.recording.history import Exchange
from siconform.targets.profile import TargetProfile
from siconform.transport.connection import Connection

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True)
class Endpoint:
    """What an RM is created with. ``prefix`` is that of every id a test makes up."""

    link: Link
    exchange: Exchange
    deadlines: Deadlines
    alive: Callable[[], bool]  # whether the target is still there
    prefix: str
    profile: TargetProfile = field(default_factory=TargetProfile)
    observed: ProbedBehaviour = field(default_factory=ProbedBehaviour)


class Steps:
    """The base of every class of steps.

    Each class inherits from those whose steps it calls, and an RM from all of them: there is one
    object, and ``self`` has exactly the steps that its class names as bases. A class with state of
    its own extends ``__init__``.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.exchange = endpoint.exchange
        self.deadlines = endpoint.deadlines
        self.profile = endpoint.profile
        self.terms = endpoint.profile.terms
        self.observed = endpoint.observed
        self._endpoint = endpoint
        self._link = endpoint.link
        self._alive = endpoint.alive
        self._inbox = Inbox(endpoint.link, endpoint.exchange)
        self._synchronisation = Synchronisation(endpoint.link, endpoint.alive)

    @property
    def connection(self) -> Connection:
        """The streams the RM uses; others after a restart of the scheduler."""
        return self._link.connection

    def observe(self, pattern: F) -> list[F]:
        """Every element of this test so far that matches, whether it answered something or not."""
        return self._inbox.observe(pattern)

    def barriers(self, kind: UpdateKind) -> None:
        """Return once everything sent on the stream of this kind was processed."""
        self._synchronisation.barriers(kind)

    def synchronise_all(self) -> None:
        """Fence every stream that was used since its last fence."""
        self._synchronisation.synchronise_all()
