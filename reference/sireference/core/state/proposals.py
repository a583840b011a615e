"""Proposals: nodes for asks that the RM has not agreed to yet."""

from collections.abc import Callable
from dataclasses import dataclass

from sireference.core.model import (
    Answered,
    Callback,
    Effect,
    PredicatesQuestion,
    PreemptionQuestion,
)
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node

Question = PredicatesQuestion | PreemptionQuestion


def _says_yes(answer: Answered) -> bool:
    return answer.suits


@dataclass(slots=True, eq=False)
class Proposal:
    """One allocation of ``pending`` on ``node``, or room there that is kept for it.

    ``callback`` and ``question`` are how the RM is asked, the latter by the question's number.
    ``is_possible`` says whether it still can be, ``agrees`` whether an answer allows it;
    ``carry_out`` does it once the RM agrees, or is not asked any more; ``give_up`` is called where
    it comes to nothing, before the ask waits in its group again.
    """

    pending: PendingAsk
    node: Node
    callback: Callback
    question: Callable[[int], Question]
    is_possible: Callable[[], bool]
    carry_out: Callable[[float], list[Effect]]
    agrees: Callable[[Answered], bool] = _says_yes
    give_up: Callable[[float], None] | None = None
    is_turn: bool = True  # until it is settled this is one of the allocations that were asked for
