"""Resource managers with fake connections instead of a scheduler."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.message import Message
from siconform.expecting.barriers import Barriers
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.endpoint import Endpoint
from siconform.expecting.link import Link
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Request
from siconform.recording.history import Exchange, History
from siconform.rm.resource_manager import ResourceManager
from siconform.targets.profile import TargetProfile
from siconform.transport.connection import BARRIER_PREFIX, Connection
from siwire import DEFAULT_REVISION, Revision

Answer = Callable[[Request], Sequence[Fact]]


def nothing(_: Request) -> Sequence[Fact]:
    """Answer nothing."""
    return []


class FakeConnection:
    """A fake connection: a function from requests to notifications."""

    rm_id = "rm"
    revision = DEFAULT_REVISION

    def __init__(
        self,
        answer: Answer = nothing,
        is_barrier: Callable[[Any], bool] = lambda fact: BARRIER_PREFIX in str(fact),
        history: History | None = None,
    ) -> None:
        self.history = History() if history is None else history
        self.answer = answer
        self.requests: list[Request] = []
        self.open = True
        self._is_barrier = is_barrier

    def is_open(self, _: UpdateKind) -> bool:
        return self.open

    def send_all(self, _: UpdateKind, requests: Sequence[Request]) -> None:
        self.requests += requests
        for request in requests:
            for fact in self.answer(request):
                self.receives(fact)

    def receives(self, *facts: Fact) -> None:
        """Deliver these facts to the RM, in one message."""
        self.history.add("rm", facts, sent_by_rm=False, barrier=self._is_barrier)

    def receives_in(self, seconds: float, *facts: Fact) -> None:
        timer = threading.Timer(seconds, self.receives, facts)
        timer.daemon = True
        timer.start()


class RecordingConnection(Connection):
    """A fake connection that records the requests of each message."""

    def __init__(self, revision: Revision, kind: UpdateKind) -> None:
        super().__init__("127.0.0.1:1", revision, "rm", History())
        self.messages: list[list[Request]] = []
        self._kind = kind

    @property
    def requests(self) -> list[Request]:
        """Return the requests of all messages."""
        return [request for requests in self.messages for request in requests]

    def send_all(self, kind: UpdateKind, requests: Sequence[Request]) -> None:  # noqa: ARG002  # as overridden
        self.messages.append(list(requests))

    def receives(self, response: Message) -> None:
        self._observe(self._kind, response.SerializeToString())

    def ends(self) -> None:
        self._observe_end(self._kind, "UNAVAILABLE", "gone")


def rm_on(
    connection: Any,
    deadlines: Deadlines,
    *,
    kind: type[ResourceManager] = ResourceManager,
    barriers: Any = None,
    extension: Any = None,
    profile: TargetProfile | None = None,
    observed: ProbedBehaviour | None = None,
    alive: Callable[[], bool] = lambda: True,
) -> ResourceManager:
    """Return an RM with this connection, a name and a history."""
    for name, value in (
        ("listeners", []),
        ("receive_lock", threading.Lock()),
        ("revision", DEFAULT_REVISION),
    ):
        if not hasattr(connection, name):
            setattr(connection, name, value)
    link = Link(connection, barriers or Barriers(connection, deadlines), extension)
    exchange = Exchange(connection.history, 0)
    return kind(
        Endpoint(
            link,
            exchange,
            deadlines,
            alive,
            "t",
            profile or TargetProfile(),
            observed or ProbedBehaviour(),
        )
    )
