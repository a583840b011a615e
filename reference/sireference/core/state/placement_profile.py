"""Placement profiles: what asks that are searched for together have in common."""

from typing import NamedTuple

from sireference.core.model import Ask
from sireference.core.placement_constraints import AllocationAffinity, PlacementConstraint
from sireference.core.state.node_exclusions import NodeExclusions


class PlacementProfile(NamedTuple):
    """What decides which nodes an ask may use; asks of one profile are searched for together."""

    need: frozenset[tuple[str, int]]
    required_node: str
    constraint: PlacementConstraint | None = None
    counts_itself: bool = False  # among the allocations that its affinity counts
    exclusions: NodeExclusions | None = None  # by the RM, for one ask alone

    @property
    def needs_only_capacity(self) -> bool:
        """Return whether any node with capacity will do."""
        return not self.required_node and self.constraint is None and self.exclusions is None

    @property
    def affinity(self) -> AllocationAffinity | None:
        """Return its affinity, if any."""
        return None if self.constraint is None else self.constraint.affinity


Order = tuple[int, int]
"""The order of asks: the negated priority, as the highest comes first, then the number."""


class AskGroupKey(NamedTuple):
    """What the asks of one group have in common."""

    profile: PlacementProfile
    is_placeholder: bool
    replaces: str  # the task group whose placeholders they may replace


def profile_of(ask: Ask, exclusions: NodeExclusions | None) -> PlacementProfile:
    """Return the profile of ``ask``, excluding the nodes of ``exclusions``."""
    constraint = ask.constraint
    affinity = None if constraint is None else constraint.affinity
    counts_itself = affinity is not None and affinity.matches(ask.tags)
    return PlacementProfile(
        ask.resource.key, ask.required_node, constraint, counts_itself, exclusions
    )
