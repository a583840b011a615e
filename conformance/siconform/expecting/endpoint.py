"""One RM's end of its streams, and the base class of all its steps."""

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
    """Constructor arguments of an RM. ``prefix`` starts every id a test generates."""

    link: Link
    exchange: Exchange
    deadlines: Deadlines
    alive: Callable[[], bool]  # whether the target is still running
    prefix: str
    profile: TargetProfile = field(default_factory=TargetProfile)
    observed: ProbedBehaviour = field(default_factory=ProbedBehaviour)
    registers_if_dropped: Callable[[], object] = lambda: None  # once it had no objects


class Steps:
    """Base of every class of steps.

    Each class inherits from the classes whose steps it calls, and an RM from all of them: there is
    one object, and ``self`` has exactly the steps of the declared bases. A class with state extends
    ``__init__``.
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
        """The streams the RM uses; they are replaced after a restart of the scheduler."""
        return self._link.connection

    def observe(self, pattern: F) -> list[F]:
        """Return every matching element of this test so far, whether or not it was expected."""
        return self._inbox.observe(pattern)

    def barriers(self, kind: UpdateKind) -> None:
        """Return when everything sent on the stream of this kind is processed."""
        self._synchronisation.barriers(kind)

    def synchronise_all(self) -> None:
        """Raise a barrier on every stream used since its last barrier."""
        self._synchronisation.synchronise_all()
