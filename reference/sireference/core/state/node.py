"""Nodes: capacity, usage and reservations."""

from collections.abc import Mapping
from dataclasses import dataclass

from sireference.core.resources import NOTHING, Resource
from sireference.core.states import NodeState


@dataclass(slots=True, eq=False)
class Node:
    """A node of one partition; ``number`` counts nodes in order of creation."""

    node_id: str
    number: int
    attributes: Mapping[str, str]
    capacity: Resource
    occupied: Resource
    state: NodeState
    foreign: Resource = NOTHING  # used by foreign allocations
    reserved: Resource = NOTHING  # for asks whose victims must end
    yielding: Resource = NOTHING  # held by victims of preemption
    free: Resource = NOTHING
    whole: Resource = NOTHING  # its capacity before the first recommendation, see utilisation
    advised: Resource = NOTHING  # the capacity recommended to the RM
    rank: float | None = None  # its key in the node index while it is there

    def __post_init__(self) -> None:
        self.free = self.capacity - self.occupied

    @property
    def used_by_others(self) -> Resource:
        """Return what is not available, in whichever way the RM reported it."""
        return self.occupied + self.foreign

    @property
    def allocatable(self) -> Resource:
        """Return what its allocations have and what is free for others."""
        return self.capacity - self.used_by_others - self.reserved

    @property
    def allocated(self) -> Resource:
        """Return the total of its allocations."""
        return self.allocatable - self.free

    def resize(self, capacity: Resource, occupied: Resource) -> None:
        """Set new values; the free amount may become negative."""
        held = self.allocated + self.reserved
        self.capacity, self.occupied = capacity, occupied
        self.free = capacity - self.used_by_others - held

    def take_by_others(self, resource: Resource) -> None:
        """Add a foreign allocation; the free amount may become negative."""
        self.foreign += resource
        self.free -= resource

    def give_back_by_others(self, resource: Resource) -> None:
        """Remove a foreign allocation."""
        self.foreign -= resource
        self.free += resource

    def can_take(self, need: Resource, reserved: Resource = NOTHING) -> bool:
        """Return whether ``need`` fits now and other reservations can still be met after it.

        ``reserved`` is what is reserved for the asker. Checking against ``free`` is stricter: it
        counts reservations in full, even while their victims still exist.
        """
        there, at_last = self.free + self.reserved, self.free + self.yielding + reserved
        return need.fits(there) and need.fits(at_last)

    def reserve(self, resource: Resource) -> None:
        """Reserve resources for an ask, even if they must be freed first."""
        self.reserved += resource
        self.free -= resource

    def unreserve(self, resource: Resource) -> None:
        """Undo a reservation."""
        self.reserved -= resource
        self.free += resource

    def book(self, resource: Resource) -> None:
        """Add an allocation of this size."""
        self.free -= resource

    def unbook(self, resource: Resource) -> None:
        """Remove an allocation of this size."""
        self.free += resource
