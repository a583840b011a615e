"""Proposals: actions for an ask that need the approval of the RM."""

from dataclasses import dataclass
from typing import ClassVar

from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """One allocation of ``pending`` on ``node``.

    ``is_second_choice``: its placeholder is gone; if it cannot be placed here, it is placed like
    any other ask.
    """

    pending: PendingAsk
    node: Node
    is_second_choice: bool = False
    serves: ClassVar[bool] = True  # uses one of the requested allocations


@dataclass(frozen=True, slots=True, eq=False)
class Replacement:
    """``pending`` replaces ``placeholder``, which is to be released for it."""

    pending: PendingAsk
    placeholder: Allocation
    serves: ClassVar[bool] = True

    @property
    def node(self) -> Node:
        """Return the node of the placeholder."""
        return self.placeholder.node


@dataclass(frozen=True, slots=True, eq=False)
class CapacityOfVictims:
    """Capacity on ``node`` for ``pending``, after the end of some allocations there.

    ``listed`` are all possible victims in order of eviction; the first ``enough`` of them suffice.
    """

    pending: PendingAsk
    node: Node
    listed: tuple[Allocation, ...]
    enough: int
    serves: ClassVar[bool] = False


Proposal = Placement | Replacement | CapacityOfVictims
