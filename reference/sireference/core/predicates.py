"""Predicates: an RM that wants to be asked is asked before an ask gets a node.

What it is asked, and what follows from its answer, is in `proposals`.
"""

from typing import Final

from sireference.core import allocations
from sireference.core.model import Callback, Effect
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.node_exclusions import NodeExclusions
from sireference.core.state.partition import Partition
from sireference.core.state.proposals import Placement
from sireference.core.states import NodeState

# Seconds until nodes that the RM did not want are proposed again: once, and at most
_FIRST_TIMEOUT: Final = 1.0
_LAST_TIMEOUT: Final = 60.0


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
    """Serve ``pending`` once on ``node``, as soon as the RM agrees (see `Placement`)."""
    if not are_wanted(partition):
        return allocations.make(partition, pending, node, now)
    partition.propose(Placement(pending, node, is_second_choice))
    return []


def is_possible(partition: Partition, placement: Placement) -> bool:
    """Whether the ask can still be on that node."""
    pending, node = placement.pending, placement.node
    need = pending.ask.resource
    return (
        node.state is NodeState.SCHEDULABLE
        and partition.node_index.is_open(pending.key.profile, node)
        and node.can_take(need)
        and pending.application.can_take(need)
    )


def exclude(partition: Partition, pending: PendingAsk, node: Node) -> None:
    """The RM does not want the ask on ``node``."""
    if pending.exclusions is None:
        pending.exclusions = NodeExclusions(_FIRST_TIMEOUT)
    partition.node_index.exclude(pending.exclusions, node)


def found_no_node(partition: Partition, pending: PendingAsk, now: float) -> None:
    """Propose the nodes that the RM did not want again, after a while; then after a longer one.

    What the RM goes by is not known here: it may want tomorrow what it did not want today.
    """
    exclusions = pending.exclusions
    if exclusions is None or not exclusions.nodes or exclusions.timer is not None:
        return

    def forget(_: float) -> list[Effect]:
        pending.exclusions = NodeExclusions(min(2 * exclusions.timeout, _LAST_TIMEOUT))
        if pending.wants_more:
            partition.asks.enqueue(pending)
        partition.preemptors.try_again(pending)
        return []

    exclusions.timer = partition.timers.set(now + exclusions.timeout, forget)
