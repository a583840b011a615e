"""One node: what it has, what is taken, what runs on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.states import NodeState

if TYPE_CHECKING:
    from sireference.core.state.preemption import Preemption


@dataclass(slots=True, eq=False)
class Node:
    """A node of one partition; ``number`` counts nodes in the order they were created."""

    node_id: str
    number: int
    attributes: Mapping[str, str]
    capacity: Resource
    occupied: Resource
    state: NodeState
    reserved: Resource = NOTHING  # to asks whose victims are to go
    yielding: Resource = NOTHING  # held by victims of preemption
    free: Resource = NOTHING
    whole: Resource = NOTHING  # its capacity when it was advised first, see utilisation
    advised: Resource = NOTHING  # what the RM was advised to offer of it
    rank: float | None = None  # its place in the node index while it is in there
    allocations: dict[str, Allocation] = field(default_factory=dict)
    reservations: "dict[Preemption, None]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reckon()

    @property
    def allocated(self) -> Resource:
        """What its allocations hold together."""
        return sum(
            (allocation.record.ask.resource for allocation in self.allocations.values()), NOTHING
        )

    def reckon(self) -> None:
        """Work out what is free after capacity or occupation changed; it may be below zero."""
        self.free = self.capacity - self.occupied - self.allocated - self.reserved

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Whether ``need`` fits now, and what was promised to others can still be had after it.

        ``promised`` is what was promised to the one who asks. Stricter is who asks whether it fits
        in ``free``: that counts promises in full, even where their victims are still there.
        """
        there, at_last = self.free + self.reserved, self.free + self.yielding + reserved
        return need.fits(there) and need.fits(at_last)

    def reserve(self, preemption: "Preemption") -> None:
        """Keep room for an ask, even if it has to come free first."""
        resource = preemption.pending.ask.resource
        self.reservations[preemption] = None
        self.reserved += resource
        self.free -= resource

    def unreserve(self, preemption: "Preemption") -> None:
        """Keep it no more."""
        resource = preemption.pending.ask.resource
        del self.reservations[preemption]
        self.reserved -= resource
        self.free += resource

    def book(self, allocation: Allocation) -> None:
        """Put ``live`` on the node."""
        resource = allocation.record.ask.resource
        self.allocations[allocation.record.identity] = allocation
        self.free -= resource

    def unbook(self, allocation: Allocation) -> None:
        """Take ``live`` off the node."""
        resource = allocation.record.ask.resource
        del self.allocations[allocation.record.identity]
        self.free += resource
