"""Predicates: an RM that wants to be asked is asked before an ask gets a node.

While a question is open no other ask of the partition is looked at: the scheduler asks what it
would have done next, and what it does next depends on the answer. So the order in which asks are
served is the same with predicates as without, and no answer meets a situation that nobody thought
of, except what the RM itself changes meanwhile. Whether the proposal still is possible is looked
at again when the answer is there.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from sireference.core import allocations
from sireference.core.model import Answered, Callback, Effect, PredicatesQuestion
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.node_exclusions import NodeExclusions
from sireference.core.state.partition import Partition
from sireference.core.state.proposals import Proposal
from sireference.core.states import AskState, NodeState

# Seconds until nodes that the RM did not want are proposed again: once, and at most
_FIRST_PATIENCE: Final = 1.0
_LAST_PATIENCE: Final = 60.0


def are_wanted(partition: Partition) -> bool:
    """Whether the RM wants to be asked."""
    return Callback.PREDICATES in partition.callbacks.offered


def place(
    partition: Partition,
    pending: PendingAsk,
    node: Node,
    now: float,
    *,
    is_second_choice: bool = False,
) -> list[Effect]:
    """Serve ``pending`` once on ``node``, as soon as the RM agrees.

    ``is_second_choice`` says that it comes from a placeholder: if it cannot be placed here, it is
    placed like any other.
    """
    if not are_wanted(partition):
        return allocations.make(partition, pending, node, now)

    def is_possible() -> bool:
        need = pending.ask.resource
        return (
            node.state is NodeState.SCHEDULABLE
            and partition.node_index.is_open(pending.key.profile, node)
            and node.can_take(need)
            and pending.application.can_take(need)
        )

    def give_up(_: float) -> None:
        pending.had_placeholder = pending.had_placeholder or is_second_choice

    proposal = Proposal(
        pending,
        node,
        Callback.PREDICATES,
        question(partition, pending, node, allocate=True),
        is_possible=is_possible,
        carry_out=partial(allocations.make, partition, pending, node),
        give_up=give_up,
    )
    return propose(partition, proposal, now)


def question(
    partition: Partition, pending: PendingAsk, node: Node, *, allocate: bool
) -> Callable[[int], PredicatesQuestion]:
    """May the ask be on ``node``? To be asked under a number."""

    def ask(number: int) -> PredicatesQuestion:
        key, node_id = pending.ask.key, node.node_id
        return PredicatesQuestion(partition.rm_id, number, key, node_id, allocate)

    return ask


def propose(partition: Partition, proposal: Proposal, now: float) -> list[Effect]:
    """Ask the RM when it is the proposal's turn."""
    partition.propose(proposal)
    return _ask_first(partition, now) if len(partition.proposals) == 1 else []


def ask_again(partition: Partition, now: float) -> list[Effect]:
    """Questions that are open go to whoever answers now; if nobody does, all are agreed to."""
    return _ask_first(partition, now)


def _ask_first(partition: Partition, now: float) -> list[Effect]:
    effects: list[Effect] = []
    while partition.proposals:
        proposal = partition.proposals[0]
        if proposal.callback in partition.callbacks.offered and _is_possible(proposal):
            number = partition.callbacks.ask(partial(_answered, partition))
            return [*effects, proposal.question(number)]
        effects += _settle(partition, now, suits=True)
    return effects


def _answered(partition: Partition, answer: Answered, now: float) -> list[Effect]:
    proposal = partition.proposals[0]
    suits = proposal.agrees(answer)
    if not suits:
        _veto(partition, proposal.pending, proposal.node)
        partition.event_log.unsuitable(proposal.pending.ask, proposal.node, answer.reason)
    return _settle(partition, now, suits=suits) + _ask_first(partition, now)


def _settle(partition: Partition, now: float, *, suits: bool) -> list[Effect]:
    """Carry out the first proposal or drop it; then the ask waits in its group again."""
    proposal = partition.unpropose()
    pending = proposal.pending
    if suits and _is_possible(proposal):
        return proposal.carry_out(now)
    if proposal.give_up is not None:
        proposal.give_up(now)
    if pending.wants_more and (pending.ask_group is None or pending.ask_group.key != pending.key):
        partition.stand(pending)
    return []


def _is_possible(proposal: Proposal) -> bool:
    return proposal.pending.state is AskState.PENDING and proposal.is_possible()


def _veto(partition: Partition, pending: PendingAsk, node: Node) -> None:
    if pending.exclusions is None:
        pending.exclusions = NodeExclusions(_FIRST_PATIENCE)
    partition.node_index.exclude(pending.exclusions, node)


def found_no_node(partition: Partition, pending: PendingAsk, now: float) -> None:
    """Propose the nodes that the RM did not want again, after a while; then after a longer one.

    What the RM goes by is not known here: it may want tomorrow what it did not want today.
    """
    exclusions = pending.exclusions
    if exclusions is None or not exclusions.nodes or exclusions.timer is not None:
        return

    def forget(_: float) -> list[Effect]:
        pending.exclusions = NodeExclusions(min(2 * exclusions.patience, _LAST_PATIENCE))
        if pending.wants_more:
            partition.stand(pending)
        partition.preemptors.try_again(pending)
        return []

    exclusions.timer = partition.timers.set(now + exclusions.patience, forget)
