"""A simulated scheduler with a plain RM connected to it, to test the one with the other."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from siconform.expecting.deadlines import Deadlines
from siconform.protocol.notifications import Allocated, Fact, UpdateKind
from siconform.protocol.queue_configurations import QueueConfiguration
from siconform.protocol.requests import (
    Action,
    ApplicationRequest,
    AskRequest,
    NodeRequest,
    Registration,
    Request,
)
from siconform.recording.history import Exchange, History
from siconform.scheduler.engine import Engine
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.transport.connection import Connection
from siwire import Revision

DEADLINES = Deadlines().scaled(5.0)
LIMIT = 25.0
REGISTRATION = Registration("rm", "1", "group", QueueConfiguration("queues: []", "group"))


@dataclass
class PlainRm:
    """A connection of the kit as an RM that does only what a test says."""

    connection: Connection

    def registers(self) -> str:
        answered = self.connection.registers(REGISTRATION, LIMIT)
        if answered.status == "OK":
            self.connection.opens_all()
        return str(answered.status)

    def sends(self, *requests: Request) -> None:
        self.connection.send_all(requests[0].kind, requests)

    def adds_node(self, node: str = "n", memory: int = 4) -> None:
        self.sends(NodeRequest(node, Action.CREATE, {"memory": memory}))

    def submits(self, application: str = "a") -> None:
        self.sends(ApplicationRequest(application, "root.default", "default", "somebody"))

    def asks(self, key: str, memory: int = 1, application: str = "a", **named: Any) -> AskRequest:
        ask = AskRequest(key, application, "default", {"memory": memory}, **named)
        self.sends(ask)
        return ask

    def receives(self, pattern: Fact) -> Any:
        """Return the first match, waiting for it."""
        history = self.connection.history
        found = history.look(lambda: next(iter(self.received(pattern)), None), LIMIT)
        assert found is not None, f"not received: {pattern}"
        return found

    def received(self, pattern: Fact) -> list[Any]:
        history = self.connection.history
        facts = (entry.content for entry in history.since(0))
        return [fact for fact in facts if isinstance(fact, Fact) and pattern.matches(fact)]

    def is_allocated(self, key: str) -> Allocated:
        allocated: Allocated = self.receives(Allocated(key=key))
        return allocated


@dataclass
class Both:
    """Both ends: each records in its own history."""

    scheduler: SimulatedScheduler
    rm: PlainRm

    def another_rm(self) -> PlainRm:
        engine = self.scheduler.engine
        return PlainRm(Connection(engine.address, engine.revision, "rm", History()))


@contextmanager
def connected(revision: Revision, deadlines: Deadlines = DEADLINES) -> Iterator[Both]:
    """Yield a scheduler and an RM that has registered."""
    history = History()
    engine = Engine(revision, history)
    engine.starts()
    scheduler = SimulatedScheduler(engine, Exchange(history, 0), deadlines)
    rm = PlainRm(Connection(engine.address, revision, "rm", History()))
    try:
        assert rm.registers() == "OK"
        scheduler.awaits_rm()
        yield Both(scheduler, rm)
        assert not engine.problems
    finally:
        rm.connection.close(1.0)
        engine.close()


def becomes(holds: Callable[[], bool]) -> bool:
    """Return whether a condition comes to hold."""
    until = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


EVERY_KIND = tuple(UpdateKind)
