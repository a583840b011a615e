"""Approval: an RM that wants to be asked says whose end makes room for an ask, before anybody goes.

It is asked about one node and everybody there who may go for the ask, in the order in which they
would. Those up to startIndex give back enough; the others are for what only the RM knows of. Nobody
goes whom it did not name. If it names fewer than are needed, or somebody who is not in the list, it
has not agreed. Who has to go elsewhere, so that the ask fits below the maximum of a queue, is no
part of the question: the RM is asked whether the ask can be on that node.
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
    """Have the victims that ``search`` has chosen released, once the RM agrees."""
    node = chosen.node
    there = [victim.allocation for victim in chosen.victims if victim.allocation.node is node]
    wants_to_be_asked = Callback.PREEMPTION_PREDICATES in partition.callbacks.offered
    if not there or not wants_to_be_asked:
        return _begin(partition, pending, chosen, needs_all=False)
    others = (victim.allocation for victim in search.further(chosen))
    partition.propose(CapacityOfVictims(pending, node, (*there, *others), enough=len(there)))
    return []


def names_enough(proposal: CapacityOfVictims, answer: Answered) -> bool:
    """Whether as many as are needed are to go, and nobody who is not in the list."""
    return proposal.enough <= _named(answer) <= len(proposal.listed)


def is_possible(partition: Partition, proposal: CapacityOfVictims) -> bool:
    """Whether the ask still may have others go for it, and be on that node."""
    return (
        proposal.node.state is NodeState.SCHEDULABLE
        and eligibility.is_ready(partition, proposal.pending)
        and eligibility.may_claim(proposal.pending)
    )


def carry_out(
    partition: Partition, proposal: CapacityOfVictims, answer: Answered | None, now: float
) -> list[Effect]:
    """Whoever has ended since it was proposed goes without being told to."""
    pending = proposal.pending
    allowed = proposal.listed[: proposal.enough if answer is None else _named(answer)]
    chosen = victim_search.Search(partition, pending).with_all(proposal.node, allowed)
    if chosen is None or not chosen.victims:
        give_up(partition, pending, now)
        return []
    return _begin(partition, pending, chosen, needs_all=answer is not None)


def give_up(partition: Partition, pending: PendingAsk, now: float) -> None:
    """The ask looks for other victims, and for these again after a while."""
    if pending.state is AskState.PENDING:
        predicates.found_no_node(partition, pending, now)
        partition.preemptors.add(pending)


def _named(answer: Answered) -> int:
    """How many of those listed are to go."""
    return answer.index + 1


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
