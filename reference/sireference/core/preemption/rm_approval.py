"""Consent: an RM that wants to be asked says whose end makes room for an ask, before anybody goes.

It is asked about one node and everybody there who may go for the ask, in the order in which they
would. Those up to startIndex give back enough; the others are for what only the RM knows of. Nobody
goes whom it did not name. If it names fewer than are needed, or somebody who is not in the list, it
has not agreed. Who has to go elsewhere, so that the ask fits below the maximum of a queue, is no
part of the question: the RM is asked whether the ask can be on that node.
"""

from sireference.core import predicates
from sireference.core.model import (
    Answered,
    Callback,
    Effect,
    PreemptionQuestion,
    ReleasedAllocation,
    quoted,
)
from sireference.core.preemption import eligibility, victim_search
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.preemption import Preemption
from sireference.core.state.proposals import Proposal
from sireference.core.states import AskState, NodeState, TerminationType


def seek(
    partition: Partition,
    pending: PendingAsk,
    search: victim_search.Search,
    chosen: victim_search.Choice,
    now: float,
) -> list[Effect]:
    """Have the victims that ``search`` has chosen released, once the RM agrees."""
    node = chosen.node
    there = [victim.allocation for victim in chosen.victims if victim.allocation.node is node]
    wants_to_be_asked = Callback.PREEMPTION_PREDICATES in partition.callbacks.offered
    if not there or not wants_to_be_asked:
        return _begin(partition, pending, chosen, needs_all=False)
    others = (victim.allocation for victim in search.further(chosen))
    listed = (*there, *others)
    question = _Question(partition, pending, node, listed, enough=len(there))
    return predicates.propose(partition, question.proposal(), now)


class _Question:
    """Whether an ask can be on ``node`` once the first of the listed are gone, and how many."""

    def __init__(
        self,
        partition: Partition,
        pending: PendingAsk,
        node: Node,
        listed: tuple[Allocation, ...],
        *,
        enough: int,
    ) -> None:
        self._partition = partition
        self._pending = pending
        self._node = node
        self._listed = listed
        self._enough = enough
        self._named: int | None = None  # how many, by the RM

    def proposal(self) -> Proposal:
        """What the RM has to agree to."""
        return Proposal(
            self._pending,
            self._node,
            Callback.PREEMPTION_PREDICATES,
            self._ask,
            is_possible=self._is_possible,
            agrees=self._agrees,
            carry_out=self._carry_out,
            give_up=self._give_up,
            is_turn=False,
        )

    def _ask(self, number: int) -> PreemptionQuestion:
        return PreemptionQuestion(
            self._partition.rm_id,
            number,
            self._pending.ask.key,
            self._node.node_id,
            tuple(allocation.record.ask.key for allocation in self._listed),
            self._enough - 1,
        )

    def _agrees(self, answer: Answered) -> bool:
        named = answer.index + 1
        if not answer.suits or not self._enough <= named <= len(self._listed):
            return False
        self._named = named
        return True

    def _is_possible(self) -> bool:
        return (
            self._node.state is NodeState.SCHEDULABLE
            and eligibility.is_ready(self._partition, self._pending)
            and eligibility.may_claim(self._pending)
        )

    def _carry_out(self, now: float) -> list[Effect]:
        """Whoever has ended since it was asked goes without being told to."""
        allowed = self._listed[: self._named or self._enough]
        search = victim_search.Search(self._partition, self._pending)
        chosen = search.with_all(self._node, allowed)
        if chosen is None or not chosen.victims:
            self._give_up(now)
            return []
        return _begin(self._partition, self._pending, chosen, needs_all=self._named is not None)

    def _give_up(self, now: float) -> None:
        """The ask looks for other victims, and for these again after a while."""
        if self._pending.state is AskState.PENDING:
            predicates.found_no_node(self._partition, self._pending, now)
            self._partition.preemptors.add(self._pending)


def _begin(
    partition: Partition, pending: PendingAsk, chosen: victim_search.Choice, *, needs_all: bool
) -> list[Effect]:
    """Ask the RM to release the victims, and reserve the room for the ask."""
    victims = {victim.allocation.record.identity: victim.allocation for victim in chosen.victims}
    partition.preemptions.begin(Preemption(pending, chosen.node, victims, needs_all))
    message = (
        f"makes room for ask {quoted(pending.ask.key)}"
        f" of application {quoted(pending.ask.application_id)}"
    )
    preempted = TerminationType.PREEMPTED_BY_SCHEDULER
    releases = [
        partition.ask_for_release(victim, preempted, message) for victim in victims.values()
    ]
    return [ReleasedAllocation(partition.rm_id, release) for release in releases]
