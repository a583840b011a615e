"""Proposals: nodes for asks that the RM has not agreed to yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sireference.core.model import (
    Answered,
    Callback,
    Effect,
    PredicatesQuestion,
    PreemptionQuestion,
)

if TYPE_CHECKING:
    from sireference.core.state.ask_group import PendingAsk
    from sireference.core.state.node import Node
    from sireference.core.state.timers import Timer

Question = PredicatesQuestion | PreemptionQuestion


def _says_yes(answer: Answered) -> bool:
    return answer.suits


@dataclass(slots=True, eq=False)
class Proposal:
    """One allocation of ``pending`` on ``node``, or room there that is kept for it.

    ``callback`` and ``question`` are how the RM is asked, the latter by the question's number.
    ``is_possible`` says whether it still can be, ``agrees`` whether an answer allows it;
    ``carry_out`` does it once the RM agrees, or is not asked any more; ``give_up`` is called where
    it comes to nothing, before the ask stands in line again.
    """

    pending: "PendingAsk"
    node: "Node"
    callback: Callback
    question: Callable[[int], Question]
    is_possible: Callable[[], bool]
    carry_out: Callable[[float], list[Effect]]
    agrees: Callable[[Answered], bool] = _says_yes
    give_up: Callable[[float], None] | None = None
    is_turn: bool = True  # until it is settled this is one of the allocations that were asked for


class NodeExclusions:
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


class ActiveExclusions:
    """The vetoes of asks that stand in line, to be found by node."""

    __slots__ = ("_by_node", "_standing")

    def __init__(self) -> None:
        self._standing: set[NodeExclusions] = set()
        self._by_node: dict[str, set[NodeExclusions]] = {}

    def add(self, exclusions: NodeExclusions) -> None:
        """Their ask stands in line."""
        self._standing.add(exclusions)
        for node_id in exclusions.nodes:
            self._by_node.setdefault(node_id, set()).add(exclusions)

    def discard(self, exclusions: NodeExclusions) -> None:
        """Their ask does not stand in line."""
        self._standing.discard(exclusions)
        for node_id in exclusions.nodes:
            self._by_node[node_id].discard(exclusions)
            if not self._by_node[node_id]:
                del self._by_node[node_id]

    def exclude(self, exclusions: NodeExclusions, node_id: str) -> None:
        """One more node is among ``vetoes``."""
        exclusions.nodes.add(node_id)
        if exclusions in self._standing:
            self._by_node.setdefault(node_id, set()).add(exclusions)

    def lift(self, node_id: str) -> None:
        """Something changed on the node: it may be proposed again to those who stand in line."""
        for exclusions in self._by_node.pop(node_id, ()):
            exclusions.nodes.discard(node_id)

    def __bool__(self) -> bool:
        return bool(self._standing or self._by_node)
