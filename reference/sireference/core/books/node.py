"""One node: what it has, what is taken, what runs on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sireference.core.books.live import LiveAllocation
from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeState

if TYPE_CHECKING:
    from sireference.core.books.preemption import Preemption


@dataclass(slots=True, eq=False)
class Node:
    """A node of one partition; ``number`` counts nodes in the order they were created."""

    node_id: str
    number: int
    attributes: Mapping[str, str]
    capacity: Resource
    occupied: Resource
    state: NodeState
    promised: Resource = NOTHING  # to asks whose victims are to go
    yielding: Resource = NOTHING  # held by victims of preemption
    free: Resource = NOTHING
    whole: Resource = NOTHING  # its capacity when it was advised first, see utilisation
    advised: Resource = NOTHING  # what the RM was advised to offer of it
    rank: float | None = None  # its place in the node index while it is in there
    allocations: dict[str, LiveAllocation] = field(default_factory=dict)
    promises: "dict[Preemption, None]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reckon()

    @property
    def allocated(self) -> Resource:
        """What its allocations hold together."""
        return sum((live.allocation.ask.resource for live in self.allocations.values()), NOTHING)

    def reckon(self) -> None:
        """Work out what is free after capacity or occupation changed; it may be below zero."""
        self.free = self.capacity - self.occupied - self.allocated - self.promised

    def can_take(self, need: Resource, promised: Resource = NOTHING) -> bool:
        """Whether ``need`` fits now, and what was promised to others can still be had after it.

        ``promised`` is what was promised to the one who asks. Stricter is who asks whether it fits
        in ``free``: that counts promises in full, even where their victims are still there.
        """
        there, at_last = self.free + self.promised, self.free + self.yielding + promised
        return need.fits(there) and need.fits(at_last)

    def promise(self, preemption: "Preemption") -> None:
        """Keep room for an ask, even if it has to come free first."""
        resource = preemption.pending.ask.resource
        self.promises[preemption] = None
        self.promised += resource
        self.free -= resource

    def take_promise_back(self, preemption: "Preemption") -> None:
        """Keep it no more."""
        resource = preemption.pending.ask.resource
        del self.promises[preemption]
        self.promised -= resource
        self.free += resource

    def book(self, live: LiveAllocation) -> None:
        """Put ``live`` on the node."""
        resource = live.allocation.ask.resource
        self.allocations[live.allocation.identity] = live
        self.free -= resource

    def unbook(self, live: LiveAllocation) -> None:
        """Take ``live`` off the node."""
        resource = live.allocation.ask.resource
        del self.allocations[live.allocation.identity]
        self.free += resource
