"""The state of one RM: its nodes, applications, asks and allocations."""

import itertools
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from siwire.r2023_12 import si_pb2

from mutation.independent.amounts import Amounts, minus, plus, read
from mutation.independent.outbox import Outbox
from mutation.independent.queues import Partition, Queue

USUAL_PARTITION = "default"


class ApplicationState(Enum):
    """The states of an application."""

    NEW = "New"
    ACCEPTED = "Accepted"
    RUNNING = "Running"
    WAITING = "Waiting"
    COMPLETED = "Completed"
    KILLED = "Killed"


@dataclass(eq=False)
class Node:
    """A node; draining nodes take nothing new."""

    name: str
    partition: str
    capacity: Amounts
    occupied: Amounts
    attributes: dict[str, str]
    draining: bool = False
    grants: set["Grant"] = field(default_factory=set)

    @property
    def free(self) -> Amounts:
        """What is free on the node."""
        rest = minus(self.capacity, self.occupied)
        for grant in self.grants:
            rest = minus(rest, grant.amount)
        return rest


@dataclass(eq=False)
class Ask:
    """An ask, possibly for several allocations; it exists until the last of them ended."""

    application: "Application"
    wish: si_pb2.AllocationAsk
    number: int
    made: int = 0
    swapping: int = 0  # placeholders being released for it
    living: int = 0
    fresh: bool = True  # has not been in a pass yet
    withdrawn: bool = False

    @property
    def key(self) -> str:
        """The allocation key."""
        return self.wish.allocationKey

    @property
    def amount(self) -> Amounts:
        """What one allocation takes."""
        return read(self.wish.resourceAsk)

    @property
    def group(self) -> str:
        """Its task group."""
        return self.wish.taskGroupName

    @property
    def placeholder(self) -> bool:
        """Whether it is a placeholder; false without a task group."""
        return self.wish.placeholder and bool(self.wish.taskGroupName)

    @property
    def left(self) -> int:
        """How many allocations may still be made, without those in progress."""
        return 0 if self.withdrawn else max(0, self.wish.maxAllocations - self.made - self.swapping)

    @property
    def pending(self) -> bool:
        """Whether it is not satisfied yet."""
        return not self.withdrawn and (self.left > 0 or self.swapping > 0)


@dataclass(eq=False)
class Grant:
    """An allocation."""

    identity: str
    ask: Ask
    amount: Amounts
    node: Node | None
    shown: si_pb2.Allocation
    expires: float | None = None
    leaving: "si_pb2.TerminationType.ValueType | None" = None
    asked_to_leave: bool = False
    capacity_for: Ask | None = None

    @property
    def placeholder(self) -> bool:
        """Whether it is a placeholder."""
        return self.ask.placeholder


@dataclass(eq=False)
class Application:
    """An application in its queue."""

    name: str
    partition: str
    queue: Queue
    request: si_pb2.AddApplicationRequest
    number: int
    state: ApplicationState = ApplicationState.NEW
    asks: dict[str, Ask] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    complete: bool = True  # its gang has all it asked for
    replaced: Amounts = field(default_factory=dict)
    gang_began: float | None = None
    waits_since: float = 0.0
    runs_since: float | None = None
    ran: float = 0.0
    ending: ApplicationState | None = None  # the state once everything is released
    backlog: list[Grant] = field(default_factory=list)

    @property
    def placeholders(self) -> list[Grant]:
        """Its placeholders."""
        return [grant for grant in self.grants.values() if grant.placeholder]

    @property
    def real(self) -> list[Grant]:
        """Its real allocations."""
        return [grant for grant in self.grants.values() if not grant.placeholder]

    @property
    def pending(self) -> list[Ask]:
        """Its unsatisfied asks."""
        return [ask for ask in self.asks.values() if ask.pending]


@dataclass(eq=False)
class RMState:
    """The state of one RM; a new registration gets a new one."""

    name: str
    partitions: dict[str, Partition]
    strategies: frozenset[str]
    timers: Mapping[str, float]
    outbox: Outbox
    nodes: dict[str, Node] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)
    numbers: "Iterator[int]" = field(default_factory=itertools.count)
    rotation: int = 0
    now: float = 0.0

    def has(self, strategy: str) -> bool:
        """Return whether a strategy is enabled."""
        return strategy in self.strategies

    def all_grants(self) -> list[Grant]:
        """All allocations."""
        return [g for a in self.applications.values() for g in a.grants.values()]

    def new_identity(self) -> str:
        """Return an unused identity of an allocation."""
        token = secrets.token_urlsafe(9)
        return f"<{token}> é/0" if self.has("opaque-identity") else token

    def take_in(self, grant: Grant) -> None:
        """Count an allocation on its node and in its queues."""
        application = grant.ask.application
        application.grants[grant.identity] = grant
        grant.ask.living += 1
        grant.ask.made += 1
        application.queue.take(grant.amount)
        if grant.node is not None:
            grant.node.grants.add(grant)

    def vacate(self, grant: Grant) -> None:
        """Free the resources of an allocation; it stays known."""
        if grant.node is not None:
            grant.node.grants.discard(grant)
            grant.node = None
            grant.ask.application.queue.give_back(grant.amount)

    def strike(self, grant: Grant) -> None:
        """Remove an allocation."""
        self.vacate(grant)
        application = grant.ask.application
        application.grants.pop(grant.identity, None)
        grant.ask.living -= 1
        if grant.ask.living == 0 and not grant.ask.pending:
            self.drop(grant.ask)

    def drop(self, ask: Ask) -> None:
        """Remove an ask; its allocations stay."""
        ask.withdrawn = True
        if ask.application.asks.get(ask.key) is ask:
            del ask.application.asks[ask.key]


def sum_of(grants: list[Grant]) -> Amounts:
    """Return the sum of several allocations."""
    total: Amounts = {}
    for grant in grants:
        total = plus(total, grant.amount)
    return total
