"""Proposals: what is to be done for an ask once the RM has agreed to it."""

from dataclasses import dataclass
from typing import ClassVar

from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """One allocation of ``pending`` on ``node``.

    ``is_second_choice`` says that it comes from a placeholder: if it cannot be placed here, it is
    placed like any other.
    """

    pending: PendingAsk
    node: Node
    is_second_choice: bool = False
    serves: ClassVar[bool] = True  # with one of the allocations that were asked for


@dataclass(frozen=True, slots=True, eq=False)
class Replacement:
    """``pending`` takes the place of ``placeholder``, which is to be released for it."""

    pending: PendingAsk
    placeholder: Allocation
    serves: ClassVar[bool] = True

    @property
    def node(self) -> Node:
        """Where the ask is to be then."""
        return self.placeholder.node


@dataclass(frozen=True, slots=True, eq=False)
class CapacityOfVictims:
    """Room on ``node`` for ``pending``, once some of those there are gone.

    ``listed`` are all that may go, in the order in which they would; the first ``enough`` of them
    give back as much as is needed.
    """

    pending: PendingAsk
    node: Node
    listed: tuple[Allocation, ...]
    enough: int
    serves: ClassVar[bool] = False


Proposal = Placement | Replacement | CapacityOfVictims
