"""What the simulated scheduler knows of one RM: nodes, applications, requests, allocations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from siconform.protocol.notifications import Allocated, Termination
from siconform.protocol.requests import Amounts, AskRequest


@dataclass(slots=True)
class Node:
    """A node; ``accepted`` is False while its verdict is held back."""

    name: str
    capacity: Amounts
    occupied: Amounts = field(default_factory=dict)
    schedulable: bool = True
    accepted: bool = True


@dataclass(slots=True)
class Application:
    """An application; ``state`` is "" until one is reported."""

    name: str
    partition: str
    queue: str = ""
    accepted: bool = True
    state: str = ""
    completing_since: float | None = None


@dataclass(slots=True)
class Pending:
    """A pending request; ``remaining`` of its allocations are outstanding."""

    ask: AskRequest
    remaining: int
    releasing: Termination | None = None  # a release that the RM has not confirmed
    replaces: str = ""  # the identity of the placeholder it waits for

    @property
    def name(self) -> tuple[str, str]:
        """Its application and key."""
        return self.ask.application, self.ask.key

    def is_named(self, application: str, key: str) -> bool:
        """Return whether this has the key, of this application or any if none is named."""
        return self.ask.key == key and application in ("", self.ask.application)


@dataclass(slots=True)
class Live:
    """An allocation; ``releasing`` is the release that the RM has not confirmed."""

    allocation: Allocated
    releasing: Termination | None = None


@dataclass(slots=True)
class Model:
    """All objects of one RM, in the order of their arrival."""

    nodes: dict[str, Node] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)  # ids of applications rejected or removed
    pending: dict[tuple[str, str], Pending] = field(default_factory=dict)  # by application, key
    live: dict[str, Live] = field(default_factory=dict)  # by identity
    foreign: dict[str, tuple[str, Amounts]] = field(default_factory=dict)  # by key: node, amounts

    def pending_of(self, application: str) -> list[Pending]:
        """Return the pending requests of an application."""
        # copied first: a test looks while the RM acts
        return [one for one in list(self.pending.values()) if one.ask.application == application]

    def live_of(self, application: str) -> list[Live]:
        """Return the allocations of an application."""
        live = list(self.live.values())
        return [one for one in live if one.allocation.application == application]

    def queue_of(self, application: str) -> str:
        """Return the queue of an application; "" if it is unknown."""
        app = self.applications.get(application)
        return app.queue if app is not None else ""

    def fits(self, node: Node, amounts: Amounts) -> bool:
        """Return whether a node has these amounts free."""
        used = list(self._used(node))
        return all(
            node.capacity.get(name, 0) - sum(one.get(name, 0) for one in used) >= amount
            for name, amount in amounts.items()
            if amount > 0
        )

    def _used(self, node: Node) -> Iterator[Mapping[str, int]]:
        yield node.occupied
        for live in self.live.values():
            if live.allocation.node == node.name:
                yield live.allocation.resource
        for where, amounts in self.foreign.values():
            if where == node.name:
                yield amounts
