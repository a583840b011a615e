"""RM approval: an RM that takes the callback decides on victims before any is asked to end.

The question is about one node and all its possible victims, in order of eviction. Those up to
startIndex suffice; the others are for constraints only the RM knows. Only victims that it names
must end. If it names fewer than are needed, or an allocation that is not listed, it has refused.
Victims on other nodes, needed for the maximum of a queue, are not part of the question: the RM is
asked whether the ask can run on that node.
"""

from sireference.core import predicates
from sireference.core.model import Answered, Callback, Effect, ReleasedAllocation, quoted
from sireference.core.preemption import eligibility, victim_search
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.preemption import Preemption
from sireference.core.state.proposals import CapacityOfVictims
from sireference.core.states import AskState, NodeState, TerminationType


def seek(
    partition: Partition,
    pending: PendingAsk,
    search: victim_search.Search,
    chosen: victim_search.Choice,
) -> list[Effect]:
    """Release the victims chosen by ``search`` once the RM agrees."""
    node = chosen.node
    there = [victim.allocation for victim in chosen.victims if victim.allocation.node is node]
    wants_to_be_asked = Callback.PREEMPTION_PREDICATES in partition.callbacks.offered
    if not there or not wants_to_be_asked:
        return begin(partition, pending, chosen, needs_all=False)
    others = (victim.allocation for victim in search.further(chosen))
    partition.propose(CapacityOfVictims(pending, node, (*there, *others), enough=len(there)))
    return []


def names_enough(proposal: CapacityOfVictims, answer: Answered) -> bool:
    """Return whether the answer names enough victims, all of them listed."""
    return proposal.enough <= _named(answer) <= len(proposal.listed)


def is_possible(partition: Partition, proposal: CapacityOfVictims) -> bool:
    """Return whether the ask still may preempt and run on that node."""
    return (
        proposal.node.state is NodeState.SCHEDULABLE
        and eligibility.is_ready(partition, proposal.pending)
        and eligibility.may_claim(proposal.pending)
    )


def carry_out(
    partition: Partition, proposal: CapacityOfVictims, answer: Answered | None, now: float
) -> list[Effect]:
    """Carry out the preemption; victims that have ended meanwhile are not asked."""
    pending = proposal.pending
    allowed = proposal.listed[: proposal.enough if answer is None else _named(answer)]
    chosen = victim_search.Search(partition, pending).with_all(proposal.node, allowed)
    if chosen is None or not chosen.victims:
        give_up(partition, pending, now)
        return []
    return begin(partition, pending, chosen, needs_all=answer is not None)


def give_up(partition: Partition, pending: PendingAsk, now: float) -> None:
    """Let the ask look for other victims, and for these again after a while."""
    if pending.state is AskState.PENDING:
        predicates.found_no_node(partition, pending, now)
        partition.preemptors.add(pending)


def _named(answer: Answered) -> int:
    """Return how many of those listed must end."""
    return answer.index + 1


def begin(
    partition: Partition, pending: PendingAsk, chosen: victim_search.Choice, *, needs_all: bool
) -> list[Effect]:
    """Ask the RM to release the victims, and reserve the resources for the ask."""
    victims = {victim.allocation.record.identity: victim.allocation for victim in chosen.victims}
    partition.preemptions.begin(Preemption(pending, chosen.node, victims, needs_all))
    message = (
        f"preempted for ask {quoted(pending.ask.key)}"
        f" of application {quoted(pending.ask.application_id)}"
    )
    preempted = TerminationType.PREEMPTED_BY_SCHEDULER
    releases = [
        partition.ask_for_release(victim, preempted, message) for victim in victims.values()
    ]
    return [ReleasedAllocation(partition.rm_id, release) for release in releases]
