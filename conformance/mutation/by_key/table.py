"""The state of one RM: its nodes, its applications, and one table of entries by key."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from siwire.r2024_10 import si_pb2

from mutation.by_key.outbox import Outbox
from mutation.by_key.queues import Amounts, Partition

USUAL_PARTITION = "default"


def amounts(resource: si_pb2.Resource) -> Amounts:
    """Return the resources in a message."""
    return {kind: quantity.value for kind, quantity in resource.resources.items()}


class State(StrEnum):
    """The states of an application."""

    NEW = "New"
    ACCEPTED = "Accepted"
    RUNNING = "Running"
    WAITING = "Waiting"
    COMPLETED = "Completed"
    KILLED = "Killed"


@dataclass(eq=False)
class Node:
    """Node: a node as the RM last described it."""

    name: str
    partition: str
    has: Amounts
    attributes: dict[str, str]
    draining: bool = False
    usable_from: float = 0.0  # time since 1970


@dataclass(eq=False)
class Application:
    """An application, and the progress of its gang."""

    name: str
    partition: str
    queue: str
    request: si_pb2.AddApplicationRequest
    number: int
    state: State = State.NEW
    since: float = 0.0  # when the state began
    ran: float = 0.0  # how long it was running before that
    runs: bool = False  # counts as running where a queue limits running applications
    gang_since: float | None = None  # when its first placeholder was allocated
    gang_had: Counter[str] = field(default_factory=Counter)  # all its placeholders ever had
    gang_over: bool = False  # complete or timed out
    ends_as: State | None = None  # once all releases are confirmed

    def note_placeholder(self, entry: "Entry") -> None:
        """Count an allocated placeholder; the first starts the gang's timer."""
        if entry.is_placeholder:
            self.gang_had.update(entry.size)
            self.gang_since = self.gang_since or time.time()

    @property
    def is_hard(self) -> bool:
        """Whether the application fails with its gang."""
        return self.request.gangSchedulingStyle.lower() == "hard"


@dataclass(eq=False)
class Entry:
    """An entry by key: without a node a request, with one an allocation."""

    sent: si_pb2.Allocation
    application: Application | None  # None for foreign allocations
    number: int
    node: str = ""
    leaving: "si_pb2.TerminationType.ValueType | None" = None  # sent and not confirmed yet
    successor: "Entry | None" = None  # its replacement
    held: bool = False  # waits for the release of a placeholder
    tried: int = 0  # and did not fit
    not_before: float = 0.0  # when it is tried again

    @property
    def key(self) -> str:
        """Its key."""
        return self.sent.allocationKey

    @property
    def group(self) -> str:
        """Its task group."""
        return self.sent.taskGroupName

    @property
    def is_placeholder(self) -> bool:
        """Whether it is a placeholder; false without a task group."""
        return self.sent.placeholder and bool(self.group)

    @property
    def size(self) -> Amounts:
        """How much it takes or requests."""
        return amounts(self.sent.resourcePerAlloc)


@dataclass(eq=False)
class Table:
    """The state of one RM; a new registration gets a new table."""

    rm: str
    partitions: dict[str, Partition]
    strategies: frozenset[str]
    timers: dict[str, float]
    news: Outbox
    nodes: dict[str, Node] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    used_keys: set[str] = field(default_factory=set)
    used_ids: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    since: float = field(default_factory=time.time)  # the registration

    def has(self, strategy: str) -> bool:
        """Return whether this strategy is enabled."""
        return strategy in self.strategies

    def address(self, application: str, key: str) -> str:
        """Return where the table has a key."""
        return f"{application}\n{key}" if self.has("own-keys") else key

    def enter(self, entry: Entry) -> None:
        """Enter an entry under its key."""
        address = self.address(entry.sent.applicationID, entry.key)
        self.entries[address] = entry
        self.used_keys.add(address)

    def strike(self, entry: Entry) -> None:
        """Remove an entry; its replacement becomes an ordinary pending request."""
        self.entries.pop(self.address(entry.sent.applicationID, entry.key), None)
        if entry.successor is not None:
            entry.successor.held = False

    def of(self, application: Application) -> list[Entry]:
        """Return all entries of an application."""
        return [entry for entry in self.entries.values() if entry.application is application]
