"""Predicates: an RM that takes the callback is asked before an ask gets a node.

The questions and the handling of answers are in `proposals`.
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

# Seconds until nodes that the RM refused are proposed again: initial value and maximum
_FIRST_TIMEOUT: Final = 1.0
_LAST_TIMEOUT: Final = 60.0
_PREDICATES: Final = Callback.PREDICATES  # an Enum lookup for every allocation is slow
EXCLUSIONS: Final = "exclusions"  # the timer of an ask until its refused nodes are proposed again


def are_wanted(partition: Partition) -> bool:
    """Return whether the RM takes this callback."""
    return _PREDICATES in partition.callbacks.offered


def place(
    partition: Partition,
    pending: PendingAsk,
    node: Node,
    now: float,
    *,
    is_second_choice: bool = False,
) -> list[Effect]:
    """Allocate ``pending`` once on ``node`` when the RM agrees (see `Placement`)."""
    if not are_wanted(partition):
        return allocations.make(partition, pending, node, now)
    partition.propose(Placement(pending, node, is_second_choice))
    return []


def is_possible(partition: Partition, placement: Placement) -> bool:
    """Return whether the ask can still run on that node."""
    pending, node = placement.pending, placement.node
    need = pending.ask.resource
    return (
        node.state is NodeState.SCHEDULABLE
        and partition.node_index.is_open(pending.key.profile, node)
        and node.can_take(need)
        and pending.application.can_take(need)
    )


def exclude(partition: Partition, pending: PendingAsk, node: Node) -> None:
    """Exclude ``node``, which the RM refused, for the ask."""
    if pending.exclusions is None:
        pending.exclusions = NodeExclusions(_FIRST_TIMEOUT)
    partition.node_index.exclude(pending.exclusions, node)


def found_no_node(partition: Partition, pending: PendingAsk, now: float) -> None:
    """Propose the refused nodes again after a delay, which grows each time.

    The RM's criteria are unknown here: its answer may change.
    """
    exclusions = pending.exclusions
    if exclusions is None or not exclusions.nodes or EXCLUSIONS in pending.timers:
        return

    def forget(_: float) -> list[Effect]:
        del pending.timers[EXCLUSIONS]
        pending.exclusions = NodeExclusions(min(2 * exclusions.timeout, _LAST_TIMEOUT))
        partition.asks.requeue(pending)
        partition.preemptors.try_again(pending)
        return []

    pending.timers[EXCLUSIONS] = partition.timers.set(now + exclusions.timeout, forget)
