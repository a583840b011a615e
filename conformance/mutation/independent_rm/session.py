"""What one session of the RM has sent, and what it waits for."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final

from siwire.r2024_10 import si_pb2 as si

from mutation.independent_rm.world import Application, Container, Foreign, World

RM_ID: Final = "strange-rm"
NODE, APPLICATION, ALLOCATION = "UpdateNode", "UpdateApplication", "UpdateAllocation"
REQUESTS: Final = {
    NODE: si.NodeRequest,
    APPLICATION: si.ApplicationRequest,
    ALLOCATION: si.AllocationRequest,
}


@dataclass(eq=False)
class Sent:
    """What one session has sent about a node, an application or a container, and its verdict."""

    at: float
    verdict: bool | None = None
    verdict_at: float = 0.0
    cordoned: bool = False
    view: Any = None
    live: bool = False  # allocated, or reported as existing
    released: bool = False
    rejected: bool = False

    def take(self, *, accepted: bool) -> None:
        """Note a verdict."""
        self.verdict, self.verdict_at = accepted, time.monotonic()


@dataclass(eq=False)
class Confirmation:
    """A release of the scheduler that has yet to be confirmed."""

    release: si.AllocationRelease
    containers: list[Container]
    due: float = 0.0
    repeated: bool = False


@dataclass(eq=False)
class Stream:
    """An update stream: elements that wait, and the call while it is open."""

    waiting: list[tuple[str, Any]] = field(default_factory=list)
    call: Any = None
    used: float = 0.0
    opened: bool = False


@dataclass(eq=False)
class Session:
    """From one registration to the next."""

    nodes: dict[str, Sent] = field(default_factory=dict)
    applications: dict[Application, Sent] = field(default_factory=dict)
    containers: dict[Container, Sent] = field(default_factory=dict)
    foreign: dict[Foreign, Sent] = field(default_factory=dict)
    confirmations: list[Confirmation] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=lambda: {n: Stream() for n in REQUESTS})
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    silent_until: float = 0.0


class State:
    """What the RM knows of its scheduler; its nodes and containers are in ``world``."""

    def __init__(self, scheduler: str, switches: frozenset[str], world: World) -> None:
        self.scheduler, self.on, self.world = scheduler, switches, world
        self.session: Session | None = None
        self.registrations = 0
        self.changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._started = 0
        self._messages = 0
        self._aborts = 0
        self._early: dict[Application, float] = {}
        self._last_type = si.UNKNOWN_TERMINATION_TYPE
        self._later: list[tuple[float, si.Allocation]] = []  # of mutants
        self._resized: set[Container] = set()
        self._ended_keys = 0
