"""The steps of the experiment; the first line of each is its name on the page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mixed.play import Play
from mixed.steps import allocations, applications, nodes, registration, releases


@dataclass(frozen=True, slots=True)
class Step:
    """What an RM does, and what is to come of it."""

    act: Callable[[Play], None]
    area: str  # what it is about

    @property
    def name(self) -> str:
        """As it is called in a test."""
        return self.act.__name__

    @property
    def title(self) -> str:
        """As it is called on the page."""
        return (self.act.__doc__ or "").strip().splitlines()[0].rstrip(".")


STEPS: Final = tuple(
    Step(act, module.__name__.rpartition(".")[2])
    for module in (registration, nodes, applications, allocations, releases)
    for act in module.STEPS
)
