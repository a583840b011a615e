"""Proposals: nodes for asks that the RM has not agreed to yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sireference.core.model import Effect

if TYPE_CHECKING:
    from sireference.core.books.node import Node
    from sireference.core.books.pending import PendingAsk
    from sireference.core.books.timers import Timer


@dataclass(slots=True, eq=False)
class Proposal:
    """One allocation of ``pending`` on ``node``, or room there that is kept for it.

    ``is_possible`` says whether it still can be; ``carry_out`` does it once the RM agrees,
    ``give_up`` is called where it comes to nothing, before the ask stands in line again.
    """

    pending: "PendingAsk"
    node: "Node"
    allocate: bool
    is_possible: Callable[[], bool]
    carry_out: Callable[[float], list[Effect]]
    give_up: Callable[[], None] | None = None


class Vetoes:
    """The nodes on which the RM does not want one ask; an ask with vetoes is looked for alone.

    They hold until something changes on the node, or for ``patience`` once no other node is left.
    """

    __slots__ = ("nodes", "patience", "timer")

    def __init__(self, patience: float) -> None:
        self.nodes: set[str] = set()
        self.patience = patience
        self.timer: Timer | None = None

    def stop_timer(self) -> None:
        """Nobody waits for them to end."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
