"""The simulated scheduler of one test: its behaviour, steps and expectations."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from siconform.expecting.deadlines import Deadlines
from siconform.protocol.notifications import Allocated, Fact, Released, Termination, UpdateKind
from siconform.protocol.requests import AskRequest, Registration, Request
from siconform.recording.history import Entry, Exchange
from siconform.scheduler.server import SchedulerServer


class SimulatedScheduler:
    """What the ``scheduler`` fixture returns: takes over the server, with empty state.

    Correct by default; ``leaves`` ends it.
    """

    def __init__(
        self,
        server: SchedulerServer,
        exchange: Exchange,
        deadlines: Deadlines,
        alive: Callable[[], bool] = lambda: True,
    ) -> None: ...

    # the connection

    def awaits_rm(self, timeout: float | None = None) -> Registration:
        """Wait until the RM has registered and opened its streams; PreconditionFailed if not."""
        raise NotImplementedError

    @contextmanager
    def refusing_registration(self, status: str = "UNAVAILABLE") -> Iterator[None]:
        """Refuse registrations with this gRPC status."""
        raise NotImplementedError

    def aborts_stream(self, kind: UpdateKind, status: str = "UNAVAILABLE") -> None:
        """Abort one update stream."""
        raise NotImplementedError

    def drops_connections(self) -> None:
        """Drop all connections and listen again."""
        raise NotImplementedError

    def restarts(self) -> None:
        """Stop and start again on the same port, with empty state."""
        raise NotImplementedError

    def demands_registration(self) -> None:
        """Send RESYNC (2021-02)."""
        raise NotImplementedError

    # switches

    @contextmanager
    def placing_nothing(self) -> Iterator[None]:
        """Leave requests pending; place them afterwards."""
        raise NotImplementedError

    @contextmanager
    def delaying_verdicts(self) -> Iterator[None]:
        """Hold back verdicts on nodes and applications; send them afterwards."""
        raise NotImplementedError

    @contextmanager
    def rejecting(self, *kinds: type[Request]) -> Iterator[None]:
        """Reject nodes, applications or requests."""
        raise NotImplementedError

    # actions

    def allocates(self, key: str, node: str | None = None) -> Allocated:
        """Allocate a pending request, on this node or the first with room."""
        raise NotImplementedError

    def rejects(self, key: str, reason: str = "rejected by the test") -> None:
        """Reject a pending request."""
        raise NotImplementedError

    def releases(
        self, *allocations: Allocated, termination: Termination, separately: bool = False
    ) -> list[Fact]:
        """Release allocations, in one message or one each."""
        raise NotImplementedError

    def releases_requests(self, *keys: str, termination: Termination) -> list[Fact]:
        """Release pending requests."""
        raise NotImplementedError

    def releases_all_of(self, application: str, termination: Termination) -> Released:
        """Release everything of an application in one release without identity."""
        raise NotImplementedError

    def changes_state(self, application: str, state: str, message: str = "") -> None:
        """Send an application state."""
        raise NotImplementedError

    def sends(self, *facts: Fact) -> None:
        """Send any facts in one message."""
        raise NotImplementedError

    # what was observed

    def expects(self, *patterns: Request, timeout: float | None = None) -> Request:
        """Wait for the first match; LATE within the grace period, FAIL after it."""
        raise NotImplementedError

    def expects_none(self, *patterns: Request) -> None:
        """Fail on a match so far or within the quiet window."""
        raise NotImplementedError

    def requests_of(self, application: str) -> list[AskRequest]:
        """Return all asks of an application, in the order received."""
        raise NotImplementedError

    def allocation_of(self, application: str) -> Allocated:
        """Return the first allocation of an application."""
        raise NotImplementedError

    def observed(self, kind: type[Request]) -> Sequence[Entry]:
        """Return what the RM sent of this type, in the order received across streams."""
        raise NotImplementedError

    def leaves(self) -> None:
        """Stop reacting."""
        raise NotImplementedError
