"""All that is known of one RM: its nodes, its applications, and one table of entries by key."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from siwire.r2024_10 import si_pb2

from mutation.by_key.news import News
from mutation.by_key.queues import Amounts, Partition

USUAL_PARTITION = "default"


def amounts(resource: si_pb2.Resource) -> Amounts:
    """What a message says of resources."""
    return {kind: quantity.value for kind, quantity in resource.resources.items()}


class State(StrEnum):
    """Where an application is in its life."""

    NEW = "New"
    ACCEPTED = "Accepted"
    RUNNING = "Running"
    WAITING = "Waiting"
    COMPLETED = "Completed"
    KILLED = "Killed"


@dataclass(eq=False)
class Node:
    """A node as the RM described it last."""

    name: str
    partition: str
    has: Amounts
    attributes: dict[str, str]
    draining: bool = False


@dataclass(eq=False)
class Application:
    """An application, and how far it and its gang have come."""

    name: str
    partition: str
    queue: str
    request: si_pb2.AddApplicationRequest
    number: int
    state: State = State.NEW
    since: float = 0.0  # when the state began
    ran: float = 0.0  # how long it was running before that
    runs: bool = False  # it counts as running where a queue limits those
    gang_since: float | None = None  # when its first placeholder got room
    gang_had: Counter[str] = field(default_factory=Counter)  # all its placeholders ever had
    gang_over: bool = False  # complete, or its time was over
    ends_as: State | None = None  # once all it had is confirmed as released

    def note_placeholder(self, entry: "Entry") -> None:
        """Count one that got room; the time of a gang begins with the first."""
        if entry.is_placeholder:
            self.gang_had.update(entry.size)
            self.gang_since = self.gang_since or time.time()

    @property
    def is_hard(self) -> bool:
        """Whether it fails with its gang."""
        return self.request.gangSchedulingStyle.lower() == "hard"


@dataclass(eq=False)
class Entry:
    """What is known under one key: a request while it has no node, an allocation when it has."""

    sent: si_pb2.Allocation
    application: Application | None  # None for what is of no application here: foreign
    number: int
    node: str = ""
    leaving: "si_pb2.TerminationType.ValueType | None" = None  # told, and not confirmed yet
    successor: "Entry | None" = None  # what takes its place
    held: bool = False  # waits for a placeholder to go
    tried: int = 0  # and found no room
    not_before: float = 0.0  # it is tried again

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
        """Whether it holds room for another; without a task group that says nothing."""
        return self.sent.placeholder and bool(self.group)

    @property
    def size(self) -> Amounts:
        """How much it takes, or wants."""
        return amounts(self.sent.resourcePerAlloc)


@dataclass(eq=False)
class Table:
    """Everything of one RM; another registration begins another table."""

    rm: str
    partitions: dict[str, Partition]
    manners: frozenset[str]
    timers: dict[str, float]
    news: News
    nodes: dict[str, Node] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    used_keys: set[str] = field(default_factory=set)
    used_ids: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def has(self, manner: str) -> bool:
        """Whether this manner is in force."""
        return manner in self.manners

    def address(self, application: str, key: str) -> str:
        """Where the table has a key."""
        return f"{application}\n{key}" if self.has("own-keys") else key

    def enter(self, entry: Entry) -> None:
        """Put an entry under its key."""
        address = self.address(entry.sent.applicationID, entry.key)
        self.entries[address] = entry
        self.used_keys.add(address)

    def strike(self, entry: Entry) -> None:
        """Take an entry out; what was to take its place waits like any other."""
        self.entries.pop(self.address(entry.sent.applicationID, entry.key), None)
        if entry.successor is not None:
            entry.successor.held = False

    def of(self, application: Application) -> list[Entry]:
        """All an application has and wants."""
        return [entry for entry in self.entries.values() if entry.application is application]
