"""One node: what it has, what is taken, what is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeState


@dataclass(slots=True, eq=False)
class Node:
    """A node of one partition; ``number`` counts nodes in the order they were created."""

    node_id: str
    number: int
    attributes: Mapping[str, str]
    capacity: Resource
    occupied: Resource
    state: NodeState
    foreign: Resource = NOTHING  # used by foreign allocations
    reserved: Resource = NOTHING  # for asks whose victims are to go
    yielding: Resource = NOTHING  # held by victims of preemption
    free: Resource = NOTHING
    whole: Resource = NOTHING  # its capacity when it was advised first, see utilisation
    advised: Resource = NOTHING  # what the RM was advised to offer of it
    rank: float | None = None  # its place in the node index while it is in there

    def __post_init__(self) -> None:
        self.free = self.capacity - self.occupied

    @property
    def used_by_others(self) -> Resource:
        """What is not there for anybody, whichever way the RM said so."""
        return self.occupied + self.foreign

    @property
    def allocated(self) -> Resource:
        """What its allocations hold together."""
        return self.capacity - self.used_by_others - self.reserved - self.free

    def resize(self, capacity: Resource, occupied: Resource) -> None:
        """Take over new values; what is free then may be below zero."""
        held = self.allocated + self.reserved
        self.capacity, self.occupied = capacity, occupied
        self.free = capacity - self.used_by_others - held

    def take_by_others(self, resource: Resource) -> None:
        """A foreign allocation of this size is on it; what is free then may be below zero."""
        self.foreign += resource
        self.free -= resource

    def give_back_by_others(self, resource: Resource) -> None:
        """Give back what a foreign allocation used."""
        self.foreign -= resource
        self.free += resource

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Whether ``need`` fits now, and what is reserved for others can still be had after it.

        ``reserved`` is what is reserved for the one who asks. Stricter is who asks whether it fits
        in ``free``: that counts reservations in full, even where their victims are still there.
        """
        there, at_last = self.free + self.reserved, self.free + self.yielding + reserved
        return need.fits(there) and need.fits(at_last)

    def reserve(self, resource: Resource) -> None:
        """Keep room for an ask, even if it has to come free first."""
        self.reserved += resource
        self.free -= resource

    def unreserve(self, resource: Resource) -> None:
        """Give back room that was reserved."""
        self.reserved -= resource
        self.free += resource

    def book(self, resource: Resource) -> None:
        """An allocation of this size runs on it."""
        self.free -= resource

    def unbook(self, resource: Resource) -> None:
        """Give back what an allocation held that has ended."""
        self.free += resource
