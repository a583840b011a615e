"""What asks may have in common, so that they are looked at together: above all where they fit."""

from typing import NamedTuple

from sireference.core.model import Ask
from sireference.core.placement_constraints import AllocationAffinity, PlacementConstraint
from sireference.core.state.node_exclusions import NodeExclusions


class PlacementProfile(NamedTuple):
    """What decides which nodes an ask may go to; asks of one profile are looked for together."""

    need: frozenset[tuple[str, int]]
    required_node: str
    constraint: PlacementConstraint | None = None
    counts_itself: bool = False  # among the allocations that its affinity is about
    exclusions: NodeExclusions | None = None  # by the RM, for one ask alone

    @property
    def affinity(self) -> AllocationAffinity | None:
        """What it wants of the allocations around it."""
        return None if self.constraint is None else self.constraint.affinity


class Order(NamedTuple):
    """Which ask is served first: that of higher priority, then the one that came earlier."""

    descending_priority: int
    number: int


class AskGroupKey(NamedTuple):
    """What the asks of one group have in common."""

    profile: PlacementProfile
    is_placeholder: bool
    replaces: str  # the task group whose placeholders they may replace


def profile_of(ask: Ask, exclusions: NodeExclusions | None) -> PlacementProfile:
    """The profile of ``ask``, which the RM does not want on the nodes of ``exclusions``."""
    constraint = ask.constraint
    if constraint is None:
        return PlacementProfile(ask.resource.key, ask.required_node, exclusions=exclusions)
    affinity = constraint.affinity
    counts_itself = affinity is not None and affinity.matches(ask.tags)
    return PlacementProfile(
        ask.resource.key, ask.required_node, constraint, counts_itself, exclusions
    )
