"""Replacement: a real ask takes the place of a placeholder of its task group.

The steps of the design ("Scheduler logic changes"): choose a placeholder (1), ask the RM to release
it (2), let the real ask wait (3) until the RM has confirmed (4), then put it where the placeholder
was, or elsewhere (5), and tell the RM (6).
"""

from itertools import islice
from typing import Final

from sireference.core import predicates
from sireference.core.model import Ask, Effect, ReleasedAllocation, quoted
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.proposals import Replacement
from sireference.core.states import AllocationState, NodeState, TerminationType

# Members of a task group are alike: where these do not help, the others hardly will, and looking at
# all of them for each ask would cost the square of the group
_LOOKED_AT: Final = 16


def choose(partition: Partition, pending: PendingAsk) -> Allocation | None:
    """The placeholder that ``pending`` takes the place of, None if it is placed normally (step 1).

    The task group decides, not the size. The oldest on whose node the ask would fit in its place
    comes first, then the oldest at all; those marked for release do not count (SI-GANG-023).
    """
    gang = partition.gangs.get(pending.application)
    group = gang.replaceable.get(pending.key.replaces) if gang is not None else None
    if not group:
        return None
    members = list(islice(group.values(), _LOOKED_AT))
    if pending.exclusions is not None:
        excluded = pending.exclusions.nodes
        members = [allocation for allocation in members if allocation.node.node_id not in excluded]
    for allocation in members:
        node, gives = allocation.node, allocation.record.ask.resource
        if _suits(pending.ask, node) and pending.ask.resource.fits(node.free + gives):
            return allocation
    return next(iter(members), None)


def begin(partition: Partition, pending: PendingAsk, placeholder: Allocation) -> list[Effect]:
    """Have ``placeholder`` released for the ask, if it may be on that node at all."""
    if not predicates.are_wanted(partition):
        return release(partition, pending, placeholder)
    partition.propose(Replacement(pending, placeholder))
    return []


def is_possible(proposal: Replacement) -> bool:
    """Whether the placeholder is still there for the ask."""
    placeholder = proposal.placeholder
    is_live = placeholder.state is AllocationState.ALLOCATED
    return is_live and placeholder.open_release is None


def release(partition: Partition, pending: PendingAsk, placeholder: Allocation) -> list[Effect]:
    """Ask the RM to release ``placeholder`` and let the ask wait; nothing is free yet (2, 3)."""
    partition.asks.hold_for_replacement(pending, placeholder)
    message = f"ask {quoted(pending.ask.key)} takes the place of this placeholder"
    asked = partition.ask_for_release(placeholder, TerminationType.PLACEHOLDER_REPLACED, message)
    return [ReleasedAllocation(partition.rm_id, asked)]


def go_on(partition: Partition, gone: Allocation, now: float) -> list[Effect]:
    """Place the ask that waited for ``gone`` to end, however it ended (4 to 6).

    It gets the room before anybody else does, on the same node (SI-GANG-021). Where it does not fit
    it waits in its group again and goes to another node, or waits until there is room; it had its
    placeholder and does not get another one (SI-GANG-025, SI-GANG-055).
    """
    pending = partition.replacements.resume(gone)
    if pending is None:
        return []
    need, node = pending.ask.resource, gone.node
    if (
        node.state is NodeState.SCHEDULABLE
        and partition.node_index.is_open(pending.key.profile, node)
        and node.can_take(need)
        and pending.application.can_take(need)
    ):
        return predicates.place(partition, pending, node, now, is_second_choice=True)
    pending.had_placeholder = True
    partition.asks.enqueue(pending)
    return []


def _suits(ask: Ask, node: Node) -> bool:
    """Whether the ask may be on ``node``; affinities are looked at when the placeholder is gone."""
    return (
        node.state is NodeState.SCHEDULABLE
        and ask.required_node in ("", node.node_id)
        and (ask.constraint is None or ask.constraint.suits(node.attributes))
    )
