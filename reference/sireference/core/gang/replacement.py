"""Replacement: a real ask takes the place of a placeholder of its task group.

The steps of the design ("Scheduler logic changes"): choose a placeholder (1), ask the RM to release
it (2), keep the real ask waiting (3) until the RM has confirmed (4), then place it where the
placeholder was, or elsewhere (5), and notify the RM (6).
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

# Members of a task group are alike: if these do not fit, the others hardly will, and checking all
# of them for each ask would be quadratic in the size of the group
_LOOKED_AT: Final = 16


def choose(partition: Partition, pending: PendingAsk) -> Allocation | None:
    """Return the placeholder to replace with ``pending``, None to place it normally (step 1).

    The task group decides, not the size. The oldest placeholder on whose node the ask would fit
    comes first, then the oldest; those marked for release are excluded (SI-GANG-023).
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
    """Have ``placeholder`` released for the ask, if the ask may run on that node."""
    if not predicates.are_wanted(partition):
        return release(partition, pending, placeholder)
    partition.propose(Replacement(pending, placeholder))
    return []


def is_possible(proposal: Replacement) -> bool:
    """Return whether the placeholder is still available for the ask."""
    placeholder = proposal.placeholder
    is_live = placeholder.state is AllocationState.ALLOCATED
    return is_live and placeholder.open_release is None


def release(partition: Partition, pending: PendingAsk, placeholder: Allocation) -> list[Effect]:
    """Ask the RM to release ``placeholder`` and let the ask wait; nothing is free yet (2, 3)."""
    partition.asks.hold_for_replacement(pending, placeholder)
    message = f"ask {quoted(pending.ask.key)} replaces this placeholder"
    asked = partition.ask_for_release(placeholder, TerminationType.PLACEHOLDER_REPLACED, message)
    return [ReleasedAllocation(partition.rm_id, asked)]


def go_on(partition: Partition, gone: Allocation, now: float) -> list[Effect]:
    """Place the ask that waited for the end of ``gone``, for any reason (4 to 6).

    It takes precedence over all other asks on the same node (SI-GANG-021). If it does not fit
    there, it returns to its group and goes to another node or waits for capacity; it has used its
    placeholder and gets no other (SI-GANG-025, SI-GANG-055).
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
    """Return whether the ask may run on ``node``; affinities are checked after the release."""
    return (
        node.state is NodeState.SCHEDULABLE
        and ask.required_node in ("", node.node_id)
        and (ask.constraint is None or ask.constraint.suits(node.attributes))
    )
