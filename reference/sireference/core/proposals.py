"""Proposals: an action that the RM must approve by callback before it is done.

While a question is open, no other ask of the partition is handled: the question is about the next
action, and what follows depends on the answer. So asks are served in the same order with and
without questions, and only changes made by the RM itself can happen in between. When the answer
arrives, the scheduler checks that the proposal is still possible.
"""

from functools import partial

from sireference.core import allocations, predicates
from sireference.core.gang import replacement
from sireference.core.model import (
    Answered,
    Callback,
    Effect,
    PredicatesQuestion,
    PreemptionQuestion,
)
from sireference.core.preemption import rm_approval
from sireference.core.state.partition import Partition
from sireference.core.state.proposals import CapacityOfVictims, Placement, Proposal, Replacement
from sireference.core.states import AskState


def ask(partition: Partition, now: float) -> list[Effect]:
    """Ask the RM about the first proposal, unless a question is open.

    Actions that the RM does not (or no longer) want to approve are done at once.
    """
    effects: list[Effect] = []
    while partition.proposals and not partition.is_asking:
        proposal = partition.proposals[0]
        if _callback(proposal) in partition.callbacks.offered and _is_possible(partition, proposal):
            partition.is_asking = True
            number = partition.callbacks.ask(partial(_answered, partition))
            return [*effects, question(partition, proposal, number)]
        effects += _settle(partition, now, agrees=True)
    return effects


def _answered(partition: Partition, answer: Answered, now: float) -> list[Effect]:
    partition.is_asking = False
    if not partition.proposals:  # the partition is removed
        return []
    proposal = partition.proposals[0]
    agrees = _agrees(proposal, answer)
    if not agrees:
        predicates.exclude(partition, proposal.pending, proposal.node)
        partition.event_log.unsuitable(proposal.pending.ask, proposal.node, answer.reason)
    return _settle(partition, now, agrees=agrees, answer=answer)


def _settle(
    partition: Partition, now: float, *, agrees: bool, answer: Answered | None = None
) -> list[Effect]:
    """Carry out the first proposal or drop it; then the ask waits in its group again."""
    proposal = partition.unpropose()
    pending = proposal.pending
    if agrees and _is_possible(partition, proposal):
        return _carry_out(partition, proposal, answer, now)
    _give_up(partition, proposal, now)
    partition.asks.requeue(pending)
    return []


def _callback(proposal: Proposal) -> Callback:
    """Return the callback that the RM must take to be asked."""
    if isinstance(proposal, CapacityOfVictims):
        return Callback.PREEMPTION_PREDICATES
    return Callback.PREDICATES


def question(partition: Partition, proposal: Proposal, number: int) -> Effect:
    """Return the question to the RM about a proposal."""
    rm_id, key, node_id = partition.rm_id, proposal.pending.ask.key, proposal.node.node_id
    match proposal:
        case Placement():
            return PredicatesQuestion(rm_id, number, key, node_id, allocate=True)
        case Replacement():
            return PredicatesQuestion(rm_id, number, key, node_id, allocate=False)
        case CapacityOfVictims(listed=listed, enough=enough):
            victims = tuple(victim.record.ask.key for victim in listed)
            return PreemptionQuestion(rm_id, number, key, node_id, victims, enough - 1)


def _agrees(proposal: Proposal, answer: Answered) -> bool:
    if isinstance(proposal, CapacityOfVictims):
        return answer.suits and rm_approval.names_enough(proposal, answer)
    return answer.suits


def _is_possible(partition: Partition, proposal: Proposal) -> bool:
    """Return whether it can still be done."""
    if proposal.pending.state is not AskState.PENDING:
        return False
    match proposal:
        case Placement():
            return predicates.is_possible(partition, proposal)
        case Replacement():
            return replacement.is_possible(proposal)
        case CapacityOfVictims():
            return rm_approval.is_possible(partition, proposal)


def _carry_out(
    partition: Partition, proposal: Proposal, answer: Answered | None, now: float
) -> list[Effect]:
    """Carry it out; ``answer`` is None if the RM was not asked."""
    match proposal:
        case Placement(pending=pending, node=node):
            return allocations.make(partition, pending, node, now)
        case Replacement(pending=pending, placeholder=placeholder):
            return replacement.release(partition, pending, placeholder)
        case CapacityOfVictims():
            return rm_approval.carry_out(partition, proposal, answer, now)


def _give_up(partition: Partition, proposal: Proposal, now: float) -> None:
    """Drop a proposal that the RM refused or that is no longer possible."""
    match proposal:
        case Placement(pending=pending, is_second_choice=is_second_choice):
            pending.had_placeholder = pending.had_placeholder or is_second_choice
        case Replacement():
            pass  # the ask looks for another placeholder, or for a node
        case CapacityOfVictims(pending=pending):
            rm_approval.give_up(partition, pending, now)
