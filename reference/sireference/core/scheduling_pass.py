"""Scheduling pass: every ask group that may be placed gets its allocations or waits."""

from typing import Any, Final

from sireference.core import gates, predicates, running_slots
from sireference.core.gang import replacement
from sireference.core.model import Effect
from sireference.core.state.application import AskGroup
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.service_order import next_ask_group
from sireference.core.state.wait_queue import WaitQueue

# An ask may request two billion allocations that fit on a node, or fit on none of a hundred
# thousand nodes: other work must be handled in between. This many steps take about six
# milliseconds, and so do this many nodes examined
_MOST_STEPS: Final = 200
_MOST_LOOKS: Final = 20_000


def run(partition: Partition, now: float) -> list[Effect]:
    """Return the allocations that are possible now, in the order of queues, applications and asks.

    Each step either serves an ask or lets a group wait, so the cost of a pass depends on what
    changed since the last one, not on asks times nodes. A long pass stops, and another one is due.
    """
    effects: list[Effect] = []
    most_looks = partition.node_index.looked_at + _MOST_LOOKS
    for _ in range(_MOST_STEPS):
        ask_group = None if partition.proposals else next_ask_group(partition.root)
        if ask_group is None:
            return effects
        effects += step(partition, ask_group, now)
        ask_group.application.done_with_notified()
        if partition.node_index.looked_at > most_looks:
            break
    partition.timers.request_pass(now)
    return effects


def step(partition: Partition, ask_group: AskGroup, now: float) -> list[Effect]:
    """Serve the first ask of ``ask_group``, or let the group wait."""
    pending = ask_group.first()
    if pending is None:
        return []
    wait_queue = gates.closed_gate(partition, ask_group)
    running_slots.notice(partition, ask_group.application)
    if wait_queue is not None:
        return block(partition, ask_group, wait_queue)
    placeholder = replacement.choose(partition, pending)
    if placeholder is not None:
        return replacement.begin(partition, pending, placeholder)
    found = find(partition, ask_group)
    if isinstance(found, Node):
        return predicates.place(partition, pending, found, now)
    predicates.found_no_node(partition, pending, now)
    return block(partition, ask_group, found)


def block(partition: Partition, ask_group: AskGroup, wait_queue: WaitQueue[Any]) -> list[Effect]:
    """Let the group wait in this queue."""
    ask_group.wait_in(wait_queue)
    partition.states.has_to_wait(ask_group)
    return []


def find(partition: Partition, ask_group: AskGroup) -> Node | WaitQueue[Any]:
    """Return the node for the first ask of ``ask_group``, or the queue in which the group waits."""
    for quota in ask_group.application.quotas:
        if not quota.has_capacity(ask_group.need):
            return quota.full
    return (
        partition.node_index.find(ask_group.profile, ask_group.need) or partition.node_index.waiting
    )
